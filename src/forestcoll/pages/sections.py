"""The sections of the report of a comparison. Each function returns one, or None if it would have no content."""

from collections.abc import Callable, Iterator, Sequence

from forestcoll.pages.figures import SendCharts, box_lines, crossing_bars, share_bars, size_lines
from forestcoll.pages.html import figure, items, paragraph, row, section, table
from forestcoll.pages.study import Study
from forestcoll.pages.terms import used_terms
from forestcoll.pictures.svg import Element, element
from forestcoll.presentation.algorithms import summary_of, title_of
from forestcoll.presentation.answers import answer, box_of, busy_percent, decimal, growth, speed, why
from forestcoll.presentation.comparison import algbw_text
from forestcoll.presentation.explanations import explain
from forestcoll.presentation.text import bandwidth, capitalized, percent, plural, printable
from forestcoll.simulation import Costs
from forestcoll.topology.hashing import topology_hash
from forestcoll.units import size_name
from forestcoll.version import __version__


def answer_box(study: Study) -> Iterator[Element]:
    """Yield the answer in one sentence, the most important numbers, and the reason."""
    found, rival = study.found, study.rival
    yield element("p", answer(found), class_="answer", id="answer")
    facts = [("The most that is possible", speed(found, found.bound.algbw))]
    if rival is not None:
        facts += [
            (capitalized(title_of(rival.name)), speed(found, rival.algbw)),
            ("forestcoll compared with that", f"{float(study.own.algbw / rival.algbw):.3g} times as fast"),
        ]
    pairs = (element("div", element("dt", name), element("dd", value)) for name, value in facts)
    yield element("dl", *pairs, class_="facts")


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
    right = (1, 2, *range(3, 3 + len(rows)))
    lines = (
        row(
            capitalized(each.name),
            [str(len(each.links)), _bandwidths(study, each.links), *(busy_percent(each.busy[one.name]) for one in rows)],
            right=right,
        )
        for each in study.classes
    )
    titles = ["Links", "Number", f"Bandwidth ({unit})", *(f"Busy under {title_of(one.name)}" for one in rows)]
    return table("How busy the busiest link of each class is, as a part of the time", titles, lines, right=right)


def _bandwidths(study: Study, links: Sequence[int]) -> str:
    values = sorted({study.found.topology.links[link].bandwidth for link in links})
    return decimal(values[0]) if len(values) == 1 else f"{decimal(values[0])} to {decimal(values[-1])}"


def proof(study: Study) -> Element:
    """Return the proof of the bound in words."""
    found = study.found
    lines = [paragraph(line.strip()) for line in explain(found.bound, found.topology, found.demand)]
    intro = paragraph(
        f"No {'schedule along trees' if found.bound.proof.trees_only else 'schedule'} exceeds "
        f"{bandwidth(found.bound.algbw, printable(found.topology.bandwidth_unit))}. You can check the proof by addition:"
    )
    after = paragraph("This holds for every algorithm, also for those that are not in this comparison.", class_="note")
    trees = [] if found.bound.proof.trees_only else [after]
    return section("proof", "Why no schedule is faster", intro, element("div", *lines, class_="proof"), *trees)


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
        cells.append(element("span", f"{capitalized(each.reason)}."))
        head = element("span", printable(each.name), element("small", f"{summary_of(each.name)}."))
        lines.append(row(head, cells, right=right, key=study.keys[each.name]))
    caption = (
        f"algbw in {unit}: the exact value for large data, then the simulated value for each size of M. Sends: the most "
        "sends one after another."
    )
    shares = figure(share_bars(found), "The part of the bound that each schedule reaches. Longer is better.")
    return section("comparison", "All schedules", _choice(study), table(caption, titles, lines, right=right), shares)


def _choice(study: Study) -> Element:
    """Return the control with which a reader chooses a schedule."""
    options = (
        element("option", printable(each.name), value=study.keys[each.name], selected="" if each is study.rival else None)
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
        caption = f"The data that {verb} {box}. The striped part is more than must."
        figures.append(figure(crossing_bars(found, study.into_boxes), caption))
    if study.over_cut is not None:
        caption = "The data that leaves the bottleneck cut, the set of nodes in the proof. The striped part is more than must."
        figures.append(figure(crossing_bars(found, study.over_cut), caption))
    if not figures:
        return None
    intro = paragraph("A schedule is slow if it sends the same data more often than needed over the slowest links.")
    return section("crossings", "The data that must cross, and the data that does", intro, *figures)


def sizes(study: Study) -> Element | None:
    """Return the chart of algbw over size."""
    if not study.has_times:
        return None
    costs = Costs()
    caption = (
        f"The simulated algbw over the size of M, if each send takes {costs.alpha_us:g} µs plus {costs.overhead_us:g} µs "
        "per chunk in addition to the time for its bytes. Schedules with the same curve share a line. A schedule with "
        "fewer sends one after another is faster for small sizes; for large sizes only the links count."
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
            cells += ["–", "–"] if value is None else [decimal(value), percent(value / each.optimal_algbw)]
        lines.append(row(str(each.boxes), cells, right=right))
    titles = ["Boxes", "GPUs", f"Optimum ({unit})"]
    titles += [title for name in names for title in (f"{name} ({unit})", "of the optimum")]
    content = table("The same kind of boxes, computed for each number of boxes", titles, lines, right=right)
    caption = "The part of the optimum that rings and two levels reach. The optimum is 100 % everywhere."
    chart = figure(box_lines(found, counts), caption)
    return section("boxes", "On more or fewer boxes", *map(paragraph, growth(found, counts)), content, chart)


def sends(study: Study) -> Element | None:
    """Return the charts of sends over time, with controls to play them."""
    if not study.has_times or study.rival is None:
        return None
    charts = SendCharts(study.found, study.rival)
    intro = paragraph(
        f"Each chart shows one part of the data of M = {size_name(charts.size)} under one schedule: a row for each send, "
        "from the time at which its sender has the first byte to the time at which its receiver has the last one."
    )
    figures = []
    for each in [*([study.rival] if study.rival else []), study.own, *(one for one in study.others if one is not study.rival)]:
        part = charts.part(charts.sends(each).share)
        caption = f"{capitalized(title_of(each.name))}: the sends of {part}."
        hidden = each not in (study.own, study.rival)
        made = figure(charts.chart(each), printable(caption), key=study.keys[each.name], hidden=hidden)
        made.set("data-title", printable(each.name))
        figures.append(made)
    return section("sends", "Who sends to whom, and when", intro, _player(), *figures)


def _player() -> Element:
    buttons = (
        element("button", text, type="button", id=key) for key, text in (("play", "Play"), ("back", "Previous"), ("next", "Next"))
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


def limits(study: Study) -> Element:
    """Return what is a model and what was not measured."""
    costs = Costs()
    lines = [
        "Nothing was run on a machine. All numbers follow from the description of the network: its nodes, its links and "
        "their bandwidths.",
        "The algbw for large data is exact for this network: it counts the bytes on each link. Every schedule was "
        "verified.",
        "A library reaches less than the algbw here: its protocols, its kernels and the number of its channels are not "
        "part of the model. This applies to all rows, also to that of forestcoll.",
    ]
    if study.has_times:
        lines.append(
            f"Times are simulated: each send takes {costs.alpha_us:g} µs plus the latency of its links if the network "
            f"states it, each chunk {costs.overhead_us:g} µs more, and each link its bytes divided by its bandwidth. "
            "Copies and sums inside a GPU take no time."
        )
    return section("limits", "What is a model, and what was not measured", items(lines))


def made(study: Study) -> Element:
    """Return how the page was made."""
    topology = study.found.topology
    facts: list[tuple[str, Element | str]] = []
    if study.command is not None:
        facts.append(("Command", element("code", printable(study.command))))
    facts += [
        ("forestcoll", __version__),
        ("Network", f"{printable(topology.name)}: {plural(len(topology.nodes), 'node')}, {plural(len(topology.links), 'link')}"),
        ("SHA-256 of the network's file", element("code", topology_hash(topology))),
    ]
    pairs = [part for name, value in facts for part in (element("dt", name), element("dd", value))]
    return section("made", "How this page was made", element("dl", *pairs, class_="terms"))


def terms(parts: Sequence[Element]) -> Element:
    """Return the terms that the other sections use, with their meanings."""
    found = used_terms(text for part in parts for text in part.itertext())
    pairs = [part for name, meaning in found for part in (element("dt", name), element("dd", meaning))]
    return section("terms", "Terms", element("dl", *pairs, class_="terms"))


SECTIONS: tuple[Callable[[Study], Element | None], ...] = (
    reasons,
    proof,
    comparison,
    crossings,
    sizes,
    boxes,
    sends,
    skipped,
    limits,
    made,
)
"""The sections in their order."""
