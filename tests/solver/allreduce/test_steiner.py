"""Trees of a low price."""

from itertools import pairwise

import numpy as np
import pytest

from forestcoll.solver.allreduce.tree_packing.steiner import cheapest_tree, joined
from forestcoll.solver.forests.packed_trees import PackedTree
from forestcoll.topology import Topology
from forestcoll.topology.graph.least_trees import LeastTrees
from forestcoll.topology.graph.metric import Metric
from networks import drawn_network


@pytest.mark.parametrize("seed", range(20))
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
