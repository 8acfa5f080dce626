"""A change of a network: links and nodes that are gone, and links with another bandwidth, in node numbers."""

from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.demand.demand import NodeDemand
from forestcoll.topology import Topology
from forestcoll.topology.graph.changes import Ends, with_bandwidths, without_links


@dataclass(frozen=True)
class Change:
    """A change of a network.

    Attributes:
        name: what output calls it.
        links: the ends of the links that are gone, in both directions; the smaller number first.
        nodes: the numbers of the nodes that are gone, with all their links. Compute nodes among them take no part.
        bandwidths: (source, target, bandwidth) of each one-way link that has another bandwidth or is new.
    """

    name: str
    links: tuple[Ends, ...] = ()
    nodes: tuple[int, ...] = ()
    bandwidths: tuple[tuple[int, int, Fraction], ...] = ()

    def together(self, other: "Change") -> "Change":
        """Return both changes at once; the bandwidths of `other` replace those of this one."""
        name = " + ".join(filter(None, (self.name, other.name)))
        links = tuple(sorted({*self.links, *other.links}))
        nodes = tuple(sorted({*self.nodes, *other.nodes}))
        return Change(name, links, nodes, (*self.bandwidths, *other.bandwidths))

    def applied(self, topology: Topology) -> Topology:
        """Return the changed network with the same nodes; nodes that are gone have no links."""
        gone = set(self.nodes)
        faster = with_bandwidths(topology, {(source, target): value for source, target, value in self.bandwidths})
        kept = without_links(faster, set(self.links))
        links = tuple(link for link in kept.links if link.source not in gone and link.target not in gone)
        return replace(kept, name=f"{topology.name} ({self.name})", links=links)

    def network(self, topology: Topology) -> Topology:
        """Return the changed network without the nodes that are gone; the others keep their order."""
        changed = self.applied(topology)
        if not self.nodes:
            return changed
        place = {number: place for place, number in enumerate(self.kept(topology))}
        links = tuple(replace(link, source=place[link.source], target=place[link.target]) for link in changed.links)
        nodes = tuple(changed.nodes[number] for number in place)
        return replace(changed, nodes=nodes, links=links)

    def kept(self, topology: Topology) -> list[int]:
        """Return the numbers of the nodes that are left."""
        gone = set(self.nodes)
        return [number for number in range(len(topology.nodes)) if number not in gone]

    def demand(self, topology: Topology, demand: NodeDemand) -> NodeDemand | None:
        """Return the demand on `network`, without the nodes that are gone; None if it makes no sense there.

        That is where fewer than two nodes take part, or where the root is gone. Shards must be equal.
        """
        if not self.nodes:
            return demand
        gone = set(self.nodes)
        place = {number: place for place, number in enumerate(self.kept(topology))}
        left = tuple(place[number] for number in demand.members(topology) if number not in gone)
        if len(left) < 2 or demand.root in gone:
            return None
        root = None if demand.root is None else place[demand.root]
        return replace(demand, root=root, ranks=None if demand.ranks is None else left)

    def document(self) -> dict[str, object]:
        """Return the change as JSON, from which names of files are made."""
        return {
            "name": self.name,
            "links": [list(ends) for ends in self.links],
            "nodes": list(self.nodes),
            "bandwidths": [[source, target, str(value)] for source, target, value in self.bandwidths],
        }
