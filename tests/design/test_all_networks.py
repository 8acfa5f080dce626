"""The finder compared with all undirected networks of up to 7 nodes, and of degree 2 to 4 and up to 12 nodes."""

from collections.abc import Iterator
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from forestcoll.design.measure import Cost, least_factor
from forestcoll.design.search.finder import find_topologies
from forestcoll.design.wiring import Wiring
from forestcoll.solver.bounds.latency import moore_steps


def costs_up_to_seven_nodes() -> dict[tuple[int, int], list[Cost]]:
    """Return the costs of all connected simple networks, by nodes and degree."""
    costs: dict[tuple[int, int], list[Cost]] = {}
    for graph in nx.graph_atlas_g()[1:]:
        nodes, degrees = len(graph), {degree for _, degree in graph.degree}
        if len(degrees) == 1 and nodes > max(degrees) > 1 and nx.is_connected(graph):
            costs.setdefault((nodes, *degrees), []).append(cost_of(graph))
    return costs


def test_no_network_is_better_than_the_offered_ones() -> None:
    costs = costs_up_to_seven_nodes()
    assert len(costs[6, 3]) == CUBIC[6]
    for (nodes, degree), found in costs.items():
        offered = [member.cost for member in find_topologies(nodes, degree, bidirectional=True).members]
        for cost in found:
            reached = [each.steps <= cost.steps and each.bandwidth_factor <= cost.bandwidth_factor for each in offered]
            assert any(reached), (nodes, degree)


def test_no_network_with_or_without_parallel_links_is_better() -> None:
    """The offered network has the least T_B, and the fewest steps that the Moore bound allows.

    Parallel links leave a node fewer neighbours, so the bound is true for networks with them.
    """
    for degree in (2, 3, 4):
        for nodes in range(degree + 1, 13):
            if nodes * degree % 2 == 0:
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
