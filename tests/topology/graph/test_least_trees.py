"""Least lengths of walks, of trees that join members of a network, and of arborescences, which limit them."""

import os
from itertools import combinations, product
from typing import Any

import networkx as nx
import numpy as np
import numpy.typing as npt
import pytest

from forestcoll.base.errors import InternalError
from forestcoll.topology import Topology
from forestcoll.topology.graph.least_arborescences import LeastArborescences
from forestcoll.topology.graph.least_trees import LeastTrees
from forestcoll.topology.graph.metric import Lengths, Metric
from networks import ALL_EXAMPLES, drawn_network, linked


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


def problem(seed: int, nodes: int, kinds: str, least: int, most: int) -> tuple[Topology, Lengths]:
    topology = drawn_network(seed, nodes=nodes, kinds=kinds, one_way=seed % 2 == 0)
    lengths = np.random.default_rng(seed).integers(least, most, len(topology.links))
    return topology, Metric(topology, lengths, 10**6).distances


def test_no_set_of_branching_nodes_gives_a_shorter_tree() -> None:
    for seed in range(40 if ALL_EXAMPLES in os.environ else 8):
        topology, distances = problem(seed, 8, "cams", 1, 20)
        least = LeastTrees(distances, branching(topology), topology.compute)
        for root in branching(topology):
            assert least.length(root) == best_of_all(distances, topology, root), seed


def test_the_walks_of_a_tree_have_its_length_and_reach_all_members() -> None:
    for seed in range(10):
        topology, distances = problem(seed, 10, "cas", 1, 20)
        least = LeastTrees(distances, branching(topology), topology.compute)
        for root in topology.compute:
            walks, reached = list(least.walks(root)), {root}
            for start, end in walks:
                assert start in reached, seed
                reached.add(end)
            assert reached >= set(topology.compute), seed
            assert sum(int(distances[walk]) for walk in walks) == least.length(root), seed


def shortest_arborescence(distances: Lengths, root: int) -> int:
    """Return the least length over all choices of a parent for each node."""
    count = len(distances)
    others = [node for node in range(count) if node != root]
    lengths = []
    for parents in product(range(count), repeat=count):
        reached = {root}
        while added := {node for node in others if node not in reached and parents[node] in reached}:
            reached |= added
        if len(reached) == count:
            lengths.append(sum(int(distances[parents[node], node]) for node in others))
    return min(lengths)


def test_arborescences_equal_the_best_choice_of_parents() -> None:
    for seed in range(8):
        distances = np.random.default_rng(seed).integers(0, 6, (5, 5))
        np.fill_diagonal(distances, 0)
        least = LeastArborescences(distances, range(5), range(5))
        for root in range(5):
            walks = list(least.walks(root))
            assert least.length(root) == shortest_arborescence(distances, root), seed
            assert sum(int(distances[walk]) for walk in walks) == least.length(root), seed
            assert sorted(end for _, end in walks) == [node for node in range(5) if node != root], seed


def test_merging_other_nodes_gives_a_lower_limit_of_the_shortest_tree() -> None:
    for seed in range(10):
        topology, distances = problem(seed, 9, "ca", 0, 5)
        members = topology.compute[:3]
        limits = LeastArborescences(distances, range(9), members)
        trees = LeastTrees(distances, range(9), members)
        for root in members:
            assert limits.length(root) <= trees.length(root), seed


@pytest.mark.parametrize("dtype", [np.float64, np.int64, object])
@pytest.mark.parametrize("backwards", [False, True])
def test_distances_are_those_of_networkx(*, dtype: type, backwards: bool) -> None:
    topology = drawn_network(1, nodes=9, kinds="ca", one_way=True)
    lengths: npt.NDArray[Any] = np.random.default_rng(1).integers(1, 100, len(topology.links)).astype(dtype)
    graph = nx.DiGraph()
    for link, length in zip(topology.links, lengths.tolist(), strict=True):
        graph.add_edge(*((link.target, link.source) if backwards else (link.source, link.target)), weight=length)
    metric = Metric(topology, lengths, 10**6, backwards=backwards)
    assert metric.distances.dtype == dtype
    for start, expected in nx.all_pairs_dijkstra_path_length(graph):
        for end, length in expected.items():
            assert metric.distances[start, end] == length
            assert nx.path_weight(graph, metric.walk(start, end), "weight") == length


def test_a_node_that_is_not_reached_is_far_away() -> None:
    metric = Metric(linked("a b", "a=b", switches="alone"), np.array([2, 3]), 99)
    assert metric.distances.tolist() == [[0, 2, 99], [3, 0, 99], [99, 99, 0]]
    with pytest.raises(InternalError, match="no walk leads from node 0 to node 2"):
        metric.walk(0, 2)
