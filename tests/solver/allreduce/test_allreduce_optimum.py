from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import optimum
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof import ProofError
from forestcoll.schedule.proof.tree_dual import PHASES, Roles, TreeDualProof, WeightedCut
from forestcoll.solver.allreduce.linear_program import AllreduceOptimum, allreduce_optimum
from forestcoll.topology import Symmetry, Topology
from forestcoll.topology.changes import changed_network
from forestcoll.topology.registry import build_topology
from forestcoll.topology.symmetry.orbits import Orbits
from networks import SMALL, built, duplex_networks, examples, linked, networks, with_abilities
from oracles import is_full_duplex, least_exit
from tree_programs import best_of_allreduce

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


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        *((f"complete:nodes={nodes}", Fraction(nodes, 2)) for nodes in (2, 3, 8)),
        *((f"ring:nodes={nodes},one_way=true", Fraction(nodes, 2 * (nodes - 1))) for nodes in (3, 6, 9)),
        *((f"ring:nodes={nodes}", Fraction(nodes, nodes - 1)) for nodes in (3, 6, 9)),
        *((f"hypercube:dim={dim}", Fraction(2**dim * dim, 2 * (2**dim - 1))) for dim in (1, 3, 5)),
        ("dgx-a100:boxes=2", Fraction(520, 3)),
        ("dgx-a100:boxes=8", Fraction(800, 7)),
        ("mi250:boxes=2", Fraction(2656, 15)),
        ("mi250:boxes=2,gpus=8", Fraction(128)),
        ("torus:dims=8x8", Fraction(128, 63)),
    ],
)
def test_known_rates(spec: str, expected: Fraction) -> None:
    assert solved(build_topology(spec)).upper == expected


@pytest.mark.parametrize(
    "bandwidths", [(1, 1, 1), (1, 5, 5), (2, 3, 4), (4, 3, 2), (3, 4, 7), (1, 2, 1), (7, 7, 8), (5, 6, 9)]
)
def test_the_rate_of_a_cycle_of_three_nodes(bandwidths: tuple[int, int, int]) -> None:
    expected = min(Fraction(min(bandwidths)), Fraction(sum(bandwidths), 4))
    one, two, three = bandwidths
    assert solved(network(f"0>1:{one} 1>2:{two} 2>0:{three}")).upper == expected


@examples(25)
@given(st.lists(st.tuples(st.integers(0, 10), SMALL), min_size=1, max_size=7))
def test_the_rate_of_a_tree_of_full_duplex_links_is_the_least_bandwidth(edges: list[tuple[int, Fraction]]) -> None:
    links = [(child, parent % child, bandwidth) for child, (parent, bandwidth) in enumerate(edges, 1)]
    assert solved(built(range(len(edges) + 1), links)).upper == min(bandwidth for _, bandwidth in edges)


@examples(150)
@given(networks(most=5, kinds=SMALL_KIND), st.dictionaries(st.integers(0, 12), st.integers(1, 5)))
def test_the_program_over_all_trees_has_the_same_optimum(topology: Topology, more: dict[int, int]) -> None:
    """Links with `more` bandwidth may unbalance switches, which are used as far as they can be balanced."""
    links = tuple(replace(link, bandwidth=link.bandwidth + more.get(at, 0)) for at, link in enumerate(topology.links))
    for each in (topology, replace(topology, links=links)):
        assert solved(each).upper == best_of_allreduce(each)


@examples(60)
@given(networks())
def test_the_optimum_is_between_the_halves_and_the_cut_set_bound(topology: Topology) -> None:
    found = allreduce_optimum(topology)
    assert found.proof.expanded(topology).allreduce_rate(topology, Roles.of(topology)) == found.upper
    assert halves(topology) <= found.upper <= least_exit(topology)


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
    """Return the network of these links between compute nodes, whose names are digits."""
    return linked(" ".join(sorted({each[place] for each in links.split() for place in (0, 2)})), links)


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


@examples(150)
@given(networks(most=6, kinds=SMALL_KIND))
def test_the_rate_of_equal_roots_is_between_the_halves_and_the_optimum(topology: Topology) -> None:
    rate, best = equal_roots(topology), solved(topology).upper
    assert halves(topology) <= rate <= best
    assert rate == best or not is_full_duplex(topology)


@examples(40)
@given(duplex_networks(most=6, kinds=SMALL_KIND))
def test_equal_roots_give_the_bound_if_switches_copy_and_add_up(topology: Topology) -> None:
    able = with_abilities(topology, [(True, True)] * 2)
    found = allreduce_optimum(able, Roles.in_network(able), equal_roots=True)
    assert found.upper == solved(able, in_network=True).upper
    assert found.proof.equal_roots
    assert found.proof.algbw(able, ALLREDUCE) == found.proof.expanded(able).algbw(able, ALLREDUCE) == found.upper


def star(leaves: int, *, multicast: bool, aggregation: bool) -> Topology:
    names = [str(leaf) for leaf in range(leaves)]
    plain = linked(" ".join(names), " ".join(f"{name}=hub" for name in names), switches="hub")
    return with_abilities(plain, [(multicast, aggregation)])


def test_only_a_switch_that_copies_and_adds_up_nearly_doubles_the_rate_of_a_star() -> None:
    able = star(8, multicast=True, aggregation=True)
    assert solved(able).upper == Fraction(8, 14)
    assert solved(able, in_network=True).upper == 1
    for multicast, aggregation in ((False, False), (True, False), (False, True)):
        less_able = star(8, multicast=multicast, aggregation=aggregation)
        assert solved(less_able, in_network=True).upper == Fraction(8, 14), (multicast, aggregation)


RING = build_topology("ring:nodes=4")


def test_a_plan_that_does_not_fit_is_refused() -> None:
    hub = star(3, multicast=False, aggregation=False)
    plan, over_hub = solved(RING).plan, solved(hub).plan
    assert plan is not None
    assert over_hub is not None
    more = (plan.roots[0] + Fraction(1, 10**9), *plan.roots[1:])
    for topology, broken, reason in (
        (RING, replace(plan, roots=more), "cut that misses"),
        (RING, replace(plan, reduce=(Fraction(0),) * len(plan.reduce)), "cut that misses"),
        (RING, replace(plan, reduce=(Fraction(1), *plan.reduce[1:])), "is used beyond its bandwidth"),
        (RING, replace(plan, reduce=(Fraction(-1), *plan.reduce[1:])), "negative"),
        (RING, replace(plan, reduce=plan.reduce[1:]), "another network"),
        (hub, replace(over_hub, broadcast=(Fraction(0), *over_hub.broadcast[1:])), "not balanced in the broadcast"),
        (hub, replace(over_hub, roots=(*over_hub.roots[:3], Fraction(1))), "switch 'hub' is a root"),
    ):
        assert reason in str(broken.fault(topology))


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


def test_a_tiny_link_of_a_line_adds_what_it_has() -> None:
    best = optimum(network("0=1:1 1=2:1 0=2:1e-9"), "allreduce")
    assert best.algbw == best.bound.algbw == 1 + Fraction(1, 2 * 10**9)


@pytest.mark.parametrize(
    ("spec", "nic"), [("dgx-a100:boxes=2", 25), pytest.param("dgx-h100:boxes=4", 50, marks=pytest.mark.slow)]
)
def test_a_gpu_with_a_very_slow_link_is_limited_by_its_nic(spec: str, nic: int) -> None:
    topology = changed_network(build_topology(spec), degrade=["b0/gpu0--b0/nvswitch=1e-6"])
    best = optimum(topology, "allreduce")
    assert best.algbw == best.bound.algbw == nic + Fraction(1, 10**6)
