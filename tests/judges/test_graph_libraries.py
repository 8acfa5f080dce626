"""Multigraphs that networkx, igraph and rustworkx write, also one after the other, are read as they are meant."""

from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import networkx as nx
import pytest
from software import module

from import_tools import ids, import_text

pytestmark = pytest.mark.judges

EDGES = (("gpu0", "sw", 400000001.0), ("gpu0", "sw", 25.0), ("gpu1", "sw", 50.0), ("gpu1", "sw", 0.1))
KINDS = {"gpu0": "compute", "gpu1": "compute", "sw": "switch"}
EXACT = {Fraction(400000026): 2, Fraction(501, 10): 2}
"""The bandwidths, and how many one-way links have them: parallel edges are added."""


def multigraph() -> nx.MultiGraph:
    graph = nx.MultiGraph()
    for name, kind in KINDS.items():
        graph.add_node(name, kind=kind)
    for source, target, bandwidth in EDGES:
        graph.add_edge(source, target, bandwidth=bandwidth)
    return graph


def of_igraph(igraph: ModuleType) -> Any:
    graph = igraph.Graph()
    graph.add_vertices(list(KINDS), attributes={"kind": list(KINDS.values())})
    graph.add_edges([each[:2] for each in EDGES], attributes={"bandwidth": [each[2] for each in EDGES]})
    return graph


@pytest.mark.parametrize("ending", ["graphml", "gml"])
def test_what_networkx_and_igraph_write_is_exact(ending: str, tmp_path: Path) -> None:
    module("networkx")
    path = tmp_path / f"graph.{ending}"
    getattr(nx, f"write_{ending}")(multigraph(), path)
    assert import_text(path.read_text()).bandwidths == EXACT
    getattr(of_igraph(module("igraph")), f"write_{ending}")(str(path))
    imported = import_text(path.read_text())
    assert imported.bandwidths == EXACT
    assert ids(imported) == ["gpu0", "gpu1"]


def test_igraph_gives_edges_ids_of_nodes_which_is_noted_and_nodes_keep_their_names(tmp_path: Path) -> None:
    igraph = module("igraph")
    path = tmp_path / "graph.graphml"
    nx.write_graphml(multigraph(), path)
    read = igraph.Graph.Read_GraphML(str(path))
    assert read.es["id"][:3] == list(KINDS)
    read.write_graphml(str(path))
    imported = import_text(path.read_text())
    assert imported.bandwidths == EXACT
    assert ids(imported) == ["gpu0", "gpu1"]
    assert "the ids of 3 edges, which are ids of nodes, as igraph writes them" in imported.ignored


def test_rustworkx_uses_key_ids_twice_and_rounds_to_32_bits_which_is_noted(tmp_path: Path) -> None:
    rustworkx = module("rustworkx")
    graph = rustworkx.PyGraph(multigraph=True)
    numbers = {name: graph.add_node({"name": name, "kind": kind}) for name, kind in KINDS.items()}
    for source, target, bandwidth in EDGES:
        graph.add_edge(numbers[source], numbers[target], {"bandwidth": bandwidth})
    path = tmp_path / "graph.graphml"
    rustworkx.write_graphml(graph, str(path))
    imported = import_text(path.read_text())
    assert imported.bandwidths == {Fraction(400000025): 2, Fraction(501, 10): 2}
    assert ids(imported) == ["gpu0", "gpu1"]
    assert "1 value of type float, such as 400000000, may be rounded to 32 bits" in imported.assumed[0]
