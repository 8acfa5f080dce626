"""A log of nccl-tests next to the bounds of its network: as tables and sentences, and as JSON."""

from collections.abc import Iterator
from fractions import Fraction

from forestcoll.base.errors import plural
from forestcoll.base.units import size_name
from forestcoll.demand.collective import Collective
from forestcoll.nccl.comparison import LogComparison, TestComparison, Verdict
from forestcoll.nccl.log import LogRow, Measured
from forestcoll.presentation.results.schedules import explanations
from forestcoll.presentation.tables import Column, Page, Table, labelled
from forestcoll.presentation.text import bandwidth, duration, percent
from forestcoll.solver.bounds.values import busbw_factor
from forestcoll.topology.link_classes import LinkClass

_MOST_SKIPPED = 5


def comparison_document(found: LogComparison) -> dict[str, object]:
    """Return the JSON of a comparison. Bandwidths that were measured, and shares, are numbers in GB/s."""
    return {
        "topology": found.topology.name,
        "log": found.log.name,
        "unit": "GB/s",
        "tests": [_test_document(found, test) for test in found.tests],
        "skipped": [{"line": line, "reason": reason} for line, reason in found.log.skipped],
    }


def comparison_page(found: LogComparison) -> Page:
    """Return what a person reads of a comparison."""
    blocks: list[Table | str] = []
    for test in found.tests:
        blocks += _test_blocks(found, test)
    for line, reason in found.log.skipped[:_MOST_SKIPPED]:
        blocks.append(f"Line {line} was skipped: {reason}.")
    if len(found.log.skipped) > _MOST_SKIPPED:
        blocks.append(f"{len(found.log.skipped) - _MOST_SKIPPED} more lines were skipped; --json lists them.")
    return Page(f"{found.log.name} on {found.topology.name}", tuple(blocks))


def _test_document(found: LogComparison, test: TestComparison) -> dict[str, object]:
    document: dict[str, object] = {
        "collective": None if test.collective is None else test.collective.value,
        "program": test.test.program,
        "line": test.test.line,
        "reason": test.reason or None,
        "rows": [_row_document(test, row) for row in test.test.rows],
    }
    if test.bound is None or test.demand is None:
        return document
    members = test.demand.members(found.topology)
    factor = busbw_factor(test.demand.collective, len(members))
    row, best = test.best
    algbw, rings = test.bound_algbw or Fraction(0), test.rings_algbw
    return document | {
        "ranks": len(members),
        "bound_algbw": str(algbw),
        "bound_busbw": str(algbw * factor),
        "ring_algbw": None if rings is None else str(rings),
        "ring_share": None if rings is None else _rounded(best / rings),
        "best": {"size": row.size, "algbw": _rounded(best), "share": _rounded(best / algbw)},
        "verdict": None if test.verdict is None else test.verdict.value,
        "limiting_links": _classes(test.limiting),
        "ring_limiting_links": _classes(test.limiting_rings),
        "proof": explanations.document(test.bound, found.topology),
        "remarks": list(test.remarks),
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
    if test.bound is None or test.demand is None:
        yield f"{name} (line {test.test.line}): {test.reason}."
        yield _results(test)
        return
    count = len(test.demand.members(found.topology))
    yield f"{name} over {plural(count, 'rank')} (line {test.test.line}):"
    yield labelled(_figures(found, test, count))
    yield _results(test)
    first, *more = explanations.explain(test.bound, found.topology, test.demand)
    yield f"Bottleneck: {first}"
    yield from more
    yield from (f"Note: {remark}." for remark in test.remarks)


def _figures(found: LogComparison, test: TestComparison, count: int) -> Iterator[tuple[str, str]]:
    algbw, (row, best) = test.bound_algbw or Fraction(0), test.best
    factor = busbw_factor(test.demand.collective, count) if test.demand is not None else Fraction(1)
    yield "bound", f"algbw {bandwidth(algbw, 'GB/s')}, busbw {bandwidth(algbw * factor, 'GB/s')}"
    yield "best", f"algbw {float(best):.4g} GB/s at {size_name(row.size)}: {percent(best / algbw)} of the bound"
    unit = found.topology.bandwidth_unit
    if test.limiting:
        yield "limited by", "; ".join(each.name(unit) for each in test.limiting)
    if test.rings_algbw is not None:
        share, names = percent(best / test.rings_algbw), "; ".join(each.name(unit) for each in test.limiting_rings)
        yield "NCCL's rings", f"at most algbw {bandwidth(test.rings_algbw, 'GB/s')}; the best is {share} of it"
        yield "limited by", names
    yield "verdict", _verdict(test)


def _verdict(test: TestComparison) -> str:
    if test.verdict is None:
        return "-"
    return _VERDICTS[test.verdict] + (_OF_ALLREDUCE if _has_other_algorithms(test) else "")


def _has_other_algorithms(test: TestComparison) -> bool:
    return test.collective is Collective.ALLREDUCE and test.verdict is Verdict.LOW


_OF_ALLREDUCE = "; NCCL may also use trees or NVLS for an allreduce (NCCL_DEBUG=INFO says which)"

_VERDICTS = {
    Verdict.NORMAL: "normal: large messages usually reach 80 to 91 % of nominal bandwidth",
    Verdict.NORMAL_FOR_RINGS: "normal for rings: the rest of the bound needs another schedule, not other hardware",
    Verdict.LOW: "low: large messages usually reach 80 to 91 %; check the links below, and the size of the messages",
    Verdict.ABOVE: "above the bound: the network or the collective is not the one that was measured",
}


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
    )
    rows = tuple((row.size, *_cells(test, row.out_of_place), *_cells(test, row.in_place)) for row in test.test.rows)
    return Table(columns, rows)


def _cells(test: TestComparison, result: Measured | None) -> tuple[str, str, str, str]:
    if result is None:
        return "-", "-", "-", "-"
    share = test.share(result.algbw)
    reached = "-" if share is None else percent(share)
    return duration(result.time_us), f"{float(result.algbw):.4g}", f"{float(result.busbw):.4g}", reached
