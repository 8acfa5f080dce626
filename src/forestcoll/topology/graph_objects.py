"""Graphs of other libraries as networks, read by their public interface; a library is never imported for this.

    networkx    `Graph` and its kinds: all attributes
    igraph      `Graph`: all attributes; a node is called by its attribute `name` if all nodes have one
    rustworkx   `PyGraph`, `PyDiGraph`: a node or an edge may be a dictionary of attributes, an edge a bandwidth
    pandas      a `DataFrame` of edges, with columns such as source, target and bandwidth, or a square one with names
    numpy       a square array: the bandwidth from the node of the row to that of the column; 0 and nan are no link

The bandwidth of an edge is its `bandwidth` or else its `capacity`. Its `weight`, which is often a length, is the
bandwidth only if the caller says so. Without any, all links are alike.
"""

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any, TypeAlias

from forestcoll.base.errors import InputError, nearest, plural, shown
from forestcoll.base.units import BANDWIDTH_UNIT, bandwidth_in
from forestcoll.topology.files import FORMAT, topology_from_document
from forestcoll.topology.importers.imported import Imported
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.model import Topology
from forestcoll.topology.networkx_graph import elements_of, node_name

BandwidthLike: TypeAlias = str | int | float | Fraction | None
"""The attribute or column that is the bandwidth of an edge; or, as a number or as `400Gb/s`, that of edges without."""

_CLASSES = {
    "networkx": ("Graph",),
    "igraph": ("Graph",),
    "rustworkx": ("PyGraph", "PyDiGraph"),
    "pandas": ("DataFrame",),
    "numpy": ("ndarray",),
}
LIBRARIES = tuple(_CLASSES)
"""The names of the libraries."""

_BANDWIDTHS = ("bandwidth", "capacity")
_NAMES = ("id", "name", "label")
_ENDS = (("source", "target"), ("src", "dst"), ("from", "to"), ("u", "v"), ("node1", "node2"))

_NO_BANDWIDTHS = frozenset({"latency_us"}.union(*_ENDS))
"""What no edge has as its bandwidth."""

_Attributes: TypeAlias = dict[str, Any]


@dataclass
class _Graph:
    """A graph: nodes with an `id`, and edges with `source` and `target`, besides their attributes."""

    directed: bool
    nodes: list[_Attributes] = field(default_factory=list)
    edges: list[_Attributes] = field(default_factory=list)
    attributes: _Attributes = field(default_factory=dict)

    @property
    def where(self) -> str:
        """What begins messages."""
        return str(self.attributes.get("name") or "graph")


def library_of(value: object) -> str | None:
    """Return the library that a graph is of, or None. What is not imported yet cannot have made it.

    Example:
        >>> import numpy as np
        >>> library_of(np.ones((2, 2))), library_of("ring")
        ('numpy', None)
    """
    for library, names in _CLASSES.items():
        module = sys.modules.get(library)
        if module is not None and isinstance(value, tuple(getattr(module, name, ()) for name in names)):
            return library
    return None


def from_graph(value: Any, library: str, bandwidth: BandwidthLike, *, connected: bool) -> tuple[Topology, list[str]]:
    """Return the network that a graph describes, and what was assumed.

    Args:
        value: the graph.
        library: its library, as `library_of` returns it.
        bandwidth: the attribute that is the bandwidth of an edge, or the bandwidth of edges that have none; None for
            `bandwidth` or `capacity`.
        connected: whether all compute nodes must reach each other.

    Raises:
        InputError: the value is no graph, or a rule of networks is broken.
    """
    notes = Notes()
    graph = _READERS[library](value, notes)
    marked = "format" in graph.attributes
    if not marked:
        _set_bandwidths(graph, bandwidth, notes)
    document = {
        "directed": graph.directed,
        "graph": {"format": FORMAT} | graph.attributes,
        "nodes": graph.nodes,
        "edges": graph.edges,
    }
    network = topology_from_document(document, where=graph.where, name="graph", connected=connected, marked=marked)
    return Imported.of(network, library, notes).topology, notes.assumed


def _set_bandwidths(graph: _Graph, asked: BandwidthLike, notes: Notes) -> None:
    """Give each edge its bandwidth."""
    unit = str(graph.attributes.get("bandwidth_unit", BANDWIDTH_UNIT))
    named = asked if isinstance(asked, str) and not asked[:1].isdigit() else None
    default = _given(asked, unit, graph.where) if named is None and asked is not None else None
    key = named or next((each for each in _BANDWIDTHS if _has(graph, each)), "")
    missing = [edge for edge in graph.edges if edge.get(key) is None]
    if named is not None and len(missing) == len(graph.edges):
        known = sorted({str(name) for edge in graph.edges for name in edge} - {"source", "target"})
        raise InputError(f"{graph.where}: no edge has {shown(named)}; {_they_have(known)}")
    if missing and default is None:
        if len(missing) < len(graph.edges):
            one = f"{shown(missing[0]['source'])} -> {shown(missing[0]['target'])}"
            fix = "give it one, or give load_topology bandwidth=NUMBER for such edges"
            raise InputError(f"{graph.where}: edge {one} has no {shown(key)}; {fix}")
        default = Fraction(1)
        notes.assume(f"no edge has a bandwidth, so each link has 1 {unit} each way{_hint(graph)}")
    elif missing:
        notes.assume(f"{plural(len(missing), 'edge')} without a bandwidth: {default} {unit}, as given")
    if key and key != "bandwidth":
        notes.assume(f"{key} of an edge is its bandwidth, in {unit}")
    for edge in graph.edges:
        value = edge.get(key)
        edge["bandwidth"] = default if value is None else value


def _given(asked: object, unit: str, where: str) -> Fraction:
    try:
        return bandwidth_in(unit, asked)
    except ValueError as error:
        raise InputError(f"{where}: bandwidth {shown(asked)} {error}") from None


def _has(graph: _Graph, key: str) -> bool:
    return any(edge.get(key) is not None for edge in graph.edges)


def _hint(graph: _Graph) -> str:
    """Return what to do if a number of the edges is their bandwidth, or "" if they have none.

    Raises:
        InputError: the name of an attribute is almost one that is read.
    """
    names = dict.fromkeys(name for edge in graph.edges for name in edge if name not in _NO_BANDWIDTHS)
    for name in names:
        if (near := nearest(name, _BANDWIDTHS)) is not None:
            fix = f"rename it to {near}, or give load_topology bandwidth={shown(name)}, or a number for all edges"
            raise InputError(f"{graph.where}: edges have {shown(name)}, and no bandwidth; {fix}")
    number = next((name for name in names if _is_number(graph.edges[0].get(name))), None)
    return f"; their {number} is one only with load_topology(…, bandwidth={shown(number)})" if number else ""


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _they_have(known: list[str]) -> str:
    return f"they have {', '.join(known)}" if known else "they have no attributes; give a number"


def _from_networkx(value: Any, notes: Notes) -> _Graph:
    first = next(iter(value.nodes), None)
    if isinstance(first, tuple) and (name := node_name(first)) is not first:
        notes.assume(f"nodes that are tuples are called by their parts: {first} is called {name}")
    return _Graph(value.is_directed(), *elements_of(value), dict(value.graph))


def _from_igraph(value: Any, _notes: Notes) -> _Graph:
    graph = _Graph(value.is_directed(), attributes={name: value[name] for name in value.attributes()})
    names = _unique([each.attributes().get("name") for each in value.vs])
    for each, name in zip(value.vs, names, strict=True):
        graph.nodes.append(_stated(each.attributes()) | {"id": name})
    for edge in value.es:
        graph.edges.append(_stated(edge.attributes()) | {"source": names[edge.source], "target": names[edge.target]})
    return graph


def _from_rustworkx(value: Any, notes: Notes) -> _Graph:
    graph = _Graph(isinstance(value, sys.modules["rustworkx"].PyDiGraph))
    places = list(value.node_indices())
    payloads = [value[place] for place in places]
    found = [
        next((each[key] for key in _NAMES if key in each), None) if isinstance(each, dict) else each
        for each in payloads
    ]
    names = dict(zip(places, _unique(found, places), strict=True))
    for place, payload in zip(places, payloads, strict=True):
        graph.nodes.append((_stated(payload) if isinstance(payload, dict) else {}) | {"id": names[place]})
    for one, other, payload in value.edge_index_map().values():
        attributes = _stated(payload) if isinstance(payload, dict) else {}
        if isinstance(payload, str | int | float | Fraction):
            attributes = {"bandwidth": payload}
            notes.assume(f"the value of an edge is its bandwidth, in {BANDWIDTH_UNIT}")
        graph.edges.append(attributes | {"source": names[one], "target": names[other]})
    return graph


def _from_pandas(value: Any, notes: Notes) -> _Graph:
    columns = {str(column).lower(): column for column in value.columns}
    ends = next((pair for pair in _ENDS if set(pair) <= set(columns)), None)
    if ends is None:
        if list(value.index) == list(value.columns):
            return _from_matrix(value.to_numpy(), [node_name(each) for each in value.columns])
        has = ", ".join(map(str, value.columns))
        raise InputError(f"a table of edges needs the columns source and target; it has {has[:200]}")
    edges = [_stated(each) for each in value.rename(columns=lambda name: str(name).lower()).to_dict("records")]
    for place, edge in enumerate(edges):
        for key, end in zip(("source", "target"), ends, strict=True):
            if end not in edge:
                raise InputError(f"row {place} of a table of edges has no {end}; name the node")
            edge[key] = node_name(edge[end])
    pairs = {(edge["source"], edge["target"]) for edge in edges}
    directed = any((other, one) in pairs for one, other in pairs if one != other)
    notes.assume("an edge goes one way, as the list has edges both ways" if directed else "an edge is full duplex")
    known = dict.fromkeys(edge[key] for edge in edges for key in ("source", "target"))
    return _Graph(directed, [{"id": name} for name in known], edges)


def _from_numpy(value: Any, _notes: Notes) -> _Graph:
    if value.ndim != 2 or value.shape[0] != value.shape[1] or value.dtype.kind not in "biuf":
        has = f"shape {value.shape} and type {value.dtype}"
        raise InputError(f"a matrix of bandwidths must be square and have numbers; this one has {has}")
    return _from_matrix(value, list(range(len(value))))


def _from_matrix(values: Any, names: list[Any]) -> _Graph:
    """Return the graph of a matrix; True is a link without a bandwidth."""
    graph = _Graph(directed=True, nodes=[{"id": name} for name in names])
    rows, columns = ((values == values) & (values != 0)).nonzero()  # noqa: PLR0124 (nan is not equal to itself)
    for one, other in zip(rows.tolist(), columns.tolist(), strict=True):
        if one != other:
            attributes = {} if values.dtype.kind == "b" else {"bandwidth": values[one, other]}
            graph.edges.append(attributes | {"source": names[one], "target": names[other]})
    return graph


def _unique(names: list[Any], places: Iterable[int] = ()) -> list[Any]:
    """Return the names of nodes if all have one of their own, else their places."""
    found = [node_name(name) for name in names]
    is_named = all(isinstance(name, str | int) for name in found) and len(set(found)) == len(found)
    return found if is_named else list(places) or list(range(len(found)))


def _stated(attributes: Mapping[Any, Any]) -> _Attributes:
    """Return attributes without those that are None or nan, which such libraries set where nothing is stated."""
    return {str(key): value for key, value in attributes.items() if value is not None and value == value}  # noqa: PLR0124


_READERS: Mapping[str, Callable[[Any, Notes], _Graph]] = {
    "networkx": _from_networkx,
    "igraph": _from_igraph,
    "rustworkx": _from_rustworkx,
    "pandas": _from_pandas,
    "numpy": _from_numpy,
}
