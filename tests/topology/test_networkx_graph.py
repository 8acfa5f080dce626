import builtins
import json
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from forestcoll.topology import topology_from_document, topology_to_document
from forestcoll.topology.networkx_graph import from_networkx, to_networkx
from forestcoll.topology.registry import build_topology, load_topology
from refusal import refusal


def test_only_a_directed_graph_is_one_way() -> None:
    graph = nx.cycle_graph(4)
    nx.set_edge_attributes(graph, 25, "bandwidth")
    topology = from_networkx(graph)
    assert topology.name == "graph"
    assert from_networkx(nx.Graph(graph, name="")).name == "graph"
    assert len(topology.links) == 8
    assert set(topology.egress) == {50}
    graph = nx.cycle_graph(4, create_using=nx.DiGraph)
    graph.graph |= {"name": "circle", "site": "x"}
    nx.set_edge_attributes(graph, "25/3", "bandwidth")
    topology = from_networkx(graph)
    assert (topology.name, topology.attributes) == ("circle", {"site": "x"})
    assert [link.bandwidth for link in topology.links] == [Fraction(25, 3)] * 4


@pytest.mark.parametrize("kind", [nx.MultiGraph, nx.MultiDiGraph])
def test_parallel_edges_add_up(kind: type) -> None:
    graph = kind()
    for bandwidth in (1, 0.1):
        graph.add_edge("a", "b", bandwidth=bandwidth)
        graph.add_edge("b", "a", bandwidth=bandwidth)
    factor = 1 if graph.is_directed() else 2
    assert {link.bandwidth for link in from_networkx(graph).links} == {factor * Fraction(11, 10)}


def test_numbers_of_any_type_are_exact_and_numpy_integers_are_accepted_as_ids() -> None:
    for bandwidth in (np.int64(4), np.float64(4), np.float32(4), Fraction(4), "4"):
        topology = from_networkx(nx.Graph([(0, 1, {"bandwidth": bandwidth})]))
        assert topology.links[0].bandwidth == 4, bandwidth
        json.dumps(topology_to_document(topology))
    topology = from_networkx(nx.Graph([(np.int64(0), np.int32(1), {"bandwidth": 1})]))
    assert [(node.id, type(node.id)) for node in topology.nodes] == [(0, int), (1, int)]
    assert topology == topology_from_document(json.loads(json.dumps(topology_to_document(topology))), where="w")


def test_other_values_and_graphs_whose_compute_nodes_do_not_reach_each_other_are_refused() -> None:
    values: list[object] = ["x", None, {"nodes": []}, 3]
    for value in values:
        assert refusal(from_networkx, value).endswith(" is not a networkx graph; pass one, or use TopologyBuilder")
    graph = nx.Graph([(0, 1, {"bandwidth": 1}), (2, 3, {"bandwidth": 1})])
    assert len(load_topology(graph, connected=False).compute) == 4
    assert refusal(load_topology, graph) == "graph: compute node 0 cannot reach compute node 2; add links on the way"


@pytest.mark.parametrize(
    ("edge", "message"),
    [
        ((0, 1, {}), 'edges[0] (0 -> 1) has no "bandwidth"; give it one'),
        ((0, 1, {3: 4}), 'edges[0] (0 -> 1) has no "bandwidth"; give it one'),
        (
            (0, 1, {"capacity": 4}),
            'edges[0] (0 -> 1) has no "bandwidth" but has "capacity"; rename "capacity" to "band',
        ),
        ((0, 1, {"bandwidth": "25GBs"}), "edge 0 -> 1: bandwidth '25GBs' has the unknown unit 'GBs'; use"),
        (((0, None), (0, 1), {"bandwidth": 1}), "node id (0, None) must be a string or an integer; rename the node"),
    ],
)
def test_a_violated_rule_is_named(edge: tuple[object, object, dict[str, object]], message: str) -> None:
    assert refusal(from_networkx, nx.Graph([edge])).startswith(f"graph: {message}")


def test_keys_are_checked_only_if_the_graph_has_a_format_marker() -> None:
    graph = nx.Graph()
    graph.add_node(0, type="A100")
    graph.add_edge(0, 1, bandwidth="100Gb/s", delay=3)
    topology = from_networkx(graph)
    assert topology.nodes[0].attributes == {"type": "A100"}
    assert {link.bandwidth for link in topology.links} == {Fraction(25, 2)}
    assert from_networkx(to_networkx(topology)) == topology
    graph.graph["format"] = "forestcoll.topology/1"
    message = 'graph: nodes[0] (0) has no "kind" but has "type"; rename "type" to'
    assert refusal(from_networkx, graph).startswith(message)


def test_topology_files_data_of_networkx_is_a_topology_file() -> None:
    for spec in ["dgx-a100:boxes=2,pcie=true", "dgx-h100:nvls=true", "ring:nodes=3,bandwidth=1/3"]:
        topology = build_topology(spec)
        graph = to_networkx(topology)
        assert topology_from_document(nx.node_link_data(graph, edges="edges"), where="w") == topology, spec
        again = nx.node_link_graph(topology_to_document(topology), edges="edges")
        assert from_networkx(again) == topology, spec


def test_without_networkx_the_error_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def refuse(name: str, *rest: object) -> object:
        if name == "networkx":
            raise ImportError(name)
        return real_import(name, *rest)  # type: ignore[arg-type]

    topology = build_topology("ring")
    monkeypatch.setattr(builtins, "__import__", refuse)
    assert "pip install 'forestcoll[networkx]'" in refusal(to_networkx, topology)
