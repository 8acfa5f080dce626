"""The strength of a network is the optimum of an allreduce where all nodes take part and links are full duplex."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import optimum
from forestcoll.base.progress import SILENT
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.presentation.results.schedules.explanations import explain
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.partition import PartitionProof
from forestcoll.solver.allreduce.linear_program import allreduce_optimum
from forestcoll.solver.allreduce.strength import strength
from forestcoll.solver.forests.broadcast import cut_set_bound
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import SMALL, duplex_networks, examples, linked

ALLREDUCE = NodeDemand(Collective.ALLREDUCE)


def found(topology: Topology) -> PartitionProof:
    proof = strength(topology, cut_set_bound(topology).cut, SILENT)
    assert proof is not None
    return proof


def partitions(nodes: Sequence[int]) -> Iterator[list[list[int]]]:
    """Yield all partitions of `nodes`."""
    if not nodes:
        yield []
        return
    for parts in partitions(nodes[1:]):
        yield [[nodes[0]], *parts]
        for place, part in enumerate(parts):
            yield [*parts[:place], [nodes[0], *part], *parts[place + 1 :]]


@examples(30)
@given(duplex_networks(most=6, switches=False))
def test_no_partition_has_less_bandwidth(topology: Topology) -> None:
    proofs = (
        PartitionProof(tuple(map(tuple, map(sorted, parts))))
        for parts in partitions(range(len(topology.nodes)))
        if len(parts) > 1
    )
    assert found(topology).algbw(topology, ALLREDUCE) == min(each.algbw(topology, ALLREDUCE) for each in proofs)


@examples(30)
@given(duplex_networks(most=6, switches=False, kinds=st.just(SMALL)))
def test_the_strength_is_the_optimum_of_the_linear_program(topology: Topology) -> None:
    assert found(topology).algbw(topology, ALLREDUCE) == allreduce_optimum(topology).upper


def test_the_partition_is_stated_with_its_links() -> None:
    """Nodes 0 to 2 have fast links to each other; the slow links between them and nodes 3 and 4 are the limit."""
    best = optimum(linked("0 1 2 3 4", "0=1:10 1=2:10 0=2:10 0=3 0=4 3=4"), "allreduce")
    assert best.bound == Bound(Collective.ALLREDUCE, Fraction(3, 2), PartitionProof(((0, 1, 2), (3,), (4,))))
    assert best.is_optimal
    sentences = explain(best.bound, best.topology, best.demand)
    assert sentences[0].startswith("The nodes are divided into 3 parts.")
    assert sentences[-1] == "  6 GB/s together, so algbw <= 6 / 4 = 3/2 GB/s."


@pytest.mark.parametrize("spec", ["dgx-h100:boxes=2", "ring:nodes=4,one_way=true"])
def test_other_networks_have_no_strength(spec: str) -> None:
    topology = build_topology(spec)
    assert strength(topology, cut_set_bound(topology).cut, SILENT) is None
