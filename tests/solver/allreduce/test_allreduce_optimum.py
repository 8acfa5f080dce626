from dataclasses import replace
from fractions import Fraction

import pytest
from allreduce_oracles import best_by_commodities, best_by_pairs_of_trees
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import ProofError
from forestcoll.schedule.proof.tree_dual import PHASES, Roles, TreeDualProof, WeightedCut
from forestcoll.solver.allreduce.linear_program import AllreduceOptimum, allreduce_optimum
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Symmetry, Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology
from forestcoll.topology.symmetry.orbits import Orbits
from networks import SMALL, duplex_networks, examples, networks, one_way_networks, with_abilities
from oracles import exit_bandwidth, subsets

SMALL_KIND = st.just(SMALL)
ALONE = Symmetry(())
ALLREDUCE = NodeDemand(Collective.ALLREDUCE)


def solved(topology: Topology, *, in_network: bool = False) -> AllreduceOptimum:
    """Return the optimum after a check of both halves of its proof, the dual without its symmetry."""
    roles = Roles.in_network(topology) if in_network else Roles.of(topology)
    found = allreduce_optimum(topology, roles)
    assert found.plan is not None
    assert found.plan.fault(topology, roles) is None
    assert found.proof.expanded(topology).allreduce_rate(topology, roles) == found.upper
    assert found.plan.rate == found.upper
    assert found.exact
    return found


def cut_set_bound(topology: Topology) -> Fraction:
    compute = frozenset(topology.compute)
    return min(
        exit_bandwidth(topology, inside)
        for inside in subsets(range(len(topology.nodes)))
        if inside & compute and not compute <= inside
    )


def cycle(*bandwidths: int) -> Topology:
    builder = TopologyBuilder("cycle")
    for node in range(len(bandwidths)):
        builder.add_compute(node)
    for node, bandwidth in enumerate(bandwidths):
        builder.add_link(node, (node + 1) % len(bandwidths), bandwidth)
    return builder.build()


@pytest.mark.parametrize("nodes", range(2, 9))
def test_the_rate_of_a_complete_network(nodes: int) -> None:
    assert solved(build_topology(f"complete:nodes={nodes}")).upper == Fraction(nodes, 2)


@pytest.mark.parametrize("nodes", range(3, 10))
def test_the_rates_of_a_one_way_cycle_and_a_ring(nodes: int) -> None:
    assert solved(build_topology(f"ring:nodes={nodes},one_way=true")).upper == Fraction(nodes, 2 * (nodes - 1))
    assert solved(build_topology(f"ring:nodes={nodes}")).upper == Fraction(nodes, nodes - 1)


@pytest.mark.parametrize("dimensions", range(1, 6))
def test_the_rate_of_a_hypercube(dimensions: int) -> None:
    nodes = 2**dimensions
    found = solved(build_topology(f"hypercube:dim={dimensions}"))
    assert found.upper == Fraction(nodes * dimensions, 2 * (nodes - 1))


@pytest.mark.parametrize(
    "bandwidths", [(1, 1, 1), (1, 5, 5), (2, 3, 4), (4, 3, 2), (3, 4, 7), (1, 2, 1), (7, 7, 8), (5, 6, 9)]
)
def test_the_rate_of_a_cycle_of_three_nodes(bandwidths: tuple[int, int, int]) -> None:
    expected = min(Fraction(min(bandwidths)), Fraction(sum(bandwidths), 4))
    assert solved(cycle(*bandwidths)).upper == expected


@examples(25)
@given(st.lists(st.tuples(st.integers(0, 10), SMALL), min_size=1, max_size=7))
def test_the_rate_of_a_tree_of_full_duplex_links_is_the_least_bandwidth(edges: list[tuple[int, Fraction]]) -> None:
    builder = TopologyBuilder("tree")
    builder.add_compute(0)
    for child, (parent, bandwidth) in enumerate(edges, 1):
        builder.add_compute(child)
        builder.add_duplex(child, parent % child, bandwidth)
    assert solved(builder.build()).upper == min(bandwidth for _, bandwidth in edges)


@examples(60)
@given(networks(most=4, switches=False, kinds=SMALL_KIND))
def test_the_exponential_program_has_the_same_optimum(topology: Topology) -> None:
    assert solved(topology).upper == best_by_pairs_of_trees(topology)


@examples(25)
@given(networks(most=5, kinds=SMALL_KIND))
def test_the_program_of_the_appendix_has_the_same_optimum(topology: Topology) -> None:
    assert solved(topology).upper == best_by_commodities(topology)


def unbalanced(topology: Topology, more: dict[int, int]) -> Topology:
    links = tuple(
        replace(link, bandwidth=link.bandwidth + more.get(place, 0)) for place, link in enumerate(topology.links)
    )
    return replace(topology, links=links)


@examples(20)
@given(one_way_networks(most=5, kinds=SMALL_KIND), st.dictionaries(st.integers(0, 12), st.integers(1, 5)))
def test_unbalanced_switches_are_used_as_far_as_they_can_be_balanced(topology: Topology, more: dict[int, int]) -> None:
    network = unbalanced(topology, more)
    assert solved(network).upper == best_by_commodities(network)


@examples(60)
@given(networks())
def test_the_optimum_is_between_the_halves_and_the_cut_set_bound(topology: Topology) -> None:
    found = allreduce_optimum(topology)
    assert found.proof.expanded(topology).allreduce_rate(topology, Roles.of(topology)) == found.upper
    assert halves(topology) <= found.upper <= cut_set_bound(topology)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("dgx-a100:boxes=2", "520/3"),
        ("dgx-a100:boxes=8", "800/7"),
        ("mi250:boxes=2", "2656/15"),
        ("mi250:boxes=2,gpus=8", "128"),
        ("torus:dims=8x8", "128/63"),
    ],
)
def test_machines_and_tori(spec: str, expected: str) -> None:
    assert solved(build_topology(spec)).upper == Fraction(expected)


@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2", "mi250:boxes=2,gpus=8", "torus:dims=3x4", "rail:boxes=2,gpus=3"])
def test_symmetry_does_not_change_the_optimum(spec: str) -> None:
    topology = build_topology(spec)
    alone = allreduce_optimum(topology, orbits=Orbits.of(topology, ALONE))
    assert alone.upper == solved(topology).upper
    assert alone.exact


def equal_roots(topology: Topology) -> Fraction:
    found = allreduce_optimum(topology, equal_roots=True)
    assert found.exact
    assert found.plan is not None
    assert found.plan.fault(topology) is None
    assert len({found.plan.roots[node] for node in topology.compute}) == 1
    assert found.proof.expanded(topology).allreduce_rate(topology, Roles.of(topology), equal_roots=True) == found.upper
    return found.upper


def halves(topology: Topology) -> Fraction:
    gather, scatter = optimum(topology).bound.algbw, optimum(topology.transposed()).bound.algbw
    return 1 / (1 / gather + 1 / scatter)


def network(links: str) -> Topology:
    """Return the network that a text such as `0>1:3 1=2:5` describes; `=` is a full-duplex edge."""
    builder = TopologyBuilder("network")
    for node in sorted({int(each[place]) for each in links.split() for place in (0, 2)}):
        builder.add_compute(node)
    for each in links.split():
        add = builder.add_duplex if each[1] == "=" else builder.add_link
        add(int(each[0]), int(each[2]), each[4:])
    return builder.build()


@pytest.mark.parametrize(
    ("links", "rates"),
    [
        # In the first two networks, all nodes have the same entering bandwidth and the same exit bandwidth.
        ("0=2:2 0=3:1 0=4:11 1=3:11 1=4:3 2=5:12 3=5:2", "3 4 4"),  # both phases at once are faster
        ("0>1:3 1>3:2 1>4:1 2>0:1 2=4:2 3>0:2 3>2:1 4>3:1", "5/3 20/11 11/6"),  # variable roots are faster still
        ("0>2:4 1>0:6 1>2:1 2>1:5", "10/3 15/4 4"),
        ("0>2:1 1>0:5 2>1:1", "3/4 3/4 1"),
    ],
)
def test_networks_where_a_reduce_scatter_and_an_allgather_are_not_the_best(links: str, rates: str) -> None:
    topology = network(links)
    found = (halves(topology), equal_roots(topology), solved(topology).upper)
    assert found == tuple(map(Fraction, rates.split()))


@examples(40)
@given(duplex_networks(most=6, kinds=SMALL_KIND))
def test_equal_roots_are_optimal_if_all_links_are_full_duplex(topology: Topology) -> None:
    assert equal_roots(topology) == solved(topology).upper


@examples(40)
@given(duplex_networks(most=6, kinds=SMALL_KIND))
def test_equal_roots_give_the_bound_if_switches_copy_and_add_up(topology: Topology) -> None:
    able = with_abilities(topology, [(True, True)] * 2)
    found = allreduce_optimum(able, Roles.in_network(able), equal_roots=True)
    assert found.upper == solved(able, in_network=True).upper
    assert found.proof.equal_roots
    assert found.proof.algbw(able, ALLREDUCE) == found.proof.expanded(able).algbw(able, ALLREDUCE) == found.upper


@examples(40)
@given(networks(most=6, kinds=SMALL_KIND))
def test_the_rate_of_equal_roots_is_between_the_halves_and_the_optimum(topology: Topology) -> None:
    assert halves(topology) <= equal_roots(topology) <= solved(topology).upper


def star(leaves: int, *, multicast: bool, aggregation: bool) -> Topology:
    builder = TopologyBuilder("star")
    builder.add_switch("hub", multicast=multicast, aggregation=aggregation)
    for leaf in range(leaves):
        builder.add_compute(leaf)
        builder.add_duplex(leaf, "hub", 1)
    return builder.build()


def test_a_switch_that_copies_and_adds_up_doubles_the_rate_of_a_star() -> None:
    able = star(8, multicast=True, aggregation=True)
    assert solved(able).upper == Fraction(8, 14)
    assert solved(able, in_network=True).upper == 1
    assert solved(star(8, multicast=False, aggregation=False), in_network=True).upper == Fraction(8, 14)


@pytest.mark.parametrize("multicast", [True, False])
def test_only_multicast_or_only_aggregation_does_not_help_a_star(multicast: bool) -> None:  # noqa: FBT001
    able = star(8, multicast=multicast, aggregation=not multicast)
    assert solved(able, in_network=True).upper == Fraction(8, 14)


RING = build_topology("ring:nodes=4")


def test_a_plan_with_too_great_a_rate_is_refused() -> None:
    plan = solved(RING).plan
    assert plan is not None
    roots = (plan.roots[0] + Fraction(1, 10**9), *plan.roots[1:])
    assert "cut that misses" in str(replace(plan, roots=roots).fault(RING))


def test_a_plan_that_overloads_a_link_is_refused() -> None:
    plan = solved(RING).plan
    assert plan is not None
    assert "is used beyond its bandwidth" in str(replace(plan, reduce=(Fraction(1), *plan.reduce[1:])).fault(RING))
    assert "negative" in str(replace(plan, reduce=(Fraction(-1), *plan.reduce[1:])).fault(RING))
    assert "another network" in str(replace(plan, reduce=plan.reduce[1:]).fault(RING))


def test_a_plan_that_leaves_a_switch_unbalanced_is_refused() -> None:
    topology = star(3, multicast=False, aggregation=False)
    plan = solved(topology).plan
    assert plan is not None
    less = replace(plan, broadcast=(Fraction(0), *plan.broadcast[1:]))
    assert "not balanced in the broadcast" in str(less.fault(topology))
    rooted = replace(plan, roots=(Fraction(1), *plan.roots[1:]))
    assert "switch 'hub' is a root" in str(rooted.fault(topology))


@examples(30)
@given(duplex_networks(most=5, kinds=SMALL_KIND), st.randoms(use_true_random=False))
def test_no_weights_prove_a_bound_below_the_optimum(topology: Topology, random: object) -> None:
    found = solved(topology)
    draw = random.randint  # type: ignore[attr-defined]
    cuts = tuple(replace(cut, weight=cut.weight * Fraction(draw(0, 20), 10)) for cut in found.proof.cuts)
    try:
        bound = replace(found.proof, cuts=cuts).allreduce_rate(topology, Roles.of(topology))
    except ProofError:
        return
    assert bound >= found.upper


def test_invalid_weights_are_refused() -> None:
    proof = solved(RING).proof
    first, *others = proof.cuts
    demand = NodeDemand(Collective.ALLREDUCE)
    potentials = {phase: {0: Fraction(1)} for phase in PHASES}
    for broken, reason in (
        (replace(proof, cuts=(replace(first, weight=Fraction(-1)), *others)), "is negative"),
        (replace(proof, cuts=(replace(first, inside=(0, 1, 2, 3)), *others)), "contains all nodes"),
        (replace(proof, cuts=()), "contain no data"),
        (replace(proof, potentials=potentials), "has a potential"),
    ):
        with pytest.raises(ProofError, match=reason):
            broken.algbw(RING, demand)


def test_a_proof_with_a_single_cut_gives_the_cut_set_bound() -> None:
    sides = ((0, 1), (2, 3))
    cuts = tuple(WeightedCut(phase, side, Fraction(1, 2)) for phase in PHASES for side in sides)
    assert TreeDualProof(cuts, {}).algbw(RING, NodeDemand(Collective.ALLREDUCE)) == 2
