"""A graph as files of graph tools hold it, and the network that it means.

Such a file does not say which attribute is the bandwidth, whether a line stands for both directions, or which nodes are
switches. What is read, in this order: `bandwidth`, `capacity`, `LinkSpeedRaw` (bits a second, in the Topology Zoo),
`LinkSpeed` with `LinkSpeedUnits`, `weight`. What is assumed is noted.
"""

from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.base.errors import InputError, plural, shown
from forestcoll.base.units import BANDWIDTH_UNIT
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.files import FORMAT, add_document
from forestcoll.topology.graph.walks import joined, reached
from forestcoll.topology.importers.importer import Importer, option
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import Source
from forestcoll.topology.model import NodeId

_BANDWIDTHS = ("bandwidth", "capacity", "LinkSpeedRaw", "LinkSpeed", "weight")
_KINDS = ("kind", "type", "role", "device")
_SWITCHES = ("switch", "router", "spine", "leaf", "nvswitch", "tor", "core")
_KEPT = 64
"""The most attributes of a node that are kept."""


@dataclass
class PlainNode:
    """A node: its id, its attributes, and the line of the file that it is in."""

    id: NodeId
    attributes: dict[str, object] = field(default_factory=dict)
    line: int | None = None


@dataclass
class PlainEdge:
    """An edge from one id to another, its attributes, and its line."""

    source: NodeId
    target: NodeId
    attributes: dict[str, object] = field(default_factory=dict)
    line: int | None = None


@dataclass
class PlainGraph:
    """A graph; `attributes` are those of the graph as a whole."""

    directed: bool
    nodes: list[PlainNode] = field(default_factory=list)
    edges: list[PlainEdge] = field(default_factory=list)
    attributes: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class GraphImporter(Importer):
    """An importer that reads a graph, and makes of it the network that it means."""

    link_bandwidth: Fraction | None = option("link_bandwidth")

    @abstractmethod
    def graph(self, source: Source, notes: Notes) -> PlainGraph:
        """Return the graph in a file."""

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the network that the graph means.

        Raises:
            InputError: an edge has no bandwidth and none is given, or a rule of networks is broken.
        """
        graph = self.graph(source, notes)
        if graph.attributes.get("format") == FORMAT:
            return add_document(_own_document(graph), where=source.where, name=source.stem)
        unit = graph.attributes.get("bandwidth_unit", BANDWIDTH_UNIT)
        name = graph.attributes.get("name") or graph.attributes.get("label") or source.stem
        builder = TopologyBuilder(
            str(name)[:200], bandwidth_unit=unit if isinstance(unit, str) else BANDWIDTH_UNIT, where=source.where
        )
        _add_nodes(source, builder, graph, notes)
        key = _bandwidth_key(source, graph, self.link_bandwidth, notes)
        pairs = {(edge.source, edge.target) for edge in graph.edges if edge.source != edge.target}
        is_duplex = _is_duplex(graph, pairs, notes)
        loops = sum(edge.source == edge.target for edge in graph.edges)
        if loops:
            notes.ignore(f"{plural(loops, 'edge')} from a node to itself")
        for edge in graph.edges:
            if edge.source != edge.target:
                bandwidth = _bandwidth(edge, key, self.link_bandwidth)
                one_way = not is_duplex or (graph.directed and (edge.target, edge.source) in pairs)
                add = builder.add_link if one_way else builder.add_duplex
                try:
                    add(edge.source, edge.target, bandwidth, latency_us=edge.attributes.get("latency_us"))
                except InputError as error:
                    raise _with_line(source, error, edge.line) from None
        return builder


def _with_line(source: Source, error: InputError, line: int | None) -> InputError:
    return error if line is None else source.error(str(error).removeprefix(f"{source.where}: "), line)


def _own_document(graph: PlainGraph) -> dict[str, object]:
    return {
        "directed": graph.directed,
        "graph": graph.attributes,
        "nodes": [{"id": node.id, **node.attributes} for node in graph.nodes],
        "edges": [{"source": edge.source, "target": edge.target, **edge.attributes} for edge in graph.edges],
    }


def _add_nodes(source: Source, builder: TopologyBuilder, graph: PlainGraph, notes: Notes) -> None:
    switches = {id(node): word for node in graph.nodes if (word := _switch_word(node)) is not None}
    for node in graph.nodes:
        reserved = ("id", "kind", "multicast", "aggregation")
        attributes = {name: value for name, value in node.attributes.items() if name not in reserved}
        if len(attributes) > _KEPT:
            raise source.error(f"node {shown(node.id)} has more than {_KEPT} attributes; remove some", node.line)
        try:
            if id(node) in switches:
                able = {name: node.attributes.get(name) is True for name in ("multicast", "aggregation")}
                builder.add_switch(node.id, **able, **attributes)  # type: ignore[arg-type]
            else:
                builder.add_compute(node.id, **attributes)
        except InputError as error:
            raise _with_line(source, error, node.line) from None
    if switches:
        words = sorted(set(switches.values()))
        notes.assume(f"{plural(len(switches), 'node')} with {', '.join(words)} are switches, all others compute nodes")
    else:
        notes.assume("every node is a compute node, since no node is marked as a switch (kind)")


def _switch_word(node: PlainNode) -> str | None:
    """Return how the file says that a node is a switch, or None."""
    for name in _KINDS:
        value = node.attributes.get(name)
        if isinstance(value, str) and value.lower() in _SWITCHES:
            return f"{name}={value}"
    return None


def _bandwidth_key(source: Source, graph: PlainGraph, link_bandwidth: Fraction | None, notes: Notes) -> str:
    """Return the attribute that is the bandwidth: the first that edges have; empty if none has any."""
    counts = Counter(name for edge in graph.edges for name in _BANDWIDTHS if _stated(edge.attributes.get(name)))
    key = next((name for name in _BANDWIDTHS if counts[name]), "")
    missing = len(graph.edges) - counts[key]
    if missing and link_bandwidth is None:
        edge = next(edge for edge in graph.edges if not key or not _stated(edge.attributes.get(key)))
        what = f"the bandwidth of {plural(missing, 'edge')}, such as {shown(edge.source)} -> {shown(edge.target)}"
        raise missing_speed(source.where, what, "--link-bandwidth")
    if missing:
        notes.assume(f"{plural(missing, 'edge')} without a bandwidth: {link_bandwidth} GB/s, as given")
    if key and key != "bandwidth":
        unit = (
            ", in bits a second" if key == "LinkSpeedRaw" else " with its unit" if key == "LinkSpeed" else ", in GB/s"
        )
        notes.assume(f"{key} of an edge is its bandwidth{unit}")
    return key


def _stated(value: object) -> bool:
    return value is not None and value != ""


def _bandwidth(edge: PlainEdge, key: str, link_bandwidth: Fraction | None) -> object:
    value = edge.attributes.get(key) if key else None
    if not _stated(value):
        return link_bandwidth
    if key == "LinkSpeedRaw":
        return f"{_number_text(value)}b/s"
    if key == "LinkSpeed":
        return f"{_number_text(value)}{edge.attributes.get('LinkSpeedUnits', '')}b/s"
    return value


def _number_text(value: object) -> str:
    text = getattr(value, "text", None)
    return text if isinstance(text, str) else str(value)


def _is_duplex(graph: PlainGraph, pairs: AbstractSet[tuple[NodeId, NodeId]], notes: Notes) -> bool:
    """Return whether each edge stands for both directions, unless there is one for the other direction."""
    if not graph.directed:
        return True
    nodes = dict.fromkeys(node for pair in pairs for node in pair)
    if _reaches_all(nodes, pairs) or len(joined(nodes, pairs)) > 1:
        return False
    if any((target, origin) in pairs for origin, target in pairs):
        why = "with one-way edges, nodes could not all reach each other"
    else:
        why = "it draws each line once"
    notes.assume(f"every edge is full duplex: the graph says that it is directed, but {why}")
    return True


def _reaches_all(nodes: Mapping[NodeId, None], pairs: AbstractSet[tuple[NodeId, NodeId]]) -> bool:
    """Return whether one-way edges lead from each node to each other one."""
    onwards: dict[NodeId, list[NodeId]] = {node: [] for node in nodes}
    back: dict[NodeId, list[NodeId]] = {node: [] for node in nodes}
    for origin, target in pairs:
        onwards[origin].append(target)
        back[target].append(origin)
    start = list(nodes)[:1]
    return all(len(reached(start, ways.__getitem__)) == len(nodes) for ways in (onwards, back))
