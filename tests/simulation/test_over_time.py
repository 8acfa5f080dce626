"""The sends over time agree with the times of the simulation."""

import doctest
from itertools import pairwise

import pytest

from forestcoll import StepSchedule, compare, generate, load_topology, simulate
from forestcoll.comparison.curves import schedule_of
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation import over_time
from forestcoll.simulation.over_time import sends_over_time

SIZES = (2**16, 2**30)


def check(schedule: Schedule, size: int) -> None:
    point = simulate(schedule, [size])[0]
    found = sends_over_time(schedule, size, point.pieces)
    assert found.seconds <= point.seconds * (1 + 1e-9)
    assert all(send.begin < send.end for send in found.sends)
    ends = {node for send in found.sends for node in (send.source, send.target)}
    assert ends >= set(schedule.members)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("topology", ["torus:dims=3x3", "dgx-h100:boxes=2,nvls=true"])
def test_the_sends_reach_every_node_and_end_when_the_simulation_ends_at_the_latest(
    topology: str, collective: str, size: int
) -> None:
    check(generate(topology, collective), size)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
def test_the_last_tree_of_a_schedule_with_equal_roots_ends_exactly_when_the_simulation_ends(
    collective: str, size: int
) -> None:
    rows = compare("dgx-a100:boxes=2", collective, sizes=[size], baselines=["nccl-ring", "two-level"]).rows
    for row in rows[1:]:
        found = sends_over_time(schedule_of(row), size, row.times[0].pieces)
        assert found.seconds == pytest.approx(row.times[0].seconds)


def test_a_send_begins_when_its_source_has_the_first_byte() -> None:
    found = sends_over_time(generate("ring:nodes=8"), 2**20, 1)
    arrived = {found.root: 0.0} | {send.target: send.end for send in found.sends}
    assert all(send.begin == pytest.approx(arrived[send.source]) for send in found.sends)


@pytest.mark.parametrize("collective", ["allgather", "allreduce"])
def test_the_steps_of_a_step_schedule_follow_each_other(collective: str) -> None:
    schedule = generate(load_topology("ring:nodes=6"), collective, "bfb")
    assert isinstance(schedule, StepSchedule)
    check(schedule, 2**20)
    found = sends_over_time(schedule, 2**20, 1)
    assert found.seconds == pytest.approx(simulate(schedule, [2**20])[0].seconds)
    intervals = sorted({(send.begin, send.end) for send in found.sends})
    assert all(before[1] == after[0] for before, after in pairwise(intervals))


def test_examples_in_docstrings_run() -> None:
    assert doctest.testmod(over_time).failed == 0
