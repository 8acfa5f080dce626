"""The sections of the report of a comparison. Each function returns one, or None if it would have no content."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain

from forestcoll.algorithms.baseline import summary_of, title_of
from forestcoll.base.errors import InputError
from forestcoll.comparison import Row
from forestcoll.comparison.busy import LinkClassLoad
from forestcoll.demand.collective import Collective
from forestcoll.presentation.html import figure, items, paragraph, section, table
from forestcoll.presentation.pages.figures import box_lines, cut_bars, size_lines
from forestcoll.presentation.pages.networks import NetworkPictures
from forestcoll.presentation.pages.study import ComparisonDetails
from forestcoll.presentation.pages.terms import used_terms
from forestcoll.presentation.pictures.svg import Element, element
from forestcoll.presentation.results.comparisons.answers import (
    RELIEF,
    amount,
    answer,
    best_other,
    busy_percent,
    decimal,
    faster,
    growth,
    speed,
    why,
)
from forestcoll.presentation.results.comparisons.comparison import schedule_table
from forestcoll.presentation.results.comparisons.comparison_notebook import share_bars
from forestcoll.presentation.results.schedules.explanations import explain
from forestcoll.presentation.tables import Column, Table
from forestcoll.presentation.text import bandwidth, capitalized, percent
from forestcoll.schedule.proof import CutProof


def answer_box(study: ComparisonDetails) -> Iterator[Element]:
    """Yield the answer in one sentence, the most important numbers, and the reason."""
    found, rival = study.found, study.rival
    yield element("p", answer(found), class_="answer", id="answer")
    along = "The most along trees" if found.bound.proof.trees_only else "The most that is possible"
    facts = [(along, speed(found, found.bound.algbw))]
    if rival is not None:
        facts += [
            (capitalized(title_of(rival.name)), speed(found, rival.algbw)),
            (f"forestcoll compared with {title_of(rival.name)}", faster(study.own.algbw, rival.algbw)),
        ]
    pairs = (element("div", element("dt", name), element("dd", value)) for name, value in facts)
    yield element("dl", *pairs, class_="facts")
    if (best := best_other(found)) is not None:
        yield paragraph(best)


def reasons(study: ComparisonDetails) -> Element | None:
    """Return why the fastest algorithm of a library is slower, and over which links."""
    sentences = why(study.found, study.classes)
    if not sentences or study.rival is None:
        return None
    return section("why", f"Why {_are_slower(title_of(study.rival.name))}", *map(paragraph, sentences), _links(study))


def _are_slower(title: str) -> str:
    return f"{title} {'are' if title.endswith('s') else 'is'} slower"


def _links(study: ComparisonDetails) -> Element:
    rows = [study.own, *([study.rival] if study.rival else [])]
    columns = (
        Column("links"),
        Column("number", right=True),
        Column(f"bandwidth ({study.found.topology.bandwidth_unit})", right=True),
        *chain(*(_busy_columns(title_of(one.name)) for one in rows)),
    )
    cells = tuple(
        (
            each.name,
            len(each.links),
            _bandwidths(study, each.links),
            *chain(*(_busy(each, one) for one in rows)),
        )
        for each in study.classes
    )
    return table(Table(columns, cells, "The part of the time in which links are busy, by class of links"))


def _busy_columns(title: str) -> tuple[Column, Column]:
    return Column(f"busiest under {title}", busy_percent, right=True), Column("mean", busy_percent, right=True)


def _busy(each: LinkClassLoad, one: Row) -> tuple[Fraction, Fraction]:
    return each.busy[one.name].most, each.busy[one.name].mean


def _bandwidths(study: ComparisonDetails, links: Sequence[int]) -> str:
    values = sorted({study.found.topology.links[link].bandwidth for link in links})
    return decimal(values[0]) if len(values) == 1 else f"{decimal(values[0])} to {decimal(values[-1])}"


def network(study: ComparisonDetails) -> Element | None:
    """Return the pictures of the network under two schedules side by side, with a control to choose one."""
    pictures = NetworkPictures(study)
    rows = sorted([study.own, *study.others], key=lambda each: each is study.own)
    loads = (_side(study, each, pictures.loads(each), _speed(study, each)) for each in rows)
    is_shared = not study.found.demand.collective.is_personalised  # else each pair of nodes has a part of its own
    paths = [_side(study, each, *made) for each in rows if is_shared and (made := _path(pictures, each)) is not None]
    return section(
        "network",
        "The network, and how busy its links are",
        paragraph(_LOADS),
        *([_choice(study)] if study.others else []),
        pictures.styles(),
        element("div", *loads, class_="pair"),
        *([element("h3", "The path of one part of the data"), paragraph(_about_paths(study))] if paths else []),
        element("div", *paths, class_="pair"),
    )


_LOADS = (
    "Each picture shows the network under one schedule. The width of a line is the bandwidth of the link. Its colour "
    "says for which part of the time the link is busy. A schedule is as fast as its busiest link allows."
)


def _about_paths(study: ComparisonDetails) -> str:
    words = (
        "Each picture shows the sends of one part of the data. The numbers are the order of the sends. Other parts can "
        "enter a box more often; the verdicts count all parts."
    )
    if study.found.demand.collective is Collective.ALLREDUCE:
        return f"{words} It shows the reduce, after which a broadcast sends the sums to all compute nodes."
    return words


def _side(study: ComparisonDetails, each: Row, picture: Element, caption: str) -> Element:
    """Return a figure that is shown if its row is chosen."""
    is_hidden = each is not study.own and each is not study.rival
    return figure(picture, caption, key=study.keys[each.name], hidden=is_hidden)


def _speed(study: ComparisonDetails, each: Row) -> str:
    return f"{capitalized(title_of(each.name))}: {speed(study.found, each.algbw)}"


def _path(pictures: NetworkPictures, each: Row) -> tuple[Element, str] | None:
    try:
        return pictures.path(each)
    except InputError:
        return None  # the schedule has no tree from the first compute node


def proof(study: ComparisonDetails) -> Element:
    """Return the proof of the bound in words."""
    found = study.found
    is_for_trees = found.bound.proof.trees_only
    what = "schedule along trees" if is_for_trees else "schedule"
    most = bandwidth(found.bound.algbw, found.topology.bandwidth_unit)
    lines = [paragraph(line.strip()) for line in explain(found.bound, found.topology, found.demand)]
    every = paragraph("This holds for each algorithm, also for those that are not in this comparison.", class_="note")
    return section(
        "proof",
        f"Why no {what} is faster",
        paragraph(f"No {what} exceeds {most}. You can check the proof by addition:"),
        element("div", *lines, class_="proof"),
        *([] if is_for_trees else [every]),
        *_cut(study),
    )


def _cut(study: ComparisonDetails) -> Iterator[Element]:
    if isinstance(study.found.bound.proof, CutProof):
        yield figure(
            NetworkPictures(study).cut(),
            "The bottleneck cut: one side is shaded, and the links of the proof have its colour.",
        )


def comparison(study: ComparisonDetails) -> Element:
    """Return the table of all schedules with their verdicts, and the chart of their shares."""
    found, shown = study.found, schedule_table(study.found)
    caption = (
        f"algbw in {found.topology.bandwidth_unit}: the exact value for large data, then the simulated value for each "
        "size of M. Sends: the most sends one after another."
    )
    rows = tuple((*cells, f"{each.reason}.") for cells, each in zip(shown.rows, found.rows, strict=True))
    heads = [element("span", each.name, element("small", f"{summary_of(each.name)}.")) for each in found.rows]
    listed = Table((*shown.columns, Column("verdict")), rows, caption)
    compared = table(listed, heads, [study.keys[each.name] for each in found.rows])
    shares = figure(share_bars(found), "The part of the bound that each schedule reaches. Longer is better.")
    return section("comparison", "All schedules", compared, shares)


def _choice(study: ComparisonDetails) -> Element:
    """Return the control with which a reader chooses a schedule."""
    options = (
        element("option", each.name, value=study.keys[each.name], selected="" if each is study.rival else None)
        for each in study.others
    )
    name = element("label", "Compare forestcoll with", for_="choice")
    return element("div", name, element("select", *options, id="choice"), class_="controls", hidden="")


def cuts(study: ComparisonDetails) -> Element | None:
    """Return the charts of the data that crosses the cuts of the network, next to what must."""
    own = study.own.cuts
    if not own:
        return None
    intro = "A schedule is slow if it sends the same data several times over the links that limit it."
    if any(each.crosses > each.needed for each in own):
        intro += f" {RELIEF}"
    return section("cuts", "The data that must cross, and the data that does", paragraph(intro), *_cut_figures(study))


def _cut_figures(study: ComparisonDetails) -> Iterator[Element]:
    for cut in study.own.cuts:
        traffic = [each for row in study.found.rows for each in row.cuts if each.cut == cut.cut]
        if any(each.crosses > each.needed for each in traffic):
            caption = f"The data that goes {cut.cut}. The striped part is more than needed."
            yield figure(cut_bars(study.found, cut.cut), caption)
        else:
            text = f"The data that goes {cut.cut} is exactly what must, under every schedule"
            yield paragraph(f"{text}: {amount(cut.needed)}.")


def sizes(study: ComparisonDetails) -> Element | None:
    """Return the chart of algbw over size."""
    if not study.sizes:
        return None
    costs = study.found.costs
    caption = (
        f"The simulated algbw over the size of M. Each send takes {costs.alpha_us:g} µs plus {costs.overhead_us:g} µs "
        "per chunk, in addition to the time for its bytes. Schedules with the same curve share a line. For small "
        "sizes, the number of sends one after another is decisive, and for large sizes the loads of the links."
    )
    return section("sizes", "By size of the data", figure(size_lines(study.found), caption))


def boxes(study: ComparisonDetails) -> Element | None:
    """Return the table and the chart for other numbers of boxes."""
    names = list(dict.fromkeys(name for each in study.counts for name in each.algbw))
    if len(study.counts) < 2 or not names:
        return None
    chart = figure(box_lines(study.found, study.counts), "The part of the optimum that rings and two levels reach.")
    content = (*map(paragraph, growth(study.counts)), _box_table(study, names), chart)
    return section("boxes", "On more or fewer boxes", *content)


def _box_table(study: ComparisonDetails, names: Sequence[str]) -> Element:
    unit = study.found.topology.bandwidth_unit
    columns = [Column("boxes"), Column("compute nodes", right=True), Column(f"optimum ({unit})", decimal, right=True)]
    for name in names:
        columns += [Column(f"{name} ({unit})", right=True), Column("of the optimum", right=True)]
    rows = []
    for each in study.counts:
        cells: list[object] = [each.boxes, each.compute_nodes, each.optimal_algbw]
        for name in names:
            value = each.algbw.get(name)
            cells += ["-", "-"] if value is None else [decimal(value), percent(value / each.optimal_algbw)]
        rows.append(tuple(cells))
    caption = "The same kind of boxes: the algbw, computed for each number of boxes"
    return table(Table(tuple(columns), tuple(rows), caption))


def skipped(study: ComparisonDetails) -> Element | None:
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
