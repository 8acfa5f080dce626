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
from forestcoll.solver.flows import generate_flows
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
    yield "an order too small", replace(base, symmetry=Symmetry((Shift(2, TURN.image),)))
    yield "a symmetry of written-out flows", replace(RING, symmetry=turned)


def others() -> Iterator[tuple[str, FlowSchedule]]:
    """Yield schedules with other faults."""
    yield "a source that is a switch", changed(BOXES, sources=with_entry(BOXES.flows.sources, 1, 4))
    yield "a source that is idle", changed(PART, sources=with_entry(PART.flows.sources, 1, 1))
    yield "a negative target", changed(RING, targets=with_entry(RING.flows.targets, 2, -1))
    yield "a source that is unknown", changed(RING, sources=with_entry(RING.flows.sources, 1, 4))
    yield "a route from a switch", replace(BOXES, routes=Rows.of([[0, 4, 1], [4, 0]]))
    yield "a negative share", changed(RING, shares=(*RING.flows.shares[:3], Fraction(-1), *RING.flows.shares[4:]))
    yield "a shorter denominator", changed(RING, shares=(Fraction(1, 10**3999), *RING.flows.shares[1:]))
    second = [list(RING.flows.routes[place]) for place in range(len(RING.flows))]
    yield "the second route starts elsewhere", changed(RING, routes=Rows.of([[*second[0], second[0][0]], *second[1:]]))
    yield "an unknown second route", changed(RING, routes=Rows.of([[*second[0], -1], *second[1:]]))
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
    wrong = verify(replace(schedule, algbw=schedule.algbw + 1))
    assert (wrong.bound, wrong.optimal, wrong.algbw, wrong.busiest) == (None, False, schedule.algbw, report.busiest)
