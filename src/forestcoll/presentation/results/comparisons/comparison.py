"""A comparison as the command prints it: tables and sentences.

The short form fits on a screen: the rows that matter, and a sentence for each of the first. JSON always has everything.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Any

from forestcoll.algorithms.baseline import AS_CHOSEN, LIBRARIES, OWN, baselines
from forestcoll.base.errors import plural
from forestcoll.base.units import size_name
from forestcoll.comparison import Comparison
from forestcoll.comparison import Row as Compared
from forestcoll.presentation.by_size import best_document, best_table
from forestcoll.presentation.names import counted
from forestcoll.presentation.tables import Column, Page, Row, Table, row
from forestcoll.presentation.text import bandwidth, percent
from forestcoll.simulation import Point

_LARGEST = 10_000
"""The greatest denominator of a fraction that is printed exactly."""


_MOST_ROWS, _MOST_REASONS = 10, 5
"""The most rows of the short form, and the most sentences about them."""

_ALWAYS = {OWN, AS_CHOSEN, *LIBRARIES, "two-level"}
"""The rows that the short form always has: what users run, or write by hand."""


def comparison_page(found: Comparison, *, complete: bool = False) -> Page:
    """Return what a person reads of a comparison.

    Args:
        found: the comparison.
        complete: whether all rows, sentences and reasons are shown; they also are if there are at most ten algorithms.
    """
    topology, demand = found.topology, found.demand
    title = f"{topology.name}: {demand.collective}, {counted(topology, demand.ranks)}"
    unit, best = topology.bandwidth_unit, found.bound.algbw
    kind = "schedule of trees" if found.bound.proof.trees_only else "schedule"
    most = f"No {kind} exceeds {bandwidth(best, unit)}, busbw {bandwidth(best * found.busbw_factor, unit)}."
    skipped_document = [{"name": each.name, "reason": each.reason} for each in found.skipped]
    is_complete = complete or len(found.rows) + len(found.skipped) <= _MOST_ROWS
    blocks: tuple[Row | Table | str, ...] = (
        row(topology=topology.name, collective=demand.collective, unit=unit, optimal_algbw=best),
        row(optimal_busbw=best * found.busbw_factor, rows=[_document(found, each) for each in found.rows]),
        row(skipped=skipped_document),
        most,
        *(_complete(found) if is_complete else _short(found)),
    )
    return Page(title, blocks)


def _complete(found: Comparison) -> list[Table | str]:
    """Return all rows, what crosses the cuts, what NCCL chooses, and all sentences."""
    skipped = [f"  {each.name}: {each.reason}" for each in found.skipped]
    return [
        schedule_table(found),
        *_best_tables(found),
        *_cut_tables(found),
        *_choice_tables(found),
        *_reasons(found.rows),
        *(["Do not apply:", *skipped] if skipped else []),
    ]


def _short(found: Comparison) -> list[Table | str]:
    """Return the rows that matter, and sentences for the first of them."""
    shown = rows_that_matter(found)
    left_out = len(found.rows) - len(shown)
    more = [f"and {plural(left_out, 'more row')}; --all shows everything"] if left_out else []
    skipped = [f"Do not apply: {', '.join(each.name for each in found.skipped)}."] if found.skipped else []
    words = [*_best_in_words(found), *_choices_in_words(found)]
    return [schedule_table(found, shown, more), *words, *_reasons(shown[:_MOST_REASONS]), *skipped]


def _reasons(rows: Sequence[Compared]) -> list[str]:
    return ["What limits them:", *(f"  {row.name}: {row.reason}." for row in rows)]


def rows_that_matter(found: Comparison) -> list[Compared]:
    """Return the rows of the short form, the fastest first.

    They are all rows if these are few. Else they are forestcoll's row, files of the user, what NCCL and RCCL run, two
    levels, and then the fastest others, without those whose figures are those of a row that is there.
    """
    if len(found.rows) <= _MOST_ROWS:
        return list(found.rows)
    named = {each.name for each in baselines()}
    first = {row.name for row in found.rows if row.name in _ALWAYS or row.name not in named}
    figures = {_figures(row) for row in found.rows if row.name in first}
    for each in found.rows:
        if len(first) < _MOST_ROWS and _figures(each) not in figures:
            first.add(each.name)
            figures.add(_figures(each))
    return [row for row in found.rows if row.name in first]


def _figures(row: Compared) -> tuple[object, ...]:
    return row.algbw, row.height, row.times


def _best_in_words(found: Comparison) -> list[str]:
    """Return the best schedules of forestcoll for the sizes, in one sentence; none if no times are simulated."""
    own = next((each for each in found.rows if each.best), None)
    if own is None:
        return []
    spans = [(method, list(each)) for method, each in groupby(own.best, lambda best: best.method)]
    words = (
        f"{method} from {size_name(each[0].point.size)} ({', '.join(f'{best.share:.0%}' for best in each)})"
        for method, each in spans
    )
    return [f"Best of {own.name} by size: {', '.join(words)}; in brackets: the least possible time / the time."]


def _choices_in_words(found: Comparison) -> list[str]:
    """Return what NCCL chooses for the sizes, in one sentence; none without its row."""
    chosen = next((each for each in found.rows if each.choices), None)
    if chosen is None:
        return []
    spans = groupby(chosen.choices, lambda each: (each.algorithm, each.protocol))
    words = (f"{' '.join(what)} from {size_name(next(each).size)}" for what, each in spans)
    return [f"By {chosen.table}, NCCL chooses {', '.join(words)}."]


def schedule_table(found: Comparison, shown: Sequence[Compared] | None = None, more: Sequence[str] = ()) -> Table:
    """Return the table of schedules: of all rows if `shown` is None; `more` is a line above the notes."""
    listed = found.rows if shown is None else shown
    sizes = next(([point.size for point in row.times] for row in listed if row.times), [])
    columns = (
        Column("schedule"),
        Column("algbw", right=True),
        Column("busbw", right=True),
        Column("of the bound", percent, right=True),
        Column("sends", _or_dash(str), right=True),
        *(Column(size_name(size), _or_dash("{:.4g}".format), right=True) for size in sizes),
    )
    factor = found.busbw_factor
    rows = tuple(
        (row.name, algbw_text(row), busbw_text(row, factor), row.share, row.height, *_algbws(row, len(sizes)))
        for row in listed
    )
    unit = found.topology.bandwidth_unit
    note = f"algbw in {unit}, for large data and simulated for each size; busbw = {factor} algbw, as in nccl-tests"
    return Table(columns, rows, notes=(*more, note))


def _algbws(row: Compared, sizes: int) -> tuple[float | None, ...]:
    return tuple(point.algbw for point in row.times) or (None,) * sizes


def _or_dash(show: Callable[[Any], str]) -> Callable[[Any], str]:
    """Return a function that shows a value, or a dash for None."""
    return lambda value: "-" if value is None else show(value)


def algbw_text(row: Compared) -> str:
    """Return the algbw of a row as a decimal number, or that the row is not valid."""
    if not row.valid:
        return "not valid"
    return _decimal(row.algbw)


def busbw_text(row: Compared, factor: Fraction) -> str:
    """Return the busbw of a row as a decimal number, or a dash if the row is not valid."""
    return _decimal(row.algbw * factor) if row.valid else "-"


def _decimal(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"


def _best_tables(found: Comparison) -> list[Table]:
    """Return the table of the best schedules of forestcoll; none if no times are simulated."""
    return [best_table(row.best) for row in found.rows if row.best]


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


def _document(found: Comparison, row: Compared) -> dict[str, object]:
    return {
        "name": row.name,
        "family": row.family,
        "algbw": row.algbw,
        "algbw_float": float(row.algbw),
        "busbw": row.algbw * found.busbw_factor,
        "share": float(row.share),
        "valid": row.valid,
        "steps" if row.family == "steps" else "height": row.height,
        "times": [_point(point) | choice for point, choice in zip(row.times, _choices(row), strict=True)],
        **({"nccl": row.table} if row.table else {}),
        "reason": row.reason,
        "cuts": [{"cut": each.cut, "crosses": each.crosses, "needed": each.needed} for each in row.cuts],
    }


def _choices(row: Compared) -> list[dict[str, object]]:
    if row.best:
        return [best_document(each) for each in row.best]
    if row.algorithms:
        return [{"algorithm": each} for each in row.algorithms]
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
