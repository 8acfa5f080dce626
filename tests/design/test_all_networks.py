"""The finder compared with all undirected networks of degree 2 to 4 and up to 12 nodes."""

from collections.abc import Iterator
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from forestcoll.design.measure import Cost, least_factor
from forestcoll.design.search.finder import find_topologies
from forestcoll.design.wiring import Wiring
from forestcoll.solver.bounds.latency import moore_steps

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


@pytest.mark.parametrize(
    ("nodes", "degree"),
    [(nodes, degree) for degree in (2, 3, 4) for nodes in range(degree + 1, 13) if nodes * degree % 2 == 0],
)
def test_no_network_with_or_without_parallel_links_is_better(nodes: int, degree: int) -> None:
    """The offered network has the least T_B, and the fewest steps that the Moore bound allows.

    Parallel links leave a node fewer neighbours, so the bound is true for networks with them.
    """
    (offered,) = find_topologies(nodes, degree, bidirectional=True).members
    assert offered.cost == Cost(moore_steps(nodes, degree, both_ways=True), least_factor(nodes))


CUBIC = {6: 2, 8: 5, 10: 19, 12: 85}
"""The number of connected simple networks of degree 3, by nodes: sequence A002851 of the OEIS."""


def cubic_networks(nodes: int) -> list[nx.Graph]:
    """Return all connected simple networks of degree 3.

    Two links a-b and c-d are replaced by a-c and b-d, in all ways, starting with one network. All networks are reached
    in this way (Taylor 1981). The number of networks proves that `invariant` tells all of them apart.
    """
    first = nx.circulant_graph(nodes, [1, nodes // 2])
    found, waiting = {invariant(first): first}, [first]
    while waiting:
        for graph in switched(waiting.pop()):
            key = invariant(graph)
            if key not in found and nx.is_connected(graph):
                found[key] = graph
                waiting.append(graph)
    assert len(found) == CUBIC[nodes]
    return list(found.values())


def switched(graph: nx.Graph) -> Iterator[nx.Graph]:
    for (one, two), (three, four) in combinations(graph.edges, 2):
        for first, second in (((one, three), (two, four)), ((one, four), (two, three))):
            if len({one, two, three, four}) == 4 and not graph.has_edge(*first) and not graph.has_edge(*second):
                other = graph.copy()
                other.remove_edges_from([(one, two), (three, four)])
                other.add_edges_from([first, second])
                yield other


def invariant(graph: nx.Graph) -> tuple[bytes, ...]:
    """Return a value that is the same for isomorphic graphs: colours of all nodes after one node is marked."""
    adjacent = nx.to_numpy_array(graph, nodelist=range(len(graph)), dtype=np.int64)
    colours = 7 * np.eye(len(graph), dtype=np.int64) + 1
    for _ in range(6):
        near, square = colours @ adjacent, colours * colours % _PRIME
        colours = (31 * colours + square + 17 * (square * colours % _PRIME @ adjacent) + 5 * near * near) % _PRIME
    return tuple(sorted(row.tobytes() for row in np.sort(colours, axis=1)))


_PRIME = 1_000_003


@pytest.mark.parametrize(("nodes", "as_good"), [(8, 1), (10, 1), pytest.param(12, 2, marks=pytest.mark.slow)])
def test_no_network_of_degree_three_is_better_and_few_are_as_good(nodes: int, as_good: int) -> None:
    (offered,) = find_topologies(nodes, 3, bidirectional=True).members
    costs = [cost_of(graph) for graph in cubic_networks(nodes)]
    assert costs.count(offered.cost) == as_good
    assert min(cost.steps for cost in costs) == offered.cost.steps


def cost_of(graph: nx.Graph) -> Cost:
    wiring = Wiring(np.array([sorted(graph.adj[node]) for node in range(len(graph))], dtype=np.int32))
    cost = wiring.breadth_first_cost()
    assert cost is not None
    return cost


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
