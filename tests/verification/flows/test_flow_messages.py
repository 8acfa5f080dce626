"""The whole message of each fault of flows, also if the rules take the routes block by block."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from test_verify_flows import BOXES, DEMAND, GATHER, MATRIX, PART, RING, SCATTER, changed, with_entry

import fault_lists
from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.schedule import rows
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.proof import Bound, CutProof, LengthsProof, Proof, ReceiptProof
from forestcoll.schedule.rows import Rows
from forestcoll.topology import Shift, Symmetry
from forestcoll.verification import rules, verify
from forestcoll.verification.routes import table

TURN = Shift(4, np.array([1, 2, 3, 0], dtype=np.int32))


def with_shares(schedule: FlowSchedule, *first: Fraction) -> FlowSchedule:
    return changed(schedule, shares=(*first, *schedule.flows.shares[len(first) :]))


def with_source(schedule: FlowSchedule, place: int, node: int) -> FlowSchedule:
    return changed(schedule, sources=with_entry(schedule.flows.sources, place, node))


def with_target(schedule: FlowSchedule, place: int, node: int) -> FlowSchedule:
    return changed(schedule, targets=with_entry(schedule.flows.targets, place, node))


def claiming(schedule: FlowSchedule, algbw: int, proof: Proof) -> FlowSchedule:
    return replace(schedule, bound=Bound(schedule.collective, Fraction(algbw), proof))


def of_routes() -> Iterator[tuple[str, FlowSchedule]]:
    """Yield schedules with wrong routes, flows, shares or claims."""
    yield "ranks that fall", replace(PART, ranks=(3, 2, 0))
    for schedule, route in ((RING, [0, 9]), (RING, [0]), (BOXES, [0, 4, 0]), (RING, [0, 2]), (RING, [0, 1, 2])):
        yield f"route {route}", replace(schedule, routes=Rows.of([route]))
    yield "a route to a switch", replace(BOXES, routes=Rows.of([[0, 4]]))
    yield "a route from a switch", replace(BOXES, routes=Rows.of([[0, 4, 1], [4, 0]]))
    yield "a flow to its source", with_target(RING, 0, 0)
    yield "a target that is a switch", with_target(BOXES, 0, 5)
    yield "a source that is a switch", with_source(BOXES, 1, 4)
    yield "a target that is idle", with_target(PART, 0, 1)
    yield "a source that is idle", with_source(PART, 1, 1)
    yield "a target that is unknown", with_target(RING, 0, 7)
    yield "a negative target", with_target(RING, 2, -1)
    yield "a source that is unknown", with_source(RING, 1, 4)
    yield "another source", with_source(RING, 0, 3)
    yield "another target", with_target(RING, 0, 3)
    listed = [list(RING.flows.routes[place]) for place in range(len(RING.flows))]
    yield "no routes of flows", changed(RING, routes=Rows.of([[]] * len(listed)))
    yield "an unknown route", changed(RING, routes=Rows.of([[99]] * len(listed)))
    yield "an unknown second route", changed(RING, routes=Rows.of([[*listed[0], -1], *listed[1:]]))
    yield "the second route starts elsewhere", changed(RING, routes=Rows.of([[*listed[0], listed[0][0]], *listed[1:]]))
    yield "a later flow", changed(RING, routes=Rows.of([*listed[:2], [*listed[2], listed[0][0]], *listed[3:]]))
    flows = RING.flows
    fewer = {"sources": flows.sources[1:], "targets": flows.targets[1:], "shares": flows.shares[1:]}
    yield "a missing flow", changed(RING, **fewer, routes=Rows.of(listed[1:]))
    yield "a share of 0", with_shares(RING, Fraction(0))
    yield "a negative share", with_shares(RING, *RING.flows.shares[:3], Fraction(-1))
    yield "a share of 1/3", with_shares(RING, Fraction(1, 3))
    yield "a denominator of 4000 digits", with_shares(RING, Fraction(1, 10**3999))
    yield "the least denominator of 4001 digits", with_shares(RING, Fraction(1, 10**4000))
    yield (
        "an odd denominator of 4000 digits",
        with_shares(generate("ring:nodes=3", "all-to-all"), Fraction(1, 10**4000 - 1)),
    )
    yield "another algbw", replace(RING, algbw=Fraction(5))
    yield "a bound of an allgather", replace(RING, bound=Bound(Collective.ALLGATHER, Fraction(2), CutProof((0,))))
    yield "a receipt", claiming(RING, 2, ReceiptProof())
    yield "a cut for an all-to-all", claiming(RING, 2, CutProof((0,)))
    yield "a cut without data", claiming(GATHER, 2, CutProof((0,)))
    yield "a weaker cut", claiming(SCATTER, 3, CutProof((1,)))
    yield "a negative length", claiming(RING, 1, LengthsProof(((0, 1),), (-1,)))


def malformed() -> Iterator[tuple[str, FlowSchedule]]:
    """Yield schedules whose flat rows do not match, or that have no flow."""
    wrong = Rows(np.array([1, 2]), np.array([0, 1], dtype=np.int32))
    yield "routes that do not fit", replace(RING, routes=wrong)
    yield "lists of routes that do not fit", changed(RING, routes=wrong)
    nothing = RING.flows.sources[:0]
    yield "no flow", changed(RING, sources=nothing, targets=nothing, shares=(), routes=Rows.of([]))
    yield "too many sources", changed(RING, sources=np.append(RING.flows.sources, 0))
    yield "too many targets", changed(RING, targets=np.append(RING.flows.targets, 0))
    yield "too few shares", changed(RING, shares=RING.flows.shares[1:])


def matrix_of(size: int, *pairs: tuple[int, int], part: Fraction) -> tuple[tuple[Fraction, ...], ...]:
    """Return a demand matrix in which these pairs exchange this part of the data."""
    return tuple(tuple(part * ((row, column) in pairs) for column in range(size)) for row in range(size))


def of_demands() -> Iterator[tuple[str, FlowSchedule]]:
    """Yield schedules with a wrong demand matrix, or with one that says what the collective does."""
    matrix = DEMAND.matrix
    assert matrix is not None
    one, sixth = Fraction(1), Fraction(1, 6)
    yield "a matrix of one row", replace(DEMAND, matrix=((one,),))
    yield "a row too short", replace(DEMAND, matrix=(*matrix[:2], matrix[2][:2]))
    yield "a row too few", replace(DEMAND, matrix=matrix[:2])
    yield "an entry for oneself", replace(DEMAND, matrix=(matrix[0], (0 * one, one, 0 * one), matrix[2]))
    yield "a negative entry", replace(DEMAND, matrix=((0 * one, -one, 0 * one), *matrix[1:]))
    yield "a negative entry for oneself", replace(DEMAND, matrix=((-one,) * 3,) * 3)
    yield "flows without a demand", replace(DEMAND, matrix=(*matrix[:2], (0 * one,) * 3))
    more = [["0", "1", "1/3"], *MATRIX[1:]]
    yield (
        "a demand that is not met",
        replace(DEMAND, matrix=generate("ring:nodes=3", Demand("all-to-all", matrix=more)).matrix),
    )
    for rooted, root in ((GATHER, 0), (SCATTER, 1)):
        ends = [(node, root) if rooted is GATHER else (root, node) for node in range(6) if node != root]
        yield f"the matrix of {rooted.collective}", replace(rooted, matrix=matrix_of(6, *ends, part=sixth), bound=None)
        yield f"another matrix of {rooted.collective}", replace(rooted, matrix=matrix_of(6, (0, 2), part=one))
    yield "a gather from each to one", replace(GATHER, matrix=((0 * one, one, *[0 * one] * 4),) * 6)


def of_symmetries() -> Iterator[tuple[str, FlowSchedule]]:
    """Yield schedules with a symmetry, most of which do not fit."""
    base = generate("ring:nodes=4", "all-to-all", "flows:compact=true")
    turned = Symmetry((TURN,))
    yield "a symmetry", replace(base, symmetry=turned)
    for order, image in ((2, [1, 2, 3, 0]), (4, [1, 0, 3, 2]), (2, [2, 1, 0, 3]), (2, [0, 0, 1, 1])):
        shift = Shift(order, np.array(image, dtype=np.int32))
        yield f"a shift {image} of order {order}", replace(base, symmetry=Symmetry((shift,)))
    yield "a symmetry of a gather", replace(generate("ring:nodes=4", "gather:root=0"), symmetry=turned)
    skewed = generate("ring:nodes=4", Demand("all-to-all", matrix=[[0, 1, 0, 0], *[[0] * 4] * 3]))
    yield "a symmetry of other demands", replace(skewed, symmetry=turned)
    quarters = tuple(tuple(Fraction(row != column, 4) for column in range(4)) for row in range(4))
    yield "a symmetry of its demands", replace(base, matrix=quarters, symmetry=turned, bound=None)
    yield "a symmetry of written-out flows", replace(RING, symmetry=turned)
    yield "a symmetry of two orbits", swapped()
    yield "a share of the second orbit", changed(swapped(), shares=(*swapped().flows.shares[:-1], Fraction(1, 7)))


def swapped() -> FlowSchedule:
    """Return an all-to-all of four nodes as the flows of nodes 0 and 2, and an exchange of 0 with 1 and 2 with 3."""
    whole = generate("complete:nodes=4", "all-to-all")
    flows = whole.flows
    kept = [place for place, source in enumerate(flows.sources.tolist()) if source in {0, 2}]
    half = changed(
        whole,
        sources=flows.sources[kept],
        targets=flows.targets[kept],
        shares=tuple(flows.shares[place] for place in kept),
        routes=Rows.of([list(flows.routes[place]) for place in kept]),
    )
    return replace(half, symmetry=Symmetry((Shift(2, np.array([1, 0, 3, 2], dtype=np.int32)),)))


@pytest.mark.parametrize("size", [1, 2**20])
def test_every_message_of_flows(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BLOCK_ENTRIES", size)
    monkeypatch.setattr(table, "SORTED_ENTRIES", size)
    cases = [*of_routes(), *malformed(), *of_demands(), *of_symmetries()]
    found = [(name, verify(schedule).fault) for name, schedule in cases]
    fault_lists.check("flows", found)
    assert {fault.rule for _, fault in found if fault is not None} <= {name for name, _ in rules("flows")}


@pytest.mark.parametrize("schedule", [RING, BOXES, GATHER, SCATTER, DEMAND, PART])
def test_a_report_has_the_bound_and_the_exact_loads(schedule: FlowSchedule) -> None:
    report = verify(schedule)
    assert report.bound == schedule.bound is not None
    assert report.algbw == schedule.algbw
    assert {load.time for load in report.busiest} == {1 / schedule.algbw}
    assert len(report.busiest) == min(8, report.busiest_count)
    ids = [node.id for node in schedule.topology.nodes]
    links = {(ids[link.source], ids[link.target]) for link in schedule.topology.links}
    assert {(load.source, load.target) for load in report.busiest} <= links
    assert not verify(replace(schedule, bound=None)).optimal
    wrong = verify(replace(schedule, algbw=schedule.algbw + 1))
    assert (wrong.bound, wrong.optimal, wrong.algbw, wrong.busiest) == (None, False, schedule.algbw, report.busiest)
