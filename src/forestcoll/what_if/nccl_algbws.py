"""What NCCL reaches after a change, next to the optimum: with its own schedule, and with its best setting."""

from dataclasses import dataclass
from functools import cached_property

from forestcoll.demand.change import demand_after
from forestcoll.demand.demand import NodeDemand
from forestcoll.nccl.settings import NcclAlgbw, nccl_algbw
from forestcoll.topology import Topology
from forestcoll.topology.changes import Change
from forestcoll.topology.graph.walks import unreachable_pair


@dataclass(frozen=True)
class NcclAlgbws:
    """What NCCL reaches on a network and after changes.

    After a change, NCCL runs the algorithm that it ran before, with the hosts in the order of the network. Of symmetric
    changes, the first is computed; in the order of the hosts, others may have other trees.

    Attributes:
        topology: the network before the changes.
        demand: the collective and who takes part.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.topology.changes import change_named
        >>> network = load_topology("dgx-h100:boxes=4")
        >>> found = NcclAlgbws(network, NodeDemand())
        >>> failed = found.after(change_named(network, ["b0/gpu0--ib"]))
        >>> found.now.algorithm, float(failed.algbw / found.now.algbw)
        ('RING', 0.875)
    """

    topology: Topology
    demand: NodeDemand

    @cached_property
    def now(self) -> NcclAlgbw:
        """What NCCL reaches before the changes."""
        return nccl_algbw(self.topology, self.demand)

    def knows(self, change: Change) -> bool:
        """Return whether a change has no new links: NCCL does not know how to use those."""
        return all(bandwidth[:2] in self.topology.link_numbers for bandwidth in change.bandwidths)

    def after(self, change: Change) -> NcclAlgbw:
        """Return what NCCL reaches after a change; nothing is known after one that it does not know."""
        nothing = NcclAlgbw(self.now.algorithm)
        if self.now.best is None or not self.knows(change):
            return nothing
        network, demand = change.network(self.topology), demand_after(change, self.topology, self.demand)
        if demand is None or unreachable_pair(network, demand.members(network)) is not None:
            return nothing
        return nccl_algbw(network, demand, self.now.algorithm)
