"""Graphs, tables and matrices of other libraries, as they are."""

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from forestcoll import Topology, failures, optimum
from forestcoll.topology import import_topology
from forestcoll.topology.registry import build_topology, load_topology
from refusal import refusal


def links(topology: Topology) -> set[tuple[object, ...]]:
    return {(*topology.ids([each.source, each.target]), each.bandwidth) for each in topology.links}


def assumed(topology: Topology) -> list[str]:
    said: Any = topology.attributes["imported"]
    return list(said["assumed"])


@pytest.mark.parametrize(
    ("graph", "spec"),
    [
        (nx.grid_graph([3, 4], periodic=True), "torus:dims=4x3"),
        (nx.grid_2d_graph(3, 4), "mesh:dims=3x4"),
        (nx.hypercube_graph(3), "hypercube:dim=3"),
        (nx.cycle_graph(5), "ring:nodes=5"),
        (nx.cartesian_product(nx.grid_2d_graph(2, 2), nx.path_graph(2)), "hypercube:dim=3"),
    ],
)
def test_lattices_and_hypercubes_of_networkx_are_the_networks_of_the_builders(graph: "nx.Graph", spec: str) -> None:
    network = load_topology(graph)
    assert optimum(network).algbw == optimum(spec).algbw
    assert len(network.links) == len(build_topology(spec).links)
    assert assumed(network)[-1] == "no edge has a bandwidth, so each link has 1 GB/s each way"


def test_a_tuple_is_called_by_its_parts() -> None:
    network = load_topology(nx.grid_2d_graph(2, 2))
    assert [node.id for node in network.nodes] == ["0.0", "0.1", "1.0", "1.1"]
    assert assumed(network)[0] == "nodes that are tuples are called by their parts: (0, 0) is called 0.0"
    assert failures(network).rows[0].change.name == "0.0--0.1"
    assert "node id 1.5 must be a string or an integer" in refusal(load_topology, nx.Graph([(1.5, 2)]))
    assert "node id (None, 1) must be" in refusal(load_topology, nx.Graph([((None, 1), (1, 1))])).replace("'", "")


def test_the_bandwidth_of_edges_without_one_can_be_given() -> None:
    graph = nx.Graph([(0, 1, {"bandwidth": 7}), (1, 2, {})])
    assert refusal(load_topology, graph).startswith("graph: edge 1 -> 2 has no 'bandwidth'; give it one, or give load")
    network = load_topology(graph, bandwidth=Fraction(25, 3))
    assert links(network) >= {(0, 1, 7), (1, 2, Fraction(25, 3)), (2, 1, Fraction(25, 3))}
    assert assumed(network) == ["1 edge without a bandwidth: 25/3 GB/s, as given"]
    assert links(load_topology(graph, bandwidth="40Gb/s")) >= {(1, 2, 5)}
    assert refusal(lambda: load_topology(graph, bandwidth="40Gx")).startswith("graph: bandwidth '40Gx' has the unknown")
    assert "bandwidth is for a graph" in refusal(lambda: load_topology("ring:nodes=3", bandwidth=3))


def test_capacity_is_read_and_weight_only_when_asked_for() -> None:
    graph = nx.Graph([(0, 1, {"capacity": 7, "weight": 3}), (1, 2, {"capacity": 7, "weight": 3})])
    network = load_topology(graph)
    assert {each.bandwidth for each in network.links} == {7}
    assert assumed(network) == ["capacity of an edge is its bandwidth, in GB/s"]
    network = load_topology(graph, bandwidth="weight")
    assert {each.bandwidth for each in network.links} == {3}
    assert assumed(network) == ["weight of an edge is its bandwidth, in GB/s"]
    assert refusal(lambda: load_topology(graph, bandwidth="speed")) == (
        "graph: no edge has 'speed'; they have capacity, weight"
    )
    only_weights = nx.Graph([(0, 1, {"weight": 3}), (1, 2, {"weight": 3})])
    network = load_topology(only_weights)
    assert {each.bandwidth for each in network.links} == {1}
    assert "their weight is one only with load_topology(…, bandwidth='weight')" in assumed(network)[0]


@pytest.mark.parametrize(
    ("name", "near"),
    [("bandwith", "bandwidth"), ("Bandwidth", "bandwidth"), ("link_bandwidth", "bandwidth"), ("Capacity", "capacity")],
)
@pytest.mark.parametrize("value", [8, "400Gb/s"])
def test_a_bandwidth_whose_name_is_misspelt_is_not_taken_for_none(name: str, near: str, value: object) -> None:
    graph = nx.Graph([(0, 1, {name: value})])
    assert refusal(load_topology, graph) == (
        f"graph: edges have '{name}', and no bandwidth; rename it to {near}, or give load_topology "
        f"bandwidth='{name}', or a number for all edges"
    )
    assert {each.bandwidth for each in load_topology(graph, bandwidth=3).links} == {3}
    assert {each.bandwidth for each in load_topology(graph, bandwidth=name).links} == {8 if value == 8 else 50}


def test_a_number_of_edges_that_may_be_their_bandwidth_is_named() -> None:
    assert (
        "their speed is one only with load_topology(…, bandwidth='speed')"
        in assumed(load_topology(nx.Graph([(0, 1, {"speed": 8})])))[0]
    )
    latencies = load_topology(nx.Graph([(0, 1, {"latency_us": 8})]))
    assert assumed(latencies) == ["no edge has a bandwidth, so each link has 1 GB/s each way"]


@pytest.mark.parametrize("make", [lambda matrix: matrix, lambda matrix: matrix.astype(np.float32)])
def test_a_matrix_of_numpy(make: Callable[[Any], Any]) -> None:
    network = load_topology(make(np.array([[9, 25, 0], [25, 0, 50], [12.5, np.nan, 9]])))
    assert links(network) == {(0, 1, 25), (1, 0, 25), (1, 2, 50), (2, 0, Fraction(25, 2))}
    connections = load_topology(np.array([[False, True], [True, False]]), bandwidth=4)
    assert links(connections) == {(0, 1, 4), (1, 0, 4)}


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.ones((2, 3)), "must be square and have numbers; this one has shape (2, 3)"),
        (np.array([["a", "b"], ["c", "d"]]), "must be square and have numbers"),
        (np.array([[0, -1], [1, 0]]), "-1"),
        (np.zeros((2, 2)), "compute node 0 cannot reach compute node 1"),
    ],
)
def test_a_wrong_matrix_is_refused(matrix: Any, message: str) -> None:
    assert message in refusal(load_topology, matrix)


def test_a_table_of_pandas() -> None:
    pd = pytest.importorskip("pandas", reason="pandas is not installed")
    table = pd.DataFrame({"From": ["a", "b"], "to": ["b", "c"], "Bandwidth": [25, 50], "cable": ["x", None]})
    network = load_topology(table)
    assert links(network) == {("a", "b", 25), ("b", "a", 25), ("b", "c", 50), ("c", "b", 50)}
    assert assumed(network) == ["an edge is full duplex"]
    one_way = pd.DataFrame({"source": [0, 1, 1], "target": [1, 0, 0], "speed": [1.5, 2, 2]})
    assert links(load_topology(one_way, bandwidth="speed")) == {(0, 1, Fraction(3, 2)), (1, 0, 4)}
    square = pd.DataFrame([[0, 3], [4, 0]], index=["x", "y"], columns=["x", "y"])
    assert links(load_topology(square)) == {("x", "y", 3), ("y", "x", 4)}
    assert "needs the columns source and target; it has a, b" in refusal(
        load_topology, pd.DataFrame({"a": [1], "b": [2]})
    )
    hole = pd.DataFrame({"source": ["a", None], "target": ["b", "c"]})
    assert "row 1 of a table of edges has no source" in refusal(load_topology, hole)


def test_a_graph_of_igraph() -> None:
    igraph = pytest.importorskip("igraph", reason="igraph is not installed")
    ring = load_topology(igraph.Graph.Ring(4))
    assert optimum(ring).algbw == optimum("ring:nodes=4").algbw
    graph = igraph.Graph(directed=True)
    graph["name"] = "hosts"
    graph.add_vertices(3, {"name": ["a", "b", "s"], "kind": ["compute", "compute", "switch"]})
    graph.add_edges([(0, 2), (2, 1), (1, 2), (2, 0)], {"bandwidth": [1, 1, 2, 2], "latency_us": [None] * 4})
    network = load_topology(graph)
    assert network.name == "hosts"
    assert links(network) == {("a", "s", 1), ("s", "b", 1), ("b", "s", 2), ("s", "a", 2)}
    assert [node.is_compute for node in network.nodes] == [True, True, False]


def test_a_graph_of_rustworkx() -> None:
    rustworkx = pytest.importorskip("rustworkx", reason="rustworkx is not installed")
    mesh = load_topology(rustworkx.generators.grid_graph(2, 3))
    assert optimum(mesh).algbw == optimum("mesh:dims=2x3").algbw
    graph = rustworkx.PyDiGraph()
    graph.add_nodes_from(["a", "b", {"name": "s", "kind": "switch"}])
    graph.add_edges_from([(0, 2, 25), (2, 1, {"capacity": 25, "bandwidth": 30}), (1, 2, 25), (2, 0, 25)])
    network = load_topology(graph)
    assert links(network) == {("a", "s", 25), ("s", "b", 30), ("b", "s", 25), ("s", "a", 25)}
    assert [node.is_compute for node in network.nodes] == [True, True, False]
    assert assumed(network) == ["the value of an edge is its bandwidth, in GB/s"]
    graph.remove_node(1)
    assert "cannot reach" not in refusal(load_topology, graph)


def test_node_link_files_of_lattices_are_read(tmp_path: Path) -> None:
    file = tmp_path / "lattice.json"
    file.write_text(json.dumps(nx.node_link_data(nx.grid_2d_graph(2, 2), edges="edges")))
    network = import_topology(file, link_bandwidth=1).topology
    assert [node.id for node in network.nodes] == ["0.0", "0.1", "1.0", "1.1"]


def test_what_was_assumed_is_on_the_page_of_the_network_and_of_an_optimum() -> None:
    said = "no edge has a bandwidth, so each link has 1 GB/s each way"
    for demand in ("allgather", "all-to-all"):
        assert said in str(optimum(nx.cycle_graph(3), demand))
    assert said in str(load_topology(nx.cycle_graph(3)))
    assert "assumed" not in str(optimum("ring:nodes=3"))


def test_every_function_takes_such_an_object() -> None:
    assert optimum(nx.grid_2d_graph(2, 2), "allreduce").algbw == optimum("ring:nodes=4", "allreduce").algbw
    assert optimum(np.array([[0, 2], [2, 0]])).algbw == 4
