"""networkx graphs in and out: the same attributes as the file format, without a file between."""

from typing import TYPE_CHECKING

from forestcoll.errors import InputError, shown
from forestcoll.topology.model import Topology
from forestcoll.topology.node_link import (
    FORMAT,
    link_to_dict,
    node_to_dict,
    topology_from_document,
    topology_to_document,
)

if TYPE_CHECKING:
    import networkx as nx


OTHER_BANDWIDTHS = ("capacity", "weight")
"""What other programs call the bandwidth of an edge; the first that all edges have is read by `load_topology`."""


def bandwidth_name(graph: "nx.Graph") -> str:
    """Return the edge attribute that is the bandwidth of an unmarked graph: `bandwidth`, if an edge has it."""
    edges = [data for _, _, data in graph.edges(data=True)]
    if "format" in graph.graph or any("bandwidth" in data for data in edges):
        return "bandwidth"
    return next((name for name in OTHER_BANDWIDTHS if edges and all(name in data for data in edges)), "bandwidth")


def from_networkx(graph: "nx.Graph", *, connected: bool = True, bandwidth: str = "bandwidth") -> Topology:
    """Return the topology that a networkx graph describes: node and edge attributes as in the file format.

    A directed graph's edges are one-way, an undirected graph's are full duplex; parallel edges add up.

    Args:
        graph: a `Graph`, `DiGraph`, `MultiGraph` or `MultiDiGraph`; each edge has a `bandwidth`.
        connected: whether all compute nodes must reach each other; a collective over some of them needs less.
        bandwidth: the attribute of an edge that is its bandwidth.

    Example:
        >>> import networkx as nx
        >>> from_networkx(nx.cycle_graph(3), connected=False)
        Traceback (most recent call last):
        forestcoll.errors.InputError: graph: edge 0 -> 1 has no bandwidth; ...

    Raises:
        InputError: a rule of the format is broken; the message names the node or edge and the value.
    """
    if not all(hasattr(graph, part) for part in ("graph", "nodes", "edges", "is_directed")):
        raise InputError(f"{shown(graph)} is no networkx graph; make one, or use TopologyBuilder")
    attributes = {"format": FORMAT} | dict(graph.graph)
    document = {
        "directed": graph.is_directed(),
        "graph": attributes,
        "nodes": [{**data, "id": node} for node, data in graph.nodes(data=True)],
        "edges": [_edge(one, other, data, bandwidth) for one, other, data in graph.edges(data=True)],
    }
    where = str(attributes.get("name") or "graph")
    return topology_from_document(
        document, where=where, name="graph", connected=connected, marked="format" in graph.graph
    )


def _edge(one: object, other: object, data: dict[str, object], bandwidth: str) -> dict[str, object]:
    named = {"bandwidth": data[bandwidth]} if bandwidth in data else {}
    return {**data, **named, "source": one, "target": other}


def to_networkx(topology: Topology) -> "nx.DiGraph":
    """Return a networkx `DiGraph` that `from_networkx` reads back to the same topology.

    Example:
        >>> from forestcoll.topology.registry import load_topology
        >>> to_networkx(load_topology("ring:nodes=3")).number_of_edges()
        6

    Raises:
        InputError: networkx is not installed.
    """
    try:
        import networkx as nx
    except ImportError:
        raise InputError("networkx is not installed; run: pip install 'forestcoll[networkx]'") from None
    graph = nx.DiGraph()
    graph.graph.update(topology_to_document(topology)["graph"])
    for node in topology.nodes:
        attributes = node_to_dict(node)
        graph.add_nodes_from([(attributes.pop("id"), attributes)])
    for link in topology.links:
        graph.add_edge(*topology.ids([link.source, link.target]), **link_to_dict(link))
    return graph
