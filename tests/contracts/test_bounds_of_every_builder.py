"""The bounds of every builder's network are proven, and schedules reach them."""

import pytest

from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.schedule.proof.tree_dual import TreeDualProof
from forestcoll.solver.bounds.table import bound_of, bounds_of
from forestcoll.solver.optimum import optimum
from forestcoll.topology.registry import build_topology, builders


@pytest.mark.parametrize("name", [each.name for each in builders() if each.recipe.port_model is None])
def test_the_bounds_are_proven_and_reached(name: str) -> None:
    topology = build_topology(name)
    found = bounds_of(topology)
    assert {each.collective for each in found.collectives} == {*SCHEDULED, Collective.ALL_TO_ALL}
    assert found.too_large == {}
    assert found.collectives[0].upper_algbw == optimum(topology).algbw
    assert found.collectives[0].upper_algbw == found.collectives[1].upper_algbw  # all links are full duplex
    root = topology.nodes[topology.compute[-1]].id
    rooted = [bound_of(topology, Demand(each, root=root)) for each in (Collective.GATHER, Collective.SCATTER)]
    for each in (*found.collectives, *rooted):
        assert each.tight
        assert each.achieved_algbw is None or each.achieved_algbw <= each.upper_algbw
        proof = each.bound.proof
        assert proof.algbw(topology, each.demand()) == each.upper_algbw
        if isinstance(proof, TreeDualProof):  # also valid without its symmetry
            assert proof.expanded(topology).algbw(topology, each.demand()) == each.upper_algbw
    plan = found.allreduce_rate.plan
    assert plan is not None
    assert plan.fault(topology) is None
    assert plan.rate == found.allreduce_rate.tree_lower
    assert plan.rate <= found.allreduce_rate.cut_set_upper.algbw
