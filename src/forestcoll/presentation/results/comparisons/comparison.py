"""A comparison as the command prints it: tables and sentences."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from forestcoll.base.units import size_name
from forestcoll.comparison import Comparison
from forestcoll.comparison import Row as Compared
from forestcoll.presentation.names import counted
from forestcoll.presentation.tables import Column, Page, Row, Table, row
from forestcoll.presentation.text import bandwidth, percent
from forestcoll.simulation import Point

_LARGEST = 10_000
"""The greatest denominator of a fraction that is printed exactly."""


def comparison_page(found: Comparison) -> Page:
    """Return what a person reads of a comparison."""
    topology, demand = found.topology, found.demand
    title = f"{topology.name}: {demand.collective}, {counted(topology, demand.ranks)}"
    best = f"No schedule exceeds {bandwidth(found.bound.algbw, topology.bandwidth_unit)}."
    reasons = [f"  {row.name}: {row.reason}." for row in found.rows]
    skipped = [f"  {each.name}: {each.reason}" for each in found.skipped]
    skipped_document = [{"name": each.name, "reason": each.reason} for each in found.skipped]
    blocks: tuple[Row | Table | str, ...] = (
        row(topology=topology.name, collective=demand.collective, unit=topology.bandwidth_unit),
        row(optimal_algbw=found.optimal_algbw, rows=list(map(_document, found.rows)), skipped=skipped_document),
        best,
        schedule_table(found),
        *_cut_tables(found),
        *_choice_tables(found),
        "What limits them:",
        *reasons,
        *(("Do not apply:", *skipped) if skipped else ()),
    )
    return Page(title, blocks)


def schedule_table(found: Comparison) -> Table:
    """Return the table of all schedules."""
    sizes = next(([point.size for point in row.times] for row in found.rows if row.times), [])
    columns = (
        Column("schedule"),
        Column("algbw", right=True),
        Column("of the bound", percent, right=True),
        Column("sends", _or_dash(str), right=True),
        *(Column(size_name(size), _or_dash("{:.4g}".format), right=True) for size in sizes),
    )
    rows = tuple((row.name, algbw_text(row), row.share, row.height, *_algbws(row, len(sizes))) for row in found.rows)
    unit = found.topology.bandwidth_unit
    return Table(columns, rows, notes=(f"algbw in {unit}, for large data and simulated for each size",))


def _algbws(row: Compared, sizes: int) -> tuple[float | None, ...]:
    return tuple(point.algbw for point in row.times) or (None,) * sizes


def _or_dash(show: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a function that shows a value, or a dash for None."""
    return lambda value: "-" if value is None else show(value)


def algbw_text(row: Compared) -> str:
    """Return the algbw of a row as a decimal number, or that the row is not valid."""
    if not row.valid:
        return "not valid"
    exact = str(row.algbw)
    return exact if row.algbw.denominator == 1 else f"{float(row.algbw):.6g}"


def _cut_tables(found: Comparison) -> tuple[Table, ...]:
    """Return the table of the data that crosses each cut; none if no cut limits the collective."""
    rows = [row for row in found.rows if row.cuts]
    if not rows:
        return ()
    names = [each.cut for each in rows[0].cuts]
    columns = (
        Column("schedule"),
        *(column for name in names for column in (Column(name, right=True), Column("must", right=True))),
    )
    cells = tuple(
        (row.name, *(text for cut in row.cuts for text in (_part(cut.crosses), _part(cut.needed)))) for row in rows
    )
    return (Table(columns, cells, "Data that crosses the cuts, and that must cross them, as parts of M:"),)


def _choice_tables(found: Comparison) -> tuple[Table, ...]:
    """Return the tables of what NCCL chooses and of its best setting for each size; none without these rows."""
    return tuple(_choice_table(row) for row in found.rows if row.choices)


def _choice_table(row: Compared) -> Table:
    columns = (
        Column("size", size_name, right=True),
        Column("algorithm"),
        Column("protocol"),
        Column("channels", right=True),
        Column("expected us", "{:.4g}".format, right=True),
        Column("simulated us", "{:.4g}".format, right=True),
        Column("setting" if row.settings else None),
    )
    settings = row.settings or ("",) * len(row.choices)
    rows = tuple(
        (each.size, each.algorithm, each.protocol, each.channels, each.microseconds, point.seconds * 1e6, setting)
        for each, point, setting in zip(row.choices, row.times, settings, strict=True)
    )
    what = "NCCL's best setting for each size" if row.settings else "What NCCL chooses by itself"
    return Table(columns, rows, f"{what}, and the time that it expects, by {row.table}:")


def _part(value: Fraction) -> str:
    return str(value) if value.denominator < _LARGEST else f"{float(value):.4g}"


def _document(row: Compared) -> dict[str, object]:
    return {
        "name": row.name,
        "family": row.family,
        "algbw": row.algbw,
        "algbw_float": float(row.algbw),
        "share": float(row.share),
        "valid": row.valid,
        "steps" if row.family == "steps" else "height": row.height,
        "times": [_point(point) | choice for point, choice in zip(row.times, _choices(row), strict=True)],
        **({"nccl": row.table} if row.table else {}),
        "reason": row.reason,
        "cuts": [{"cut": each.cut, "crosses": each.crosses, "needed": each.needed} for each in row.cuts],
    }


def _choices(row: Compared) -> list[dict[str, object]]:
    if not row.choices:
        return [{}] * len(row.times)
    return [
        {
            "algorithm": each.algorithm,
            "protocol": each.protocol,
            "channels": each.channels,
            "nccl_us": each.microseconds,
            **({"setting": setting} if setting else {}),
        }
        for each, setting in zip(row.choices, row.settings or ("",) * len(row.choices), strict=True)
    ]


def _point(point: Point) -> dict[str, object]:
    return {"size": point.size, "time_us": point.seconds * 1e6, "algbw": point.algbw, "busbw": point.busbw}
