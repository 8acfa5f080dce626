"""Compare the verifier of step schedules with a plain simulation, on correct and on changed schedules."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plain_steps import simulates

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.proof import CutProof, ReceiptProof
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfer, Transfers
from forestcoll.solver.generation.bfb import bfb
from forestcoll.topology import Node, NodeKind, Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from forestcoll.verification.steps.rules import step_rules
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


@examples(400)
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

Change = Callable[[Steps], Any]


VIOLATIONS: list[tuple[str, Change, str, str]] = [
    ("allgather", lambda s: s[1].pop(), "part-missing", "never receives"),
    ("allgather", lambda s: s.reverse(), "part-not-held", "does not have all of part"),
    ("allgather", lambda s: s[0].append(Transfer(0, Fraction(0), Fraction(1), 0, 2)), "transfer-link", "0 to 2"),
    ("allgather", lambda s: s[0].append(Transfer(0, Fraction(1), Fraction(1), 0, 1)), "transfer-part", "[1, 1)"),
    ("allgather", lambda s: s[0].append(Transfer(0, Fraction(0), Fraction(9, 8), 0, 1)), "transfer-part", "9/8"),
    (
        "allgather",
        lambda s: s[0].append(Transfer(9, Fraction(0), Fraction(1), 0, 1)),
        "transfer-node",
        "shard is 9",
    ),
    (
        "allgather",
        lambda s: s[0].append(Transfer(0, Fraction(0), Fraction(1), 0, -1)),
        "transfer-node",
        "target is -1",
    ),
    ("reduce-scatter", lambda s: s[0].pop(), "part-missing", "never sends"),
    ("reduce-scatter", lambda s: s.reverse(), "part-not-held", "at a later step"),
    ("reduce-scatter", lambda s: s[1].append(s[1][0]), "part-twice", "twice"),
    (
        "reduce-scatter",
        lambda s: s[0].append(Transfer(0, Fraction(0), Fraction(1), 0, 1)),
        "part-twice",
        "ends on it",
    ),
]


@pytest.mark.parametrize(("kind", "change", "rule", "words"), VIOLATIONS)
def test_each_violated_rule_is_named_with_its_place(kind: str, change: Change, rule: str, words: str) -> None:
    schedule = bfb(RING, kind)
    [(op, steps)] = listed(schedule)
    change(steps)
    fault = verify(with_phases(schedule, [(op, steps)])).fault
    assert fault is not None
    assert fault.rule == rule
    assert words in fault.message
    assert "\n" not in fault.message


def test_inconsistent_phases_and_columns_are_refused() -> None:
    schedule = bfb(RING)
    sent = schedule.phases[0].transfers
    cases = {
        "step-phases": replace(schedule, collective=Collective.ALLREDUCE),
        "step-collective": replace(schedule, collective=Collective.BROADCAST),
        "columns-malformed": replace(
            schedule, phases=(StepPhase(PhaseOp.BROADCAST, replace(sent, points=sent.points[::-1])),)
        ),
    }
    for rule, broken in cases.items():
        fault = verify(broken).fault
        assert fault is not None
        assert fault.rule == rule


def with_columns(**columns: Any) -> StepSchedule:
    """Return the allgather of the ring with other columns."""
    schedule = bfb(RING)
    return replace(schedule, phases=(StepPhase(PhaseOp.BROADCAST, replace(schedule.phases[0].transfers, **columns)),))


def _column(values: list[int]) -> np.ndarray[Any, Any]:
    return np.array(values, dtype=np.int32)


COLUMNS: list[tuple[dict[str, Any], str]] = [
    ({"sources": _column([0])}, "phase 0: its columns have different lengths, [1, 16]"),
    ({"starts": _column([1, 8, 16])}, "phase 0: the starts of steps do not ascend from 0 to the number"),
    ({"starts": _column([0, 9, 8, 16])}, "phase 0: the starts of steps do not ascend"),
    ({"starts": _column([0, 8])}, "phase 0: the starts of steps do not ascend"),
    ({"starts": _column([])}, "phase 0: the starts of steps do not ascend"),
    ({"lows": _column([9] * 16)}, "phase 0: an end of a part is not the index of a point"),
    ({"highs": _column([-1] * 16)}, "phase 0: an end of a part is not the index of a point"),
]


@pytest.mark.parametrize(("columns", "message"), COLUMNS)
def test_columns_that_no_file_has_are_refused(columns: dict[str, Any], message: str) -> None:
    fault = verify(with_columns(**columns)).fault
    assert fault is not None
    assert fault.rule == "columns-malformed"
    assert message in fault.message


SHARDS: list[tuple[list[int], str]] = [
    ([1], "there are 1 shards; expected one for each of 4 compute nodes"),
    ([2, -1, 0, 0], "a shard is -1; expected 0 or more"),
    ([1, 1, 0, 0], "the shards add up to 2; expected exactly 1"),
]


@pytest.mark.parametrize(("shards", "message"), SHARDS)
def test_shards_that_do_not_divide_the_data_are_refused(shards: list[int], message: str) -> None:
    fault = verify(replace(bfb(RING), shards=tuple(map(Fraction, shards)))).fault
    assert fault is not None
    assert message in fault.message


def test_a_part_that_arrives_twice_does_not_fill_the_gap_behind_it() -> None:
    """Node 1 receives the first quarter of shard 0 twice and the last half once; the second quarter is missing."""
    quarter, half, one = Fraction(1, 4), Fraction(1, 2), Fraction(1)
    schedule = bfb(RING)
    [(op, steps)] = listed(schedule)
    whole = Transfer(0, Fraction(0), one, 0, 1)
    assert whole in steps[0]
    steps[0].remove(whole)
    steps[0] += [whole._replace(high=quarter), whole._replace(high=quarter), whole._replace(low=half)]
    fault = verify(with_phases(schedule, [(op, steps)])).fault
    assert fault is not None
    assert fault.rule == "part-not-held"
    assert fault.message == "steps[1][4]: node 1 does not have all of part [0, 1/2) of the shard of 0 before the step"


def test_a_fault_in_the_second_phase_is_counted_over_all_steps() -> None:
    schedule = bfb(RING, "allreduce")
    [reduce, (op, steps)] = listed(schedule)
    steps[0][0] = steps[0][0]._replace(target=9)
    fault = verify(with_phases(schedule, [reduce, (op, steps)])).fault
    assert fault is not None
    assert fault.message == "steps[2][0]: target is 9, which is not the number of a compute node"


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


def test_a_schedule_without_transfers_is_refused() -> None:
    nothing = StepSchedule(RING, Collective.ALLGATHER, (StepPhase(PhaseOp.BROADCAST, Transfers.of([[]])),))
    fault = verify(nothing).fault
    assert fault is not None
    assert fault.rule == "part-missing"


def test_rules_have_distinct_names() -> None:
    names = [name for name, _ in step_rules()]
    assert len(names) == len(set(names))


def test_loads_of_hundreds_of_digits_are_exact() -> None:
    tiny = Fraction(1, 10**200 + 7)
    whole = [
        [
            Transfer(0, Fraction(0), tiny, 0, 1),
            Transfer(0, tiny, Fraction(1), 0, 1),
            Transfer(1, Fraction(0), Fraction(1), 1, 0),
        ]
    ]
    schedule = StepSchedule(
        build_topology("ring:nodes=2"), Collective.ALLGATHER, (StepPhase(PhaseOp.BROADCAST, Transfers.of(whole)),)
    )
    report = verify(schedule)
    assert report.ok
    assert report.step_times == (Fraction(1, 2),)


def test_the_arrays_of_a_schedule_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        bfb(RING).phases[0].transfers.shards[0] = 1
    assert np.array_equal(bfb(RING).phases[0].transfers.starts, [0, 8, 16])
