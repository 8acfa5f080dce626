"""GraphML: of this project, of networkx, of Gephi and yEd, and of the Internet Topology Zoo."""

import json
from dataclasses import dataclass

from forestcoll.base.errors import shown
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


@importers.add("graphml", summary="GraphML", tried=100)
@dataclass(frozen=True)
class Graphml(GraphImporter):
    """Reads GraphML."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is GraphML."""
        return "<graphml" in text[: 2**16]

    def graph(self, source: Source, _notes: Notes) -> PlainGraph:
        """Return the graph in a file."""
        root = read_elements(source)
        graph_element = root.child("graph")
        if graph_element is None:
            raise source.error("holds no <graph>; is the file complete?", root.line)
        keys = {key.get("id"): key for key in root.children if key.tag == "key"}
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


def _data(source: Source, element: Element, keys: dict[str, Element]) -> dict[str, object]:
    found: dict[str, object] = {}
    for data in element.children:
        if data.tag != "data":
            continue
        key = keys.get(data.get("key"))
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
