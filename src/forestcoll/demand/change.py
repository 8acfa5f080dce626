"""The demand on a changed network."""

from dataclasses import replace

from forestcoll.demand.demand import NodeDemand
from forestcoll.topology import Topology
from forestcoll.topology.changes import Change


def demand_after(change: Change, topology: Topology, demand: NodeDemand) -> NodeDemand | None:
    """Return the demand on the network without the nodes that are gone; None if it makes no sense there.

    That is where fewer than two nodes take part, or where the root is gone. Shards must be equal.
    """
    if not change.nodes:
        return demand
    place = {number: place for place, number in enumerate(change.kept(topology))}
    left = tuple(place[number] for number in demand.members(topology) if number in place)
    if len(left) < 2 or demand.root in change.nodes:
        return None
    root = None if demand.root is None else place[demand.root]
    return replace(demand, root=root, ranks=None if demand.ranks is None else left)
