"""`forestcoll.topology/1`: the node-link JSON of networkx, as a document and as a file.

The reader checks the structure of the document; `TopologyBuilder` checks all rules about nodes and edges.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import cast

from forestcoll.base.errors import InputError, require_kind, shown
from forestcoll.base.exact import json_text, plain_number
from forestcoll.base.file_kinds import NETWORK, check_kind
from forestcoll.base.files import STANDARD_STREAM, PathLike, as_path, read_document, write_text
from forestcoll.base.units import BANDWIDTH_UNIT
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.key_names import KeysOf
from forestcoll.topology.model import Link, Node, NodeId, NodeKind, Topology

FORMAT = "forestcoll.topology/1"

DEFAULT_NAME = "network"
"""The name of a topology that neither states a name nor comes from a file of its own."""

_BLOCK = 4096
"""Objects of nodes or links that become text at the same time."""

_GRAPH_KEYS = {"format", "name", "bandwidth_unit", "port_model"}
_NODE_KEYS = {"id", "kind", "multicast", "aggregation"}


def read_topology(path: PathLike, *, connected: bool = True) -> Topology:
    """Return the topology in a file of the format `forestcoll.topology/1`.

    Args:
        path: the file, compressed with gzip if its name ends in `.gz`; `"-"` is standard input.
        connected: whether all compute nodes must reach each other. For a collective over some of them, False is enough.

    Returns:
        The topology; its name is that of the file if the file states none.

    Raises:
        InputError: the file cannot be read or breaks a rule of the format; the message names the file, the node or
            edge, and the value.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> write_topology(build_topology("ring:nodes=3"), "ring.json.gz")
        >>> read_topology("ring.json.gz")
        Topology('ring:nodes=3', 3 compute nodes, 0 switches, 6 links, GB/s)
    """
    path = as_path(path)
    name = DEFAULT_NAME if path == STANDARD_STREAM else path.name
    document = read_document(path)
    return topology_from_document(document, where=str(path), name=name, connected=connected)


def write_topology(topology: Topology, path: PathLike) -> None:
    """Write `topology` to a file of the format `forestcoll.topology/1`. If writing fails, no partial file remains.

    Args:
        topology: a network.
        path: the file, compressed with gzip if its name ends in `.gz`; `"-"` is standard output.

    Raises:
        InputError: the file cannot be written, or JSON cannot represent an attribute.

    Example:
        >>> from pathlib import Path
        >>> from forestcoll.topology import build_topology
        >>> write_topology(build_topology("ring:nodes=3"), "ring.json")
        >>> print(Path("ring.json").read_text()[:19])
        {
         "directed": true
    """
    require_kind(topology, Topology, "topology", "a Topology, which load_topology makes of texts, files and graphs")
    path = as_path(path)
    try:
        write_text(path, _texts(topology))
    except TypeError as error:  # an attribute of a networkx graph
        raise InputError(f"{topology.name}: an attribute cannot be written: {error}; make it a plain value") from None


def _texts(topology: Topology) -> Iterator[str]:
    """Yield the JSON of `topology_to_document`, indented, in parts: all objects at once would take gigabytes."""
    yield json_text(_head(topology), indent=1).removesuffix("\n}")
    for key, entries in (("nodes", map(node_to_dict, topology.nodes)), ("edges", _edges(topology))):
        yield f',\n "{key}": ['
        comma = ""
        while block := list(islice(entries, _BLOCK)):
            listed = json_text(block, indent=1)[1:-2].replace("\n", "\n ")
            yield comma + listed
            comma = ","
        yield "\n ]" if comma else "]"
    yield "\n}\n"


def topology_to_document(topology: Topology) -> dict[str, object]:
    """Return the JSON object that describes `topology`, with one edge for each directed link.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> document = topology_to_document(build_topology("ring:nodes=3,bandwidth=25/3"))
        >>> document["edges"][0]
        {'source': 0, 'target': 1, 'bandwidth': '25/3'}
    """
    return _head(topology) | {"nodes": list(map(node_to_dict, topology.nodes)), "edges": list(_edges(topology))}


def _head(topology: Topology) -> dict[str, object]:
    """Return the JSON object without nodes and edges."""
    graph: dict[str, object] = {
        "format": FORMAT,
        "name": topology.name,
        "bandwidth_unit": topology.bandwidth_unit,
    }
    if topology.port_model is not None:
        graph["port_model"] = topology.port_model
    return {
        "directed": True,
        "multigraph": False,
        "graph": _stated(KeysOf.GRAPH, graph | dict(topology.attributes), None),
    }


def node_to_dict(node: Node) -> dict[str, object]:
    """Return the JSON object of a node; for a switch it states multicast and aggregation."""
    document: dict[str, object] = {"id": node.id, "kind": node.kind.value}
    if not node.is_compute:
        document |= {"multicast": node.multicast, "aggregation": node.aggregation}
    return _stated(KeysOf.NODE, document | dict(node.attributes), default=False)


def _stated(keys: KeysOf, document: dict[str, object], default: object) -> dict[str, object]:
    """Return `document` with the default of each omitted key that an attribute looks like.

    Without the key, reading would refuse the attribute as a mistake.
    """
    mistakes = [missing for _, missing in keys.mistakes(document)]
    return document | dict.fromkeys(mistakes, default) if mistakes else document


def link_to_dict(link: Link) -> dict[str, object]:
    """Return the attributes of a link in its JSON object."""
    document: dict[str, object] = {"bandwidth": plain_number(link.bandwidth)}
    if link.latency_us is not None:
        document["latency_us"] = plain_number(link.latency_us)
    return document


def _edges(topology: Topology) -> Iterator[dict[str, object]]:
    ids = [node.id for node in topology.nodes]
    numbers = topology.of_links(map(plain_number, topology.bandwidth_classes[0]))
    for link, number in zip(topology.links, numbers, strict=True):
        edge: dict[str, object] = {"source": ids[link.source], "target": ids[link.target], "bandwidth": number}
        if link.latency_us is not None:
            edge["latency_us"] = plain_number(link.latency_us)
        yield edge


def topology_from_document(
    document: Mapping[str, object],
    *,
    where: str,
    name: str = DEFAULT_NAME,
    connected: bool = True,
    marked: bool = True,
) -> Topology:
    """Return the topology that a JSON object describes.

    Args:
        document: the object, with numbers as `files.read_document` returns them.
        where: the text that begins error messages.
        name: the name of the topology if the object has none.
        connected: whether all compute nodes must reach each other.
        marked: whether the object itself states the format; then keys that look like a mistake are refused.

    Raises:
        InputError: as `read_topology` does.
    """
    return add_document(document, where=where, name=name, marked=marked).build(connected=connected)


def add_document(
    document: Mapping[str, object], *, where: str, name: str = DEFAULT_NAME, marked: bool = True
) -> TopologyBuilder:
    """Return a builder with the nodes and links of a JSON object; arguments and errors as `topology_from_document`."""
    graph = _graph(document, where)
    if marked:
        _check_keys(KeysOf.DOCUMENT, document, f"{where}:")
        _check_keys(KeysOf.GRAPH, graph, f"{where}: graph")
    builder = TopologyBuilder(
        _text(graph.get("name", ""), "graph.name", where) or name,
        bandwidth_unit=_text(graph.get("bandwidth_unit", BANDWIDTH_UNIT), "graph.bandwidth_unit", where),
        port_model=cast("str | None", graph.get("port_model")),
        attributes={key: value for key, value in graph.items() if key not in _GRAPH_KEYS},
        where=where,
    )
    for place, node in enumerate(_objects(document, "nodes", where)):
        _add_node(builder, node, f"{where}: nodes[{place}]", marked=marked)
    duplex = not _flag(document, "directed", default=True, where=where)
    for place, edge in enumerate(_objects(document, "edges", where)):
        _add_edge(builder, edge, f"{where}: edges[{place}]", duplex=duplex, marked=marked)
    return builder


def _graph(document: Mapping[str, object], where: str) -> Mapping[str, object]:
    check_kind(document, NETWORK, where)
    graph = document.get("graph")
    if not isinstance(graph, Mapping):
        raise InputError(f'{where}: needs "graph": {{"format": "{FORMAT}", ...}}; is this a topology file?')
    _require(KeysOf.GRAPH, cast("Mapping[str, object]", graph), "format", f"{where}: graph", f"give it {FORMAT!r}")
    if graph["format"] != FORMAT:
        raise InputError(f"{where}: graph.format is {shown(graph['format'])}; expected {FORMAT!r}")
    if "edges" not in document and "links" in document:
        write = 'write it with networkx.node_link_data(G, edges="edges"), or rename "links" to "edges"'
        raise InputError(f'{where}: has "links"; {write}')
    return cast("Mapping[str, object]", graph)


def _objects(document: Mapping[str, object], key: str, where: str) -> Iterable[Mapping[str, object]]:
    values = document.get(key)
    if not isinstance(values, list):
        raise InputError(f'{where}: needs "{key}": [...], a list of objects')
    for place, value in enumerate(values):
        if not isinstance(value, Mapping):
            raise InputError(f"{where}: {key}[{place}] is {shown(value)}; expected an object")
        yield value


def _add_node(builder: TopologyBuilder, node: Mapping[str, object], where: str, *, marked: bool) -> None:
    _require(KeysOf.NODE, node, "id", where, "give the node one")
    kind = node.get("kind", NodeKind.COMPUTE.value)
    identity = cast("NodeId", node["id"])  # the builder checks it
    if marked and (problem := KeysOf.NODE.mistake(node)) is not None:
        raise InputError(f"{where} ({shown(identity)}) {problem}")
    attributes = {key: value for key, value in node.items() if key not in _NODE_KEYS}
    if kind not in tuple(NodeKind):
        raise InputError(f"{where} ({shown(identity)}): kind is {shown(kind)}; expected 'compute' or 'switch'")
    multicast = _flag(node, "multicast", default=False, where=where)
    aggregation = _flag(node, "aggregation", default=False, where=where)
    if kind == NodeKind.COMPUTE.value:
        abilities = {"multicast": multicast, "aggregation": aggregation}
        builder.add_compute(identity, **{name: True for name, able in abilities.items() if able}, **attributes)
        return
    builder.add_switch(identity, multicast=multicast, aggregation=aggregation, **attributes)


def _add_edge(builder: TopologyBuilder, edge: Mapping[str, object], where: str, *, duplex: bool, marked: bool) -> None:
    for key in ("source", "target"):
        _require(KeysOf.EDGE, edge, key, where, "name the node")
    source, target = (cast("NodeId", edge[key]) for key in ("source", "target"))
    if "bandwidth" not in edge:
        _require(KeysOf.EDGE, edge, "bandwidth", f"{where} ({shown(source)} -> {shown(target)})", "give it one")
    if marked and (problem := KeysOf.EDGE.mistake(edge)) is not None:
        raise InputError(f"{where} ({shown(source)} -> {shown(target)}) {problem}")
    add = builder.add_duplex if duplex else builder.add_link
    add(source, target, edge["bandwidth"], latency_us=edge.get("latency_us"))


def _require(keys: KeysOf, present: Mapping[str, object], key: str, where: str, fix: str) -> None:
    if key not in present:
        problem = keys.mistake(present, key) or f'has no "{key}"; {fix}'
        raise InputError(f"{where} {problem}")


def _check_keys(keys: KeysOf, present: Mapping[str, object], where: str) -> None:
    if (problem := keys.mistake(present)) is not None:
        raise InputError(f"{where} {problem}")


def _flag(document: Mapping[str, object], key: str, *, default: bool, where: str) -> bool:
    value = document.get(key, default)
    if not isinstance(value, bool):
        raise InputError(f'{where}: "{key}" is {shown(value)}; expected true or false')
    return value


def _text(value: object, key: str, where: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"{where}: {key} is {shown(value)}; expected a string")
    return value
