"""Node-link JSON of networkx that is not marked as this project's format, and similar files of other tools.

`{"nodes": [{"id": …}], "links": [{"source": …, "target": …}]}`, with `edges` for `links` in newer versions.
"""

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from forestcoll.base.errors import shown
from forestcoll.topology.importers.graphs.plain import GraphImporter, PlainEdge, PlainGraph, PlainNode
from forestcoll.topology.importers.importer import importers
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source
from forestcoll.topology.networkx_graph import node_name

if TYPE_CHECKING:
    from forestcoll.topology.model import NodeId

_NAMES = ("id", "name", "label")
_ENDS = (("source", "src", "from"), ("target", "dst", "to"))


@importers.add("node-link", summary="networkx's node-link JSON without this project's mark", tried=170)
@dataclass(frozen=True)
class NodeLink(GraphImporter):
    """Reads networkx's node-link JSON without this project's mark."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is a JSON object with lists of nodes and of links, and no other format's mark."""
        if not text.lstrip().startswith("{") or '"nodes"' not in text or not any(f'"{key}"' in text for key in _KEYS):
            return False
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            return False
        lists = isinstance(document.get("nodes"), list) and any(isinstance(document.get(key), list) for key in _KEYS)
        graph = document.get("graph")
        return lists and not (isinstance(graph, dict) and "format" in graph)

    def graph(self, source: Source, _notes: Notes) -> PlainGraph:
        """Return the graph in a file."""
        document = source.json()
        if not isinstance(document, dict) or not isinstance(document.get("nodes"), list):
            raise source.error('needs "nodes": [...] and "links": [...]; is this node-link JSON?')
        key = next((key for key in _KEYS if isinstance(document.get(key), list)), None)
        if key is None:
            raise source.error('needs "links": [...], a list of objects')
        attributes = document.get("graph")
        graph = PlainGraph(
            document.get("directed") is True, attributes=attributes if isinstance(attributes, dict) else {}
        )
        for place, node in enumerate(document["nodes"]):
            graph.nodes.append(_node(source, node, place))
        for place, edge in enumerate(document[key]):
            graph.edges.append(_edge(source, edge, f"{key}[{place}]"))
        return graph


_KEYS = ("edges", "links")


def _node(source: Source, node: object, place: int) -> PlainNode:
    if isinstance(node, str | int) and not isinstance(node, bool):
        return PlainNode(node)
    if not isinstance(node, dict):
        raise source.error(f"nodes[{place}] is {shown(node)}; expected an object")
    key = next((name for name in _NAMES if name in node), None)
    if key is None:
        raise source.error(f'nodes[{place}] has no "id"; give the node one')
    return PlainNode(_name(node[key]), {name: value for name, value in node.items() if name != key})


def _name(value: object) -> "NodeId":
    """Return the id of a node; JSON has a list for the tuple that networkx calls a node of a lattice by."""
    return cast("NodeId", node_name(tuple(value) if isinstance(value, list) and len(value) > 1 else value))


def _edge(source: Source, edge: object, where: str) -> PlainEdge:
    if not isinstance(edge, dict):
        raise source.error(f"{where} is {shown(edge)}; expected an object")
    ends: list[NodeId] = []
    used = {"key"}
    for names in _ENDS:
        key = next((name for name in names if name in edge), None)
        if key is None:
            raise source.error(f'{where} has no "{names[0]}"; name the node')
        used.add(key)
        end = _name(edge[key])
        if not isinstance(end, str | int) or isinstance(end, bool):
            raise source.error(f"{where}: {key} is {shown(end)}; expected the id of a node")
        ends.append(end)
    return PlainEdge(ends[0], ends[1], {name: value for name, value in edge.items() if name not in used})
