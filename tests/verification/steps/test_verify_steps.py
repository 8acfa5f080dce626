"""Compare the verifier of step schedules with a plain simulation, on correct and on changed schedules."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_steps import simulates

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.proof import Bound, CutProof, ReceiptProof
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfer, Transfers
from forestcoll.solver.generation.bfb import bfb
from forestcoll.topology import Node, NodeKind, Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import SMALL, examples, networks, one_way_networks

Steps = list[list[Transfer]]

DIRECT = st.one_of(
    networks(most=6, switches=False, kinds=st.just(SMALL)),
    one_way_networks(most=6, switches=False, kinds=st.just(SMALL)),
)
KINDS = st.sampled_from([Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE])


def listed(schedule: StepSchedule) -> list[tuple[PhaseOp, Steps]]:
    return [(phase.op, [list(step) for step in phase.transfers]) for phase in schedule.phases]


def with_phases(schedule: StepSchedule, phases: list[tuple[PhaseOp, Steps]]) -> StepSchedule:
    return replace(schedule, phases=tuple(StepPhase(op, Transfers.of(steps)) for op, steps in phases))


def _mutated(data: st.DataObject, steps: Steps, nodes: int) -> None:
    """Drop or add a transfer, move one to another step, or change one of its fields."""
    filled = [number for number, step in enumerate(steps) if step]
    number = data.draw(st.sampled_from(filled))
    place = data.draw(st.integers(0, len(steps[number]) - 1))
    old = steps[number].pop(place)
    node, end = st.integers(0, nodes - 1), st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1, 3), Fraction(1)])
    change = data.draw(st.sampled_from(["drop", "move", "shard", "source", "target", "low", "high", "double", "widen"]))
    if change == "move":
        steps[data.draw(st.integers(0, len(steps) - 1))].append(old)
    elif change in {"shard", "source", "target"}:
        steps[number].append(Transfer(**{**old._asdict(), change: data.draw(node)}))
    elif change in {"low", "high"}:
        steps[number].append(Transfer(**{**old._asdict(), change: data.draw(end)}))
    elif change == "double":
        steps[number].extend([old, old])
    elif change == "widen":
        steps[number].append(old._replace(low=Fraction(0), high=Fraction(1)))


@examples(150)
@given(DIRECT, KINDS, st.sampled_from([None, None, 1, 3]))
def test_breadth_first_broadcast_is_correct(topology: Topology, kind: Collective, chunks: int | None) -> None:
    schedule = bfb(topology, kind, chunks=chunks)
    report = verify(schedule)
    assert report.fault is None
    assert simulates(schedule)
    assert report.step_times == step_shape(schedule).step_times
    assert report.bandwidth_factor == step_shape(schedule).bandwidth_factor
    assert report.bandwidth_factor is not None
    assert report.least_factor is not None
    assert report.bandwidth_factor >= report.least_factor


@examples(300)
@given(DIRECT, KINDS, st.data())
def test_a_mutation_is_refused_exactly_if_data_is_missing(
    topology: Topology, kind: Collective, data: st.DataObject
) -> None:
    phases = listed(bfb(topology, kind))
    for _ in range(data.draw(st.integers(1, 2))):
        _mutated(data, data.draw(st.sampled_from(phases))[1], len(topology.nodes))
    schedule = with_phases(bfb(topology, kind), phases)
    ok = verify(schedule).ok
    if kind is Collective.ALLGATHER:
        assert ok == simulates(schedule)
    elif ok:  # a sum that is sent but not used is refused, although the result is correct
        assert simulates(schedule)


@examples(60)
@given(DIRECT, st.data())
def test_repeated_data_is_accepted_in_an_allgather(topology: Topology, data: st.DataObject) -> None:
    (op, steps) = listed(bfb(topology))[0]
    for _ in range(3):
        number = data.draw(st.integers(0, len(steps) - 1))
        if steps[number]:
            again = data.draw(st.sampled_from(steps[number]))
            steps[-1].append(again._replace(low=again.low + (again.high - again.low) / 3))
    assert verify(with_phases(bfb(topology), [(op, steps)])).ok


RING = build_topology("ring:nodes=4")


def test_a_switch_that_copies_does_not_raise_the_bound_of_steps_above_the_cut() -> None:
    """A receipt proves nothing on a network with such a switch, so a cut around one node is the bound."""
    schedule = bfb(RING, "allreduce")
    hub = replace(RING, nodes=(*RING.nodes, Node("hub", NodeKind.SWITCH, multicast=True)))
    plain, report = verify(schedule), verify(replace(schedule, topology=hub))
    assert report.ok
    assert isinstance(plain.proof, ReceiptProof)
    assert isinstance(report.proof, CutProof)
    assert report.bound is not None
    assert plain.bound is not None
    assert (report.bound.algbw, plain.bound.algbw) == (Fraction(2), Fraction(4, 3))


@examples(60)
@given(DIRECT, KINDS)
def test_the_judge_proves_its_own_bound(topology: Topology, collective: Collective) -> None:
    schedule = generate(topology, collective, "bfb")
    report = verify(schedule)
    assert report.bound is not None
    assert report.proof is not None
    assert report.proof.algbw(topology, schedule.demand) == report.bound.algbw
    assert report.algbw is not None
    assert report.algbw <= report.bound.algbw
    assert report.optimal == (report.bandwidth_factor == report.least_factor)
    assert report.least_factor == max(topology.egress) / report.bound.algbw


def test_right_claims_are_accepted_and_read_back(tmp_path: Path) -> None:
    plain = bfb(RING, "allreduce")
    report = verify(plain)
    assert report.bound is not None
    claiming = replace(plain, algbw=report.algbw, bound=Bound(plain.collective, report.bound.algbw, ReceiptProof()))
    assert verify(claiming).ok
    write_schedule(claiming, tmp_path / "steps.json")
    assert read_schedule(tmp_path / "steps.json") == claiming != plain


def test_the_arrays_of_a_schedule_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        bfb(RING).phases[0].transfers.shards[0] = 1
    assert np.array_equal(bfb(RING).phases[0].transfers.starts, [0, 8, 16])
