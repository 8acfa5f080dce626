"""A measurement next to the bounds of its network, or a report of RAS: as tables and sentences, and as JSON."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from forestcoll.base.errors import plural
from forestcoll.base.units import size_name
from forestcoll.nccl.comparison import LARGE, LogComparison, TestComparison, Verdict
from forestcoll.nccl.healthy import ANY, NVLS, RINGS, TREES
from forestcoll.nccl.limits import Limit
from forestcoll.nccl.oddities import oddities
from forestcoll.nccl.results import LogRow, Measured, MissingRank, RasCommunicator
from forestcoll.presentation.results.schedules import explanations
from forestcoll.presentation.tables import Column, Page, Row, Table, labelled, row
from forestcoll.presentation.text import bandwidth, duration, percent
from forestcoll.topology.link_classes import LinkClass

_MOST_SKIPPED = 5


def _values_of(found: LogComparison) -> dict[str, object]:
    """Return the values of a comparison in JSON. Bandwidths that were measured, and shares, are numbers in GB/s."""
    document: dict[str, object] = {
        "topology": None if found.topology is None else found.topology.name,
        "log": found.log.name,
        "unit": "GB/s",
        "tests": [_test_document(found, test) for test in found.tests],
        "skipped": [{"line": line, "reason": reason} for line, reason in found.log.skipped],
        "odd_hardware": [] if found.topology is None else oddities(found.topology),
    }
    return document | (_ras_document(found.log.communicators) if found.log.communicators else {})


def _ras_document(communicators: Sequence[RasCommunicator]) -> dict[str, object]:
    """Return what RAS says: the missing ranks of the largest communicator, and all communicators."""
    largest = max(communicators, key=lambda each: (each.size or 0, len(each.missing)))
    return {
        "missing_ranks": [each.rank for each in largest.missing],
        "ras": [
            {
                "communicator": each.name,
                "ranks": each.size,
                "missing": [{"rank": rank.rank, "host": rank.host, "pid": rank.pid} for rank in each.missing],
                "late": list(each.late),
            }
            for each in communicators
        ],
    }


def comparison_page(found: LogComparison) -> Page:
    """Return the page of a comparison."""
    blocks: list[Row | Table | str] = [row(**_values_of(found))]
    for test in found.tests:
        blocks += _test_blocks(found, test)
    blocks += _ras_blocks(found.log.communicators)
    blocks += [] if found.topology is None else [f"Odd: {sentence}." for sentence in oddities(found.topology)]
    for line, reason in found.log.skipped[:_MOST_SKIPPED]:
        blocks.append(f"Line {line} was skipped: {reason}.")
    if len(found.log.skipped) > _MOST_SKIPPED:
        blocks.append(f"{len(found.log.skipped) - _MOST_SKIPPED} more lines were skipped; --json lists them.")
    where = "" if found.topology is None else f" on {found.topology.name}"
    return Page(f"{found.log.name}{where}", tuple(blocks))


def _ras_blocks(communicators: Sequence[RasCommunicator]) -> Iterator[str]:
    for each in communicators:
        name = f"Communicator {each.name}" if each.name else "All communicators"
        size = "" if each.size is None else f" of {plural(each.size, 'rank')}"
        lost = ", ".join(f"rank {rank.rank}{_process(rank)}" for rank in each.missing)
        yield f"{name}{size}: {f'missing: {lost}' if lost else 'no rank is missing'}."
        yield from (f"Note: {sentence}." for sentence in each.late)


def _process(rank: MissingRank) -> str:
    return "" if rank.pid is None else f" (process {rank.pid} on {rank.host})"


def _test_document(found: LogComparison, test: TestComparison) -> dict[str, object]:
    document: dict[str, object] = {
        "collective": None if test.collective is None else test.collective.value,
        "program": test.test.program,
        "line": test.test.line,
        "reason": test.reason or None,
        "ranks": test.test.ranks,
        "bound_algbw": None,
        "library_algbw": None,
        "library_best_algbw": None,
        "verdict": None,
        "causes": [
            {"change": each.change, "expected_busbw": _rounded(each.busbw), "test": each.test} for each in test.causes
        ],
        "remarks": list(test.remarks),
        "rows": [_row_document(test, row) for row in test.test.rows],
    }
    if test.bound is None or test.demand is None or found.topology is None or test.limit is None:
        return document
    members = test.demand.members(found.topology)
    factor = test.demand.collective.busbw_factor(len(members))
    row, best = test.best
    algbw, rings = test.bound_algbw or Fraction(0), test.rings_algbw
    return document | {
        "ranks": len(members),
        "bound_algbw": str(algbw),
        "bound_busbw": str(algbw * factor),
        "ring_algbw": None if rings is None else str(rings),
        "ring_share": None if rings is None else _rounded(best / rings),
        "best": {
            "size": None if row is None else row.size,
            "algbw": _rounded(best),
            "busbw": _rounded(best * factor),
            "share": _rounded(best / algbw),
        },
        "library_algbw": _exact(test.limit.reached, test.gbps),
        "library_best_algbw": _exact(test.best_of_settings, test.gbps),
        "verdict": None if test.verdict is None else test.verdict.value,
        "usual": _usual_document(test.limit, test.gbps),
        "limiting_links": _classes(test.limiting),
        "ring_limiting_links": _classes(test.limiting_rings),
        "proof": explanations.document(test.bound, found.topology),
    }


def _exact(algbw: Fraction | None, gbps: Fraction) -> str | None:
    """Return an algbw in the unit of the topology as GB/s."""
    return None if algbw is None else str(algbw * gbps)


def _usual_document(limit: Limit, gbps: Fraction) -> dict[str, object]:
    usual = limit.usual
    return {
        "algorithm": usual.algorithm,
        "share": _rounded(usual.low),
        "most_share": _rounded(usual.high),
        "of_algbw": str(limit.algbw * gbps),
        "source": usual.source or None,
    }


def _classes(limiting: tuple[LinkClass, ...]) -> list[dict[str, object]]:
    return [
        {"links": len(each.links), "bandwidth": str(each.bandwidth), "between": list(each.sorts)} for each in limiting
    ]


def _row_document(test: TestComparison, row: LogRow) -> dict[str, object]:
    return {
        "size": row.size,
        "out_of_place": _result_document(test, row.out_of_place),
        "in_place": _result_document(test, row.in_place),
        "bound_algbw": None if test.bound_algbw is None else str(test.bound_algbw),
    }


def _result_document(test: TestComparison, result: Measured | None) -> dict[str, object] | None:
    if result is None:
        return None
    share = test.share(result.algbw)
    return {
        "time_us": float(result.time_us),
        "algbw": _rounded(result.algbw),
        "busbw": float(result.busbw),
        "wrong": result.wrong,
        "share": None if share is None else _rounded(share),
    }


def _rounded(value: Fraction) -> float:
    return round(float(value), 6)


def _test_blocks(found: LogComparison, test: TestComparison) -> Iterator[Table | str]:
    name = test.test.program if test.collective is None else test.collective.value
    place = f" (line {test.test.line})" if test.test.line else ""
    if test.bound is None or test.demand is None or found.topology is None:
        yield f"{name or 'a test'}{place}: {test.reason}."
        yield _results(test)
        yield from (f"Note: {remark}." for remark in test.remarks)
        return
    count = len(test.demand.members(found.topology))
    yield f"{name} over {plural(count, 'rank')}{place}:"
    yield labelled(_figures(found.topology.bandwidth_unit, test, test.demand.collective.busbw_factor(count)))
    if test.causes:
        yield "Causes with which this would be normal, the best first (--without, --degrade: options of explain):"
        yield _causes(test)
    if test.test.rows:
        yield _results(test)
    first, *more = explanations.explain(test.bound, found.topology, test.demand)
    yield f"Bottleneck: {first}"
    yield from more
    yield from (f"Note: {remark}." for remark in test.remarks)


def _figures(unit: str, test: TestComparison, factor: Fraction) -> Iterator[tuple[str, str]]:
    algbw, (row, best) = test.bound_algbw or Fraction(0), test.best
    sums = [each.algbw * test.gbps for each in test.limits if each.usual.bound == NVLS]
    without = " without NVLS" if any(each > algbw for each in sums) else ""
    yield "bound", f"{_bandwidths(algbw, factor)}{without}"
    where = "" if row is None else f" at {size_name(row.size)}"
    figures = f"algbw {float(best):.4g} GB/s, busbw {float(best * factor):.4g} GB/s{where}"
    yield "measured", f"{figures}: {percent(best / algbw)} of the bound"
    if test.limiting:
        yield "limited by", "; ".join(each.name(unit) for each in test.limiting)
    if test.rings_algbw is not None:
        yield "NCCL's rings", _at_most(test.rings_algbw, best, factor)
        yield "limited by", "; ".join(each.name(unit) for each in test.limiting_rings)
    if (nccl := test.nccl) is not None and (nccl.best or 0) > (nccl.algbw or 0):
        best_setting = _bandwidths((nccl.best or Fraction(0)) * test.gbps, factor)
        yield "NCCL's best", f"{best_setting} with {nccl.setting}"
    for each in sums:
        yield "NVLS", _at_most(each, best, factor)
    for limit in test.limits:
        yield "usual", _usual(limit, factor * test.gbps)
    yield "verdict", _verdict(test)


def _bandwidths(algbw: Fraction, factor: Fraction) -> str:
    return f"algbw {bandwidth(algbw, 'GB/s')}, busbw {bandwidth(algbw * factor, 'GB/s')}"


def _at_most(limit: Fraction, measured: Fraction, factor: Fraction) -> str:
    return f"at most {_bandwidths(limit, factor)}; {percent(measured / limit)} of it measured"


def _usual(limit: Limit, factor: Fraction) -> str:
    usual, method = limit.usual, _METHODS[limit.usual.algorithm]
    low, high = (limit.algbw * each * factor for each in (usual.low, usual.high))
    span = f"{float(low):.4g}" if low == high else f"{float(low):.4g} to {float(high):.4g}"
    why = usual.source or f"assumed: 60 to 95 % of what {method} can reach"
    return f"{method}: busbw {span} GB/s ({why})"


def _verdict(test: TestComparison) -> str:
    if test.verdict is None or test.limit is None:
        return "-"
    algorithm, share = test.limit.usual.algorithm, test.share(test.best[1]) or Fraction(1)
    row = test.best[0]
    if row is not None and row.size < LARGE and test.verdict in (Verdict.LOW, Verdict.VERY_LOW):
        return f"{test.verdict.value}: but the messages are too small for a verdict about bandwidth"
    text = f"{test.verdict.value}: {_VERDICTS[test.verdict].format(_METHODS[algorithm])}"
    another = test.verdict is Verdict.NORMAL and algorithm == RINGS and share < Fraction(3, 5)
    return f"{text}; the rest of the bound needs another schedule, not other hardware" if another else text


_METHODS = {RINGS: "rings", TREES: "trees", NVLS: "NVLS", ANY: "any schedule"}

_VERDICTS = {
    Verdict.NORMAL: "as usual with {}",
    Verdict.LOW: "less than usual with {}; check the links below, and the size of the messages",
    Verdict.VERY_LOW: "less than half of what is usual with {}; a part has failed, or data takes a slow path",
    Verdict.ABOVE: "the network or the collective is not the one that was measured",
}


def _causes(test: TestComparison) -> Table:
    columns = (Column("cause"), Column("expected busbw", right=True), Column("test"))
    return Table(columns, tuple((each.change, f"{float(each.busbw):.4g} GB/s", each.test) for each in test.causes))


def _results(test: TestComparison) -> Table:
    columns = (
        Column("size", size_name, right=True),
        Column("time", right=True),
        Column("algbw", right=True),
        Column("busbw", right=True),
        Column("of bound", right=True),
        Column("in place: time", right=True),
        Column("algbw", right=True),
        Column("busbw", right=True),
        Column("of bound", right=True),
        Column(None, key="size"),
        *(
            Column(None, key=place + key)
            for place in ("", "in_place_")
            for key in ("time_us", "algbw", "busbw", "share")
        ),
    )
    rows = tuple(
        (
            row.size,
            *_cells(test, row.out_of_place),
            *_cells(test, row.in_place),
            row.size,
            *_values(test, row.out_of_place),
            *_values(test, row.in_place),
        )
        for row in test.test.rows
    )
    return Table(columns, rows)


def _values(test: TestComparison, result: Measured | None) -> tuple[Fraction | None, ...]:
    """Return time, algbw, busbw and share of a result as numbers, for `records`."""
    if result is None:
        return (None,) * 4
    return result.time_us, result.algbw, result.busbw, test.share(result.algbw)


def _cells(test: TestComparison, result: Measured | None) -> tuple[str, str, str, str]:
    if result is None:
        return "-", "-", "-", "-"
    share = test.share(result.algbw)
    reached = "-" if share is None else percent(share)
    return duration(result.time_us), f"{float(result.algbw):.4g}", f"{float(result.busbw):.4g}", reached
