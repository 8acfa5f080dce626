"""Intel Gaudi 3 (HLS-3): eight cards, every two joined by three 200 Gb/s Ethernet links, three more to the outside.

A card has 24 ports of 200 Gb/s, or 25 GB/s each way. Three lead to each of the seven other cards of its box, 75 GB/s,
and three to the switches between boxes, 75 GB/s. So a card has 525 GB/s each way inside its box, and a box 600 GB/s to
the outside, which Intel gives as the peak of an allreduce or an allgather over several boxes. Intel publishes an
allreduce on one box with an algbw of 293 GB/s; the bound here is 300.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.machines._boxes import FullyConnectedBoxes
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "gaudi3",
    summary="Intel Gaudi 3 (HLS-3): 8 fully connected cards, 600 Gb/s Ethernet of each card between boxes",
    source="docs.habana.ai, Intel Gaudi Network Configuration, and Collectives Performance",
)
@dataclass(frozen=True)
class Gaudi3(FullyConnectedBoxes):
    """Boxes of Gaudi 3."""

    fabric_bandwidth: Fraction = link_bandwidth(75, "GB/s each way of the Ethernet links between two cards")
    nic_bandwidth: Fraction = link_bandwidth(75, "GB/s each way of the Ethernet links of a card to the outside")
