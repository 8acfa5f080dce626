"""How long links and ranks are busy with the data that they carry, with the costs of an implementation.

A link is busy for its data / (its bandwidth · the efficiency). If several ranks send to one rank, the last links of
these sends are slower by the incast. The channels of a rank together send and receive at most `rank_gbps` each way. A
rank that adds up data is busy with that after it has received the data.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.rows import IntArray
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.loads import FloatArray, bytes_per_second
from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import box_numbers


@dataclass(frozen=True)
class Rates:
    """The seconds for one byte on links and at ranks.

    Attributes:
        links: for each link of the network, the seconds for a byte of data.
        rank: the seconds for a byte that a rank sends or receives, by the limit of all its channels; 0 without limit.
        reduction: the seconds to add up a received byte.
        incast: the part by which each further sender slows the last link.
    """

    links: FloatArray
    rank: float
    reduction: float
    incast: float

    @staticmethod
    def of(wires: "Wires", costs: Costs) -> "Rates":
        """Return the rates in a network with these links."""
        parts = np.where(wires.are_nics, costs.efficiency_of_nics, costs.efficiency)
        return Rates(
            links=1 / (wires.bytes_per_second * parts),
            rank=0.0 if costs.rank_gbps is None else 1 / (costs.rank_gbps * 1e9),
            reduction=costs.reduction_us_per_mb * 1e-12,
            incast=costs.incast,
        )

    def slower(self, senders: FloatArray) -> FloatArray:
        """Return the factor of the time of a last link, for these numbers of senders to its rank."""
        return 1 + self.incast * np.maximum(senders - 1, 0)


@dataclass(frozen=True)
class Wires:
    """The links of a network as arrays, in the order of the links.

    Attributes:
        bytes_per_second: the bandwidth of each link.
        are_nics: whether each link leaves a box: one end is in a box, and the other is not in this box.
        sources: the node at the start of each link.
        targets: the node at the end of each link.
        are_ranks: for each node, 1.0 if it computes, and 0.0 if it is a switch.
    """

    bytes_per_second: FloatArray
    are_nics: npt.NDArray[np.bool_]
    sources: IntArray
    targets: IntArray
    are_ranks: FloatArray

    @staticmethod
    def of(topology: Topology) -> "Wires":
        """Return the links of a network.

        Raises:
            InputError: the size in bytes of the network's bandwidth unit is not known.
        """
        boxes = box_numbers(topology)
        nics = [boxes.get(link.source) != boxes.get(link.target) for link in topology.links]
        sources, targets = np.array([(link.source, link.target) for link in topology.links]).T
        are_ranks = np.array([float(node.is_compute) for node in topology.nodes])
        return Wires(bytes_per_second(topology), np.array(nics), sources, targets, are_ranks)

    def rank_loads(self, parts: FloatArray) -> "RankLoads":
        """Return what each rank sends and receives if the links carry these parts of M."""
        sent, received = (np.bincount(ends, parts, len(self.are_ranks)) for ends in (self.sources, self.targets))
        return RankLoads(sent * self.are_ranks, received * self.are_ranks)


def differs_by_image(topology: Topology, costs: Costs | None) -> bool:
    """Return whether a symmetry, which preserves bandwidths, may map a send to one of another time.

    Args:
        topology: the network.
        costs: the costs; None for any.
    """
    if any(link.latency_us for link in topology.links):
        return True
    return costs is None or costs.efficiency_of_nics != costs.efficiency or costs.incast > 0


@dataclass(frozen=True)
class RankLoads:
    """The parts of M that each node sends and receives.

    Attributes:
        sent: for each node, the part that it sends; 0 for a switch.
        received: for each node, the part that it receives; 0 for a switch.
    """

    sent: FloatArray
    received: FloatArray

    @property
    def greatest(self) -> float:
        """The greatest part that a rank sends, or that a rank receives."""
        return float(np.maximum(self.sent, self.received).max())
