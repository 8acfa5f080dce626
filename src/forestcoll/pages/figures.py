"""The charts of a report."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from forestcoll.baselines.boxes import Boxes
from forestcoll.comparison import Comparison, Row
from forestcoll.comparison.by_boxes import BoxCount
from forestcoll.comparison.comparing import OWN
from forestcoll.comparison.crossings import Crossing
from forestcoll.comparison.curves import curve_of, scale_of
from forestcoll.pictures.charts.bars import Bar, bar_chart
from forestcoll.pictures.charts.lines import Axes, Line, line_chart
from forestcoll.pictures.charts.scales import round_ticks, thinned
from forestcoll.pictures.charts.sends import SendBar, send_chart
from forestcoll.pictures.svg import Element
from forestcoll.presentation.algorithms import title_of
from forestcoll.presentation.answers import amount, box_of, speed
from forestcoll.presentation.text import percent, printable
from forestcoll.simulation import Point
from forestcoll.simulation.over_time import sends_over_time
from forestcoll.simulation.sends import Sends
from forestcoll.units import size_name

_SIZES = tuple(2**power for power in range(14, 33))
"""The sizes of the curves, in addition to those of the comparison: 16 KiB to 4 GiB."""

_TIMELINE = 2**24
"""The charts of sends are for this size of M, or the nearest one of the comparison."""


def keys_of(found: Comparison) -> dict[str, str]:
    """Return a short key for each row, by its name."""
    return {row.name: f"r{place}" for place, row in enumerate(found.rows)}


def share_bars(found: Comparison) -> Element:
    """Return the chart of the part of the bound that each schedule reaches."""
    keys = keys_of(found)
    bars = [
        Bar(printable(row.name), 100 * float(row.share), percent(row.share), row.name == OWN, keys[row.name])
        for row in found.rows
    ]
    listed = ", ".join(f"{bar.name} {bar.text}" for bar in bars)
    limit = f"bound: {speed(found, found.bound.algbw)}"
    return bar_chart(
        f"Bars: the part of the bound that each schedule reaches: {listed}", "% of the bound", bars, (100, limit)
    )


def crossing_bars(found: Comparison, crossing: Crossing) -> Element:
    """Return the chart of the data that crosses some links under each schedule, next to what must."""
    keys = keys_of(found)
    bars = [
        Bar(printable(name), float(part), amount(part), name == OWN, keys[name])
        for name, part in crossing.carried.items()
    ]
    listed = ", ".join(f"{bar.name} {bar.text}" for bar in bars)
    title = f"Bars: the data that crosses the links of {box_of(found, crossing)}: {listed}"
    return bar_chart(title, "parts of M", bars, (float(crossing.needed), f"must cross: {amount(crossing.needed)}"))


def size_lines(found: Comparison) -> Element:
    """Return the chart of the algbw of each schedule over the size of M."""
    marks = tuple(float(point.size) for point in found.rows[0].times)
    sizes = sorted({*_SIZES, *(point.size for point in found.rows[0].times)})
    lines = list(_joined(found, {row.name: curve_of(row, sizes) for row in found.rows}, marks))
    ticks = [(float(size), size_name(size)) for size in thinned([size for size in sizes if size & (size - 1) == 0], 6)]
    best = float(found.bound.algbw)
    unit = printable(found.topology.bandwidth_unit)
    axes = Axes("size of M", f"algbw ({unit})", ticks, [(value, f"{value:g}") for value in round_ticks(best)])
    limit = f"bound: {speed(found, found.bound.algbw)}"
    title = f"Lines: the simulated algbw of each schedule over the size of M; {limit}"
    return line_chart(title, axes, lines, (best, limit))


def _joined(found: Comparison, curves: Mapping[str, Sequence[Point]], marks: tuple[float, ...]) -> Iterator[Line]:
    """Yield one line for all rows that have the same curve."""
    keys = keys_of(found)
    names: dict[tuple[tuple[float, float], ...], list[str]] = {}
    for name, curve in curves.items():
        values = tuple((float(point.size), float(f"{point.algbw:.4g}")) for point in curve)
        names.setdefault(values, []).append(name)
    for place, (values, alike) in enumerate(names.items()):
        shown = printable(alike[0] if len(alike) == 1 else f"{alike[0]} and {len(alike) - 1} more")
        yield Line(shown, values, marks, place, " ".join(keys[name] for name in alike))


def box_lines(found: Comparison, counts: Sequence[BoxCount]) -> Element:
    """Return the chart of the part of the optimum that rings and two levels reach, over the number of boxes."""
    names = list(dict.fromkeys(name for each in counts for name in each.algbw))
    keys = keys_of(found)
    lines = [
        Line(name, values, tuple(x for x, _ in values), place, keys[name])
        for place, name in enumerate(names, start=1)
        if (values := tuple(_shares(counts, name)))
    ]
    ticks = [(float(each.boxes), str(each.boxes)) for each in counts]
    axes = Axes("boxes", "% of the optimum", ticks, [(value, f"{value}") for value in range(0, 101, 20)])
    return line_chart("Lines: the part of the optimum over the number of boxes", axes, lines, (100, "optimum"))


def _shares(counts: Sequence[BoxCount], name: str) -> Iterator[tuple[float, float]]:
    for each in counts:
        if name in each.algbw:
            yield float(each.boxes), 100 * float(each.algbw[name] / each.optimal_algbw)


class SendCharts:
    """The charts of the sends of one part of the data under each schedule.

    Args:
        found: a comparison with times.
        first: the row that is shown next to the own schedule at first.
    """

    def __init__(self, found: Comparison, first: Row) -> None:
        self._found = found
        self._boxes = Boxes(found.topology, found.demand.members(found.topology))
        sizes = [point.size for point in found.rows[0].times]
        self.size = min(sizes, key=lambda size: (abs(size.bit_length() - _TIMELINE.bit_length()), size))
        self._until = max(self.sends(row).seconds for row in (found.row(OWN), first)) * 1e6

    def sends(self, row: Row) -> Sends:
        """Return the sends of one part of the data under a schedule."""
        point = next(point for point in row.times if point.size == self.size)
        return sends_over_time(row.schedule, round(self.size * scale_of(row)), point.pieces)

    def chart(self, row: Row) -> Element:
        """Return the chart of a row."""
        sends = self.sends(row)
        bars = [
            SendBar(
                self._ends(each.source, each.target),
                each.begin * 1e6,
                each.end * 1e6,
                self._leaves(each.source, each.target),
            )
            for each in sends.sends
        ]
        title = f"Bars over time: the {len(bars)} sends of {self.part(sends.share)} under {title_of(row.name)}"
        return send_chart(printable(title), bars, self._until)

    def part(self, share: Fraction) -> str:
        """Return a part of the data as text."""
        return f"{amount(share)}, which is {size_name(max(1, round(share * self.size)))}"

    def _ends(self, source: int, target: int) -> str:
        ids = self._found.topology.ids([source, target])
        return " → ".join(map(printable, ids))

    def _leaves(self, source: int, target: int) -> bool:
        return bool(self._boxes.of) and self._boxes.of.get(source) != self._boxes.of.get(target)
