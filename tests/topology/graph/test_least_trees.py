"""The shortest trees that join members of a network."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from forestcoll.topology import Topology
from forestcoll.topology.graph.least_trees import LeastTrees
from forestcoll.topology.graph.metric import Lengths, Metric
from networks import drawn_network


def branching(topology: Topology) -> list[int]:
    return [number for number, node in enumerate(topology.nodes) if node.is_compute or node.multicast]


def best_of_all(distances: Lengths, topology: Topology, root: int) -> int:
    """Return the least length over all sets of nodes that branch, each joined by its shortest arborescence."""
    needed = {root, *topology.compute}
    others = [node for node in branching(topology) if node not in needed]
    found = []
    for count in range(len(others) + 1):
        for chosen in combinations(others, count):
            graph = nx.DiGraph()
            nodes = [*needed, *chosen]
            for one in nodes:
                for other in nodes:
                    if other not in (one, root):
                        graph.add_edge(one, other, weight=int(distances[one, other]))
            found.append(int(nx.minimum_spanning_arborescence(graph).size("weight")))
    return min(found)


@pytest.mark.parametrize("seed", range(15))
def test_no_set_of_branching_nodes_gives_a_shorter_tree(seed: int) -> None:
    topology = drawn_network(seed, nodes=8, kinds="cams", one_way=seed % 2 == 0)
    lengths = np.random.default_rng(seed).integers(1, 20, len(topology.links))
    metric = Metric(topology, lengths, 10**6)
    least = LeastTrees(metric.distances, branching(topology), topology.compute)
    for root in branching(topology):
        assert least.length(root) == best_of_all(metric.distances, topology, root)


@pytest.mark.parametrize("seed", range(10))
def test_the_walks_of_a_tree_have_its_length_and_reach_all_members(seed: int) -> None:
    topology = drawn_network(seed, nodes=10, kinds="cas", one_way=seed % 2 == 0)
    lengths = np.random.default_rng(seed).integers(1, 20, len(topology.links))
    metric = Metric(topology, lengths, 10**6)
    least = LeastTrees(metric.distances, branching(topology), topology.compute)
    for root in topology.compute:
        walks, reached = list(least.walks(root)), {root}
        for start, end in walks:
            assert start in reached
            reached.add(end)
        assert reached >= set(topology.compute)
        assert sum(int(metric.distances[walk]) for walk in walks) == least.length(root)
