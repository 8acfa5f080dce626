"""Allreduces along packed trees, where relays and switches copy and add up data."""

from fractions import Fraction
from itertools import combinations, pairwise
from random import Random

import networkx as nx
import numpy as np
import pytest
from allreduce_oracles import best_by_pairs_of_steiner_trees

from forestcoll.allreduce.tree_packing.metric import Metric
from forestcoll.allreduce.tree_packing.packing import packed_trees
from forestcoll.allreduce.tree_packing.steiner import cheapest_trees, joined
from forestcoll.collective import Collective
from forestcoll.forest_optimum.packed_trees import PackedTree, TreePacking
from forestcoll.progress import SILENT
from forestcoll.request import Demand
from forestcoll.solver.generate import generate
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.orbits import Orbits
from forestcoll.verification import verify

HALF = "0-3,8-11"


@pytest.mark.parametrize(
    ("spec", "ranks", "algbw"),
    [
        ("dgx-h100:boxes=2", HALF, "400"),
        ("mi300x:boxes=2", HALF, "2704/7"),
        ("dgx-a100:boxes=2", HALF, "200"),
        ("torus:dims=4x4", HALF, "3"),
        ("mesh:dims=3x3", "0,2,6,8", "2"),
        ("mi250:boxes=2", "0-7,16-23", "2656/13"),
        ("gb200-nvl72:boxes=2,nvls=true", None, "131400/143"),
    ],
)
def test_packed_trees_reach_the_bound(spec: str, ranks: str | None, algbw: str) -> None:
    best = optimum(spec, "allreduce", ranks=ranks)
    assert (str(best.algbw), best.is_optimal) == (algbw, True)
    report = verify(generate(spec, "allreduce", ranks=ranks))
    assert (report.ok, report.optimal, str(report.algbw)) == (True, True, algbw)


def test_lengths_prove_the_optimum_where_forwarding_switches_are_beside_relays() -> None:
    """The bound of the linear program, which does not see the paths through switches, is 350."""
    best = optimum("dgx-h100:boxes=2", "allreduce", ranks="0-5,8-13")
    assert (str(best.algbw), best.bound.proof.kind, best.is_optimal) == ("3700/11", "tree-lengths", True)
    report = verify(generate("dgx-h100:boxes=2", "allreduce", ranks="0-5,8-13"))
    assert (report.ok, report.optimal, str(report.algbw)) == (True, True, "3700/11")


def seeded(seed: int) -> Random:
    return Random(seed)  # noqa: S311 (a test)


def random_network(random: Random, *, nodes: int, kinds: str, one_way: bool) -> Topology:
    """Return a connected network: `c` compute, `a` able, `m` multicast, `s` plain switch; three nodes are compute."""
    builder = TopologyBuilder("random")
    for node in range(nodes):
        kind = "c" if node < 3 else random.choice(kinds)
        if kind == "c":
            builder.add_compute(node)
        else:
            builder.add_switch(node, multicast=kind in "am", aggregation=kind == "a")
    pairs = {(node, (node + 1) % nodes) for node in range(nodes)}
    pairs |= set(random.sample(list(combinations(range(nodes), 2)), nodes // 2))
    for one, other in sorted({tuple(sorted(pair)) if not one_way else pair for pair in pairs}):
        if one_way:
            builder.add_link(one, other, random.randint(1, 4))
        else:
            builder.add_duplex(one, other, random.randint(1, 4))
    return builder.build()


@pytest.mark.parametrize("one_way", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_packings_equal_the_program_over_all_pairs_of_trees(seed: int, *, one_way: bool) -> None:
    topology = random_network(seeded(seed), nodes=5 if one_way else 4, kinds="ca", one_way=one_way)
    best = best_by_pairs_of_steiner_trees(topology)
    found = packed_trees(topology, Orbits.of(topology), 2 * best, SILENT)
    assert found.packing.algbw(topology) == best
    assert found.proof is not None
    assert found.proof.algbw(topology, Demand(Collective.ALLREDUCE)) == best


@pytest.mark.parametrize("one_way", [False, True])
@pytest.mark.parametrize("seed", range(15))
def test_schedules_of_random_networks(seed: int, *, one_way: bool) -> None:
    check_schedule(random_network(seeded(seed), nodes=8, kinds="caams", one_way=one_way))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(500))
def test_schedules_of_more_random_networks(seed: int) -> None:
    random = seeded(1000 + seed)
    nodes = random.randint(6, 13)
    check_schedule(random_network(random, nodes=nodes, kinds="caams", one_way=random.random() < 0.5))


def check_schedule(topology: Topology) -> None:
    schedule = generate(topology, "allreduce")
    report = verify(schedule)
    assert report.ok, report.fault
    assert report.algbw == schedule.algbw
    assert schedule.bound is not None
    assert Fraction(98, 100) * schedule.bound.algbw <= schedule.algbw <= schedule.bound.algbw


@pytest.mark.parametrize("trees", [1, 2, 3, 7])
def test_a_number_of_trees(trees: int) -> None:
    schedule = generate("dgx-h100:boxes=2", "allreduce", ranks=HALF, trees=trees)
    assert verify(schedule).ok
    assert schedule.algbw <= 400
    assert schedule.trees_per_root is not None
    assert schedule.trees_per_root <= trees


def test_the_best_number_of_trees_is_no_worse_for_a_greater_limit() -> None:
    reached = [optimum("mesh:dims=3x3", "allreduce", ranks="0,2,6,8", max_trees=most).algbw for most in range(1, 6)]
    assert reached == sorted(reached)


def test_an_allreduce_may_have_its_root_on_a_relay() -> None:
    """One-way links a, b -> c -> r -> d -> a, b: the relay r is the root of all trees."""
    builder = TopologyBuilder("relay as root")
    for name in "abrcd":
        builder.add_compute(name)
    for source, target in ("ac", "bc", "cr", "rd", "da", "db"):
        builder.add_link(source, target, 1)
    topology = builder.build()
    best = optimum(topology, "allreduce", ranks=["a", "b"])
    assert best.is_optimal
    assert verify(generate(topology, "allreduce", ranks=["a", "b"])).ok


@pytest.mark.parametrize("backwards", [False, True])
def test_distances_are_those_of_networkx(*, backwards: bool) -> None:
    topology = random_network(seeded(1), nodes=9, kinds="ca", one_way=True)
    prices = np.random.default_rng(1).uniform(0.1, 1, len(topology.links))
    graph = nx.DiGraph()
    for link, price in zip(topology.links, prices, strict=True):
        graph.add_edge(*((link.target, link.source) if backwards else (link.source, link.target)), weight=price)
    metric = Metric(topology, prices, backwards=backwards)
    for start, lengths in nx.all_pairs_dijkstra_path_length(graph):
        for end, length in lengths.items():
            assert metric.distances[start, end] == pytest.approx(length)
            assert nx.path_weight(graph, metric.walk(start, end), "weight") == pytest.approx(length)


@pytest.mark.parametrize("seed", range(20))
def test_cheapest_trees_are_no_dearer_than_joined_ones(seed: int) -> None:
    topology = random_network(seeded(seed), nodes=10, kinds="cas", one_way=seed % 2 == 0)
    metric = Metric(topology, np.random.default_rng(seed).uniform(0.1, 1, len(topology.links)))
    copies = np.array([node.is_compute or node.multicast for node in topology.nodes])
    for root in topology.compute:
        ((price, exact),) = cheapest_trees(metric, copies, [root], topology.compute)
        near = joined(metric, copies, root, topology.compute)
        assert_tree(near, copies, topology)
        assert_tree(exact, copies, topology)
        assert price_of(exact, metric) <= price + 1e-9
        assert price <= price_of(near, metric) + 1e-9


def price_of(tree: PackedTree, metric: Metric) -> float:
    return sum(float(metric.distances[ends]) for arc in tree.arcs for ends in pairwise(arc))


def assert_tree(tree: PackedTree, copies: "np.ndarray[tuple[int], np.dtype[np.bool_]]", topology: Topology) -> None:
    reached = {tree.root}
    for arc in tree.arcs:
        assert arc[0] in reached
        assert arc[-1] not in reached
        assert copies[arc[0]]
        assert copies[arc[-1]]
        assert not any(copies[node] for node in arc[1:-1])
        reached.add(arc[-1])
    assert reached >= set(topology.compute)


def test_a_tree_with_another_root_has_the_same_edges() -> None:
    tree = PackedTree(0, ((0, 9, 1), (1, 2), (1, 8, 3)), Fraction(1, 2))
    moved = tree.rerooted(2)
    assert moved == PackedTree(2, ((2, 1), (1, 9, 0), (1, 8, 3)), Fraction(1, 2))
    assert (tree.height, moved.height) == (2, 2)


def test_rounded_weights_keep_the_total_of_each_root_equal_in_both_phases() -> None:
    trees = [PackedTree(root, ((root, 1 - root),), Fraction(weight, 30)) for root, weight in ((0, 7), (0, 10), (1, 13))]
    packing = TreePacking(tuple(trees), (PackedTree(0, ((0, 1),), Fraction(17, 30)), trees[2])).rounded(8)
    totals = [
        {root: sum(tree.weight for tree in phase if tree.root == root) for root in (0, 1)}
        for phase in (packing.reduce, packing.broadcast)
    ]
    assert totals == [{0: 5, 1: 3}] * 2
    assert packing.trees == 8
