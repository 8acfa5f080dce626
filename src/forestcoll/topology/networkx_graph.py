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


def topology_from_graph(graph: "nx.Graph", *, connected: bool = True) -> Topology:
    """Return the topology that `graph` describes; see `Topology.from_networkx`."""
    if not all(hasattr(graph, part) for part in ("graph", "nodes", "edges", "is_directed")):
        raise InputError(f"{shown(graph)} is no networkx graph; make one, or use TopologyBuilder")
    attributes = {"format": FORMAT} | dict(graph.graph)
    document = {
        "directed": graph.is_directed(),
        "graph": attributes,
        "nodes": [{**data, "id": node} for node, data in graph.nodes(data=True)],
        "edges": [{**data, "source": one, "target": other} for one, other, data in graph.edges(data=True)],
    }
    where = str(attributes.get("name") or "graph")
    return topology_from_document(
        document, where=where, name="graph", connected=connected, marked="format" in graph.graph
    )


def graph_from_topology(topology: Topology) -> "nx.DiGraph":
    """Return `topology` as a networkx `DiGraph`; see `Topology.to_networkx`."""
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
