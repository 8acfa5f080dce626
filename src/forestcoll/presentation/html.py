"""Results as HTML for notebooks, and the elements of pages in one file.

`html_of` finds the function that makes the page of a value by the name of the value's type. So no module is imported
for types that are not used. Its HTML is self-contained: it loads no resources, and its styles do not affect the
surrounding page. Colours are inherited; green and red have a medium lightness and are readable on light and dark
backgrounds.

The standard library escapes all texts, and a policy in each page forbids the browser to load anything.
"""

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any
from xml.etree import ElementTree

from forestcoll.presentation.pictures.svg import Element, element
from forestcoll.presentation.tables import Page, Table

_RESULTS = "forestcoll.presentation.results"

_PAGES = {
    "forestcoll.algorithms.frontier.StepFrontier": f"{_RESULTS}.networks.step_frontier:step_frontier_page",
    "forestcoll.solver.bounds.values.Bounds": f"{_RESULTS}.schedules.bounds:bounds_page",
    "forestcoll.comparison.value.Comparison": f"{_RESULTS}.comparisons.comparison:comparison_page",
    "forestcoll.measurement.fit.fit.FittedCosts": f"{_RESULTS}.measurements.fitting:fit_page",
    "forestcoll.nccl.comparison.LogComparison": f"{_RESULTS}.measurements.measured:comparison_page",
    "forestcoll.design.workloads.job.Ranking": f"{_RESULTS}.networks.job_networks:ranking_page",
    "forestcoll.design.search.finder.Frontier": f"{_RESULTS}.networks.design:frontier_page",
    "forestcoll.presentation.view.view.View": "forestcoll.presentation.view.view:view_page",
    "forestcoll.nccl.tuner.rules.TunerRules": f"{_RESULTS}.programs.nccl_tuner:tuner_page",
    "forestcoll.nccl.order.rank_order.RankOrder": f"{_RESULTS}.networks.rank_order:rank_order_page",
    "forestcoll.nccl.job.explained.JobReport": f"{_RESULTS}.measurements.job:job_page",
    "forestcoll.programs.formats.judging.Judgement": f"{_RESULTS}.programs.programs:judgement_page",
    "forestcoll.programs.targets.target.Export": f"{_RESULTS}.programs.programs:export_page",
    "forestcoll.solver.groups.layouts.LayoutTable": f"{_RESULTS}.schedules.groups:table_page",
    "forestcoll.schedule.proof.bound.Bound": f"{_RESULTS}.schedules.explanations:bound_page",
    "forestcoll.schedule.proof.proof.Proof": f"{_RESULTS}.schedules.explanations:proof_page",
    "forestcoll.schedule.proof.optimum.Optimum": f"{_RESULTS}.schedules.generated:optimum_page",
    "forestcoll.schedule.schedule.Schedule": f"{_RESULTS}.schedules.reports:schedule_page",
    "forestcoll.topology.importers.imported.Imported": f"{_RESULTS}.networks.imports:import_page",
    "forestcoll.topology.model.Topology": f"{_RESULTS}.networks.networks:network_page",
    "forestcoll.tuning.value.Tuning": f"{_RESULTS}.programs.tuning:tuning_page",
    "forestcoll.verification.report.Report": f"{_RESULTS}.schedules.reports:report_page",
    "forestcoll.what_if.failover.FailoverSet": f"{_RESULTS}.comparisons.what_if:failover_page",
    "forestcoll.what_if.study.Study": f"{_RESULTS}.comparisons.what_if:study_page",
    "forestcoll.what_if.upgrades.UpgradeStudy": f"{_RESULTS}.comparisons.what_if:upgrades_page",
}
"""The function that makes the page of each type of value: the full name of the type, and MODULE:FUNCTION."""

_PICTURES = {
    "forestcoll.comparison.value.Comparison": f"{_RESULTS}.comparisons.comparison_notebook:comparison_picture",
    "forestcoll.presentation.view.view.View": "forestcoll.presentation.view.view:picture_of",
    "forestcoll.schedule.schedule.Schedule": "forestcoll.presentation.view.notebook:schedule_picture",
    "forestcoll.topology.model.Topology": "forestcoll.presentation.view.notebook:topology_picture",
}
"""The function that makes the picture of each type of value that has one."""

_CELL = "padding:0.15em 1.2em 0.15em 0;text-align:{align};vertical-align:top;border:0"
_HEAD = f"{_CELL};border-bottom:1px solid currentColor;font-weight:600"
_TITLE = "font-weight:600"
_VALIDITY_STYLES = {None: "", True: ";color:#2e9e4f", False: ";color:#d9534f"}
"""Green for a valid result and red for an invalid one, both readable on white and on black."""

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def html_of(value: object) -> str:
    """Return a value as HTML.

    Args:
        value: a `Table`, a `Page`, or a result whose type is in `_PAGES`.

    Returns:
        One `<div>` element that contains all its styles.

    Raises:
        TypeError: there is no page for values of this type.

    Example:
        >>> html_of(Page("a <b> c")).count("a &lt;b&gt; c")
        1
    """
    page = page_of(value)
    made = element("div", class_="forestcoll", style="font-family:sans-serif")
    if page.title:
        made.append(element("div", page.title, style=f"{_TITLE}{_VALIDITY_STYLES[page.valid]}"))
    for part in page.parts():
        made.extend([element("div", part, style="white-space:pre-wrap")] if isinstance(part, str) else _table(part))
    function = _function_for(value, _PICTURES)
    picture: Element | None = None if function is None else function(value)
    made.extend([] if picture is None else [picture])
    return ElementTree.tostring(made, encoding="unicode", short_empty_elements=False)


def page_of(value: object) -> Page:
    """Return the page of a value.

    Args:
        value: a `Table`, a `Page`, or a result whose type is in `_PAGES`.

    Raises:
        TypeError: there is no page for values of this type.
    """
    if isinstance(value, Page):
        return value
    if isinstance(value, Table):
        return Page("", (value,))
    function = _function_for(value, _PAGES)
    if function is None:
        raise TypeError(f"there is no page for a value of type {type(value).__name__}")
    page: Page = function(value)
    return page


def _function_for(value: object, table: Mapping[str, str]) -> Callable[[object], Any] | None:
    """Return the function that `table` has for the type of a value, or None."""
    for kind in type(value).__mro__:
        place = table.get(f"{kind.__module__}.{kind.__qualname__}")
        if place is not None:
            module, _, name = place.partition(":")
            function: Callable[[object], Any] = getattr(importlib.import_module(module), name)
            return function
    return None


def _table(table: Table) -> Iterator[Element]:
    if table.title:
        yield element("div", table.title, style=_TITLE)
    rows = [_row("th", _HEAD, table.titles, table)] if table.titles else []
    rows += [_row("td", _CELL, cells, table) for cells in table.cells()]
    yield element("table", *rows, style="border-collapse:collapse;margin:0.4em 0")
    for note in table.below:
        yield element("div", note, style="opacity:0.7")


def _row(tag: str, style: str, cells: Sequence[str], table: Table) -> Element:
    aligned = (
        element(tag, cell, style=style.format(align="right" if column.right else "left"))
        for column, cell in zip(table.shown, cells, strict=True)
    )
    return element("tr", *aligned, style="background:none")


def page_text(title: str, body: Sequence[Element], *, name: str) -> str:
    """Return the text of a page, which works from a file, without a network and without a server.

    Args:
        title: the title of the page.
        body: the elements of the body.
        name: the name of the styles and of the script, NAME.css and NAME.js in the folder of this module.
    """
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        _verbatim("style", f"{name}.css"),
    )
    page = element("html", head, element("body", *body, _verbatim("script", f"{name}.js")), lang="en")
    return f"<!DOCTYPE html>\n{ElementTree.tostring(page, encoding='unicode', method='html')}\n"


def _verbatim(tag: str, name: str) -> Element:
    """Return an element with the text of a file, including its line breaks."""
    made = element(tag)
    made.text = files("forestcoll.presentation").joinpath(name).read_text(encoding="utf-8")
    return made


def paragraph(*content: Element | str, class_: str | None = None) -> Element:
    """Return a paragraph."""
    return element("p", *content, class_=class_)


def items(lines: Iterable[Element | str]) -> Element:
    """Return a list with one item for each line."""
    return element("ul", *(element("li", line) for line in lines))


def section(key: str, title: str, *content: Element) -> Element:
    """Return a section with a heading of the second level; `key` is its id."""
    return element("section", element("h2", title), *content, id=key)


def table(shown: Table, heads: Sequence[Element] = (), keys: Sequence[str] = ()) -> Element:
    """Return a table in a box that can be scrolled with the keyboard.

    Args:
        shown: the table; its title is the caption. The first cell of each row is the heading of the row.
        heads: what the headings of the rows are, if not the first cells.
        keys: the keys of the rows for the script; none if empty.
    """
    classes = ["number" if column.right else None for column in shown.shown]
    titles = (
        element("th", each, scope="col", class_=class_) for each, class_ in zip(shown.titles, classes, strict=True)
    )
    rows = []
    for place, (first, *rest) in enumerate(shown.cells()):
        head = element("th", heads[place] if heads else first, scope="row")
        cells = (element("td", each, class_=class_) for each, class_ in zip(rest, classes[1:], strict=True))
        rows.append(element("tr", head, *cells, data_rows=keys[place] if keys else None))
    content = element("thead", element("tr", *titles)), element("tbody", *rows)
    inner = element("table", *content, aria_label=shown.title)
    box = element("div", inner, class_="scroll", tabindex="0", role="region", aria_label=shown.title)
    return element("div", paragraph(shown.title, class_="note"), box, class_="table")


def figure(picture: Element, caption: str, *, key: str = "", hidden: bool = False) -> Element:
    """Return a picture with its caption, in a box that can be scrolled with the keyboard.

    Args:
        picture: an `svg` element.
        caption: what the picture shows; none if empty.
        key: the key of the row of the comparison that the picture shows, for the script; empty for pictures of all.
        hidden: whether the figure is hidden until a reader chooses it.
    """
    box = element("div", picture, class_="scroll", tabindex="0", role="group", aria_label=picture.get("aria-label", ""))
    shown = {"data_row": key or None, "hidden": "" if hidden else None}
    return element("figure", *([element("figcaption", caption)] if caption else []), box, **shown)
