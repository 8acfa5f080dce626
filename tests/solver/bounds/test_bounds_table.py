from collections import deque
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import generate, optimum
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.solver.bounds.latency import latency_bound, moore_steps
from forestcoll.solver.bounds.table import bounds
from forestcoll.solver.bounds.values import Bounds
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import SMALL, examples, linked, networks, ranks_for, uneven_networks, with_abilities
from oracles import best_allgather, exit_bandwidth, least_exit


def algbw(found: Bounds, collective: Collective) -> Fraction:
    bound = found.of(collective)
    assert bound is not None
    return bound.upper_algbw


def check_proofs(topology: Topology, found: Bounds) -> None:
    for row in found.collectives:
        assert row.bound.proof.algbw(topology, row.demand()) == row.upper_algbw
        if isinstance(row.bound.proof, CutProof):
            inside = frozenset(row.bound.proof.inside)
            shards = len(inside.intersection(topology.compute))
            missing = len(topology.compute) - shards
            parts = {Collective.ALLGATHER: shards, Collective.REDUCE_SCATTER: missing}
            share = Fraction(parts.get(row.collective, len(topology.compute)), len(topology.compute))
            assert exit_bandwidth(topology, inside) / share == row.upper_algbw
            assert shards > 0
            assert missing > 0


@examples(100)
@given(networks(most=6))
def test_the_bounds_of_any_network(topology: Topology) -> None:
    found = bounds(topology)
    check_proofs(topology, found)
    assert algbw(found, Collective.ALLGATHER) == best_allgather(topology)
    assert algbw(found, Collective.REDUCE_SCATTER) == best_allgather(topology.transposed())
    rate = found.allreduce_rate
    assert rate.cut_set_upper.algbw == least_exit(topology)
    assert rate.tree_lower is not None
    assert rate.tree_lower <= algbw(found, Collective.ALLREDUCE) <= min(rate.corollary_upper, rate.cut_set_upper.algbw)
    # The cut-set bound is less than twice the rate along trees.
    assert rate.factor is not None
    assert rate.greatest_factor == 2 - Fraction(2, len(topology.compute))
    assert rate.tree_lower <= rate.linear_upper <= rate.cut_set_upper.algbw
    assert 1 <= rate.factor <= rate.greatest_factor


@pytest.mark.parametrize(
    ("spec", "linear", "cut_set"),
    [
        ("complete:nodes=6", Fraction(3), 5),
        ("ring:nodes=6,one_way=true", Fraction(6, 10), 1),
        ("ring:nodes=6", Fraction(6, 5), 2),
        ("hypercube:dim=3", Fraction(12, 7), 3),
        ("dgx-a100", Fraction(520, 3), 200),
    ],
)
def test_linear_codes_are_not_faster_than_trees(spec: str, linear: Fraction, cut_set: int) -> None:
    rate = bounds(build_topology(spec)).allreduce_rate
    assert rate.linear_upper == rate.tree_lower == linear
    assert (rate.cut_set_upper.algbw, rate.exact) == (Fraction(cut_set), True)


def test_an_unbalanced_switch_has_no_greatest_factor() -> None:
    rate = bounds(linked("a b c", "a>s s>b s>c b>a c>a", switches="s", able=True)).allreduce_rate
    assert rate.greatest_factor is None
    assert rate.factor == 2  # above 2 - 2/3
    assert rate.linear_upper == rate.cut_set_upper.algbw


def test_linear_codes_are_not_faster_than_trees_on_a_one_way_circle() -> None:
    rate = bounds(linked("0 1 2 3", "0>1:1 1>2:2 2>3:1 3>0:2")).allreduce_rate
    assert rate.corollary_upper == rate.cut_set_upper.algbw == 1
    assert rate.linear_upper == rate.tree_lower == Fraction(2, 3)


def test_busbw_is_defined_as_in_nccl_tests() -> None:
    found = bounds(build_topology("dgx-a100:boxes=2"))
    factors = {each.collective: each.upper_busbw / each.upper_algbw for each in found.collectives}
    assert factors == {
        Collective.ALLGATHER: Fraction(15, 16),
        Collective.REDUCE_SCATTER: Fraction(15, 16),
        Collective.BROADCAST: 1,
        Collective.REDUCE: 1,
        Collective.ALLREDUCE: Fraction(15, 8),
        Collective.ALL_TO_ALL: Fraction(15, 16),
    }


def test_the_root_is_the_given_one_or_the_best() -> None:
    topology = linked("a b c", "a>b:5 b>c:4 c>a:1")
    best = bounds(topology)
    assert {each.collective: each.root for each in best.collectives if each.root is not None} == {
        Collective.BROADCAST: 0,
        Collective.REDUCE: 2,
    }
    assert algbw(best, Collective.BROADCAST) == algbw(best, Collective.REDUCE) == 4
    given = bounds(topology, root="b")
    assert algbw(given, Collective.BROADCAST) == algbw(given, Collective.REDUCE) == 1


def test_switches_that_compute_reach_the_cut_set_bound() -> None:
    found = bounds(build_topology("dgx-h100:boxes=1,nvls=true"))
    allreduce = found.of(Collective.ALLREDUCE)
    assert allreduce is not None
    assert allreduce.upper_algbw == allreduce.achieved_algbw == found.allreduce_rate.cut_set_upper.algbw == 450
    assert allreduce.tight
    assert found.allreduce_rate.tree_lower == Fraction(450 * 8, 14)


def test_an_allreduce_sends_half_of_its_data_over_each_of_two_copying_switches() -> None:
    hubs = " ".join(f"{node}=left {node}=right" for node in "abcd")
    allreduce = bounds(linked("a b c d", hubs, switches="left right", able=True)).of(Collective.ALLREDUCE)
    assert allreduce is not None
    assert allreduce.upper_algbw == allreduce.achieved_algbw == 2


def test_the_bound_with_an_unbalanced_switch_is_its_largest_balanced_use() -> None:
    found = bounds(linked("a b c", "a=hub:2 b=hub:2 c>hub:2 hub>c:1", switches="hub"))
    assert algbw(found, Collective.ALLGATHER) == Fraction(3, 2)
    for each in found.collectives[:5]:
        root = None if each.root is None else found.topology.nodes[each.root].id
        best = optimum(found.topology, Demand(each.collective.value, root=root))
        assert (each.achieved_algbw, each.bound) == (best.algbw, best.bound)
        assert each.tight == best.is_optimal
    # The hub sends 5 of the 6 that it receives: enough for an allgather, too little for a reduce-scatter.
    kinds = {each.collective: each.bound.proof.kind for each in found.collectives}
    assert (kinds[Collective.ALLGATHER], kinds[Collective.REDUCE_SCATTER]) == ("cut", "tree-dual")
    assert all(each.tight for each in found.collectives)
    assert found.allreduce_rate.exact
    assert found.allreduce_rate.one_after_the_other is None


def test_the_bounds_of_a_part_of_the_compute_nodes() -> None:
    topology, ranks = build_topology("mi250:boxes=2"), "0-7,16-23"
    found = bounds(topology, ranks=ranks)
    assert (len(found.members), len(found.topology.compute)) == (16, 32)
    for each in found.collectives[:5]:
        root = None if each.root is None else topology.nodes[each.root].id
        best = optimum(topology, Demand(each.collective.value, ranks=ranks, root=root))
        assert (best.bound, best.algbw) == (each.bound, each.achieved_algbw)
        assert each.tight or each.collective is Collective.ALLREDUCE


def test_steps_over_idle_nodes_count() -> None:
    assert bounds(build_topology("ring:nodes=8"), ranks=[0, 1, 4]).latency.steps == 4


def test_programs_that_are_too_large_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.solver.allreduce.linear_program.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.solver.flows.search.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.solver.flows.spreading.MOST_NODES", 2)
    found = bounds(build_topology("mi250:boxes=2"))
    assert set(found.too_large) == {Collective.ALLREDUCE, Collective.ALL_TO_ALL}
    assert found.of(Collective.ALL_TO_ALL) is None
    allreduce = found.of(Collective.ALLREDUCE)
    assert allreduce is not None
    assert allreduce.bound.proof.kind != "tree-dual"
    assert allreduce.upper_algbw == min(found.allreduce_rate.corollary_upper, found.allreduce_rate.cut_set_upper.algbw)
    assert found.allreduce_rate.tree_lower == Fraction(2656, 15)
    assert not found.allreduce_rate.exact


@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2,gpus=3", "ring:nodes=5", "dgx-1"])
def test_the_achieved_algbw_is_that_of_generate(spec: str) -> None:
    topology = build_topology(spec)
    for bound in bounds(topology).collectives:
        assert bound.achieved_algbw is not None
        assert bound.achieved_algbw <= bound.upper_algbw
        if bound.collective is Collective.ALL_TO_ALL:
            assert verify(generate(topology, "all-to-all")).algbw == bound.achieved_algbw
            continue
        root = bound.root if bound.root is None else topology.nodes[bound.root].id
        schedule = generate(topology, Demand(Collective(bound.collective.value), root=root))
        assert verify(schedule).algbw == bound.achieved_algbw


@pytest.mark.parametrize(("ranks", "copies", "algbw"), [("0-2", True, "1"), ("1-3", True, "1"), (None, False, "1")])
def test_the_bound_of_a_star_is_not_below_what_is_reached(ranks: str | None, algbw: str, *, copies: bool) -> None:
    """Ranks 1 to 3 are the leaves. Then the hub is idle, and it adds up and copies data."""
    found = bounds(linked("hub a b c", "hub=a hub=b hub=c"), ranks=ranks)
    row = found.of(Collective.ALLREDUCE)
    assert row is not None
    assert (str(row.upper_algbw), str(row.achieved_algbw), found.has_copies) == (algbw, algbw, copies)


@examples(40)
@given(st.data())
def test_no_bound_is_below_what_is_reached(data: st.DataObject) -> None:
    """On any network with relays and switches that copy or add up; the row and the schedule state the same."""
    flags = data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=3))
    topology = with_abilities(data.draw(uneven_networks(most=5, kinds=st.just(SMALL))), flags)
    ranks = data.draw(st.none() | ranks_for(topology))
    found = bounds(topology, ranks=ranks)
    row, rate = found.of(Collective.ALLREDUCE), found.allreduce_rate
    assert row is not None
    if row.achieved_algbw is not None:
        assert row.achieved_algbw <= row.upper_algbw <= rate.cut_set_upper.algbw
        assert generate(topology, Demand("allreduce", ranks=ranks)).algbw == row.achieved_algbw
        assert found.has_copies or row.achieved_algbw <= rate.corollary_upper


# The bound of latency.


@pytest.mark.parametrize(
    ("spec", "steps", "moore"),
    [
        ("ring:nodes=7", 3, 3),
        ("ring:nodes=7,one_way=true", 6, 6),
        ("complete:nodes=5", 1, 1),
        ("complete:nodes=2", 1, 1),
        ("hypercube:dim=4", 4, 2),
        ("torus:dims=4x4", 4, 2),
        ("complete-bipartite:left=4,right=4", 2, 2),
        ("circulant:nodes=5,offsets=1+2,one_way=true", 2, 2),
        ("dgx-a100:boxes=2", 1, None),  # switches do not count as steps
    ],
)
def test_known_latencies(spec: str, steps: int, moore: int | None) -> None:
    bound = latency_bound(build_topology(spec))
    assert (bound.steps, bound.links, bound.moore_steps) == (steps, steps + (moore is None), moore)
    assert (bound.degree is None) == (moore is None)


def test_a_network_that_reaches_the_moore_bound() -> None:
    assert moore_steps(10, 3, both_ways=True) == 2  # Petersen's graph: 1 + 3 + 3 * 2
    assert moore_steps(11, 3, both_ways=True) == 3


def distances(topology: Topology, source: int, *, switches_cost: int) -> dict[int, int]:
    """Return the distance of each node from `source`, by one search of its own."""
    found, waiting = {source: 0}, deque([source])
    while waiting:
        node = waiting.popleft()
        for link in topology.links:
            cost = 1 if topology.nodes[link.target].is_compute else switches_cost
            if link.source == node and found[node] + cost < found.get(link.target, 10**6):
                found[link.target] = found[node] + cost
                waiting.append(link.target)
    return found


@examples(80)
@given(networks())
def test_searches_from_all_nodes_together_find_the_same_as_one_search_each(topology: Topology) -> None:
    bound = latency_bound(topology)
    pairs = {
        (source, target): distances(topology, source, switches_cost=0)[target]
        for source in topology.compute
        for target in topology.compute
    }
    assert bound.steps == max(pairs.values())
    assert bound.farthest == next(pair for pair, steps in pairs.items() if steps == bound.steps)
    links = (distances(topology, source, switches_cost=1)[target] for source, target in pairs)
    assert bound.links == max(links)
