"""Every builder's network has bounds, and their proofs hold."""

import pytest

from forestcoll.allreduce.program import AllreduceOptimum
from forestcoll.bounds.all_to_all import rate_by_lengths
from forestcoll.bounds.limits import CutLimit, Operation, ProgramLimit
from forestcoll.bounds.table import bounds_of
from forestcoll.proof.tree_dual import Roles
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology, builders


@pytest.mark.parametrize("name", [each.name for each in builders() if each.recipe.port_model is None])
def test_bounds_hold_and_are_reached(name: str) -> None:
    topology = build_topology(name)
    found = bounds_of(topology)
    assert [each.operation for each in found.collectives] == list(Operation)
    assert found.too_large == {}
    assert found.collectives[0].upper_algbw == optimum(topology).algbw
    assert found.collectives[0].upper_algbw == found.collectives[1].upper_algbw  # all links are full duplex
    for bound in found.collectives:
        assert bound.tight
        assert bound.achieved_algbw is None or bound.achieved_algbw <= bound.upper_algbw
        if isinstance(bound.limit, CutLimit):
            inside = set(bound.limit.inside)
            leaving = [link.bandwidth for link in topology.links if link.source in inside and link.target not in inside]
            assert sum(leaving) == bound.limit.exit_bandwidth
        if isinstance(bound.limit, ProgramLimit):
            _check_program(topology, bound.limit)
    plan = found.allreduce_rate.plan
    assert plan is not None
    assert plan.fault(topology) is None
    assert plan.rate == found.allreduce_rate.tree_lower
    assert plan.rate <= found.allreduce_rate.cut_set_upper.algbw


def _check_program(topology: Topology, limit: ProgramLimit) -> None:
    """Add the certificate up without its symmetry."""
    best = limit.optimum
    if isinstance(best, AllreduceOptimum):
        assert best.proof.expanded(topology).allreduce_rate(topology, Roles.of(topology)) == limit.algbw
    else:
        assert len(topology.compute) * (rate_by_lengths(topology, best.lengths) or 0) == limit.algbw
