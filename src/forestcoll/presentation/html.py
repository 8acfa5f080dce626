"""Results as HTML for notebooks and web pages.

`html_of` finds the function that makes the page of a value by the name of the value's type. So no module is imported
for types that are not used. The HTML is escaped and self-contained: it loads no resources, and its styles do not affect
the surrounding page. Colours are inherited; green and red have a medium lightness and are readable on light and dark
backgrounds.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import Any

from forestcoll.presentation.tables import Page, Table

_RESULTS = "forestcoll.presentation.results"

_PAGES = {
    "forestcoll.solver.bounds.values.Bounds": f"{_RESULTS}.schedules.bounds:bounds_page",
    "forestcoll.comparison.value.Comparison": f"{_RESULTS}.comparisons.comparison_notebook:comparison_summary",
    "forestcoll.solver.groups.layouts.LayoutTable": f"{_RESULTS}.schedules.groups:table_page",
    "forestcoll.schedule.proof.optimum.Optimum": f"{_RESULTS}.schedules.optima:optimum_page",
    "forestcoll.schedule.schedule.Schedule": f"{_RESULTS}.schedules.reports:schedule_page",
    "forestcoll.topology.model.Topology": f"{_RESULTS}.networks.networks:network_page",
    "forestcoll.verification.report.Report": f"{_RESULTS}.schedules.reports:report_page",
}
"""The function that makes the page of each type of value: the full name of the type, and MODULE:FUNCTION."""

_PICTURES = {
    "forestcoll.comparison.value.Comparison": f"{_RESULTS}.comparisons.comparison_notebook:comparison_picture",
    "forestcoll.schedule.schedule.Schedule": "forestcoll.presentation.view.notebook:schedule_picture",
    "forestcoll.topology.model.Topology": "forestcoll.presentation.view.notebook:topology_picture",
}
"""The function that makes the picture of each type of value that has one."""

_CELL = "padding:0.15em 1.2em 0.15em 0;text-align:{align};vertical-align:top;border:0"
_HEAD = f"{_CELL};border-bottom:1px solid currentColor;font-weight:600"
_VALIDITY_STYLES = {None: "", True: "color:#2e9e4f", False: "color:#d9534f"}
"""Green for a valid result and red for an invalid one, both readable on white and on black."""


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
    if isinstance(value, Table):
        return _division([_table(value)])
    return _page(value if isinstance(value, Page) else page_of(value), _picture_of(value))


def page_of(value: object) -> Page:
    """Return the page of a value.

    Args:
        value: a result whose type is in `_PAGES`.

    Raises:
        TypeError: there is no page for values of this type.
    """
    function = _function_for(value, _PAGES)
    if function is None:
        raise TypeError(f"there is no page for a value of type {type(value).__name__}")
    page: Page = function(value)
    return page


def _picture_of(value: object) -> str:
    function = _function_for(value, _PICTURES)
    picture: str = "" if function is None else function(value)
    return picture


def _function_for(value: object, table: Mapping[str, str]) -> Callable[[object], Any] | None:
    """Return the function that `table` has for the type of a value, or None."""
    for kind in type(value).__mro__:
        place = table.get(f"{kind.__module__}.{kind.__qualname__}")
        if place is not None:
            module, _, name = place.partition(":")
            function: Callable[[object], Any] = getattr(importlib.import_module(module), name)
            return function
    return None


def _page(page: Page, picture: str = "") -> str:
    title = f'<div style="font-weight:600;{_VALIDITY_STYLES[page.valid]}">{escape(page.title)}</div>'
    return _division([title, *(_block(each) for each in page.blocks), picture])


def _block(block: Table | str) -> str:
    return f'<div style="white-space:pre-wrap">{escape(block)}</div>' if isinstance(block, str) else _table(block)


def _division(parts: Iterable[str]) -> str:
    return f'<div class="forestcoll" style="font-family:sans-serif">{"".join(parts)}</div>'


def _table(table: Table) -> str:
    title = f'<div style="font-weight:600">{escape(table.title)}</div>' if table.title else ""
    notes = "".join(f'<div style="opacity:0.7">{escape(note)}</div>' for note in table.notes)
    head = _row("th", _HEAD, table.titles, table) if table.titles else ""
    rows = "".join(_row("td", _CELL, row, table) for row in table.cells())
    body = f'<table style="border-collapse:collapse;margin:0.4em 0">{head}{rows}</table>'
    return f"{title}{body}{notes}"


def _row(tag: str, style: str, cells: Sequence[str], table: Table) -> str:
    aligned = (
        f'<{tag} style="{style.format(align="right" if column.right else "left")}">{escape(cell)}</{tag}>'
        for column, cell in zip(table.columns, cells, strict=True)
    )
    return f'<tr style="background:none">{"".join(aligned)}</tr>'
