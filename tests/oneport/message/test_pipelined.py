"""One message, in packets or undivided, compared with the least time of all schedules."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from math import ceil, lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.base.errors import InputError
from forestcoll.oneport import Platform
from forestcoll.oneport.message.atomic import AtomicHeuristic, atomic_broadcast
from forestcoll.oneport.message.pipeline_bound import packet_times
from forestcoll.oneport.message.pipelined import Pipeline, pipelined_broadcast, root_rule
from forestcoll.simulation.series.play import play_series
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from forestcoll.verification.series.timetable import timetable_fault
from networks import built, examples, linked
from oneport_platforms import platform_of_costs, random_platforms
from packet_schedules import least_makespan


def line(nodes: int, *, latency_us: int = 0) -> Topology:
    """Return a line with links of 1 GB/s, which is 1000 bytes per microsecond."""
    links = [(*pair, 1, latency_us) for pair in pairwise(range(nodes))]
    return built(range(nodes), one_way=links, name="line", port_model="one-port")


@st.composite
def platforms_with_start_ups(
    draw: st.DrawFn, most: int = 5, ports: tuple[str | None, ...] = ("one-port", None)
) -> Topology:
    port_model, count = draw(st.sampled_from(ports)), draw(st.integers(2, most))
    pairs = [(one, other) for other in range(count) for one in range(other)]
    tree = [(draw(st.integers(0, other - 1)), other) for other in range(1, count)]
    ends = sorted({*tree, *draw(st.lists(st.sampled_from(pairs), max_size=4))})
    links = [(*pair, draw(st.integers(1, 9)), draw(st.integers(0, 20))) for pair in ends]
    return built(range(count), links, name="random", port_model=port_model)


def test_the_number_of_packets_on_a_line_follows_the_square_root_rule_with_constants() -> None:
    # (R + H - 1)(beta + n c) with n = L/R is least at R = sqrt((H - 1) L c / beta)
    plan = pipelined_broadcast(line(5, latency_us=10), 0, 10**7)
    assert plan.packets == pytest.approx((3 * 10**7 / 1000 / 10) ** 0.5, abs=1)
    assert plan.makespan == (plan.packets + 3) * (10 + Fraction(plan.packet_size, 1000))
    assert plan.bound == 3 * (10 + Fraction(1, 1000)) + 10 + 10**4  # a byte to the last but one, then everything
    given = pipelined_broadcast(line(3, latency_us=2), 0, 1000, packets=4)
    assert (given.packets, given.packet_size) == (4, 250)
    assert given.makespan == (4 + 1) * (2 + Fraction(1, 4))


def test_no_other_number_of_packets_of_a_line_is_faster() -> None:
    topology, size = line(4, latency_us=7), 20_000
    best = pipelined_broadcast(topology, 0, size)
    every = [(ceil(size / each) + 2) * (7 + Fraction(each, 1000)) for each in range(1, size + 1)]
    assert best.makespan == min(every)


@given(platforms_with_start_ups(), st.integers(1, 10**6))
@examples(40)
def test_by_cycles_the_makespan_is_the_simulated_time_of_the_verified_schedule(topology: Topology, size: int) -> None:
    plan = Pipeline(topology, 0).plan_by_cycles(size)
    schedule = plan.schedule()
    assert verify(schedule).ok
    cuts = schedule.period / plan.cycle
    assert cuts.denominator == 1
    assert plan.packets * plan.packet_size >= size > (plan.packets - 1) * plan.packet_size
    if plan.packets <= 300:
        run = play_series(schedule, plan.packets, cuts=int(cuts))
        assert run.makespan <= plan.makespan
        assert run.cycles <= plan.cycles + plan.height - 1
    assert plan.makespan >= plan.bound


@given(platforms_with_start_ups(), st.integers(1, 10**6))
@examples(10)
def test_the_timetable_is_correct_and_not_slower_than_cycles(topology: Topology, size: int) -> None:
    pipeline = Pipeline(topology, 0)
    plan, by_cycles = pipeline.plan(size), pipeline.plan_by_cycles(size)
    assert plan.timetable is not None
    assert timetable_fault(plan.timetable) is None
    assert plan.bound <= plan.makespan == plan.timetable.makespan <= by_cycles.makespan
    assert plan.timetable.packets == plan.packets
    assert plan.packets * plan.packet_size >= size > (plan.packets - 1) * plan.packet_size
    assert plan.timetable.times == tuple(packet_times(topology, plan.packet_size))
    assert verify(plan.schedule()).ok


@given(platforms_with_start_ups(4, ports=("one-port",)), st.integers(3, 6))
@examples(5)
def test_no_schedule_of_three_packets_beats_the_plan_by_a_quarter(topology: Topology, digits: int) -> None:
    pipeline, size, platform = Pipeline(topology, 0), 10**digits, Platform.of(topology, 0)
    best = []
    for packets in (1, 2, 3):
        times = packet_times(topology, -(-size // packets))
        scale = lcm(*(time.denominator for time in times))
        units = [int(time * scale) for time in times]
        best.append(Fraction(least_makespan(platform, units, packets, 9 * sum(units)), scale))
        plan = pipeline.plan(size, packets=packets)
        if plan.packets == packets:
            assert best[-1] <= plan.makespan <= best[-1] * Fraction(5, 4)
    assert pipeline.plan(size, packets=1).makespan == best[0]
    plan = pipeline.plan(size)
    assert plan.bound <= min(best)
    assert plan.makespan <= min(best) * Fraction(5, 4)


def test_a_complete_network_uses_low_trees() -> None:
    links = [(*pair, 1, 5) for pair in combinations(range(8), 2)]
    pipeline = Pipeline(built(range(8), links, port_model="one-port"), 0)
    assert pipeline.plan(1).makespan == 3 * (5 + Fraction(1, 1000))  # the nodes with the packet double three times
    plan = pipeline.plan(8000, packets=8)
    assert plan.makespan <= 12 * 6  # ten is the least: all packets leave the source, and the last one doubles twice
    assert pipeline.plan_by_cycles(8000, packets=8).makespan == 14 * 6


@given(platforms_with_start_ups())
@examples(6)
def test_plans_approach_the_bound_as_messages_grow(topology: Topology) -> None:
    pipeline = Pipeline(topology, 0)
    plans = [pipeline.plan(10**exponent) for exponent in (6, 9, 12)]
    ratios = [plan.makespan / plan.bound for plan in plans]
    assert ratios[0] >= ratios[1] >= ratios[2] >= 1
    assert ratios[2] < Fraction(21, 20)  # most of the remaining gap comes from rounding the proportions of the trees
    rule = pipeline.plan(10**12, packets=root_rule(10**12))
    assert plans[2].makespan <= rule.makespan


def test_trees_are_chosen_for_the_best_packet_size() -> None:
    topology = linked("0 1 2", "0>1:10@10 1>2:10@10000 0>2:5@10", port_model="one-port")
    assert {tree.edges for tree in pipelined_broadcast(topology, 0, 10_000).trees} == {((0, 1), (0, 2))}
    assert ((0, 1), (1, 2)) in {tree.edges for tree in pipelined_broadcast(topology, 0, 10**12).trees}


def test_by_the_root_rule_the_number_of_packets_equals_the_bytes_per_packet() -> None:
    for size in (1, 2, 3, 4, 5, 99, 100, 101, 10**12, 10**12 + 1):
        assert (root_rule(size) - 1) ** 2 < size <= root_rule(size) ** 2


def test_sizes_and_packets_are_checked() -> None:
    of_packets = "expected 1 to 10, at most one packet per byte"
    for size, packets, message in (
        (0, None, "0; expected a size of 1 byte or more such as 64K, 2.5MiB or 1GB, or an integer"),
        (10, 11, f"packets is 11; {of_packets}"),
        (10, 0, f"packets is 0; {of_packets}"),
    ):
        with pytest.raises(InputError, match=f"^{message}$"):
            pipelined_broadcast(line(2), 0, size, packets=packets)


@pytest.mark.slow  # nine seconds
def test_plans_for_thirty_nodes_exist_for_any_message_size() -> None:
    pipeline = Pipeline(build_topology("tiers"), 0)
    plan = pipeline.plan(10**11)
    assert plan.packets_per_cycle > 1
    assert plan.makespan / plan.bound < Fraction(6, 5)
    assert verify(plan.schedule()).ok


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


def test_without_ports_the_shortest_paths_are_optimal_and_a_message_has_a_byte() -> None:
    plan = atomic_broadcast(build_topology("torus:dims=3x3,bandwidth=1"), 0, 1000)
    assert plan.optimal
    assert plan.makespan == 2
    with pytest.raises(InputError, match=r"^size is 0 bytes; expected 1 or more$"):
        atomic_broadcast(build_topology("ring:nodes=3"), 0, 0)
