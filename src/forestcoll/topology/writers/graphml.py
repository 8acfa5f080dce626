"""A network as GraphML: directed, bandwidths as exact text, attributes of nodes and of the graph kept.

Attributes that are lists or objects are written as JSON text, since GraphML has none of these.
"""

import json
from collections.abc import Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from forestcoll.topology.files import link_to_dict, node_to_dict, topology_to_document
from forestcoll.topology.model import Topology

ID_KEY = "id_as_json"
"""The attribute of a node whose id is no text that XML can hold."""

_HEAD = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""


def text_of(topology: Topology) -> str:
    """Return the file that describes `topology`.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> text_of(build_topology("ring:nodes=3")).count("<edge ")
        6
    """
    graph = topology_to_document(topology)["graph"]
    nodes = [node_to_dict(node) for node in topology.nodes]
    edges = [link_to_dict(link) for link in topology.links]
    keys = _Keys()
    body = list(_graph(topology, keys, dict(graph) if isinstance(graph, Mapping) else {}, nodes, edges))
    return "".join([_HEAD, *keys.lines(), '  <graph edgedefault="directed">\n', *body, "  </graph>\n</graphml>\n"])


class _Keys:
    """The declared attributes: of each place and name, its type and its number."""

    def __init__(self) -> None:
        self._types: dict[tuple[str, str], str] = {}
        self._numbers: dict[tuple[str, str], int] = {}

    def data(self, place: str, attributes: Mapping[str, object], indent: str) -> Iterator[str]:
        """Yield the lines of some attributes."""
        for name, value in attributes.items():
            if value is None:
                continue
            key = (place, name)
            number = self._numbers.setdefault(key, len(self._numbers))
            kind, text = _typed(value)
            known = self._types.setdefault(key, kind)
            if known != kind:
                self._types[key] = "string"
            yield f'{indent}<data key="d{number}">{escape(_printable(text))}</data>\n'

    def lines(self) -> Iterator[str]:
        """Yield the declarations."""
        for (place, name), number in self._numbers.items():
            kind = self._types[place, name]
            yield f'  <key id="d{number}" for="{place}" attr.name={quoteattr(_printable(name))} attr.type="{kind}"/>\n'


def _typed(value: object) -> tuple[str, str]:
    """Return the type of GraphML that a value has, and its text."""
    if isinstance(value, bool):
        return "boolean", str(value).lower()
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return "long", str(value)
    return "string", value if isinstance(value, str) else json.dumps(value, default=str)


def _printable(text: str) -> str:
    """Return text without characters that XML cannot hold."""
    return "".join(each if each.isprintable() or each in "\n\t" else "?" for each in text)


def _graph(
    topology: Topology,
    keys: _Keys,
    graph: Mapping[str, object],
    nodes: list[dict[str, object]],
    edges: list[dict[str, object]],
) -> Iterator[str]:
    yield from keys.data("graph", graph, "    ")
    names = _names(topology)
    for name, node in zip(names, nodes, strict=True):
        identity = node.pop("id")
        if identity != name:  # an integer, or a text that XML cannot hold: as JSON, which keeps what it is
            node[ID_KEY] = json.dumps(identity)
        yield f"    <node id={quoteattr(name)}>\n"
        yield from keys.data("node", node, "      ")
        yield "    </node>\n"
    for link, edge in zip(topology.links, edges, strict=True):
        yield f"    <edge source={quoteattr(names[link.source])} target={quoteattr(names[link.target])}>\n"
        # a bandwidth is exact as text; numbers of GraphML are binary
        yield from keys.data("edge", {name: str(value) for name, value in edge.items()}, "      ")
        yield "    </edge>\n"


def _names(topology: Topology) -> list[str]:
    """Return what the nodes are called in the file: by their ids, if these differ as text that XML can hold."""
    names = [str(node.id) for node in topology.nodes]
    if len(set(names)) == len(names) and all(name.isprintable() and name for name in names):
        return names
    return [f"n{number}" for number in range(len(names))]
