"""What was measured between processes: the table of nccl-tests with more columns, and the JSON document."""

from collections.abc import Iterator, Sequence

from forestcoll.measurement.bench import BenchReport, BenchRow, Timing

_TYPES = {
    "i8": "int8",
    "u8": "uint8",
    "i32": "int32",
    "i64": "int64",
    "f16": "half",
    "f32": "float",
    "f64": "double",
    "bf16": "bfloat16",
    "i16": "int16",
}
_HEAD = ("size", "count", "type", "redop", "root")
_TIMES = ("time", "algbw", "busbw", "#wrong")
_MORE = ("bound", "share", "library", "speed-up", "path")
_WIDTHS = (12, 12, 8, 10, 6, 10, 8, 8, 7, 10, 8, 8, 7, 8, 7, 10, 8, 13)


def title_lines(report: BenchReport) -> list[str]:
    """Return the lines above the rows; each begins with `#`, as in nccl-tests."""
    schedule, unit = report.schedule, report.unit
    relays = report.size - report.members
    ranks = f"{report.members} ranks" + (f" and {relays} relays" if relays else "")
    bound = "none known" if report.bound is None else f"{_number(float(report.bound))} {unit}"
    library = "none" if report.other_library is None else report.other_library
    facts = (
        f"# {report.name}: {schedule.collective.value} on {schedule.topology.name}",
        f"# {ranks}, {schedule.size}",
        f"# bound of algbw: {bound}; pacing: {'on' if report.pacing else 'off'}; library: {library}",
        f"# {'':46}{'out of place':^39}{'in place':^35}",
    )
    units = (
        "(B)",
        "(elements)",
        "",
        "",
        "",
        *("(us)", f"({unit})", f"({unit})", "") * 2,
        f"({unit})",
        "",
        "(us)",
        "",
        "",
    )
    return [*facts, _line((*_HEAD, *_TIMES, *_TIMES, *_MORE), "#"), _line(units, "#")]


def row_line(row: BenchRow) -> str:
    """Return one row; its first 13 columns are those of nccl-tests."""
    case = row.case
    reduces = case.plan.collective.reduces
    head = (
        str(case.size),
        str(case.count),
        _TYPES[case.element.text],
        case.op.value if reduces else "none",
        "-1" if case.plan.root is None else str(case.plan.root),
    )
    more = (
        "-" if row.bound is None else _number(float(row.bound)),
        "-" if row.share is None else f"{row.share:.1%}",
        "-" if row.other_library is None else _number(row.other_library.mean_us),
        "-" if row.speedup is None else f"{row.speedup:.2f}x",
        row.path,
    )
    in_place = ("-",) * 4 if row.in_place is None else _times(row, row.in_place)
    return _line((*head, *_times(row, row.out_of_place), *in_place, *more), "")


def end_lines(reports: Sequence[BenchReport]) -> list[str]:
    """Return the lines below the rows of all schedules."""
    rows = [row for report in reports for row in report.rows]
    wrong = sum(report.wrong for report in reports)
    checked = any(row.out_of_place.wrong is not None for row in rows)
    verdict = f"{wrong} {'OK' if not wrong else 'FAILED'}" if checked else "not checked"
    busbws = [row.busbw(timing) for row in rows for timing in row.timings]
    mean = sum(busbws) / len(busbws) if busbws else 0.0
    return [f"# Out of bounds values : {verdict}", f"# Avg bus bandwidth    : {_number(mean)}"]


def bench_document(reports: Sequence[BenchReport]) -> dict[str, object]:
    """Return the JSON object of the reports of one or more schedules on a network."""
    first = reports[0]
    return {
        "topology": first.schedule.topology.name,
        "ranks": first.size,
        "members": first.members,
        "unit": first.unit,
        "pacing": first.pacing,
        "library": first.other_library,
        "wrong": sum(report.wrong for report in reports),
        "rows": [_row_document(report, row) for report in reports for row in report.rows],
    }


def _row_document(report: BenchReport, row: BenchRow) -> dict[str, object]:
    case, algbw = row.case, report.schedule.algbw
    other = row.other_library
    return {
        "schedule": report.name,
        "collective": case.plan.collective.value,
        "size": case.size,
        "count": case.count,
        "dtype": case.element.text,
        "op": case.op.value,
        "root": case.plan.root,
        **_timing_document(row, row.out_of_place),
        "in_place": None if row.in_place is None else _timing_document(row, row.in_place),
        "schedule_algbw": None if algbw is None else str(algbw),
        "bound_algbw": None if row.bound is None else str(row.bound),
        "share": row.share,
        "library_time_us": None if other is None else other.mean_us,
        "library_times_us": None if other is None else [seconds * 1e6 for seconds in other.seconds],
        "speedup": row.speedup,
        "path": row.path,
    }


def _timing_document(row: BenchRow, timing: Timing) -> dict[str, object]:
    return {
        "time_us": timing.mean_us,
        "times_us": [seconds * 1e6 for seconds in timing.seconds],
        "algbw": row.algbw(timing),
        "busbw": row.busbw(timing),
        "wrong": timing.wrong,
    }


def _times(row: BenchRow, timing: Timing) -> Iterator[str]:
    yield _number(timing.mean_us)
    yield _number(row.algbw(timing))
    yield _number(row.busbw(timing))
    yield "N/A" if timing.wrong is None else str(timing.wrong)


def _number(value: float) -> str:
    """Return a number with four digits, without an exponent."""
    if value >= 1000:
        return f"{value:.0f}"
    digits = 2 if value >= 10 else 3 if value >= 1 else 4
    return f"{value:.{digits}f}"


def _line(cells: tuple[str, ...], mark: str) -> str:
    padded = [cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=True)]
    padded[0] = mark + padded[0][len(mark) :]
    return " ".join(padded).rstrip()
