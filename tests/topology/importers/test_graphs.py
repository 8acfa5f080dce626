"""Graphs: node-link JSON, GraphML, GML, lists of edges and neighbours, SNDlib."""

import json
import warnings
from fractions import Fraction
from itertools import product

import networkx as nx

from import_tools import ids, import_text, links, problem

CYCLE = nx.cycle_graph(4)


def with_values(name: str, value: object) -> nx.Graph:
    graph = CYCLE.copy()
    nx.set_edge_attributes(graph, value, name)
    return graph


def graphml(graph: nx.Graph) -> str:
    return "\n".join(nx.generate_graphml(graph))


def gml(graph: nx.Graph) -> str:
    return "\n".join(nx.generate_gml(graph))


def node_link(graph: nx.Graph, edges: str = "links") -> str:
    return json.dumps(nx.node_link_data(graph, edges=edges))


def edge_list(graph: nx.Graph) -> str:
    return "\n".join(nx.generate_edgelist(graph))


def test_what_networkx_writes_is_read_and_integers_stay_integers() -> None:
    for write, name in product((graphml, gml, node_link, edge_list), ("bandwidth", "capacity", "weight")):
        imported = import_text(write(with_values(name, 12.5)))
        assert imported.bandwidths == {Fraction(25, 2): 8}, (write, name)
        assert name == "bandwidth" or f"{name} of an edge is its bandwidth, in GB/s" in imported.assumed
        assert any("no node is marked as a switch" in each for each in imported.assumed)
    imported = import_text(node_link(with_values("capacity", "400Gb/s"), edges="edges"))
    assert imported.format == "node-link"
    assert ids(imported) == [0, 1, 2, 3]
    assert imported.bandwidths == {Fraction(50): 8}


def test_the_first_of_several_attributes_is_the_bandwidth_and_a_missing_one_is_asked_for() -> None:
    graph = with_values("capacity", 7)
    nx.set_edge_attributes(graph, 1, "weight")
    assert import_text(graphml(graph)).bandwidths == {Fraction(7): 8}
    graph = with_values("capacity", 7)
    del graph.edges[0, 1]["capacity"]
    assert "the bandwidth of 1 edge, such as '0' -> '1'; give --link-bandwidth GBPS" in problem(graphml(graph))
    imported = import_text(graphml(graph), link_bandwidth=5)
    assert imported.bandwidths == {Fraction(7): 6, Fraction(5): 2}


def test_a_directed_graph_stays_directed_unless_each_line_is_drawn_once_and_nodes_may_be_switches() -> None:
    ring = nx.DiGraph([(number, (number + 1) % 3) for number in range(3)])
    nx.set_edge_attributes(ring, 5, "capacity")
    assert len(links(import_text(graphml(ring)))) == 3
    star = nx.DiGraph([("hub", name) for name in "abc"])
    nx.set_edge_attributes(star, 5, "capacity")
    imported = import_text(graphml(star))
    assert len(links(imported)) == 6
    assert any("draws each line once" in each for each in imported.assumed)
    star.add_edge("a", "hub", capacity=7)  # one line is drawn twice, and one-way edges would not join all nodes
    imported = import_text(graphml(star))
    found = links(imported)
    assert len(found) == 6
    assert found["hub", "a"] == found["b", "hub"] == 5
    assert found["a", "hub"] == 7
    assert any("nodes could not all reach each other" in each for each in imported.assumed)
    star.add_edges_from([("b", "hub"), ("c", "hub")], capacity=5)
    assert import_text(graphml(star)).assumed == import_text(graphml(ring)).assumed
    graph = nx.star_graph(["core", "a", "b"])
    nx.set_edge_attributes(graph, 5, "capacity")
    graph.nodes["core"]["type"] = "switch"
    imported = import_text(graphml(graph))
    assert ids(imported) == ["a", "b"]
    assert any("type=switch" in each for each in imported.assumed)


ZOO = """graph [
  directed 1
  multigraph 1
  label "Small net"
  node [
    id 0
    label "Oslo"
    Longitude 10.7
  ]
  node [
    id 1
    label "Bergen"
  ]
  node [
    id 2
    label "Narvik"
  ]
  edge [
    source 0
    target 1
    LinkSpeed "10"
    LinkSpeedUnits "G"
    LinkSpeedRaw 10000000000.0
  ]
  edge [
    source 1
    target 2
    LinkSpeedRaw 2500000000.0
  ]
  edge [
    source 1
    target 2
    LinkSpeedRaw 2500000000.0
  ]
]
"""


def test_networks_of_the_topology_zoo_are_called_by_their_labels_and_often_have_no_bandwidth() -> None:
    imported = import_text(ZOO)
    assert imported.format == "gml"
    assert imported.topology.name == "Small net"
    assert ids(imported) == ["Oslo", "Bergen", "Narvik"]
    south = {("Oslo", "Bergen"): Fraction(5, 4), ("Bergen", "Oslo"): Fraction(5, 4)}
    north = {("Bergen", "Narvik"): Fraction(5, 8), ("Narvik", "Bergen"): Fraction(5, 8)}
    assert links(imported) == south | north
    text = """<?xml version="1.0" encoding="utf-8"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="label" attr.type="string" for="node" id="d33" />
  <key attr.name="LinkSpeed" attr.type="string" for="edge" id="d34" />
  <key attr.name="LinkSpeedUnits" attr.type="string" for="edge" id="d35" />
  <graph edgedefault="undirected"><node id="0"><data key="d33">Oslo</data></node>
    <node id="1"><data key="d33">Bergen</data></node>
    <edge source="0" target="1"><data key="d34">10</data><data key="d35">G</data></edge></graph></graphml>"""
    assert links(import_text(text)) == {("Oslo", "Bergen"): Fraction(5, 4), ("Bergen", "Oslo"): Fraction(5, 4)}
    bare = text.replace('<data key="d34">10</data>', "")
    assert "give --link-bandwidth GBPS" in problem(bare)
    assert import_text(bare, link_bandwidth=100).bandwidths == {Fraction(100): 2}


def test_lists_of_edges_and_of_neighbours() -> None:
    for text in (
        "a b 25\nb c 25\n",
        "# edges\nsource,target,capacity\na,b,25\nb,c,25\n",
        "a\tb\t200Gb/s\nb\tc\t200Gb/s\n",
        "a b 25\nb a 25\nb c 25\nc b 25\n",
        "a b {'capacity': 25}\nb c {'capacity': 25, 'color': 'red'}\n",
        "a b\nb c\n",
    ):
        imported = import_text(text) if "2" in text else import_text(text, link_bandwidth=25)
        assert imported.format == "edge-list"
        assert len(links(imported)) == 4
        assert imported.bandwidths == {Fraction(25): 4}, text
    text = "\n".join(nx.generate_adjlist(nx.complete_graph(4)))
    assert "give --link-bandwidth" in problem(text)
    imported = import_text(text, link_bandwidth=5)
    assert imported.format == "adjacency-list"
    assert imported.bandwidths == {Fraction(5): 12}
    assert import_text("a b c\nb a c\nc a b\n", link_bandwidth=5).bandwidths == {Fraction(5): 6}


NATIVE = """?SNDlib native format; type: network; version: 1.0
# network small
META (
  unit = MBITPERSEC
)
NODES (
  Alpha ( 1.0 2.0 )
  Beta ( 2.0 3.0 )
  Gamma ( 3.0 4.0 )
)
LINKS (
  L1 ( Alpha Beta ) 0.00 0.00 0.00 0.00 ( 40.00 1.00 160.00 2.00 )
  L2 ( Beta Gamma ) 155.00 0.00 0.00 0.00 ( )
  L3 ( Gamma Alpha ) 40.00 0.00 0.00 0.00 ( 40.00 1.00 )
)
DEMANDS (
  D1 ( Alpha Beta ) 1 42.00 UNLIMITED
)
"""


def test_sndlib_has_capacities_in_modules() -> None:
    imported = import_text(NATIVE)
    assert imported.format == "sndlib"
    assert imported.topology.bandwidth_unit == "Mb/s"
    found = links(imported)
    assert found["Alpha", "Beta"] == found["Beta", "Alpha"] == 160
    assert found["Beta", "Gamma"] == 155
    assert found["Gamma", "Alpha"] == 80


def sndlib(inside: str) -> str:
    return (
        '<?xml version="1.0"?>\n<network xmlns="http://sndlib.zib.de/network" version="1.0"><networkStructure>'
        '<nodes coordinatesType="geographical"><node id="A"/><node id="B"/></nodes>'
        f'<links><link id="l"><source>A</source>{inside}</link></links></networkStructure></network>'
    )


def test_sndlib_in_xml() -> None:
    module = "<additionalModules><addModule><capacity>40.0</capacity><cost>1</cost></addModule></additionalModules>"
    installed = "<preInstalledModule><capacity>10.0</capacity><cost>0</cost></preInstalledModule>"
    imported = import_text(sndlib(f"<target>B</target>{installed}{module}"))
    assert links(imported)["A", "B"] == 50
    assert imported.topology.bandwidth_unit == "SNDlib units"


def json_id(text: str) -> str:
    """GraphML with a node whose id is this text, which should be JSON."""
    key = '<key id="d0" for="node" attr.name="id_as_json" attr.type="string"/>'
    graph = f'<graph edgedefault="undirected"><node id="n0"><data key="d0">{text}</data></node></graph>'
    return f"<graphml>{key}{graph}</graphml>"


def test_what_is_broken_is_said() -> None:
    for text, said in [
        (NATIVE.replace("LINKS (\n", "LINKS (\n)\n", 1), "has no links; expected a network of SNDlib"),
        (NATIVE.replace("155.00", "fast"), "line 13: 'fast' is not a number"),
        (NATIVE.replace("( Beta Gamma )", "Beta Gamma"), "line 13: 'L2 Beta Gamma"),
        (NATIVE.replace("155.00 0.00 0.00 0.00 ( )", "0.00"), "the bandwidth of 1 edge, such as 'Beta' -> 'Gamma'"),
        (NATIVE.replace("155.00 0.00", "UNLIMITED 0.00"), "the bandwidth of 1 edge, such as 'Beta' -> 'Gamma'"),
        (sndlib(""), "a <link> needs <source> and <target>"),
        (ZOO.replace("target 2", "target 7"), "there is no node 7"),
        (ZOO.replace("  ]\n]", "  ]\n"), "a closing bracket is missing"),
        (ZOO.replace('label "Narvik"', 'label "Narvik'), "a text has no closing quote"),
        (ZOO.replace("id 2", "id 1.5"), "a node needs an id"),
        (graphml(with_values("capacity", 5)).replace('target="1"', 'target="9"', 1), "there is no node '9'"),
        (graphml(with_values("capacity", 5)).replace("</graph>", ""), "not well-formed XML: mismatched tag"),
        (graphml(with_values("capacity", 5)).replace(">5<", ">five<"), "'five' is not of type long"),
        (graphml(with_values("capacity", -5)), "bandwidth -5 must be greater than 0"),
        ('<!DOCTYPE g [<!ENTITY a "b">]><graphml><graph/></graphml>', "declares the XML entity 'a'"),
        (json_id("[1"), "id_as_json of node 'n0' is '[1'; expected JSON"),
        (json_id("[1]"), "id_as_json of node 'n0' is '[1]'; expected JSON"),
        ('{"nodes": [[1]], "links": []}', "nodes[0] is [1]; expected an object"),
        ('{"nodes": [{}], "links": []}', 'nodes[0] has no "id"'),
        ('{"nodes": [1], "links": [{"source": 1}]}', 'links[0] has no "target"'),
        ('{"nodes": [1], "links": [3]}', "links[0] is 3; expected an object"),
        ('{"nodes": [1, 2], "links": [{"source": 1, "target": [2]}]}', "links[0]: target is [2]; expected the id"),
        ("a b 5\nb c {'capacity': __import__('os')}\n", "are no attributes"),
        ("a b 5\nb c 5\nc a 5 6 7\n", "line 3: 'c a 5 6 7' is no edge"),
    ]:
        assert said in problem(text)


def test_python_does_not_warn_of_a_refused_number() -> None:
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        assert "are no attributes" in problem("a b 5\nb c {1and: 3}\n")
    assert not shown


def test_entities_that_grow_are_refused_at_once() -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    text = f'<!DOCTYPE g [<!ENTITY l0 "ha">{laughs}]><graphml><graph>&l9;</graph></graphml>'
    assert "declares the XML entity" in problem(text)


RUSTWORKX = """<?xml version="1.0" encoding="UTF-8"?><graphml>
<key id="d1" for="node" attr.name="name" attr.type="string"></key>
<key id="d2" for="node" attr.name="kind" attr.type="string"></key>
<key id="d1" for="edge" attr.name="bandwidth" attr.type="float"></key><graph edgedefault="undirected">
<node id="n0"><data key="d1">gpu0</data><data key="d2">compute</data></node>
<node id="n1"><data key="d1">gpu1</data><data key="d2">compute</data></node>
<edge source="n0" target="n1"><data key="d1">400000000</data></edge>
<edge source="n0" target="n1"><data key="d1">25</data></edge></graph></graphml>"""


def test_ids_of_keys_are_those_of_nodes_or_of_edges_and_what_may_be_rounded_is_noted() -> None:
    imported = import_text(RUSTWORKX)
    assert ids(imported) == ["gpu0", "gpu1"]
    assert imported.bandwidths == {Fraction(400000025): 2}
    assert "1 value of type float, such as 400000000, may be rounded to 32 bits" in imported.assumed[0]
    assert not any("rounded" in each for each in import_text(RUSTWORKX.replace("400000000", "400")).assumed)


def test_ids_of_nodes_on_edges_as_igraph_writes_them_are_noted_and_nodes_keep_the_ids_that_igraph_read() -> None:
    text = RUSTWORKX.replace('"d1" for="edge"', '"e" for="edge"').replace('key="d1">4', 'key="e">4')
    text = text.replace('attr.name="name"', 'attr.name="id"').replace("float", "double")
    text = text.replace('<data key="d1">25', '<data key="e_id">gpu0</data><data key="e">25')
    text = text.replace("<graph ", '<key id="e_id" for="edge" attr.name="id" attr.type="string"/><graph ')
    imported = import_text(text)
    assert ids(imported) == ["gpu0", "gpu1"]
    assert imported.bandwidths == {Fraction(400000025): 2}
    assert imported.ignored == ("the ids of 1 edge, which are ids of nodes, as igraph writes them",)
