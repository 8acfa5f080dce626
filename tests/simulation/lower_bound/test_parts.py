"""The bound of an allreduce by what parts of a network must receive: by hand, and against all orders of messages."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given

from forestcoll.algorithms.generate import optimum
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import ReceiptProof
from forestcoll.simulation.lower_bound.parts import most_by_parts
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import examples, networks


@pytest.mark.parametrize("spec", ["mi250:boxes=1", "mi250:boxes=2", "dgx-a100:boxes=2", "ring:nodes=8"])
def test_on_machines_the_bound_is_the_optimum_along_trees(spec: str) -> None:
    assert most_by_parts(build_topology(spec)) == optimum(spec, "allreduce").bound.algbw


def test_pairs_with_fast_links_are_parts() -> None:
    """Eight pairs of GPUs, into each of which 300 GB/s lead, need 14 messages for each element."""
    topology = build_topology("mi250:boxes=1")
    assert most_by_parts(topology) == Fraction(8 * 300, 14)
    assert ReceiptProof().algbw(topology, NodeDemand(Collective.ALLREDUCE)) > Fraction(8 * 300, 14)


@examples(100)
@given(networks())
def test_no_schedule_of_trees_exceeds_the_bound(topology: Topology) -> None:
    assert optimum(topology, "allreduce").algbw <= most_by_parts(topology)


@pytest.mark.parametrize("people", [2, 3, 4])
def test_so_many_people_need_two_calls_for_each_but_one(people: int) -> None:
    """All sequences of fewer one-way calls leave somebody without some of the news."""
    calls = [(one, other) for one, other in product(range(people), repeat=2) if one != other]
    states = {tuple(frozenset({each}) for each in range(people))}
    for _ in range(2 * people - 3):
        states |= {
            (*state[:other], state[one] | state[other], *state[other + 1 :]) for state in states for one, other in calls
        }
    everything = frozenset(range(people))
    assert not any(all(each == everything for each in state) for state in states)
    assert any(
        all(each == everything for each in (*state[:other], state[one] | state[other], *state[other + 1 :]))
        for state in states
        for one, other in calls
    )
