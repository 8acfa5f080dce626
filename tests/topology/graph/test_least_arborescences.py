"""Least arborescences are compared with all choices of parents; with more nodes they are lower limits of trees."""

from itertools import product

import numpy as np
import pytest

from forestcoll.topology.graph.least_arborescences import LeastArborescences
from forestcoll.topology.graph.least_trees import LeastTrees
from forestcoll.topology.graph.metric import Metric
from networks import drawn_network


def shortest(distances: "np.ndarray[tuple[int, int], np.dtype[np.int64]]", root: int) -> int:
    """Return the least length over all choices of a parent for each node."""
    count = len(distances)
    lengths = []
    for parents in product(range(count), repeat=count):
        node_paths = [node for node in range(count) if node != root]
        reached = {root}
        while added := {node for node in node_paths if node not in reached and parents[node] in reached}:
            reached |= added
        if len(reached) == count:
            lengths.append(sum(int(distances[parents[node], node]) for node in node_paths))
    return min(lengths)


@pytest.mark.parametrize("seed", range(8))
def test_arborescences_equal_the_best_choice_of_parents(seed: int) -> None:
    distances = np.random.default_rng(seed).integers(0, 6, (5, 5))
    np.fill_diagonal(distances, 0)
    least = LeastArborescences(distances, range(5), range(5))
    for root in range(5):
        walks = list(least.walks(root))
        assert least.length(root) == shortest(distances, root)
        assert sum(int(distances[walk]) for walk in walks) == least.length(root)
        assert sorted(end for _, end in walks) == [node for node in range(5) if node != root]


@pytest.mark.parametrize("seed", range(10))
def test_merging_other_nodes_gives_a_lower_limit_of_the_shortest_tree(seed: int) -> None:
    topology = drawn_network(seed, nodes=9, kinds="ca", one_way=seed % 2 == 0)
    lengths = np.random.default_rng(seed).integers(0, 5, len(topology.links))
    distances = Metric(topology, lengths, 10_000).distances
    members = topology.compute[:3]
    limits = LeastArborescences(distances, range(9), members)
    trees = LeastTrees(distances, range(9), members)
    for root in members:
        assert limits.length(root) <= trees.length(root)
