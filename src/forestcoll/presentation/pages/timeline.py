"""The section of a report with the sends over time, and its player."""

from fractions import Fraction

from forestcoll.algorithms.baseline import title_of
from forestcoll.algorithms.boxes import Boxes
from forestcoll.base.display import printable
from forestcoll.base.errors import plural
from forestcoll.base.units import size_name
from forestcoll.comparison import Row
from forestcoll.comparison.curves import scale_of, schedule_of
from forestcoll.presentation.html import figure, paragraph, section
from forestcoll.presentation.pages.study import ComparisonDetails
from forestcoll.presentation.pictures.charts.sends import MOST_BARS, SendBar, send_chart
from forestcoll.presentation.pictures.svg import Element, element
from forestcoll.presentation.results.comparisons.answers import amount
from forestcoll.presentation.text import capitalized
from forestcoll.simulation.over_time import sends_over_time
from forestcoll.simulation.sends import RootSends, Send

_SIZE = 2**24
"""The charts of sends are for the size of the comparison that is nearest to this one."""

_INTRO = (
    "Each chart shows one part of the data of M = {size} under one schedule. Each row is a send. It begins when the "
    "sender has the first byte, and ends when the receiver has the last one. All other parts move at the same time "
    "over the same links. The part is one that begins, or ends, at the first compute node. Of these parts, it is the "
    "last to be done."
)


def sends(study: ComparisonDetails) -> Element | None:
    """Return the charts of sends over time, with controls to play them; None if there are none.

    There are none without times, and for an all-to-all, of which each pair of nodes has a part of its own.
    """
    if not study.sizes or study.rival is None or study.found.demand.collective.is_personalised:
        return None
    charts = _Charts(study, study.rival)
    rows = sorted([study.own, *study.others], key=lambda each: each is study.own)
    intro = paragraph(_INTRO.format(size=size_name(charts.size)))
    return section("sends", "Who sends to whom, and when", intro, _player(), *map(charts.figure, rows))


class _Charts:
    """The charts of the sends of one part of the data under each schedule."""

    def __init__(self, study: ComparisonDetails, rival: Row) -> None:
        self._study = study
        self._topology = study.found.topology
        self._boxes = Boxes(self._topology, study.found.demand.members(self._topology))
        self.size = min(study.sizes, key=lambda size: (abs(size.bit_length() - _SIZE.bit_length()), size))
        self._until = max(self._sends(row).seconds for row in (study.own, rival)) * 1e6

    def _sends(self, row: Row) -> RootSends:
        point = next(point for point in row.times if point.size == self.size)
        return sends_over_time(
            schedule_of(row), round(self.size * scale_of(row)), point.pieces, self._study.found.costs
        )

    def figure(self, row: Row) -> Element:
        """Return the chart of a row with its caption."""
        found, study = self._sends(row), self._study
        who = title_of(row.name)
        count = len(found.sends)
        first = f" The first {MOST_BARS} of {count} sends are shown." if count > MOST_BARS else ""
        chart = send_chart(
            f"Bars over time: {plural(count, 'send')} under {who}", list(map(self._bar, found.sends)), self._until
        )
        caption = f"{capitalized(who)}: the sends of {self._part(found.share)}.{first}"
        is_hidden = row is not study.own and row is not study.rival
        made = figure(chart, caption, key=study.keys[row.name], hidden=is_hidden)
        made.set("data-title", printable(row.name))
        return made

    def _part(self, share: Fraction) -> str:
        return f"{amount(share)}, which is {size_name(max(1, round(share * self.size)))}"

    def _bar(self, send: Send) -> SendBar:
        ends = " → ".join(map(str, self._topology.ids([send.source, send.target])))
        box = self._boxes.of
        leaves = bool(box) and box.get(send.source) != box.get(send.target)
        return SendBar(ends, send.begin * 1e6, send.end * 1e6, leaves)


def _player() -> Element:
    texts = (("play", "Play"), ("back", "Previous"), ("next", "Next"))
    return element(
        "div",
        *(element("button", text, type="button", id=key) for key, text in texts),
        element("label", "Time", for_="time"),
        element("input", type="range", id="time", min="0", max="1", step="any", value="0"),
        element("output", id="moment", for_="time", aria_live="off"),
        class_="controls",
        hidden="",
        role="group",
        aria_label="Player",
    )
