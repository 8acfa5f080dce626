"""Walks against networkx, on random networks."""

import networkx as nx
from hypothesis import given

from forestcoll import Topology
from forestcoll.topology import build_topology
from forestcoll.topology.graph.walks import (
    cheapest,
    hops,
    levels,
    onwards,
    over_switches,
    reached_from,
    shortest_paths,
)
from networks import examples, networks


@examples(100)
@given(topology=networks())
def test_walks_find_what_networkx_finds(topology: Topology) -> None:
    graph = nx.DiGraph(list(topology.link_numbers))
    graph.add_nodes_from(range(len(topology.nodes)))
    after = topology.targets.__getitem__
    for start in range(len(topology.nodes)):
        lengths = nx.single_source_shortest_path_length(graph, start)
        assert hops([start], after) == lengths
        assert [node for level in levels([start], after) for node in level] == list(hops([start], after))
        assert reached_from(topology, [start]) == set(lengths)
        assert reached_from(topology, [start], backwards=True) == {start} | nx.ancestors(graph, start)
        paths = shortest_paths(start, after)
        assert {node: len(path) - 1 for node, path in paths.items()} == lengths
        assert all(nx.is_path(graph, path) for path in paths.values() if len(path) > 1)


@examples(100)
@given(topology=networks())
def test_the_cheapest_walks_cost_what_networkx_says(topology: Topology) -> None:
    graph = nx.DiGraph()
    for (one, other), bandwidth in topology.bandwidths.items():
        graph.add_edge(one, other, weight=1 / bandwidth)
    costs = [1 / link.bandwidth for link in topology.links]
    for start in graph:
        found = cheapest({start: costs[0] - costs[0]}, onwards(topology, costs))
        assert found == nx.single_source_dijkstra_path_length(graph, start)
        assert list(found.values()) == sorted(found.values())


def test_walks_over_switches_end_at_compute_nodes() -> None:
    topology = build_topology("dgx-a100:boxes=2")
    found = hops([0], over_switches(topology, 0))
    assert {found[node] for node in topology.compute} == {0, 2}
    assert topology.number("b1/nvswitch") not in found


@examples(100)
@given(topology=networks())
def test_the_maps_of_a_topology_agree_with_its_links(topology: Topology) -> None:
    for number, link in enumerate(topology.links):
        ends = link.source, link.target
        assert topology.link_numbers[ends] == number
        assert topology.bandwidths[ends] == link.bandwidth
        assert number in topology.leaving[link.source]
        assert number in topology.entering[link.target]
    assert sum(map(len, topology.leaving)) == sum(map(len, topology.entering)) == len(topology.links)
    back = {(link.target, link.source): link.bandwidth for link in topology.links}
    assert topology.is_full_duplex == (back == topology.bandwidths)
