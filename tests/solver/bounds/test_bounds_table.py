from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.solver.bounds.table import bounds_of
from forestcoll.solver.bounds.values import Bounds
from forestcoll.solver.optimum import optimum
from forestcoll.solver.personalised import generate_flows
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import SMALL, examples, networks, ranks_for, uneven_networks, with_abilities
from oracles import best_allgather, exit_bandwidth, subsets


def algbw(found: Bounds, collective: Collective) -> Fraction:
    bound = found.of(collective)
    assert bound is not None
    return bound.upper_algbw


@examples(40)
@given(networks(most=6))
def test_every_bound_equals_that_of_all_cuts(topology: Topology) -> None:
    found = bounds_of(topology)
    compute = frozenset(topology.compute)
    assert algbw(found, Collective.ALLGATHER) == best_allgather(topology)
    assert algbw(found, Collective.REDUCE_SCATTER) == best_allgather(topology.transposed())
    cut_set = min(
        exit_bandwidth(topology, inside)
        for inside in subsets(range(len(topology.nodes)))
        if inside & compute and not compute <= inside
    )
    assert found.allreduce_rate.cut_set_upper.algbw == cut_set
    assert algbw(found, Collective.ALLREDUCE) <= cut_set
    lower = found.allreduce_rate.tree_lower
    assert lower is not None
    assert lower <= algbw(found, Collective.ALLREDUCE) <= found.allreduce_rate.corollary_upper


@examples(40)
@given(networks(most=6))
def test_every_proof_adds_up_to_its_bound(topology: Topology) -> None:
    for row in bounds_of(topology).collectives:
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


@pytest.mark.parametrize(
    ("spec", "lower", "upper"),
    [
        ("complete:nodes=6", Fraction(3), Fraction(5)),
        ("ring:nodes=6,one_way=true", Fraction(6, 10), Fraction(1)),
        ("ring:nodes=6", Fraction(6, 5), Fraction(2)),
        ("hypercube:dim=3", Fraction(12, 7), Fraction(3)),
    ],
)
def test_the_rates_of_the_paper(spec: str, lower: Fraction, upper: Fraction) -> None:
    rate = bounds_of(build_topology(spec)).allreduce_rate
    assert (rate.tree_lower, rate.cut_set_upper.algbw, rate.exact) == (lower, upper, True)


@examples(30)
@given(networks(most=6))
def test_the_cut_set_bound_is_less_than_twice_the_rate_along_trees(topology: Topology) -> None:
    rate = bounds_of(topology).allreduce_rate
    assert rate.tree_lower is not None
    assert rate.factor is not None
    assert rate.greatest_factor == 2 - Fraction(2, len(topology.compute))
    assert rate.tree_lower <= rate.linear_upper <= rate.cut_set_upper.algbw
    assert 1 <= rate.factor <= rate.greatest_factor


def test_an_unbalanced_switch_has_no_greatest_factor() -> None:
    builder = TopologyBuilder("one to many")
    for node in "abc":
        builder.add_compute(node)
    builder.add_switch("s", multicast=True, aggregation=True)
    for source, target in ("as", "sb", "sc", "ba", "ca"):
        builder.add_link(source, target, 1)
    rate = bounds_of(builder.build()).allreduce_rate
    assert rate.greatest_factor is None
    assert rate.factor == 2  # above 2 - 2/3
    assert rate.linear_upper == rate.cut_set_upper.algbw


@pytest.mark.parametrize(
    ("spec", "linear"),
    [("complete:nodes=4", Fraction(2)), ("ring:nodes=5,one_way=true", Fraction(5, 8)), ("dgx-a100", Fraction(520, 3))],
)
def test_linear_codes_are_not_faster_than_trees(spec: str, linear: Fraction) -> None:
    rate = bounds_of(build_topology(spec)).allreduce_rate
    assert rate.linear_upper == rate.tree_lower == linear
    assert rate.cut_set_upper.algbw > linear


def test_linear_codes_are_not_faster_than_trees_on_a_one_way_circle() -> None:
    builder = TopologyBuilder("circle")
    for node in range(4):
        builder.add_compute(node)
    for node in range(4):
        builder.add_link(node, (node + 1) % 4, 1 + node % 2)
    rate = bounds_of(builder.build()).allreduce_rate
    assert rate.corollary_upper == rate.cut_set_upper.algbw == 1
    assert rate.linear_upper == rate.tree_lower == Fraction(2, 3)


def test_busbw_is_defined_as_in_nccl_tests() -> None:
    found = bounds_of(build_topology("dgx-a100:boxes=2"))
    factors = {each.collective: each.upper_busbw / each.upper_algbw for each in found.collectives}
    assert factors == {
        Collective.ALLGATHER: Fraction(15, 16),
        Collective.REDUCE_SCATTER: Fraction(15, 16),
        Collective.BROADCAST: 1,
        Collective.REDUCE: 1,
        Collective.ALLREDUCE: Fraction(15, 8),
        Collective.ALL_TO_ALL: Fraction(15, 16),
    }


def test_generate_never_exceeds_the_bound() -> None:
    for spec in ("dgx-a100:boxes=2", "mi250:boxes=2,gpus=8", "ring:nodes=5"):
        found = bounds_of(build_topology(spec))
        assert any(each.achieved_algbw is not None for each in found.collectives)
        assert all(each.achieved_algbw is None or each.achieved_algbw <= each.upper_algbw for each in found.collectives)
        allgather = found.of(Collective.ALLGATHER)
        assert allgather is not None
        assert allgather.achieved_algbw == optimum(found.topology).algbw


def test_the_root_is_the_given_one_or_the_best() -> None:
    builder = TopologyBuilder("uneven")
    for node in "abc":
        builder.add_compute(node)
    for source, target, bandwidth in (("a", "b", 5), ("b", "c", 4), ("c", "a", 1)):
        builder.add_link(source, target, bandwidth)
    topology = builder.build()
    best = bounds_of(topology)
    assert {each.collective: each.root for each in best.collectives if each.root is not None} == {
        Collective.BROADCAST: 0,
        Collective.REDUCE: 2,
    }
    assert algbw(best, Collective.BROADCAST) == algbw(best, Collective.REDUCE) == 4
    given = bounds_of(topology, root="b")
    assert algbw(given, Collective.BROADCAST) == algbw(given, Collective.REDUCE) == 1


def test_switches_that_compute_reach_the_cut_set_bound() -> None:
    found = bounds_of(build_topology("dgx-h100:boxes=1,nvls=true"))
    allreduce = found.of(Collective.ALLREDUCE)
    assert allreduce is not None
    assert allreduce.upper_algbw == allreduce.achieved_algbw == found.allreduce_rate.cut_set_upper.algbw == 450
    assert allreduce.tight
    assert found.allreduce_rate.tree_lower == Fraction(450 * 8, 14)


def test_an_allreduce_sends_half_of_its_data_over_each_of_two_copying_switches() -> None:
    builder = TopologyBuilder("two hubs")
    for name in ("left", "right"):
        builder.add_switch(name, multicast=True, aggregation=True)
    for node in range(4):
        builder.add_compute(node)
        for hub in ("left", "right"):
            builder.add_duplex(node, hub, 1)
    allreduce = bounds_of(builder.build()).of(Collective.ALLREDUCE)
    assert allreduce is not None
    assert (str(allreduce.upper_algbw), str(allreduce.achieved_algbw)) == ("2", "2")
    assert allreduce.tight


def test_the_bound_with_an_unbalanced_switch_is_its_largest_balanced_use() -> None:
    builder = TopologyBuilder("half a link failed")
    builder.add_switch("hub")
    for node in "abc":
        builder.add_compute(node)
        builder.add_duplex(node, "hub", 2)
    whole = builder.build()
    halved = [link.bandwidth / (2 if (link.source, link.target) == (0, 3) else 1) for link in whole.links]
    links = tuple(replace(link, bandwidth=each) for link, each in zip(whole.links, halved, strict=True))
    found = bounds_of(replace(whole, links=links))
    assert algbw(found, Collective.ALLGATHER) == Fraction(3, 2)
    for each in found.collectives[:5]:
        root = None if each.root is None else found.topology.nodes[each.root].id
        best = optimum(found.topology, each.collective.value, root=root)
        assert (each.achieved_algbw, each.bound) == (best.algbw, best.bound)
        assert each.tight == best.is_optimal
    # The hub sends 5 of the 6 that it receives: enough for an allgather, too little for a reduce-scatter.
    kinds = {each.collective: each.bound.proof.kind for each in found.collectives}
    assert (kinds[Collective.ALLGATHER], kinds[Collective.REDUCE_SCATTER]) == ("cut", "tree-dual")
    assert all(each.tight for each in found.collectives)
    assert found.allreduce_rate.exact
    assert found.allreduce_rate.one_after_the_other is None


def test_the_bounds_of_a_part_of_the_compute_nodes() -> None:
    topology = build_topology("mi250:boxes=2")
    found = bounds_of(topology, ranks="0-7,16-23")
    assert (len(found.members), len(found.topology.compute)) == (16, 32)
    for each in found.collectives[:5]:
        root = None if each.root is None else topology.nodes[each.root].id
        best = optimum(topology, each.collective.value, ranks="0-7,16-23", root=root)
        assert (best.bound, best.algbw) == (each.bound, each.achieved_algbw)
        assert each.tight or each.collective is Collective.ALLREDUCE
    with pytest.raises(InputError, match="root 'b0/gpu8' is not among the ranks; add it to the ranks"):
        bounds_of(topology, ranks="0-7,16-23", root="b0/gpu8")


def test_steps_over_idle_nodes_count() -> None:
    assert bounds_of(build_topology("ring:nodes=8"), ranks=[0, 1, 4]).latency.steps == 4


def test_programs_that_are_too_large_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.solver.allreduce.linear_program.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.solver.flows.search.MOST_COLUMNS", 3)
    monkeypatch.setattr("forestcoll.solver.flows.spreading.MOST_NODES", 2)
    found = bounds_of(build_topology("mi250:boxes=2"))
    assert set(found.too_large) == {Collective.ALLREDUCE, Collective.ALL_TO_ALL}
    assert found.of(Collective.ALL_TO_ALL) is None
    allreduce = found.of(Collective.ALLREDUCE)
    assert allreduce is not None
    assert allreduce.bound.proof.kind != "tree-dual"
    assert allreduce.upper_algbw == min(found.allreduce_rate.corollary_upper, found.allreduce_rate.cut_set_upper.algbw)
    assert found.allreduce_rate.tree_lower == Fraction(2656, 15)
    assert not found.allreduce_rate.exact


def test_invalid_arguments_raise() -> None:
    topology = build_topology("dgx-a100:boxes=2")
    with pytest.raises(InputError, match="no node 'x'"):
        bounds_of(topology, root="x")
    with pytest.raises(
        InputError, match="root 'ib' is a switch; give the id of a compute node, or its position from 0 to 15"
    ):
        bounds_of(topology, root="ib")
    with pytest.raises(NoSolutionError, match="one-port"):
        bounds_of(replace(topology, port_model="one-port"))


@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2,gpus=3", "ring:nodes=5", "dgx-1"])
def test_the_achieved_algbw_is_that_of_generate(spec: str) -> None:
    topology = build_topology(spec)
    for bound in bounds_of(topology).collectives:
        if bound.collective is Collective.ALL_TO_ALL:
            assert verify(generate_flows(topology)).algbw == bound.achieved_algbw
            continue
        root = bound.root if bound.root is None else topology.nodes[bound.root].id
        schedule = generate(topology, Collective(bound.collective.value), root=root)
        assert verify(schedule).algbw == bound.achieved_algbw


@pytest.mark.parametrize(("ranks", "copies", "algbw"), [("0-2", True, "1"), ("1-3", True, "1"), (None, False, "1")])
def test_the_bound_of_a_star_is_not_below_what_is_reached(ranks: str | None, algbw: str, *, copies: bool) -> None:
    """Ranks 1 to 3 are the leaves. Then the hub is idle, and it adds up and copies data."""
    builder = TopologyBuilder("star")
    builder.add_compute("hub")
    for leaf in "abc":
        builder.add_compute(leaf)
        builder.add_duplex("hub", leaf, 1)
    found = bounds_of(builder.build(), ranks=ranks)
    row = found.of(Collective.ALLREDUCE)
    assert row is not None
    assert (str(row.upper_algbw), str(row.achieved_algbw), found.has_copies) == (algbw, algbw, copies)


@examples(40)
@given(st.data())
def test_no_bound_is_below_what_is_reached(data: st.DataObject) -> None:
    """On any network with relays and switches that copy or add up; the row and the schedule state the same."""
    flags = data.draw(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=3))
    topology = with_abilities(data.draw(uneven_networks(most=6, kinds=st.just(SMALL))), flags)
    ranks = data.draw(st.none() | ranks_for(topology))
    found = bounds_of(topology, ranks=ranks)
    row, rate = found.of(Collective.ALLREDUCE), found.allreduce_rate
    assert row is not None
    if row.achieved_algbw is not None:
        assert row.achieved_algbw <= row.upper_algbw <= rate.cut_set_upper.algbw
        assert generate(topology, "allreduce", ranks=ranks).algbw == row.achieved_algbw
        assert found.has_copies or row.achieved_algbw <= rate.corollary_upper
