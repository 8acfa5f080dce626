"""What the nodes of a graph are called: by their labels, where these are unique, as people know them by these."""

from typing import TYPE_CHECKING

from forestcoll.topology.importers.graphs.plain import PlainGraph

if TYPE_CHECKING:
    from forestcoll.topology.model import NodeId

_LABELS = ("label", "name", "id")  # a value called `id` is what igraph keeps of the ids that it read


def use_labels(graph: PlainGraph) -> None:
    """Call the nodes by their labels if each has one of its own; the edges name them so too."""
    for key in _LABELS:
        labels = [node.attributes.get(key) for node in graph.nodes]
        if all(isinstance(label, str) and label for label in labels) and len(set(labels)) == len(labels):
            ids: dict[NodeId, NodeId] = {}
            for node in graph.nodes:
                ids[node.id] = str(node.attributes.pop(key))
                node.id = ids[node.id]
            if len(ids) == len(graph.nodes):  # else an id is used twice, which is refused later
                for edge in graph.edges:
                    edge.source = ids.get(edge.source, edge.source)
                    edge.target = ids.get(edge.target, edge.target)
            return
