"""The lower bound: its parts by hand, and against all sets and programs of small networks."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.forests import schedule_of
from forestcoll.algorithms.generate import optimum
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.shallow import shallow_forest
from forestcoll.demand.collective import Collective
from forestcoll.simulation import Costs
from forestcoll.simulation.lower_bound.box_pairs import box_pairs
from forestcoll.simulation.lower_bound.flows_over_time import quickest_flows
from forestcoll.simulation.lower_bound.hop_bounds import HopBound, SumTimes, box_us_per_byte
from forestcoll.simulation.program.events import EventSimulation
from forestcoll.simulation.program.paths import Paths
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.topology import Topology, TopologyBuilder, build_topology
from forestcoll.tuning.streams import stream_program
from networks import examples, linked, uneven_networks

COSTS = Costs(alpha_us=5, overhead_us=1)


def bound(spec: str, collective: str, size: int, costs: Costs = COSTS) -> float:
    return HopBound(optimum(spec, collective), [costs]).microseconds(size)


def unnamed_boxes(spec: str) -> Topology:
    """Return a network that does not say which ranks are in a box, so that pairs of boxes do not bound the time."""
    topology = build_topology(spec)
    return replace(topology, nodes=tuple(replace(node, attributes={}) for node in topology.nodes))


K, M = 2**10, 2**20

BY_HAND = [
    ("dgx-a100:boxes=2", "allgather", 16, 7),  # one send and its receipt
    ("ring:nodes=8", "allgather", 8, 4 * 6 + 1),  # as many sends as the diameter
    ("dgx-a100:boxes=2", "allgather", 4 * K * M, 4 * K * M / (1040 / 3 * 1e3) + 7),  # the time of the cut
    # One send moves every shard to every rank of the other box: 64 pairs of ranks exchange M/16 over 200 GB/s; this is
    # below two sends of 6 us. In an allreduce, it moves every vector.
    ("dgx-a100:boxes=2", "allgather", 128 * K, 64 / 16 * 128 * K / 200e3 + 7),
    ("dgx-a100:boxes=2", "allreduce", 16 * K, 64 * 16 * K / 200e3 + 7),
    # An element that leaves a rank once must be sent on: M over 300 GB/s, the send, and half of a send after it.
    ("dgx-a100:boxes=1", "allreduce", M, M / 300e3 + 10),
    # Half of M enters a box over 200 GB/s, and seven of eight links lead to other ranks than the farthest one.
    ("dgx-a100:boxes=2", "allgather", 2 * M, 2 * M / 2 / 200e3 + 1 + 6 * (1 + 7 / 8)),
    # Two of five nodes of a ring are two sends away: M/5 enters over each of two links after the first send.
    ("ring:nodes=5", "allgather", M, max(M * 4 / 5 / 2e3 + 7, M * 2 / 5 / 2e3 + 13)),
    # Seen backwards, data enters a node of a one-way ring after up to three sends before its own.
    ("ring:nodes=5,one_way=true", "reduce-scatter", 4 * K, max(4 * 6 + 1 + 4 * K / 5 / 1e3, 4 * K * 4 / 5 / 1e3 + 7)),
]


@pytest.mark.parametrize(("spec", "collective", "size", "microseconds"), BY_HAND)
def test_the_bound_is_that_by_hand(spec: str, collective: str, size: int, microseconds: float) -> None:
    assert bound(spec, collective, size) == pytest.approx(microseconds, abs=0.01)


def test_two_sends_of_an_allreduce_cross_the_boxes_eight_times() -> None:
    size = 2**18
    found = HopBound(optimum(unnamed_boxes("dgx-a100:boxes=2"), "allreduce"), [COSTS]).microseconds(size)
    assert found == pytest.approx(8 * size / 200e3 + 7)


def test_summands_use_the_nics_of_other_ranks_after_a_send_and_before_another() -> None:
    """A rank sends over its own NIC of 25 GB/s, and over seven others with two sends more: 4.5 sends in the mean."""
    size = 2**21
    flows = quickest_flows(build_topology("dgx-a100:boxes=2"), range(16))
    expected = size / 200e3 + 1 + 6 * (1 + 2 * 7 / 8)
    assert max(each.microseconds(size, 6, 1) for each in flows) == pytest.approx(expected)
    assert bound("dgx-a100:boxes=2", "allreduce", size) >= expected


def test_pairs_of_ranks_of_different_boxes_take_more_time_than_each_single_pair() -> None:
    """256 KiB on two A100 boxes: see `test_box_pairs`; two sends alone take 17.5 us, and one pair takes 17.5 us."""
    size = 2**18
    found = bound("dgx-a100:boxes=2", "allreduce", size)
    (pairs,) = box_pairs(build_topology("dgx-a100:boxes=2"), range(16))
    assert found == pytest.approx(pairs.times(6, 1, 6).microseconds(size, 0))
    assert found > 18.9


def test_a_switch_that_copies_leaves_only_the_bound_of_any_schedule() -> None:
    size = 2**17
    found = bound("dgx-h100:boxes=2,nvls=true", "allgather", size)
    algbw = float(optimum("dgx-h100:boxes=2,nvls=true", "allgather").bound.algbw)
    assert found == pytest.approx(size / (algbw * 1e3) + 7)


def test_latencies_of_links_and_the_launch_count() -> None:
    slow = linked("0 1", "0=1:1@3")
    found = HopBound(optimum(slow, "allgather"), [Costs(alpha_us=5, overhead_us=1, launch_us=10)])
    assert found.microseconds(2) == pytest.approx(10 + 10, abs=0.01)


def test_the_best_of_several_protocols_counts() -> None:
    best = optimum("ring:nodes=3", Collective.ALLGATHER)
    fast, wide = Costs(alpha_us=1, efficiency=0.5), Costs(alpha_us=5)
    assert HopBound(best, [fast, wide]).microseconds(3) == pytest.approx(3, abs=0.01)
    assert HopBound(best, [fast, wide]).microseconds(2**30) == pytest.approx(2**30 / 3e3 + 7)


def test_sums_of_one_send_are_added_up_in_pairs() -> None:
    """A send of 6 us and its receipt, which adds up one message and the own data; then all values in pairs."""
    for ranks, time in ((2, 7), (3, 8), (4, 9), (5, 9), (9, 10), (17, 11), (18, 12)):
        assert SumTimes(1, 5).least(ranks) == SumTimes(1, 5).least(ranks, 1) == time


def test_with_a_low_latency_more_sends_are_faster() -> None:
    """With l = 0, all ranks add up what others have added up: the number of summands doubles with every two steps."""
    assert SumTimes(1, 0).least(1000) < SumTimes(1, 0).least(1000, 1)
    assert SumTimes(0, 5).least(1000) == 5


@pytest.mark.parametrize(("overhead", "latency"), [(1, 0), (1, 1), (2, 1), (1, 3)])
def test_no_order_of_instructions_is_faster_than_the_bound_of_sums(overhead: int, latency: int) -> None:
    for ranks in (2, 3):
        assert fastest_sum(ranks, overhead, latency) >= SumTimes(overhead, latency).least(ranks)


def fastest_sum(ranks: int, overhead: int, latency: int) -> int:
    """Return the least time of a sum on rank 0, over all orders of instructions, from sets of summands.

    A state has the sets that each rank holds, and the messages on their way. In each unit of time, the results of all
    instructions of one overhead are added: any rank combines any two of its disjoint sets, or sends one of its sets.
    """
    every = frozenset(range(ranks))
    held: list[dict[frozenset[int], int]] = [{frozenset({rank}): 0} for rank in range(ranks)]
    for time in range(overhead, 20 * (overhead + latency)):
        before = [{values for values, since in each.items() if since <= time - overhead} for each in held]
        sent = [{values for values, since in each.items() if since <= time - 2 * overhead - latency} for each in held]
        for rank, own in enumerate(before):
            messages = {values for other in range(ranks) if other != rank for values in sent[other]}
            messages |= {
                one | two
                for other in range(ranks)
                if other != rank
                for one, two in product(sent[other], repeat=2)
                if not one & two
            }
            fresh = {one | two for one, two in product(own, own | messages) if not one & two} | messages
            for values in fresh:
                held[rank].setdefault(values, time)
        if every in held[0]:
            return time
    raise AssertionError("the sum was not found")


def two_rows() -> Topology:
    """Return two boxes of three nodes in a row; all nodes are also on one switch."""
    builder = TopologyBuilder("rows")
    fabric = builder.add_switch("fabric")
    for box in range(2):
        nodes = [builder.add_compute(f"{box}/{place}", box=box) for place in range(3)]
        for one, other in pairwise(nodes):
            builder.add_duplex(one, other, 10)
        for node in nodes:
            builder.add_duplex(node, fabric, 1)
    return builder.build()


def trees_of(topology: Topology, root: int, height: int) -> Iterator[int]:
    """Yield the number of sends between boxes of each tree from a root that is not higher than allowed."""
    inside = {(link.source, link.target) for link in topology.links}
    others = [node for node in topology.compute if node != root]
    for parents in product(topology.compute, repeat=len(others)):
        parent_of = dict(zip(others, parents, strict=True))
        if all(depth(parent_of, node) <= height for node in others):
            yield sum((parent, node) not in inside for node, parent in parent_of.items())


def depth(parents: dict[int, int], node: int) -> int:
    """Return the depth of a node; a large number if it is in a circle."""
    steps = 0
    while node in parents and steps <= len(parents):
        node, steps = parents[node], steps + 1
    return steps


@pytest.mark.parametrize("height", [1, 2, 3])
def test_no_tree_of_few_sends_makes_fewer_sends_between_boxes(height: int) -> None:
    """Links that leave boxes carry 6 GB/s, and each shard is a sixth of M."""
    topology = two_rows()
    found = box_us_per_byte(topology, topology.compute, Collective.ALLGATHER)[height - 1] * 6e3
    least = [min(trees_of(topology, root, height)) for root in topology.compute[:3]]
    assert 1 <= found <= sum(least) / 3
    if height == 1:
        assert found == sum(least) / 3


def test_few_sends_of_a_row_cross_the_boxes_several_times() -> None:
    """Two sends from the end of a row reach the row; the other row takes two sends that each reach three nodes."""
    topology = two_rows()
    most = box_us_per_byte(topology, topology.compute, Collective.ALLREDUCE)
    assert [round(each * 6e3, 6) for each in most] == [4, 1, 1]


def test_links_that_leave_parts_bound_an_allreduce_too() -> None:
    """Three nodes in a one-way ring need four messages for each element; a switch that nothing enters sends none."""
    ring, size = linked("a b c", "a>b b>c c>a dead>a", switches="dead"), 2**30
    found = HopBound(optimum(ring, "allreduce"), [COSTS]).microseconds(size)
    assert found == pytest.approx(size * 4 / 3e3 + 7)


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce"])
@pytest.mark.parametrize("spec", ["mi250:boxes=1,gpus=8", "dgx-a100:boxes=2,gpus=3"])
def test_no_program_of_a_shallow_forest_is_below_the_bound(spec: str, collective: str) -> None:
    check_shallow_forests(optimum(spec, collective))


@given(network=uneven_networks(), collective=st.sampled_from(["allgather", "reduce-scatter", "allreduce"]))
@examples(60)
def test_no_program_of_a_shallow_forest_is_below_the_bound_on_any_network(network: Topology, collective: str) -> None:
    check_shallow_forests(optimum(network, collective))


def check_shallow_forests(best: TreeOptimum) -> None:
    problem = Problem(best.topology, best.demand)
    for more, pieces in product((0, 1), (1, 4)):
        schedule = schedule_of(problem, partial(shallow_forest, more=more, trees=1))
        program = stream_program(schedule, pieces)
        assert program is not None
        simulation = EventSimulation(program, Paths.of(schedule), COSTS)
        for size in (2**12, 2**18, 2**22):
            assert simulation.run(size).seconds * 1e6 >= HopBound(best, [COSTS]).microseconds(size) * (1 - 1e-9)
