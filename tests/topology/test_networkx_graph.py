import builtins
import json
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest

from forestcoll.base.errors import InputError
from forestcoll.topology import topology_from_document, topology_to_document
from forestcoll.topology.networkx_graph import from_networkx, to_networkx
from forestcoll.topology.registry import build_topology, load_topology


def test_an_undirected_graph_is_full_duplex() -> None:
    graph = nx.cycle_graph(4)
    nx.set_edge_attributes(graph, 25, "bandwidth")
    topology = from_networkx(graph)
    assert topology.name == "graph"
    assert len(topology.links) == 8
    assert set(topology.egress) == {50}


def test_a_directed_graph_is_one_way() -> None:
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


@pytest.mark.parametrize("bandwidth", [np.int64(4), np.float64(4), np.float32(4), Fraction(4), "4"])
def test_numbers_of_any_type_are_exact(bandwidth: object) -> None:
    graph = nx.Graph()
    graph.add_edge(0, 1, bandwidth=bandwidth)
    topology = from_networkx(graph)
    assert topology.links[0].bandwidth == 4
    json.dumps(topology_to_document(topology))


def test_numpy_integers_are_accepted_as_ids() -> None:
    graph = nx.Graph()
    graph.add_edge(np.int64(0), np.int32(1), bandwidth=1)
    topology = from_networkx(graph)
    assert [(node.id, type(node.id)) for node in topology.nodes] == [(0, int), (1, int)]
    assert topology == topology_from_document(json.loads(json.dumps(topology_to_document(topology))), where="w")


@pytest.mark.parametrize("graph", ["x", None, {"nodes": []}, 3])
def test_a_value_that_is_not_a_graph_is_refused(graph: object) -> None:
    with pytest.raises(InputError, match=r" is not a networkx graph; pass one, or use TopologyBuilder$"):
        from_networkx(graph)


@pytest.mark.parametrize("name", [{}, {"name": ""}])
def test_the_default_name_of_a_graph_is_graph(name: dict[str, str]) -> None:
    graph = nx.cycle_graph(3)
    graph.graph |= name
    nx.set_edge_attributes(graph, 1, "bandwidth")
    assert from_networkx(graph).name == "graph"


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([(0, 1, {})], 'graph: edges[0] (0 -> 1) has no "bandwidth"; give it one'),
        ([(0, 1, {3: 4})], 'graph: edges[0] (0 -> 1) has no "bandwidth"; give it one'),
        (
            [(0, 1, {"capacity": 4})],
            'graph: edges[0] (0 -> 1) has no "bandwidth" but has "capacity"; rename "capacity" to "bandwidth"',
        ),
        ([(0, 1, {"bandwidth": "25GBs"})], "graph: edge 0 -> 1: bandwidth '25GBs' has the unknown unit 'GBs'; use"),
        ([(0, 1, {"bandwidth": float("nan")})], "graph: edge 0 -> 1: bandwidth nan is not finite"),
        ([(0, 0, {"bandwidth": 1})], "graph: edge 0 -> 0 is a self-loop"),
        ([((0, 0), (0, 1), {"bandwidth": 1})], "graph: node id (0, 0) must be a string or an integer"),
        ([(0, 1, {"bandwidth": 1}), (2, 3, {"bandwidth": 1})], "graph: compute node 0 cannot reach compute node 2"),
    ],
)
def test_a_violated_rule_is_named(edges: list[tuple[object, object, dict[str, object]]], message: str) -> None:
    graph = nx.Graph()
    graph.add_edges_from(edges)
    with pytest.raises(InputError) as caught:
        from_networkx(graph)
    assert str(caught.value).startswith(message)


def test_keys_are_checked_only_if_the_graph_has_a_format_marker() -> None:
    graph = nx.Graph()
    graph.add_node(0, type="A100")
    graph.add_edge(0, 1, bandwidth="100Gb/s", delay=3)
    topology = from_networkx(graph)
    assert topology.nodes[0].attributes == {"type": "A100"}
    assert {link.bandwidth for link in topology.links} == {Fraction(25, 2)}
    assert from_networkx(to_networkx(topology)) == topology
    graph.graph["format"] = "forestcoll.topology/1"
    with pytest.raises(InputError, match=r'^graph: nodes\[0\] \(0\) has no "kind" but has "type"; rename "type" to'):
        from_networkx(graph)


@pytest.mark.parametrize("spec", ["dgx-a100:boxes=2,nics=true", "dgx-h100:nvls=true", "ring:nodes=3,bandwidth=1/3"])
def test_topology_files_data_of_networkx_is_a_topology_file(spec: str) -> None:
    topology = build_topology(spec)
    graph = to_networkx(topology)
    assert topology_from_document(nx.node_link_data(graph, edges="edges"), where="w") == topology
    again = nx.node_link_graph(topology_to_document(topology), edges="edges")
    assert from_networkx(again) == topology


def test_without_networkx_the_error_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    real_import = builtins.__import__

    def refuse(name: str, *rest: object) -> object:
        if name == "networkx":
            raise ImportError(name)
        return real_import(name, *rest)  # type: ignore[arg-type]

    topology = build_topology("ring")
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(InputError, match=r"pip install 'forestcoll\[networkx\]'"):
        to_networkx(topology)


@pytest.mark.parametrize("name", ["capacity", "weight"])
def test_the_capacity_or_weight_of_an_unmarked_graph_is_read_as_bandwidth_and_said(name: str) -> None:
    graph = nx.cycle_graph(3)
    nx.set_edge_attributes(graph, 7, name)
    topology = load_topology(graph)
    assert {link.bandwidth for link in topology.links} == {Fraction(7)}
    said = {"format": "networkx", "assumed": [f"{name} of an edge is its bandwidth, in GB/s"]}
    assert topology.attributes["imported"] == said
    graph.edges[0, 1]["bandwidth"] = 1
    with pytest.raises(InputError, match=f'has no "bandwidth" but has "{name}"'):
        load_topology(graph)
