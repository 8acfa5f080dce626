"""The sections of the report of a comparison. Each function returns one, or None if it would have no content."""

from collections.abc import Iterator, Sequence

from forestcoll.comparison import Row
from forestcoll.comparison.crossings import LinkClass
from forestcoll.pages.figures import SendCharts, box_lines, crossing_bars, share_bars, size_lines
from forestcoll.pages.html import figure, items, paragraph, row, section, table
from forestcoll.pages.networks import NetworkPictures
from forestcoll.pages.study import Study
from forestcoll.pages.terms import used_terms
from forestcoll.pictures.svg import Element, element
from forestcoll.presentation.algorithms import summary_of, title_of
from forestcoll.presentation.answers import (
    amount,
    answer,
    best_other,
    box_of,
    busy_percent,
    decimal,
    faster,
    growth,
    speed,
    why,
)
from forestcoll.presentation.comparison import algbw_text
from forestcoll.presentation.explanations import explain
from forestcoll.presentation.text import bandwidth, capitalized, percent, printable
from forestcoll.simulation import Costs
from forestcoll.units import size_name


def answer_box(study: Study) -> Iterator[Element]:
    """Yield the answer in one sentence, the most important numbers, and the reason."""
    found, rival = study.found, study.rival
    yield element("p", answer(found), class_="answer", id="answer")
    facts = [("The most that is possible", speed(found, found.bound.algbw))]
    if rival is not None:
        facts += [
            (capitalized(title_of(rival.name)), speed(found, rival.algbw)),
            (f"forestcoll compared with {title_of(rival.name)}", faster(study.own.algbw, rival.algbw)),
        ]
    pairs = (element("div", element("dt", name), element("dd", value)) for name, value in facts)
    yield element("dl", *pairs, class_="facts")
    if (best := best_other(found)) is not None:
        yield paragraph(best)


def reasons(study: Study) -> Element | None:
    """Return why the fastest algorithm of a library is slower, and over which links."""
    sentences = why(study.found, study.into_boxes, study.classes)
    if not sentences or study.rival is None:
        return None
    return section("why", f"Why {_are_slower(title_of(study.rival.name))}", *map(paragraph, sentences), _links(study))


def _are_slower(title: str) -> str:
    return f"{title} {'are' if title.endswith('s') else 'is'} slower"


def _links(study: Study) -> Element:
    rows = [study.own, *([study.rival] if study.rival else [])]
    unit = printable(study.found.topology.bandwidth_unit)
    right = tuple(range(1, 3 + 2 * len(rows)))
    lines = (
        row(
            each.name,
            [
                str(len(each.links)),
                _bandwidths(study, each.links),
                *(text for one in rows for text in _busy(each, one)),
            ],
            right=right,
        )
        for each in study.classes
    )
    titles = ["Links", "Number", f"Bandwidth ({unit})", *(title for one in rows for title in _busy_titles(one))]
    return table("The part of the time in which links are busy, by class of links", titles, lines, right=right)


def _busy_titles(one: Row) -> tuple[str, str]:
    return f"Busiest under {title_of(one.name)}", "Mean"


def _busy(each: LinkClass, one: Row) -> tuple[str, str]:
    return busy_percent(each.busy[one.name]), busy_percent(each.mean[one.name])


def _bandwidths(study: Study, links: Sequence[int]) -> str:
    values = sorted({study.found.topology.links[link].bandwidth for link in links})
    return decimal(values[0]) if len(values) == 1 else f"{decimal(values[0])} to {decimal(values[-1])}"


def network(study: Study) -> Element:
    """Return the pictures of the loads of links, with a control to choose a schedule."""
    pictures = NetworkPictures(study)
    figures = (
        figure(
            pictures.loads(each),
            f"{capitalized(printable(title_of(each.name)))}: {speed(study.found, each.algbw)}",
            key=study.keys[each.name],
            hidden=each not in (study.own, study.rival),
        )
        for each in (*study.others, study.own)
    )
    intro = paragraph(
        "Each picture shows the network under one schedule. The width of a line is the bandwidth of the link, and its "
        "colour says for which part of the time the link is busy. A schedule is as fast as its busiest link allows."
    )
    pair = element("div", *figures, class_="pair")
    return section("network", "The network, and how busy its links are", intro, _choice(study), pictures.styles(), pair)


def proof(study: Study) -> Element:
    """Return the proof of the bound in words."""
    found = study.found
    lines = [paragraph(line.strip()) for line in explain(found.bound, found.topology, found.demand)]
    what = "schedule along trees" if found.bound.proof.trees_only else "schedule"
    most = bandwidth(found.bound.algbw, printable(found.topology.bandwidth_unit))
    intro = paragraph(f"No {what} exceeds {most}. You can check the proof by addition:")
    after = paragraph("This holds for every algorithm, also for those that are not in this comparison.", class_="note")
    trees = [] if found.bound.proof.trees_only else [after]
    return section(
        "proof", "Why no schedule is faster", intro, element("div", *lines, class_="proof"), *trees, *_cut(study)
    )


def _cut(study: Study) -> Iterator[Element]:
    if study.over_cut is not None:
        yield figure(
            NetworkPictures(study).cut(),
            "The bottleneck cut: the set of nodes in the proof, and the links that leave it.",
        )


def comparison(study: Study) -> Element:
    """Return the table of all schedules with their verdicts, and the chart of their shares."""
    found = study.found
    sizes = [size_name(point.size) for point in found.rows[0].times]
    right = tuple(range(1, 4 + len(sizes)))
    unit = printable(found.topology.bandwidth_unit)
    titles = ["Schedule", "algbw", "Of the bound", "Sends", *(f"at {size}" for size in sizes), "Verdict"]
    lines = []
    for each in found.rows:
        cells: list[Element | str] = [algbw_text(each.algbw), percent(each.share), str(each.height)]
        cells += [f"{point.algbw:.4g}" for point in each.times]
        cells.append(f"{each.reason}.")
        head = element("span", printable(each.name), element("small", f"{summary_of(each.name)}."))
        lines.append(row(head, cells, right=right, key=study.keys[each.name]))
    caption = (
        f"algbw in {unit}: the exact value for large data, then the simulated value for each size of M. Sends: the "
        "most sends one after another."
    )
    shares = figure(share_bars(found), "The part of the bound that each schedule reaches. Longer is better.")
    return section("comparison", "All schedules", table(caption, titles, lines, right=right), shares)


def _choice(study: Study) -> Element:
    """Return the control with which a reader chooses a schedule."""
    options = (
        element(
            "option", printable(each.name), value=study.keys[each.name], selected="" if each is study.rival else None
        )
        for each in study.others
    )
    name = element("label", "Compare forestcoll with", for_="choice")
    return element("div", name, element("select", *options, id="choice"), class_="controls", hidden="")


def crossings(study: Study) -> Element | None:
    """Return the charts of the data that crosses the limits of the network, next to what must."""
    found = study.found
    verb = "leaves" if found.demand.collective.only_reduces else "enters"
    figures = []
    if study.into_boxes is not None:
        box = box_of(found, study.into_boxes)
        caption = f"The data that {verb} {box}. The striped part is more than must cross."
        figures.append(figure(crossing_bars(found, study.into_boxes), caption))
    if study.over_cut is not None and study.over_cut.greatest_excess > 1:
        caption = "The data that leaves the bottleneck cut of the proof. The striped part is more than must leave it."
        figures.append(figure(crossing_bars(found, study.over_cut), caption))
    elif study.over_cut is not None:
        text = "Under every schedule, just the data that must leave the bottleneck cut of the proof leaves it"
        figures.append(paragraph(f"{text}: {amount(study.over_cut.needed)}."))
    if not figures:
        return None
    intro = paragraph("A schedule is slow if it sends the same data several times over the slowest links.")
    return section("crossings", "The data that must cross, and the data that does", intro, *figures)


def sizes(study: Study) -> Element | None:
    """Return the chart of algbw over size."""
    if not study.has_times:
        return None
    costs = Costs()
    caption = (
        f"The simulated algbw over the size of M. Each send takes {costs.alpha_us:g} µs plus {costs.overhead_us:g} µs "
        "per chunk, in addition to the time for its bytes. Schedules with the same curve share a line. For small "
        "sizes, the number of sends one after another is decisive, and for large sizes the loads of the links."
    )
    return section("sizes", "By size of the data", figure(size_lines(study.found), caption))


def boxes(study: Study) -> Element | None:
    """Return the table and the chart for other numbers of boxes."""
    found, counts = study.found, study.counts
    names = list(dict.fromkeys(name for each in counts for name in each.algbw))
    if len(counts) < 2 or not names:
        return None
    unit = printable(found.topology.bandwidth_unit)
    right = tuple(range(1, 2 + len(names) * 2 + 1))
    lines = []
    for each in counts:
        cells = [str(each.compute_nodes), decimal(each.optimal_algbw)]
        for name in names:
            value = each.algbw.get(name)
            cells += ["-", "-"] if value is None else [decimal(value), percent(value / each.optimal_algbw)]
        lines.append(row(str(each.boxes), cells, right=right))
    titles = ["Boxes", "GPUs", f"Optimum ({unit})"]
    titles += [title for name in names for title in (f"{name} ({unit})", "of the optimum")]
    content = table("The same kind of boxes, computed for each number of boxes", titles, lines, right=right)
    caption = "The part of the optimum that rings and two levels reach. The optimum is 100%."
    chart = figure(box_lines(found, counts), caption)
    return section("boxes", "On more or fewer boxes", *map(paragraph, growth(counts)), content, chart)


def sends(study: Study) -> Element | None:
    """Return the charts of sends over time, with controls to play them."""
    if not study.has_times or study.rival is None:
        return None
    charts = SendCharts(study.found, study.rival)
    intro = paragraph(
        f"Each chart shows one part of the data of M = {size_name(charts.size)} under one schedule. Each row is a "
        "send, from the time at which its sender has the first byte to the time at which its receiver has the last "
        "one. All other parts move at the same time over the same links. The part is one that begins, or ends, at the "
        "first compute node; of these parts, it is the last to be done."
    )
    figures = []
    for each in [
        *([study.rival] if study.rival else []),
        study.own,
        *(one for one in study.others if one is not study.rival),
    ]:
        part = charts.part(charts.sends(each).share)
        caption = f"{capitalized(title_of(each.name))}: the sends of {part}."
        hidden = each not in (study.own, study.rival)
        made = figure(charts.chart(each), printable(caption), key=study.keys[each.name], hidden=hidden)
        made.set("data-title", printable(each.name))
        figures.append(made)
    return section("sends", "Who sends to whom, and when", intro, _player(), *figures)


def _player() -> Element:
    buttons = (
        element("button", text, type="button", id=key)
        for key, text in (("play", "Play"), ("back", "Previous"), ("next", "Next"))
    )
    slider = element("input", type="range", id="time", min="0", max="1", step="any", value="0")
    return element(
        "div",
        *buttons,
        element("label", "Time", for_="time"),
        slider,
        element("output", id="moment", for_="time", aria_live="off"),
        class_="controls",
        hidden="",
        role="group",
        aria_label="Player",
    )


def skipped(study: Study) -> Element | None:
    """Return the algorithms that do not apply."""
    if not study.found.skipped:
        return None
    lines = (f"{each.name}: {each.reason}." for each in study.found.skipped)
    return section("skipped", "Algorithms that do not apply", items(lines))


def terms(parts: Sequence[Element]) -> Element:
    """Return the terms that the other sections use, with their meanings."""
    found = used_terms(text for part in parts for text in part.itertext())
    pairs = [part for name, meaning in found for part in (element("dt", name), element("dd", meaning))]
    return section("terms", "Terms", element("dl", *pairs, class_="terms"))
