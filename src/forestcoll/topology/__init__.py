"""Networks: model, builder; machines with their bandwidths and latencies, families, clusters; importers, writers."""

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.files import (
    read_topology,
    topology_from_document,
    topology_to_document,
    write_topology,
)
from forestcoll.topology.model import Link, Node, NodeId, NodeKind, Topology, TopologyLike
from forestcoll.topology.symmetry.shifts import NodeArray, Shift, Symmetry

__all__ = [
    "Link",
    "Node",
    "NodeArray",
    "NodeId",
    "NodeKind",
    "Shift",
    "Symmetry",
    "Topology",
    "TopologyBuilder",
    "TopologyLike",
    "read_topology",
    "topology_from_document",
    "topology_to_document",
    "write_topology",
]
