"""Compare the optimum of some of the compute nodes with the minimum over all cuts of small networks."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import optimum
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.demand.demand import Demand
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.optimum import optimum_without_relays
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import duplex_networks, examples, linked, networks, ranks_for, uneven_networks
from oracles import algbw_of_cut, best_of_group, check_bound, is_full_duplex, least_exit


def optimum_of(topology: Topology, ranks: tuple[int, ...], collective: Collective) -> TreeOptimum:
    root = topology.nodes[topology.compute[ranks[-1]]].id if collective.has_root else None
    made: TreeOptimum = optimum(topology, Demand(collective, ranks=ranks, root=root))
    return made


def bound_by_cuts(topology: Topology, ranks: tuple[int, ...], collective: Collective) -> Fraction:
    members = [topology.compute[rank] for rank in ranks]
    if collective is Collective.ALLREDUCE:
        return least_exit(topology, members)
    shards = dict.fromkeys(members, Fraction(1, len(members)))
    if collective.has_root:
        shards = {members[-1]: Fraction(1)}
    return best_of_group(topology, members, shards, reduces=collective.only_reduces)


NETWORKS = st.one_of(duplex_networks(most=7), networks(most=7), uneven_networks())


@pytest.mark.parametrize("collective", SCHEDULED)
@examples(100)
@given(NETWORKS, st.data())
def test_the_bound_is_the_least_cut_and_is_reached_on_duplex_networks(
    collective: Collective, topology: Topology, data: st.DataObject
) -> None:
    ranks = data.draw(ranks_for(topology))
    best = optimum_of(topology, ranks, collective)
    check_bound(best)
    assert algbw_of_cut(best) == bound_by_cuts(topology, ranks, collective)
    if is_full_duplex(topology):
        assert best.spare == ()
        if collective is not Collective.ALLREDUCE:
            assert best.algbw == best.bound.algbw == algbw_of_cut(best)


@examples(80)
@given(networks(most=7), st.data())
def test_idle_nodes_never_lower_the_optimum(topology: Topology, data: st.DataObject) -> None:
    best = optimum_of(topology, data.draw(ranks_for(topology)), Collective.ALLGATHER)
    without = optimum_without_relays(best)
    assert without is None or without.algbw <= best.algbw


@examples(40)
@given(networks(most=7))
def test_naming_all_ranks_equals_the_default(topology: Topology) -> None:
    named = optimum(topology, Demand(ranks=range(len(topology.compute))))
    plain = optimum(topology)
    assert (named.algbw, named.cut, named.trees_per_root) == (plain.algbw, plain.cut, plain.trees_per_root)


EIGHT_AND_EIGHT = [
    ("mi250:boxes=2", "0-7,16-23", Fraction(2656, 7), Fraction(208)),
    ("dgx-a100:boxes=2", "0-3,8-11", Fraction(2600, 7), Fraction(200)),
]


@pytest.mark.parametrize(("spec", "ranks", "with_relays", "without"), EIGHT_AND_EIGHT)
def test_the_optimum_of_half_of_each_box(spec: str, ranks: str, with_relays: Fraction, without: Fraction) -> None:
    """The 8+8 setting of ForestColl §6.2.1, in which half of each box is idle, and the same on DGX A100."""
    for collective in (Collective.ALLGATHER, Collective.REDUCE_SCATTER):
        best = optimum(build_topology(spec), Demand(collective, ranks=ranks))
        assert best.algbw == best.bound.algbw == with_relays
        bare = optimum_without_relays(best)
        assert bare is not None
        assert bare.algbw == bare.bound.algbw == without


def test_a_machine_of_half_boxes_equals_half_of_each_box_without_relays() -> None:
    assert optimum(build_topology("mi250:boxes=2,gpus=8")).algbw == 208


def test_ranks_are_given_as_integers_or_as_a_string() -> None:
    topology = build_topology("torus:dims=4x4")
    best = optimum(topology, "allgather:ranks='0-2,5'")
    assert best == optimum(topology, Demand(ranks=[5, 0, 1, 2])) == optimum(topology, "allgather:ranks=' 5 ,0-0, 1-2'")
    assert best.ranks == (0, 1, 2, 5)
    assert [each.ranks for each in optimum(topology, "allgather:ranks='0-2,5'", "trees:most=1").by_trees] == [
        (0, 1, 2, 5)
    ]


LINE = linked("a b c", "a=b:10 b=c:10")


def test_an_idle_node_that_cannot_be_reached_or_left_is_dropped() -> None:
    topology = linked("a b c source sink lonely", "a=b:10 b=c:10 source>a:5 b>sink:5", connected=False)
    best = optimum(topology, Demand(ranks=[0, 1, 2]))
    assert best.algbw == best.bound.algbw == optimum(LINE).algbw
    check_bound(best)


def test_ranks_can_be_connected_only_through_relays() -> None:
    best = optimum(LINE, Demand(ranks=[0, 2]))
    assert best.algbw == 20
    assert optimum_without_relays(best) is None


def test_ranks_that_cannot_reach_each_other_are_named() -> None:
    topology = linked("a b c", "a=b:10 a>c", connected=False)
    assert optimum(topology, Demand(ranks=[0, 1])).algbw == 20
    for ranks, kind in (([0, 2], "rank"), (None, "compute node")):
        with pytest.raises(InputError, match=f"network: {kind} 'c' cannot reach {kind} 'a'; add links on the way"):
            optimum(topology, Demand(ranks=ranks))
