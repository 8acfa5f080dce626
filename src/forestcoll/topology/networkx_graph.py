"""Conversion from and to networkx graphs, with the same attributes as in the file format."""

from typing import TYPE_CHECKING, Any

from forestcoll.base.errors import InputError, shown
from forestcoll.topology.files import (
    FORMAT,
    link_to_dict,
    node_to_dict,
    topology_from_document,
    topology_to_document,
)
from forestcoll.topology.model import Topology

if TYPE_CHECKING:
    import networkx as nx


def node_name(node: object) -> object:
    """Return the id of a node of a graph: a tuple, as the nodes of lattices are, becomes a text of its parts.

    Example:
        >>> node_name((0, 1)), node_name("gpu0")
        ('0.1', 'gpu0')
    """
    if isinstance(node, tuple):
        parts = [node_name(part) for part in node]
        return ".".join(map(str, parts)) if all(isinstance(part, str | int) for part in parts) else node
    return node.item() if hasattr(node, "item") else node  # a number of NumPy


def from_networkx(graph: "nx.Graph", *, connected: bool = True) -> Topology:
    """Return the topology that a networkx graph describes.

    Nodes and edges have the attributes of the file format. The edges of a directed graph are one-way, those of an
    undirected graph are full duplex. The bandwidths of parallel edges are added. A node that is a tuple, such as (0, 1)
    of a lattice, gets the id "0.1".

    Args:
        graph: a `Graph`, `DiGraph`, `MultiGraph` or `MultiDiGraph`, each of whose edges has a `bandwidth`.
        connected: whether all compute nodes must reach each other. For a collective over some of them, False is enough.

    Returns:
        The topology.

    Raises:
        InputError: a rule of the format is broken; the message names the node or edge and the value.

    Example:
        >>> import networkx as nx
        >>> graph = nx.cycle_graph(3)
        >>> nx.set_edge_attributes(graph, 25, "bandwidth")
        >>> from_networkx(graph)
        Topology('graph', 3 compute nodes, 0 switches, 6 links, GB/s)
    """
    if not all(hasattr(graph, part) for part in ("graph", "nodes", "edges", "is_directed")):
        raise InputError(f"{shown(graph)} is not a networkx graph; pass one, or use TopologyBuilder")
    attributes, (nodes, edges) = {"format": FORMAT} | dict(graph.graph), elements_of(graph)
    document = {"directed": graph.is_directed(), "graph": attributes, "nodes": nodes, "edges": edges}
    where = str(attributes.get("name") or "graph")
    return topology_from_document(
        document, where=where, name="graph", connected=connected, marked="format" in graph.graph
    )


def elements_of(graph: "nx.Graph") -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the nodes with their `id` and the edges with their `source` and `target`, besides their attributes."""
    nodes = [{**data, "id": node_name(node)} for node, data in graph.nodes(data=True)]
    edges = [
        {**data, "source": node_name(one), "target": node_name(other)} for one, other, data in graph.edges(data=True)
    ]
    return nodes, edges


def to_networkx(topology: Topology) -> "nx.DiGraph":
    """Return `topology` as a networkx `DiGraph`. `from_networkx` converts it back to an equal topology.

    Args:
        topology: a network.

    Returns:
        The graph, with the attributes of the file format.

    Raises:
        InputError: networkx is not installed.

    Example:
        >>> from forestcoll import load_topology
        >>> to_networkx(load_topology("ring:nodes=3")).number_of_edges()
        6
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
