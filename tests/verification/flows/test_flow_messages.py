"""The whole message of each fault of flows, also if the rules take the routes block by block."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from test_verify_flows import BOXES, BROKEN, DEMAND, GATHER, MATRIX, PART, RING, SCATTER, changed, with_entry

import fault_lists
from forestcoll.schedule import rows
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.rows import Rows
from forestcoll.solver.personalised import generate_flows
from forestcoll.topology import Shift, Symmetry
from forestcoll.verification import verify
from forestcoll.verification.routes import table

TURN = Shift(4, np.array([1, 2, 3, 0], dtype=np.int32))


def malformed() -> Iterator[tuple[str, FlowSchedule]]:
    """Yield schedules whose flat rows do not match, or that have no flow."""
    wrong = Rows(np.array([1, 2]), np.array([0, 1], dtype=np.int32))
    yield "routes that do not fit", replace(RING, routes=wrong)
    yield "lists of routes that do not fit", changed(RING, routes=wrong)
    nothing = RING.flows.sources[:0]
    yield "no flow", changed(RING, sources=nothing, targets=nothing, shares=(), routes=Rows.of([]))
    yield "too many sources", changed(RING, sources=np.append(RING.flows.sources, 0))
    yield "too many targets", changed(RING, targets=np.append(RING.flows.targets, 0))


def of_demands() -> Iterator[tuple[str, FlowSchedule]]:
    """Yield schedules with a wrong demand matrix."""
    matrix = DEMAND.matrix
    assert matrix is not None
    yield "a row too short", replace(DEMAND, matrix=(*matrix[:2], matrix[2][:2]))
    yield (
        "an entry for oneself",
        replace(DEMAND, matrix=(matrix[0], (Fraction(0), Fraction(1), Fraction(0)), matrix[2])),
    )
    yield "a negative entry", replace(DEMAND, matrix=((Fraction(0), Fraction(-1), Fraction(0)), *matrix[1:]))
    yield "a row too few", replace(DEMAND, matrix=matrix[:2])
    sixth = [[Fraction(0)] * 6 for _ in range(6)]
    for node in range(1, 6):
        sixth[node][0] = Fraction(1, 6)
    yield "a gather with its matrix", replace(GATHER, matrix=tuple(map(tuple, sixth)), bound=None)
    from_one = [[Fraction(row == 1 != column, 6) for column in range(6)] for row in range(6)]
    yield "a scatter with its matrix", replace(SCATTER, matrix=tuple(map(tuple, from_one)), bound=None)
    rows = [[Fraction(0)] * 6 for _ in range(6)]
    rows[0][2] = Fraction(1)
    yield "a gather that ends elsewhere", replace(GATHER, matrix=tuple(map(tuple, rows)))
    yield "a scatter that starts elsewhere", replace(SCATTER, matrix=tuple(map(tuple, rows)))


def of_symmetries() -> Iterator[tuple[str, FlowSchedule]]:
    """Yield schedules with a symmetry that does not fit."""
    base = generate_flows("ring:nodes=4", compact=True)
    turned = Symmetry((TURN,))
    yield "a symmetry of a gather", replace(generate_flows("ring:nodes=4", "gather", root=0), symmetry=turned)
    skewed = [[0, 1, 0, 0], [0] * 4, [0] * 4, [0] * 4]
    yield "a symmetry of other demands", replace(generate_flows("ring:nodes=4", matrix=skewed), symmetry=turned)
    quarters = tuple(tuple(Fraction(row != column, 4) for column in range(4)) for row in range(4))
    yield "a symmetry of its demands", replace(base, matrix=quarters, symmetry=turned, bound=None)
    yield "an order too small", replace(base, symmetry=Symmetry((Shift(2, TURN.image),)))
    yield "a symmetry of written-out flows", replace(RING, symmetry=turned)
    yield "a symmetry of two orbits", swapped()
    yield "a share of the second orbit", changed(swapped(), shares=(*swapped().flows.shares[:-1], Fraction(1, 7)))


def swapped() -> FlowSchedule:
    """Return an all-to-all of four nodes as the flows of nodes 0 and 2, and an exchange of 0 with 1 and 2 with 3."""
    whole = generate_flows("complete:nodes=4")
    kept = [place for place, source in enumerate(whole.flows.sources.tolist()) if source in {0, 2}]
    half = changed(
        whole,
        sources=whole.flows.sources[kept],
        targets=whole.flows.targets[kept],
        shares=tuple(whole.flows.shares[place] for place in kept),
        routes=Rows.of([list(whole.flows.routes[place]) for place in kept]),
    )
    return replace(half, symmetry=Symmetry((Shift(2, np.array([1, 0, 3, 2], dtype=np.int32)),)))


def others() -> Iterator[tuple[str, FlowSchedule]]:
    """Yield schedules with other faults."""
    yield "a source that is a switch", changed(BOXES, sources=with_entry(BOXES.flows.sources, 1, 4))
    yield "a source that is idle", changed(PART, sources=with_entry(PART.flows.sources, 1, 1))
    yield "a negative target", changed(RING, targets=with_entry(RING.flows.targets, 2, -1))
    yield "a source that is unknown", changed(RING, sources=with_entry(RING.flows.sources, 1, 4))
    yield "a route from a switch", replace(BOXES, routes=Rows.of([[0, 4, 1], [4, 0]]))
    yield "a negative share", changed(RING, shares=(*RING.flows.shares[:3], Fraction(-1), *RING.flows.shares[4:]))
    yield "a shorter denominator", changed(RING, shares=(Fraction(1, 10**3999), *RING.flows.shares[1:]))
    yield "the least denominator of 4001 digits", changed(RING, shares=(Fraction(1, 10**4000), *RING.flows.shares[1:]))
    three = generate_flows("ring:nodes=3")
    odd = changed(three, shares=(Fraction(1, 10**4000 - 1), *three.flows.shares[1:]))
    yield "an odd denominator of 4000 digits", odd
    second = [list(RING.flows.routes[place]) for place in range(len(RING.flows))]
    yield "the second route starts elsewhere", changed(RING, routes=Rows.of([[*second[0], second[0][0]], *second[1:]]))
    yield "a later flow", changed(RING, routes=Rows.of([*second[:2], [*second[2], second[0][0]], *second[3:]]))
    yield "an unknown second route", changed(RING, routes=Rows.of([[*second[0], -1], *second[1:]]))
    kept = list(range(1, len(RING.flows)))
    yield (
        "a missing flow",
        changed(
            RING,
            sources=RING.flows.sources[kept],
            targets=RING.flows.targets[kept],
            shares=RING.flows.shares[1:],
            routes=Rows.of(second[1:]),
        ),
    )
    more = [["0", "1", "1/3"], *MATRIX[1:]]
    yield "a demand that is not met", replace(DEMAND, matrix=generate_flows("ring:nodes=3", matrix=more).matrix)


@pytest.mark.parametrize("size", [1, 2**20])
def test_every_message_of_flows(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BLOCK_ENTRIES", size)
    monkeypatch.setattr(table, "SORTED_ENTRIES", size)
    listed = [(f"change {number}", schedule) for number, (schedule, *_) in enumerate(BROKEN)]
    cases = [*listed, *malformed(), *of_demands(), *of_symmetries(), *others()]
    fault_lists.check("flows", [(name, verify(schedule).fault) for name, schedule in cases])


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
