"""The lower bound: its parts by hand, and against all sets and programs of small networks."""

from itertools import product

import pytest

from forestcoll.collective import Collective
from forestcoll.simulation import Costs
from forestcoll.solver.optimum import optimum
from forestcoll.topology import TopologyBuilder
from forestcoll.tuning.hop_bounds import HopBound

COSTS = Costs(alpha_us=5, overhead_us=1)


def bound(spec: str, collective: str, size: int, costs: Costs = COSTS) -> float:
    return HopBound(optimum(spec, collective), [costs]).microseconds(size)


def test_a_small_message_needs_one_send() -> None:
    assert bound("dgx-a100:boxes=2", "allgather", 16) == pytest.approx(6, abs=0.01)


def test_a_ring_needs_as_many_sends_as_its_diameter() -> None:
    assert bound("ring:nodes=8", "allgather", 8) == pytest.approx(4 * 6, abs=0.01)


def test_a_large_message_needs_the_time_of_the_cut() -> None:
    size = 2**32
    assert bound("dgx-a100:boxes=2", "allgather", size) == pytest.approx(size / (1040 / 3 * 1e3) + 6)


def test_one_send_moves_every_shard_to_every_rank_of_the_other_box() -> None:
    """64 pairs of ranks exchange M/16 over 200 GB/s; this is below two sends of 6 us."""
    size = 2**17
    assert bound("dgx-a100:boxes=2", "allgather", size) == pytest.approx(64 / 16 * size / 200e3 + 6)


def test_one_send_of_an_allreduce_moves_every_vector_to_every_rank() -> None:
    size = 2**12
    assert bound("dgx-a100:boxes=2", "allreduce", size) == pytest.approx(64 * size / 200e3 + 6)


def test_two_sends_of_an_allreduce_cross_the_boxes_eight_times() -> None:
    size = 2**18
    assert bound("dgx-a100:boxes=2", "allreduce", size) == pytest.approx(8 * size / 200e3 + 6)


def test_an_element_that_crosses_once_waits_before_and_after() -> None:
    """The window of the box: M over 200 GB/s, the crossing, and half of a send before and after it."""
    size = 2**21
    assert bound("dgx-a100:boxes=2", "allreduce", size) == pytest.approx(size / 200e3 + 12)


def test_a_switch_that_copies_leaves_only_the_bound_of_any_schedule() -> None:
    size = 2**17
    found = bound("dgx-h100:boxes=2,nvls=true", "allgather", size)
    algbw = float(optimum("dgx-h100:boxes=2,nvls=true", "allgather").bound.algbw)
    assert found == pytest.approx(max(6, size / (algbw * 1e3) + 6))


def test_latencies_of_links_and_the_launch_count() -> None:
    builder = TopologyBuilder("slow")
    nodes = [builder.add_compute(each) for each in range(2)]
    for source, target in product(nodes, repeat=2):
        if source != target:
            builder.add_link(source, target, 1, latency_us=3)
    found = HopBound(optimum(builder.build(), "allgather"), [Costs(alpha_us=5, overhead_us=1, launch_us=10)])
    assert found.microseconds(2) == pytest.approx(10 + 9, abs=0.01)


def test_the_best_of_several_protocols_counts() -> None:
    best = optimum("ring:nodes=3", Collective.ALLGATHER)
    fast, wide = Costs(alpha_us=1, efficiency=0.5), Costs(alpha_us=5)
    assert HopBound(best, [fast, wide]).microseconds(3) == pytest.approx(2, abs=0.01)
    assert HopBound(best, [fast, wide]).microseconds(2**30) == pytest.approx(2**30 / 3e3 + 2)
