import gzip
import json
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import write_topology
from forestcoll.topology import (
    Link,
    Topology,
    TopologyBuilder,
    read_topology,
    topology_from_document,
    topology_to_document,
)
from forestcoll.topology.networkx_graph import from_networkx, to_networkx
from networks import built, examples
from refusal import refusal

HEAD = '"graph": {"format": "forestcoll.topology/1", "name": "t"}'
NODES = '"nodes": [{"id": "a"}, {"id": "b"}]'


def edge(rest: str, source: str = '"a"', target: str = '"b"') -> str:
    return f'{{"source": {source}, "target": {target}{rest}}}'


def text(*edges: str, nodes: str = NODES, head: str = HEAD, directed: str = "false") -> str:
    return f'{{"directed": {directed}, {head}, {nodes}, "edges": [{", ".join(edges)}]}}'


GOOD = edge(', "bandwidth": 25')


def read(tmp_path: Path, content: str) -> Topology:
    path = tmp_path / "t.json"
    path.write_text(content)
    return read_topology(path)


def problem(tmp_path: Path, content: str) -> str:
    start = f"{tmp_path / 't.json'}: "
    message = refusal(read, tmp_path, content)
    assert message.startswith(start)
    return message.removeprefix(start)


def assert_written_back(topology: Topology, path: Path) -> dict[str, Any]:
    """Assert that a topology is read back from its file and from its graph, and return the document in the file."""
    write_topology(topology, path)
    assert read_topology(path) == topology
    assert from_networkx(to_networkx(topology)) == topology
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def test_a_file_is_read(tmp_path: Path) -> None:
    topology = read(
        tmp_path,
        """{"directed": true, "multigraph": false,
        "graph": {"format": "forestcoll.topology/1", "name": "two boxes", "bandwidth_unit": "Gb/s",
                  "port_model": "one-port", "site": "x"},
        "nodes": [{"id": "gpu0", "kind": "compute", "box": 0}, {"id": 1},
                  {"id": "sw", "kind": "switch", "multicast": true}],
        "edges": [{"source": "gpu0", "target": "sw", "bandwidth": 300, "latency_us": 0.5},
                  {"source": "sw", "target": 1, "bandwidth": "25/3"},
                  {"source": 1, "target": "gpu0", "bandwidth": 0.1}]}
        """,
    )
    assert (topology.name, topology.bandwidth_unit, topology.port_model) == ("two boxes", "Gb/s", "one-port")
    assert topology.attributes == {"site": "x"}
    assert [node.id for node in topology.nodes] == ["gpu0", 1, "sw"]
    assert topology.nodes[0].attributes == {"box": 0}
    assert (topology.nodes[2].multicast, topology.nodes[2].aggregation) == (True, False)
    assert [link.bandwidth for link in topology.links] == [300, Fraction(1, 10), Fraction(25, 3)]
    assert [link.latency_us for link in topology.links] == [Fraction(1, 2), None, None]


def test_the_default_name_does_not_depend_on_the_folder(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    for head in ('"graph": {"format": "forestcoll.topology/1"}', HEAD.replace('"t"', '""')):
        content = text(GOOD, head=head)
        assert read(tmp_path, content) == read(tmp_path / "other", content)
        assert topology_from_document(json.loads(content), where="s.json: topology").name == "network"
    topology = read(tmp_path, text(GOOD, head='"graph": {"format": "forestcoll.topology/1"}'))
    assert topology.name == "t.json"
    assert topology.bandwidth_unit == "GB/s"
    assert len(topology.compute) == 2


def test_edges_are_one_way_unless_the_graph_is_undirected_and_parallel_ones_add_up(tmp_path: Path) -> None:
    assert read(tmp_path, text(GOOD)).links == (Link(0, 1, Fraction(25)), Link(1, 0, Fraction(25)))
    content = text(GOOD, edge(', "bandwidth": 3', '"b"', '"a"')).replace('"directed": false, ', "")
    assert [link.bandwidth for link in read(tmp_path, content).links] == [25, 3]
    topology = read(tmp_path, text(GOOD, edge(', "bandwidth": "1/3"'), edge(', "bandwidth": 0.1', '"b"', '"a"')))
    assert {link.bandwidth for link in topology.links} == {25 + Fraction(1, 3) + Fraction(1, 10)}


def test_a_bandwidth_that_is_not_a_positive_number_is_refused(tmp_path: Path) -> None:
    for value, message in [("0", "0 must be"), ("NaN", "NaN is not finite"), ("-Infinity", "-Infinity is not finite")]:
        found = problem(tmp_path, text(edge(f', "bandwidth": {value}')))
        assert found.startswith(f"edge 'a' -> 'b': bandwidth {message}")


def test_a_violated_rule_is_named(tmp_path: Path) -> None:
    for content, message in [
        (text(edge("")), "edges[0] ('a' -> 'b') has no \"bandwidth\""),
        (text(edge(', "bandwidth": 1, "latency_us": -1')), "edge 'a' -> 'b': latency_us -1 must be 0 or more"),
        (text(GOOD, edge(', "bandwidth": 1', target='"c"')), "edge 'a' -> 'c': there is no node 'c'"),
        (text(GOOD, edge(', "bandwidth": 1', source="true")), "edge true -> 'b': there is no node true"),
        (text(edge(', "bandwidth": 1', source="[[]]")), "edge [[]] -> 'b': there is no node [[]]"),
        (text('{"target": "b", "bandwidth": 1}'), 'edges[0] has no "source"'),
        (text('{"source": "a", "bandwidth": 1}'), 'edges[0] has no "target"'),
        (text("3"), "edges[0] is 3; expected an object"),
        (text(nodes='"nodes": 3'), 'needs "nodes": [...]'),
        (text(nodes='"knots": []'), 'needs "nodes": [...]'),
        (text(nodes='"nodes": [3]'), "nodes[0] is 3; expected an object"),
        (text(nodes='"nodes": [{}]'), 'nodes[0] has no "id"'),
        (text(nodes='"nodes": [{"id": null}]'), "node id null must be"),
        (text(nodes='"nodes": [{"id": 1.5}]'), "node id 1.5 must be"),
        (text(nodes='"nodes": [{"id": 1, "kind": "router"}]'), "nodes[0] (1): kind is 'router'; expected"),
        (
            text(nodes='"nodes": [{"id": 1, "kind": "switch", "multicast": "yes"}]'),
            "nodes[0]: \"multicast\" is 'yes'; exp",
        ),
        (
            text(nodes='"nodes": [{"id": 1, "kind": "switch", "aggregation": 1}]'),
            'nodes[0]: "aggregation" is 1; expected',
        ),
        (text(GOOD, directed='"no"'), "\"directed\" is 'no'; expected true or false"),
        (text(GOOD, head='"graph": {"format": "forestcoll.topology/2"}'), "graph.format is 'forestcoll.topology/2'"),
        (text(GOOD, head='"graph": {}'), "graph has no \"format\"; give it 'forestcoll.topology/1'"),
        (text(GOOD, head='"graph": []'), 'needs "graph": {'),
        (text(GOOD, head='"name": "t"'), 'needs "graph": {'),
        (text(GOOD, head=HEAD.replace('"t"', "3")), "graph.name is 3; expected a string"),
        (text(GOOD, head=HEAD.replace('"name": "t"', '"bandwidth_unit": 1')), "graph.bandwidth_unit is 1; expected"),
        (text(GOOD, head=HEAD.replace('"name": "t"', '"port_model": "x"')), "port_model is 'x'"),
        (f'{{{HEAD}, {NODES}, "links": []}}', 'has "links"; write it with networkx.node_link_data'),
        (f"{{{HEAD}, {NODES}}}", 'needs "edges": [...]'),
        ("[]", "holds a JSON array"),
        ("{", "not valid JSON: "),
        ('{"graph": ' + "[" * 100_000, "JSON nested too deeply"),
    ]:
        assert problem(tmp_path, content).startswith(message)


def test_a_missing_file_is_named_and_none_is_written_with_an_attribute_that_is_not_json(tmp_path: Path) -> None:
    for path, message in [(tmp_path, "is a folder"), (tmp_path / "no.json", "no such file")]:
        assert refusal(read_topology, path).startswith(f"{path}: {message}")
    builder = TopologyBuilder("t", attributes={"when": object()})
    builder.add_duplex(builder.add_compute(0), builder.add_compute(1), 1)
    message = refusal(write_topology, builder.build(), tmp_path / "t.json")
    assert message.startswith("t: an attribute cannot be written: ")
    assert not (tmp_path / "t.json").exists()


def test_numbers_in_attributes_keep_their_digits(tmp_path: Path) -> None:
    for number in ("0.1", "0.12345678901234567890123456789", "-0.0", "1.50", "1e400", "2E-9", "7"):
        nodes = f'"nodes": [{{"id": "a", "temp": {number}, "float0": ["float0", {{"x": [{number}]}}]}}, {{"id": "b"}}]'
        topology = read(tmp_path, text(GOOD, nodes=nodes, head=HEAD.replace("{", f'{{"height": {number}, ')))
        write_topology(topology, tmp_path / "back.json")
        written = (tmp_path / "back.json").read_text()
        for part in (f'"height": {number}\n', f'"temp": {number},\n', f'"x": [\n      {number}\n     ]'):
            assert part in written
        assert written.count('"float0"') == 2
        assert read_topology(tmp_path / "back.json") == topology


def test_an_attribute_that_is_not_finite_is_named(tmp_path: Path) -> None:
    for number in ("NaN", "Infinity", "-Infinity"):
        end = f"holds {number}, which JSON cannot represent; use a finite number"
        nodes = f'"nodes": [{{"id": "a", "temp": [{{"x": {number}}}]}}, {{"id": "b"}}]'
        assert problem(tmp_path, text(GOOD, nodes=nodes)) == f"node 'a': temp {end}"
        head = HEAD.replace("{", f'{{"height": {number}, ')
        assert problem(tmp_path, text(GOOD, head=head)) == f"graph: height {end}"


def test_only_a_switch_can_multicast_or_aggregate(tmp_path: Path) -> None:
    for ability in ["multicast", "aggregation"]:
        nodes = f'"nodes": [{{"id": "a", "{ability}": true}}, {{"id": "b"}}]'
        message = f"compute node 'a': only a switch can have {ability}; make the node a switch"
        assert problem(tmp_path, text(GOOD, nodes=nodes)) == message, ability
        assert len(read(tmp_path, text(GOOD, nodes=nodes.replace("true", "false"))).compute) == 2, ability


def test_unknown_attributes_are_written_back(tmp_path: Path) -> None:
    first = '{"id": "a", "box": 0, "where": {"rack": [1, 2]}}'
    nodes = f'"nodes": [{first}, {{"id": "b", "kind": "switch", "asic": null}}, {{"id": "c"}}]'
    head = HEAD.replace('"name": "t"', '"name": "t", "site": "x", "built": {"by": "us"}')
    topology = read(tmp_path, text(GOOD, edge(', "bandwidth": 1', '"b"', '"c"'), nodes=nodes, head=head))
    document = assert_written_back(topology, tmp_path / "back.json")
    assert document["graph"] == json.loads(f"{{{head}}}")["graph"] | {"bandwidth_unit": "GB/s"}
    assert document["nodes"] == [
        {"id": "a", "kind": "compute", "box": 0, "where": {"rack": [1, 2]}},
        {"id": "b", "kind": "switch", "multicast": False, "aggregation": False, "asic": None},
        {"id": "c", "kind": "compute"},
    ]


def rename(wrong: str, right: str, more: str = ", or give both") -> str:
    return f'has no "{right}" but has "{wrong}"; rename "{wrong}" to "{right}"{more}'


KEYS_OF_NODES = {
    "kind": "type Type node_kind nodeKind role knd Kind",
    "multicast": "multi_cast can_multicast canMulticast multcast",
    "aggregation": "aggregate can_aggregate agregation",
}


def test_a_key_of_a_node_that_looks_like_a_mistake_is_refused(tmp_path: Path) -> None:
    for right, keys in KEYS_OF_NODES.items():
        for key in keys.split():
            nodes = f'"nodes": [{{"id": "a"}}, {{"id": "b"}}, {{"id": 3, "{key}": "switch"}}]'
            assert problem(tmp_path, text(GOOD, nodes=nodes)) == f"nodes[2] (3) {rename(key, right)}"


def test_a_bandwidth_or_latency_under_another_key_is_refused(tmp_path: Path) -> None:
    for key in ("bw", "capacity", "cap", "weight", "speed", "rate", "bandwith", "Bandwidth"):
        message = rename(key, "bandwidth", ", in the network's bandwidth_unit")
        assert problem(tmp_path, text(edge(f', "{key}": 25'))) == f"edges[0] ('a' -> 'b') {message}"
    for key in ("latency", "latency_ns", "delay", "latencyUs", "latency_su"):
        message = rename(key, "latency_us", ", in microseconds, or give both")
        found = problem(tmp_path, text(edge(f', "bandwidth": 25, "{key}": 3')))
        assert found == f"edges[0] ('a' -> 'b') {message}"


def test_other_keys_that_look_like_a_mistake_are_refused(tmp_path: Path) -> None:
    for content, message in [
        (text(GOOD, nodes='"nodes": [{"name": "a"}]'), f"nodes[0] {rename('name', 'id', '')}"),
        (text(GOOD, nodes='"nodes": [{"label": "a"}]'), f"nodes[0] {rename('label', 'id', '')}"),
        (text('{"src": "a", "target": "b", "bandwidth": 1}'), f"edges[0] {rename('src', 'source', '')}"),
        (text('{"source": "a", "dst": "b", "bandwidth": 1}'), f"edges[0] {rename('dst', 'target', '')}"),
        (text(GOOD, head=HEAD.replace("name", "unit")), f"graph {rename('unit', 'bandwidth_unit')}"),
        (text(GOOD, head=HEAD.replace("name", "ports")), f"graph {rename('ports', 'port_model')}"),
        (text(GOOD, head=HEAD.replace('format"', 'fromat"')), f"graph {rename('fromat', 'format', '')}"),
        (text(GOOD).replace('"directed"', '"Directed"'), rename("Directed", "directed")),
        (text(GOOD, nodes=NODES.replace("nodes", "vertices")), rename("vertices", "nodes")),
        (text(GOOD).replace('"edges"', '"arcs"'), rename("arcs", "edges")),
    ]:
        assert problem(tmp_path, content) == message


def test_a_similar_key_is_an_attribute_if_the_known_key_is_given_too(tmp_path: Path) -> None:
    nodes = (
        '"nodes": [{"id": "a", "kind": "compute", "type": "A100", "multicast": false, "multi_cast": 1}, '
        '{"id": "b", "name": "second", "rack": 3}, {"id": "s", "kind": "switch", "role": "leaf"}]'
    )
    head = HEAD.replace('"t"', '"t", "bandwidth_unit": "Gb/s", "unit": "m", "port_model": null, "ports": 4')
    wire = edge(', "bandwidth": 25, "capacity": 3, "latency_us": 1, "latency": 2, "length": 3')
    topology = read(tmp_path, text(wire, nodes=nodes, head=head))
    attributes = [{"type": "A100", "multi_cast": 1}, {"name": "second", "rack": 3}, {"role": "leaf"}]
    assert [dict(node.attributes) for node in topology.nodes] == attributes
    assert topology.attributes == {"unit": "m", "ports": 4}
    assert_written_back(topology, tmp_path / "back.json")
    builder = TopologyBuilder("t", attributes={"ports": 3})
    builder.add_duplex(builder.add_compute("a", type="A100", aggregates=1), builder.add_compute("b"), 1)
    assert_written_back(builder.build(), tmp_path / "t.json")


def test_a_gzip_file_has_the_content_of_the_plain_file(tmp_path: Path) -> None:
    topology = read(tmp_path, text(edge(', "bandwidth": 0.1, "latency_us": "1/3"')))
    (tmp_path / "other").mkdir()
    plain, packed = "plain.json", "packed.json.gz"
    for name in (plain, packed):
        for path in (tmp_path / name, tmp_path / "other" / name):
            write_topology(topology, path)
            assert read_topology(path) == topology
        assert (tmp_path / name).read_bytes() == (tmp_path / "other" / name).read_bytes()  # whenever it is written
    assert gzip.decompress((tmp_path / packed).read_bytes()) == (tmp_path / plain).read_bytes()


EXACT = st.builds(Fraction, st.integers(1, 10**60 - 1), st.integers(1, 10**60 - 1))


@examples(50)
@given(
    st.lists(st.integers() | st.text(), min_size=2, max_size=6, unique_by=lambda node: (type(node), node)),
    st.lists(EXACT, min_size=12, max_size=12),
    st.none() | EXACT,
)
def test_exact_numbers_are_read_back_from_a_document(
    nodes: list[int | str], bandwidths: list[Fraction], latency: Fraction | None
) -> None:
    pairs = [*pairwise(nodes), *((target, source) for source, target in pairwise(nodes))]
    ends = zip(pairs, bandwidths, strict=False)
    topology = built(nodes, one_way=[(*pair, bandwidth, latency) for pair, bandwidth in ends])
    document = json.loads(json.dumps(topology_to_document(topology)))
    assert topology_from_document(document, where="w") == topology


@examples(50)
@given(st.decimals(min_value="1e-20", max_value=10**20, places=30))
def test_a_decimal_in_a_file_is_read_exactly(tmp_path_factory: pytest.TempPathFactory, number: object) -> None:
    path = tmp_path_factory.getbasetemp() / "decimal.json"
    path.write_text(text(edge(f', "bandwidth": {number}')))
    assert {link.bandwidth for link in read_topology(path).links} == {Fraction(str(number))}
