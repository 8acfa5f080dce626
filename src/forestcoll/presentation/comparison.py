"""A comparison as a table, sentences and JSON."""

from fractions import Fraction

from forestcoll.comparison import Comparison, Row
from forestcoll.presentation.names import counted
from forestcoll.presentation.tables import Column, Page, Table
from forestcoll.presentation.text import bandwidth, percent, printable
from forestcoll.simulation import Point
from forestcoll.units import size_name


def comparison_page(found: Comparison) -> Page:
    """Return what a person reads of a comparison."""
    topology, demand = found.topology, found.demand
    title = f"{printable(topology.name)}: {demand.collective}, {counted(topology, demand.ranks)}"
    best = f"No schedule exceeds {bandwidth(found.bound.algbw, topology.bandwidth_unit)}."
    reasons = [f"  {printable(row.name)}: {row.reason}." for row in found.rows]
    skipped = [f"  {each.name}: {each.reason}" for each in found.skipped]
    blocks: tuple[Table | str, ...] = (
        best,
        _table(found),
        "What limits them:",
        *reasons,
        *(("Do not apply:", *skipped) if skipped else ()),
    )
    return Page(title, blocks)


def _table(found: Comparison) -> Table:
    sizes = [point.size for point in found.rows[0].times]
    columns = (
        Column("schedule"),
        Column("algbw", right=True),
        Column("of the bound", percent, right=True),
        Column("sends", right=True),
        *(Column(size_name(size), "{:.4g}".format, right=True) for size in sizes),
    )
    rows = tuple(
        (row.name, algbw_text(row.algbw), row.share, row.height, *(p.algbw for p in row.times)) for row in found.rows
    )
    unit = printable(found.topology.bandwidth_unit)
    return Table(columns, rows, notes=(f"algbw in {unit}, for large data and simulated for each size",))


def algbw_text(algbw: Fraction) -> str:
    """Return an algbw as a decimal number."""
    return str(algbw) if algbw.denominator == 1 else f"{float(algbw):.6g}"


def comparison_document(found: Comparison) -> dict[str, object]:
    """Return the JSON of a comparison."""
    return {
        "topology": found.topology.name,
        "collective": found.demand.collective.value,
        "optimal_algbw": str(found.optimal_algbw),
        "unit": found.topology.bandwidth_unit,
        "rows": [_row(row) for row in found.rows],
        "skipped": [{"name": each.name, "reason": each.reason} for each in found.skipped],
    }


def _row(row: Row) -> dict[str, object]:
    return {
        "name": row.name,
        "family": row.family,
        "algbw": str(row.algbw),
        "algbw_float": float(row.algbw),
        "share": float(row.share),
        "valid": True,
        "steps" if row.family == "steps" else "height": row.height,
        "times": [_point(point) for point in row.times],
        "reason": row.reason,
    }


def _point(point: Point) -> dict[str, object]:
    return {"size": point.size, "time_us": point.seconds * 1e6, "algbw": point.algbw, "busbw": point.busbw}
