"""The bound of rings is compared with published values, and with rings on random networks."""

from fractions import Fraction
from itertools import pairwise, permutations

import pytest

from forestcoll import Collective, optimum, verify
from forestcoll.algorithms.method import Problem
from forestcoll.algorithms.nccl_ring import nccl_ring
from forestcoll.base.errors import InputError
from forestcoll.demand.demand import NodeDemand
from forestcoll.solver.bounds.rings import ring_bound
from forestcoll.topology.registry import load_topology
from networks import linked


@pytest.mark.parametrize(
    ("spec", "algbw"),
    [
        ("dgx-a100:boxes=1", "2400/7"),
        ("dgx-a100:boxes=2", "640/3"),
        ("dgx-h100:boxes=16", "51200/127"),
        ("mi250:boxes=2", "8192/31"),
        ("mi300x:boxes=2", "1280/3"),
    ],
)
def test_known_values(spec: str, algbw: str) -> None:
    topology = load_topology(spec)
    for collective in (Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE):
        found = ring_bound(topology, NodeDemand(collective), optimum(topology, collective).bound.algbw)
        assert found is not None
        assert found.algbw == Fraction(algbw) / (2 if collective is Collective.ALLREDUCE else 1), collective


@pytest.mark.parametrize(
    ("spec", "reaches"),
    [
        ("dgx-a100:boxes=2", True),
        ("dgx-a100:boxes=3", True),
        ("dgx-a100:boxes=2,pcie=true", True),
        ("dgx-h100:boxes=16", True),
        ("mi300x:boxes=2", True),
        ("mi250:boxes=2,gpus=8", True),
        ("mi250:boxes=1,gpus=8", False),
        ("dgx-1", True),
        ("cluster:box=dgx-h100,boxes=2,nics=4,nic_bandwidth=50", True),
    ],
)
def test_the_rings_of_nccl_reach_the_bound_on_most_machines(spec: str, reaches: bool) -> None:  # noqa: FBT001
    topology = load_topology(spec)
    found = ring_bound(topology, NodeDemand(), optimum(topology).bound.algbw)
    assert found is not None
    rings = verify(nccl_ring(Problem(topology, NodeDemand())))
    assert rings.algbw is not None
    assert (rings.algbw == found.algbw) if reaches else (rings.algbw < found.algbw)


def test_a_dead_nic_takes_a_ring() -> None:
    changed = load_topology("dgx-a100:boxes=2").without("b0/gpu0--ib")
    found = ring_bound(changed, NodeDemand(), optimum(changed).algbw)
    assert found is not None
    assert found.algbw == Fraction(560, 3)


def test_no_ring_of_a_small_network_is_faster() -> None:
    """All Hamiltonian cycles of a network without switches, each alone: none exceeds the bound, the best reaches it."""
    arcs = list(permutations(range(5), 2))
    bandwidths = {(one, other): Fraction(1 + (one * 7 + other * 3) % 5) for one, other in arcs}
    topology = linked("0 1 2 3 4", " ".join(f"{one}>{other}:{bandwidths[one, other]}" for one, other in arcs))
    found = ring_bound(topology, NodeDemand(), optimum(topology).bound.algbw)
    assert found is not None
    for order in permutations(range(1, 5)):
        cycle = [0, *order, 0]
        slowest = min(bandwidths[pair] for pair in pairwise(cycle))
        assert slowest * Fraction(5, 4) <= found.algbw


def test_idle_nodes_do_not_forward_data_of_rings() -> None:
    topology = load_topology("mi250:boxes=2")
    ranks = tuple(range(8)) + tuple(range(16, 24))
    demand = NodeDemand(ranks=ranks)
    found = ring_bound(topology, demand, optimum(topology, "allgather:ranks='0-7,16-23'").bound.algbw)
    assert found is not None
    assert found.algbw == 8 * 16 * Fraction(16, 15)


def test_one_rank_has_no_ring() -> None:
    topology = load_topology("dgx-a100:boxes=2")
    with pytest.raises(InputError, match="dgx-a100:boxes=2: one rank takes part; rings need two or more"):
        ring_bound(topology, NodeDemand(ranks=(3,)), Fraction(200))


def test_no_rings() -> None:
    topology = load_topology("dgx-a100:boxes=2")
    assert ring_bound(topology, NodeDemand(Collective.BROADCAST, root=0), Fraction(200)) is None
    assert ring_bound(topology, NodeDemand(Collective.ALL_TO_ALL), Fraction(200)) is None
    star = linked("0 1 2 3", "0=1 0=2 0=3")
    assert ring_bound(star, NodeDemand(ranks=(1, 2, 3)), Fraction(1)) is None
