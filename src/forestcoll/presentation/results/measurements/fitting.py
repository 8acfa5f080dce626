"""Fitted costs as a table of parameters, and tables of measured and simulated times."""

from forestcoll.base.units import size_name
from forestcoll.measurement.fit import FittedCosts
from forestcoll.measurement.fit.fit import TimeComparison
from forestcoll.measurement.fit.parameters import PARAMETERS
from forestcoll.presentation.tables import Column, Page, Table, row
from forestcoll.presentation.text import duration


def fit_page(found: FittedCosts) -> Page:
    """Return the page of a fit."""
    rows = tuple((name, _value(found, name), _state(found, name)) for name in PARAMETERS)
    parameters = Table((Column("parameter"), Column("value", right=True), Column()), rows)
    left_out = [f"  {each.name} was not fitted: {each.reason}; {each.fix}." for each in found.left_out]
    error = f"Error of the fit: {found.mean_error:.1%} on average, {found.worst_error:.1%} at worst."
    tables = tuple(_table(each) for each in found.comparisons)
    values = row(
        costs=found.costs.document(),
        fitted=found.fitted,
        left_out=[{"name": each.name, "reason": each.reason} for each in found.left_out],
        mean_error=found.mean_error,
        worst_error=found.worst_error,
        schedules=[{"name": table.title, "times": table} for table in tables],
    )
    count = len(found.errors)
    return Page(f"Costs fitted to {count} measured times", (parameters, *left_out, *tables, error, values))


def _value(found: FittedCosts, name: str) -> str:
    value = getattr(found.costs, name)
    if value is None:
        return "as efficiency" if name == "nic_efficiency" else "no limit"
    return f"{value:.4g}"


def _state(found: FittedCosts, name: str) -> str:
    return "fitted" if name in found.fitted else ""


def _table(each: TimeComparison) -> Table:
    columns = (
        Column("size", size_name, right=True, key="size"),
        Column("measured", duration, right=True, key="measured_us"),
        Column("simulated", duration, right=True, key="simulated_us"),
        Column("measured GB/s", "{:.4g}".format, right=True),
        Column("simulated GB/s", "{:.4g}".format, right=True),
        Column("error of time", "{:+.1%}".format, right=True, key="error"),
    )
    measured = each.measured
    rows = tuple(
        (size, one * 1e6, other * 1e6, size / one / 1e9, size / other / 1e9, error)
        for size, one, other, error in zip(measured.sizes, measured.seconds, each.simulated, each.errors, strict=True)
    )
    return Table(columns, rows, measured.name)
