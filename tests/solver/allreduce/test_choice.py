"""Packed trees as values; among packings with the same rate, low trees with little traffic are chosen."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest

from forestcoll.base.progress import SILENT
from forestcoll.demand.collective import PhaseOp
from forestcoll.solver.allreduce.tree_packing import packing as packing_module
from forestcoll.solver.allreduce.tree_packing.choice import WeighedTree, lowest_weights
from forestcoll.solver.allreduce.tree_packing.packing import packed_trees
from forestcoll.solver.allreduce.tree_packing.steiner import cheapest_tree, joined
from forestcoll.solver.forests.packed_trees import PackedTree, TreePacking
from forestcoll.topology import Topology
from forestcoll.topology.graph.least_trees import LeastTrees
from forestcoll.topology.graph.metric import Metric
from forestcoll.topology.symmetry.orbits import Orbits
from networks import drawn_network


def undirected(height: int, *links: int) -> WeighedTree:
    return WeighedTree(PhaseOp.BROADCAST, None, height, dict.fromkeys(links, 1))


def chosen(trees: Sequence[WeighedTree], capacities: Sequence[int], rate: Fraction) -> list[int]:
    weights = lowest_weights(trees, capacities, rate)
    assert weights is not None
    assert all(weight.denominator == 1 for weight in weights)
    return [weight.numerator for weight in weights]


def test_the_lowest_trees_have_the_weight() -> None:
    trees = [undirected(3, 0, 1), undirected(1, 0, 2, 3), undirected(2, 1)]
    assert chosen(trees, [2, 2, 1, 1], Fraction(2)) == [0, 1, 1]
    assert chosen(trees, [2, 2, 1, 1], Fraction(3)) == [0, 1, 2]


def test_of_equally_low_trees_the_one_with_the_fewest_links_has_the_weight() -> None:
    assert chosen([undirected(2, 0, 1, 2), undirected(2, 2, 3)], [1] * 4, Fraction(1)) == [0, 1]


def test_the_trees_of_a_root_have_the_same_weight_in_both_phases() -> None:
    """The lowest out-tree has the root 1, and its in-tree is higher in total than both trees of the root 0."""
    listed = [(PhaseOp.REDUCE, 0, 2), (PhaseOp.BROADCAST, 0, 2), (PhaseOp.REDUCE, 1, 9), (PhaseOp.BROADCAST, 1, 1)]
    trees = [WeighedTree(phase, root, height, {place: 1}) for place, (phase, root, height) in enumerate(listed)]
    assert chosen(trees, [1] * 4, Fraction(1)) == [1, 1, 0, 0]


def mean_height(packing: TreePacking) -> Fraction:
    def total(trees: tuple[PackedTree, ...]) -> Fraction:
        return sum((tree.weight * tree.height for tree in trees), Fraction(0))

    return (total(packing.reduce) + total(packing.broadcast)) / packing.weight


@pytest.mark.parametrize("one_way", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_choice_keeps_the_rate_and_never_makes_trees_higher(
    seed: int, monkeypatch: pytest.MonkeyPatch, *, one_way: bool
) -> None:
    topology = drawn_network(seed, nodes=9, kinds="caams", one_way=one_way)
    upper = 10 * sum((link.bandwidth for link in topology.links), Fraction(0))
    lowest = packed_trees(topology, Orbits.of(topology), upper, SILENT).packing
    monkeypatch.setattr(packing_module, "lowest_weights", lambda *_: None)
    first = packed_trees(topology, Orbits.of(topology), upper, SILENT).packing
    assert lowest.algbw(topology) == first.algbw(topology)
    assert mean_height(lowest) <= mean_height(first)


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


# Trees of a low price.


@pytest.mark.parametrize("seed", range(12))
def test_cheapest_trees_are_no_dearer_than_joined_ones(seed: int) -> None:
    topology = drawn_network(seed, nodes=10, kinds="cas", one_way=seed % 2 == 0)
    metric = Metric(topology, np.random.default_rng(seed).uniform(0.1, 1, len(topology.links)), np.inf)
    copies = np.array([node.is_compute or node.multicast for node in topology.nodes])
    least = LeastTrees(metric.distances, np.flatnonzero(copies).tolist(), topology.compute)
    for root in topology.compute:
        exact, near = cheapest_tree(metric, copies, least, root), joined(metric, copies, root, topology.compute)
        assert_tree(near, copies, topology)
        assert_tree(exact, copies, topology)
        assert price_of(exact, metric) <= least.length(root) + 1e-9
        assert least.length(root) <= price_of(near, metric) + 1e-9


def price_of(tree: PackedTree, metric: Metric) -> float:
    return sum(float(metric.distances[ends]) for arc in tree.arcs for ends in pairwise(arc))


def assert_tree(tree: PackedTree, copies: npt.NDArray[np.bool_], topology: Topology) -> None:
    reached = {tree.root}
    for arc in tree.arcs:
        assert arc[0] in reached
        assert arc[-1] not in reached
        assert copies[arc[0]]
        assert copies[arc[-1]]
        assert not any(copies[node] for node in arc[1:-1])
        reached.add(arc[-1])
    assert reached >= set(topology.compute)
