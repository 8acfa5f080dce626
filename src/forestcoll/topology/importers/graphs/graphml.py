"""GraphML: of this project, of networkx, of Gephi and yEd, and of the Internet Topology Zoo."""

import json
from dataclasses import dataclass
from typing import TypeAlias

from forestcoll.base.errors import plural, shown
from forestcoll.base.exact import WrittenFloat
from forestcoll.topology.importers.graphs.names import use_labels
from forestcoll.topology.importers.graphs.plain import GraphImporter, PlainEdge, PlainGraph, PlainNode
from forestcoll.topology.importers.importer import importers
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source
from forestcoll.topology.importers.xml_elements import Element, read_elements
from forestcoll.topology.model import NodeId

_INTEGERS = ("int", "integer", "long")
_FLOATS = ("float", "double")
_SHORT_FLOAT = "float"  # 32 bits; `double` has 64
_EXACT_DIGITS = 7
"""The decimal digits that every float of 32 bits keeps."""

_Keys: TypeAlias = dict[tuple[str, str], Element]
"""The keys by what they are for, and their ids: rustworkx uses the same ids for nodes and for edges."""


@importers.add("graphml", summary="GraphML", tried=100)
@dataclass(frozen=True)
class Graphml(GraphImporter):
    """Reads GraphML."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is GraphML."""
        return "<graphml" in text[: 2**16]

    def graph(self, source: Source, notes: Notes) -> PlainGraph:
        """Return the graph in a file."""
        root = read_elements(source)
        graph_element = root.child("graph")
        if graph_element is None:
            raise source.error("holds no <graph>; is the file complete?", root.line)
        keys = {(key.get("for", "all"), key.get("id")): key for key in root.children if key.tag == "key"}
        graph = PlainGraph(
            graph_element.get("edgedefault") != "undirected", attributes=_data(source, graph_element, keys)
        )
        for child in graph_element.children:
            attributes = _data(source, child, keys)
            if child.tag == "node":
                name = _identity(source, child, attributes)
                node = PlainNode(name, attributes, child.line)
                graph.nodes.append(node)
            elif child.tag == "edge":
                graph.edges.append(PlainEdge(child.get("source"), child.get("target"), attributes, child.line))
        _use_typed_ids(graph, graph_element)
        _note_rounded(graph_element, keys, notes)
        _note_edge_ids(graph, notes)
        if "format" not in graph.attributes:
            use_labels(graph)
        return graph


def _identity(source: Source, node: Element, attributes: dict[str, object]) -> NodeId:
    """Return the id of a node: the one that is kept as JSON, since it is no text that XML can hold, or its name."""
    from forestcoll.topology.writers.graphml import ID_KEY

    kept = attributes.pop(ID_KEY, None)
    if kept is None:
        return node.get("id")
    try:
        value = json.loads(str(kept))
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, str | int):
        raise source.error(f"{ID_KEY} of node {shown(node.get('id'))} is {shown(kept)}; expected JSON", node.line)
    return value


def _use_typed_ids(graph: PlainGraph, element: Element) -> None:
    """Give edges the ids that the nodes have: integers where the file keeps them as such."""
    written = [child.get("id") for child in element.children if child.tag == "node"]
    ids = dict(zip(written, (node.id for node in graph.nodes), strict=True))
    for edge in graph.edges:
        edge.source = ids.get(str(edge.source), edge.source)
        edge.target = ids.get(str(edge.target), edge.target)


def _note_rounded(graph: Element, keys: _Keys, notes: Notes) -> None:
    """Note values of edges that a library may have rounded to 32 bits before it wrote them, as rustworkx does."""
    texts = [
        data.text.strip()
        for child in graph.children
        if child.tag == "edge"
        for data in child.children
        if (key := _key(keys, "edge", data)) is not None and key.get("attr.type", "") == _SHORT_FLOAT
    ]
    long = [
        text for text in texts if sum(map(str.isdigit, text.lower().partition("e")[0].lstrip("-0."))) > _EXACT_DIGITS
    ]
    if long:
        what = f"{plural(len(long), 'value')} of type float, such as {long[0][:40]}"
        notes.assume(f"{what}, may be rounded to 32 bits by the program that wrote the file; it has double for 64 bits")


def _note_edge_ids(graph: PlainGraph, notes: Notes) -> None:
    """Note ids of edges that are ids of nodes: igraph's reader gives them to edges, and its writer keeps them."""
    nodes = {str(name) for node in graph.nodes for name in (node.id, node.attributes.get("id"))}
    count = sum(edge.attributes.get("id") in nodes for edge in graph.edges)
    if count:
        notes.ignore(f"the ids of {plural(count, 'edge')}, which are ids of nodes, as igraph writes them")


def _key(keys: _Keys, tag: str, data: Element) -> Element | None:
    """Return the declaration of a value of an element with this tag."""
    name = data.get("key")
    return keys.get((tag, name)) or keys.get(("all", name))


def _data(source: Source, element: Element, keys: _Keys) -> dict[str, object]:
    found: dict[str, object] = {}
    for data in element.children:
        if data.tag != "data":
            continue
        key = _key(keys, element.tag, data)
        name = data.get("key") if key is None else key.get("attr.name") or data.get("key")
        kind = "string" if key is None else key.get("attr.type", "string")
        if not data.children:  # yEd keeps its drawing there
            found[name] = _value(source, data, kind.lower())
    return found


def _value(source: Source, data: Element, kind: str) -> object:
    text = data.text.strip()
    try:
        if kind in _INTEGERS:
            return int(text[:40])
        if kind in _FLOATS:
            return WrittenFloat(text)
    except ValueError:
        raise source.error(f"{text[:40]!r} is not of type {kind}, which its key declares", data.line) from None
    return text.lower() in ("true", "1") if kind == "boolean" else text
