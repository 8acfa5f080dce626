"""Step schedules with a symmetry: they equal the schedules with all transfers listed, and each fault is found."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.shape import reduction_factor, step_shape
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfer, Transfers
from forestcoll.simulation.simulate import simulate
from forestcoll.topology import Shift, Symmetry
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples, linked

NETWORKS = (
    "complete:nodes=5",
    "hypercube:dim=3",
    "torus:dims=3x4",
    "kautz:degree=2,length=1",
    "shifted-ring:nodes=10",
)
KINDS = ("allgather", "reduce-scatter", "allreduce")


def compact(network: str, collective: str = "allgather") -> StepSchedule:
    schedule = generate(build_topology(network), collective, "bfb:compact=true")
    assert schedule.symmetry is not None
    made: StepSchedule = schedule
    return made


def listed(schedule: StepSchedule) -> list[list[list[Transfer]]]:
    return [[sorted(step) for step in phase.transfers] for phase in schedule.phases]


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("collective", KINDS)
def test_all_images_are_a_right_schedule_with_the_same_times(network: str, collective: str, tmp_path: Path) -> None:
    base = compact(network, collective)
    whole = expanded_steps(base)
    found, expected = verify(base), verify(whole)
    assert base.symmetry is not None
    assert (found.fault, expected.fault) == (None, None)
    assert found.step_times == expected.step_times == step_shape(base).step_times
    assert (found.algbw, found.bandwidth_factor) == (expected.algbw, expected.bandwidth_factor)
    assert (whole.symmetry, len(whole)) == (None, base.symmetry.order * len(base))
    assert reduction_factor(base) == reduction_factor(whole)
    assert [each.seconds for each in simulate(base, [2**20])] == [each.seconds for each in simulate(whole, [2**20])]
    write_schedule(base, tmp_path / "base.json")
    assert read_schedule(tmp_path / "base.json") == base


def test_without_compact_all_transfers_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    """On large networks they are the images of base transfers."""
    network = build_topology("torus:dims=4x5")
    monkeypatch.setattr("forestcoll.solver.generation.bfb.allgather._SYMMETRY_FROM", 20)
    whole = generate(network, method="bfb")
    assert whole.symmetry is None
    assert listed(expanded_steps(generate(network, method="bfb:compact=true"))) == listed(whole)
    assert generate(linked("a b c", "a=b b=c"), method="bfb:compact=true").symmetry is None


@pytest.mark.parametrize("collective", KINDS)
def test_any_image_may_stand_for_a_base_transfer(collective: str) -> None:
    base = compact("torus:dims=3x4", collective)
    assert base.symmetry is not None
    random = Random(1)  # noqa: S311 (not for security)
    elements = list(base.symmetry.elements(12))
    phases = []
    for phase in base.phases:
        columns = [
            np.array(each) for each in (phase.transfers.shards, phase.transfers.sources, phase.transfers.targets)
        ]
        for row in range(len(phase.transfers)):
            image = random.choice(elements)
            for column in columns:
                column[row] = image[column[row]]
        shards, sources, targets = columns
        phases.append(
            replace(phase, transfers=replace(phase.transfers, shards=shards, sources=sources, targets=targets))
        )
    moved = replace(base, phases=tuple(phases))
    assert listed(moved) != listed(base)
    assert verify(moved).step_times == verify(base).step_times


def test_routes_have_images() -> None:
    topology = linked("a b", "a=s:5 b=s:5", switches="s")
    send = Transfer(0, Fraction(0), Fraction(1), 0, 1, route=0)
    swap = Symmetry((Shift(2, np.array([1, 0, 2], dtype=np.int32)),))
    phase = StepPhase(compact("ring:nodes=3").phases[0].op, Transfers.of([[send]]))
    base = StepSchedule(topology, Collective.ALLGATHER, (phase,), routes=Rows.of([(0, 2, 1)]), symmetry=swap)
    whole = expanded_steps(base)
    assert list(whole.routes) == [(0, 2, 1), (1, 2, 0)]
    assert verify(whole).step_times == verify(base).step_times == (Fraction(1, 10),)


def _without(transfers: Transfers, row: int) -> Transfers:
    steps = [list(step) for step in transfers]
    flat = [(number, each) for number, step in enumerate(steps) for each in step]
    number, gone = flat[row]
    steps[number].remove(gone)
    return Transfers.of(steps)


@pytest.mark.parametrize("collective", KINDS)
@pytest.mark.parametrize("network", ["ring:nodes=6", "torus:dims=3x3"])
def test_each_base_transfer_is_needed(network: str, collective: str) -> None:
    base = compact(network, collective)
    for place, phase in enumerate(base.phases):
        for row in range(len(phase.transfers)):
            phases = list(base.phases)
            phases[place] = replace(phase, transfers=_without(phase.transfers, row))
            changed = replace(base, phases=tuple(phases), algbw=None, bound=None)
            fault = verify(changed).fault
            assert fault is not None
            assert fault.rule in {"part-missing", "part-not-held"}
            assert not verify(expanded_steps(changed)).ok


def with_an_image_twice(base: StepSchedule) -> StepSchedule:
    """Return the schedule with an image of its first transfer, which is there already."""
    first = next(iter(base.phases[0].transfers.step(0)))
    assert base.symmetry is not None
    image = list(base.symmetry.elements(len(base.topology.nodes)))[1]
    shard, source, target = (int(image[each]) for each in (first.shard, first.source, first.target))
    again = first._replace(shard=shard, source=source, target=target)
    steps = [list(step) for step in base.phases[0].transfers]
    steps[0].append(again)
    return replace(base, phases=(replace(base.phases[0], transfers=Transfers.of(steps)), *base.phases[1:]))


def _mutated(base: StepSchedule, data: st.DataObject) -> StepSchedule:
    """Return the schedule with one field of one or two base transfers changed, or one of them repeated or left out."""
    phases = list(base.phases)
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.integers(0, len(phases) - 1))
        steps = [list(step) for step in phases[place].transfers]
        step = data.draw(st.sampled_from([each for each in steps if each]))
        row = data.draw(st.integers(0, len(step) - 1))
        field = data.draw(st.sampled_from(["shard", "source", "target", "low", "high", "again", "gone"]))
        ends, nodes = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1)]), st.integers(0, 5)
        if field == "again":
            data.draw(st.sampled_from(steps)).append(step[row])
        elif field == "gone":
            step.pop(row)
        else:
            value: Any = data.draw(ends if field in {"low", "high"} else nodes)
            step[row] = Transfer(**{**step[row]._asdict(), field: value})
        phases[place] = replace(phases[place], transfers=Transfers.of(steps))
    return replace(base, phases=tuple(phases))


@examples(300)
@given(st.sampled_from(["ring:nodes=6", "complete:nodes=6", "torus:dims=2x3"]), st.sampled_from(KINDS), st.data())
def test_a_changed_schedule_is_right_exactly_if_the_expanded_one_is(
    network: str, collective: str, data: st.DataObject
) -> None:
    changed = _mutated(compact(network, collective), data)
    found, expected = verify(changed), verify(expanded_steps(changed))
    assert found.ok == expected.ok
    assert found.step_times == expected.step_times


def shifted(base: StepSchedule, order: int, image: list[int]) -> StepSchedule:
    return replace(base, symmetry=Symmetry((Shift(order, np.array(image, dtype=np.int32)),)))


def test_the_loads_of_all_images_are_exact() -> None:
    """Each transfer is cut at a point whose denominator exceeds 64 bits."""
    base = compact("ring:nodes=3")
    point = Fraction(1, 3**50)
    steps = [
        [part for each in step for part in (each._replace(high=point), each._replace(low=point))]
        for step in base.phases[0].transfers
    ]
    finer = replace(base, phases=(replace(base.phases[0], transfers=Transfers.of(steps)),))
    assert verify(finer).step_times == verify(base).step_times


def test_the_sum_of_the_images_may_exceed_64_bits() -> None:
    """All nodes send over one link, in parts whose sizes fit 64 bits and whose sum does not."""
    links = "s>t:5 a>s:5 b>s:5 c>s:5 d>s:5 t>a:5 t>b:5 t>c:5 t>d:5"
    topology = linked("a b c d", links, switches="s t")
    point, routes, step = Fraction(1, 2**60), [(0, 4, 5, target) for target in (1, 2, 3)], []
    for route, (*_, target) in enumerate(routes):
        step += [Transfer(0, Fraction(0), point, 0, target, route), Transfer(0, point, Fraction(1), 0, target, route)]
    turn = Symmetry((Shift(4, np.array([1, 2, 3, 0, 4, 5], dtype=np.int32)),))
    phase = StepPhase(compact("ring:nodes=3").phases[0].op, Transfers.of([step]))
    base = StepSchedule(topology, Collective.ALLGATHER, (phase,), routes=Rows.of(routes), symmetry=turn)
    assert verify(base).step_times == verify(expanded_steps(base)).step_times == (Fraction(3, 5),)


def test_only_bfb_is_compact() -> None:
    with pytest.raises(InputError, match="ring: there is no parameter 'compact'"):
        generate("ring:nodes=4", method="ring:compact=true")
