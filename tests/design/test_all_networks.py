"""The finder compared with all simple undirected networks of degree 2 to 4 with few nodes."""

from collections.abc import Iterator
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from forestcoll.design.finder import find_topologies
from forestcoll.design.measure import Cost, least_factor
from forestcoll.design.wiring import Wiring

Neighbours = list[set[int]]


def regular_networks(nodes: int, degree: int) -> Iterator[Neighbours]:
    """Yield all connected simple networks in which node 0 is joined to the nodes 1 to `degree`."""
    near: Neighbours = [set() for _ in range(nodes)]
    yield from (found for found in completed(near, 0, degree) if is_connected(found))


def completed(near: Neighbours, node: int, degree: int) -> Iterator[Neighbours]:
    """Yield all networks that add links from `node` and later nodes to later nodes."""
    if node == len(near):
        yield [set(each) for each in near]
        return
    free = [other for other in range(node + 1, len(near)) if len(near[other]) < degree]
    missing = degree - len(near[node])
    choices = [tuple(range(1, degree + 1))] if node == 0 else combinations(free, missing)
    for chosen in choices:
        for other in chosen:
            near[node].add(other)
            near[other].add(node)
        yield from completed(near, node + 1, degree)
        for other in chosen:
            near[node].discard(other)
            near[other].discard(node)


def is_connected(near: Neighbours) -> bool:
    reached, waiting = {0}, [0]
    while waiting:
        fresh = near[waiting.pop()] - reached
        reached |= fresh
        waiting.extend(fresh)
    return len(reached) == len(near)


def better_costs(nodes: int, degree: int) -> set[Cost]:
    """Return the costs of networks that are better than all that the finder offers."""
    offered = [member.cost for member in find_topologies(nodes, degree, bidirectional=True).members]
    costs = set()
    for near in regular_networks(nodes, degree):
        targets = np.array([sorted(each) for each in near], dtype=np.int32)
        cost = Wiring(targets).breadth_first_cost()
        assert cost is not None
        costs.add(cost)
    assert costs
    return {
        cost
        for cost in costs
        if not any(each.steps <= cost.steps and each.bandwidth_factor <= cost.bandwidth_factor for each in offered)
    }


@pytest.mark.parametrize(
    ("nodes", "degree"), [(3, 2), (4, 2), (5, 2), (6, 2), (7, 2), (4, 3), (6, 3), (5, 4), (6, 4), (7, 4)]
)
def test_no_network_is_better_than_the_offered_ones(nodes: int, degree: int) -> None:
    assert better_costs(nodes, degree) == set()


@pytest.mark.slow
@pytest.mark.parametrize(("nodes", "degree"), [(8, 2), (9, 2), (8, 3), (8, 4), (9, 4)])
def test_no_network_of_eight_or_nine_nodes_is_better_than_the_offered_ones(nodes: int, degree: int) -> None:
    assert better_costs(nodes, degree) == set()


@pytest.mark.slow
def test_only_the_petersen_graph_is_better_than_the_offered_networks_of_ten_nodes_and_degree_three() -> None:
    assert better_costs(10, 3) == {Cost(2, least_factor(10))}
    petersen = Wiring(np.array([sorted(near) for near in nx.petersen_graph().adj.values()], dtype=np.int32))
    assert petersen.breadth_first_cost() == Cost(2, least_factor(10))
    (offered,) = find_topologies(10, 3, bidirectional=True).members
    assert offered.cost == Cost(3, least_factor(10))


@pytest.mark.parametrize(("nodes", "degree"), [(6, 3), (6, 4), (7, 4)])
def test_the_enumeration_is_complete(nodes: int, degree: int) -> None:
    found = [
        nx.Graph((node, other) for node, near in enumerate(each) for other in near)
        for each in regular_networks(nodes, degree)
    ]
    known = [
        graph
        for graph in nx.graph_atlas_g()
        if len(graph) == nodes and set(dict(graph.degree).values()) == {degree} and nx.is_connected(graph)
    ]
    assert all(any(nx.is_isomorphic(graph, each) for each in found) for graph in known)
