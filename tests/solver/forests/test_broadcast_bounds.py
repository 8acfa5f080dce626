from fractions import Fraction

import pytest
from hypothesis import given

from forestcoll.solver.forests.broadcast import broadcast_bound, broadcast_bounds, reduce_bound, reduce_bounds
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import examples, networks
from oracles import exit_bandwidth, subsets


def least_exit(topology: Topology, *, holds: int | None = None, misses: int | None = None) -> Fraction:
    """Return the least exit bandwidth of a set with some but not all compute nodes.

    The set contains `holds` and misses `misses` if they are given.
    """
    compute = frozenset(topology.compute)
    return min(
        exit_bandwidth(topology, inside)
        for inside in subsets(range(len(topology.nodes)))
        if inside & compute
        and not compute <= inside
        and (holds is None or holds in inside)
        and (misses is None or misses not in inside)
    )


@examples(60)
@given(networks(most=7))
def test_every_root_has_its_least_cut(topology: Topology) -> None:
    for root in topology.compute:
        sent, summed = broadcast_bound(topology, root), reduce_bound(topology, root)
        assert sent.algbw == least_exit(topology, holds=root) == exit_bandwidth(topology, frozenset(sent.cut))
        assert summed.algbw == least_exit(topology, misses=root) == exit_bandwidth(topology, frozenset(summed.cut))
        assert root in sent.cut
        assert root not in summed.cut


@examples(100)
@given(networks(most=7))
def test_the_worst_and_the_best_root_are_found(topology: Topology) -> None:
    broadcasts = [broadcast_bound(topology, root).algbw for root in topology.compute]
    reduces = [reduce_bound(topology, root).algbw for root in topology.compute]
    assert [each.algbw for each in broadcast_bounds(topology)] == [min(broadcasts), max(broadcasts)]
    assert [each.algbw for each in reduce_bounds(topology)] == [min(reduces), max(reduces)]
    for worst, best in (broadcast_bounds(topology), reduce_bounds(topology)):
        assert exit_bandwidth(topology, frozenset(worst.cut)) == worst.algbw
        assert exit_bandwidth(topology, frozenset(best.cut)) == best.algbw
    assert broadcast_bound(topology, broadcast_bounds(topology)[1].root).algbw == max(broadcasts)
    assert reduce_bound(topology, reduce_bounds(topology)[0].root).algbw == min(reduces) == least_exit(topology)


@pytest.mark.parametrize(
    ("spec", "algbw"),
    [("ring:nodes=8", 2), ("ring:nodes=8,one_way=true", 1), ("hypercube:dim=4", 4), ("complete:nodes=6", 5),
     ("torus:dims=4x4x4", 6), ("dgx-a100:boxes=2", 200), ("dgx-a100:boxes=1", 300)],
)  # fmt: skip
def test_known_networks(spec: str, algbw: int) -> None:
    topology = build_topology(spec)
    assert {each.algbw for each in (*broadcast_bounds(topology), *reduce_bounds(topology))} == {algbw}
