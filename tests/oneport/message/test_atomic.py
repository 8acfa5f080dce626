"""One message that is not divided: heuristics of the literature, and the optimum of small platforms."""

from dataclasses import replace
from fractions import Fraction
from math import lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.base.errors import InputError
from forestcoll.oneport import Platform
from forestcoll.oneport.message.atomic import AtomicHeuristic, atomic_broadcast
from forestcoll.oneport.message.pipeline_bound import packet_times
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification.series.timetable import timetable_fault
from networks import examples
from oneport_platforms import platform_of_costs, random_platforms
from packet_schedules import least_makespan


@given(random_platforms(5), st.integers(1, 5000))
@examples(20)
def test_the_time_is_the_least_of_all_schedules(topology: Topology, size: int) -> None:
    plan = atomic_broadcast(topology, 0, size)
    times = packet_times(topology, size)
    scale = lcm(*(time.denominator for time in times))
    units = [int(time * scale) for time in times]
    assert plan.makespan * scale == least_makespan(Platform.of(topology, 0), units, 1, 2 * sum(units))
    assert plan.optimal
    assert timetable_fault(plan.timetable) is None
    assert min(plan.heuristics.values()) >= plan.makespan


@given(random_platforms(5, switches=2, duplex=True), st.sampled_from(["one-port", None]))
@examples(12)
def test_every_heuristic_gives_a_correct_broadcast(topology: Topology, ports: str | None) -> None:
    plan = atomic_broadcast(replace(topology, port_model=ports), 0, 1000)
    assert timetable_fault(plan.timetable) is None
    assert plan.bound <= plan.makespan <= min(plan.heuristics.values())
    assert set(plan.heuristics) == set(AtomicHeuristic)


def test_the_heuristics_choose_as_in_their_papers() -> None:
    # To 1: 2 us, to 2: 3 us; 1 and 2 reach 3 in 9 us and 1 us.
    costs = [("0", "1", 2), ("0", "2", 3), ("1", "3", 9), ("2", "3", 1), ("1", "2", 9), ("2", "1", 9), ("0", "3", 20)]
    plan = atomic_broadcast(platform_of_costs("0123", [(*each[:2], Fraction(each[2], 1)) for each in costs]), "0", 1000)
    assert {each.value: str(time) for each, time in plan.heuristics.items()} == {
        "fastest-node-first": "5",
        "fastest-edge-first": "6",
        "earliest-completing-edge-first": "6",
        "look-ahead": "5",
    }
    assert (str(plan.makespan), plan.optimal) == ("5", True)


def test_a_larger_platform_has_a_bound() -> None:
    plan = atomic_broadcast(build_topology("tiers"), 0, 10**6)
    assert timetable_fault(plan.timetable) is None
    assert plan.bound < plan.makespan < plan.bound * Fraction(5, 4)
    assert not plan.optimal


def test_without_ports_the_shortest_paths_are_optimal() -> None:
    plan = atomic_broadcast(build_topology("torus:dims=3x3,bandwidth=1"), 0, 1000)
    assert plan.optimal
    assert plan.makespan == 2


def test_a_message_has_a_byte() -> None:
    with pytest.raises(InputError, match=r"^size is 0 bytes; expected 1 or more$"):
        atomic_broadcast(build_topology("ring:nodes=3"), 0, 0)
