"""Intel Gaudi 2 (HLS-Gaudi2): eight cards, every two joined by three 100 Gb/s Ethernet links, three to the outside.

A card has 24 ports of 100 Gb/s, or 12.5 GB/s each way: the links of a Gaudi 3 at half the speed. Three lead to each of
the seven other cards of its box, 37.5 GB/s, and three to the switches between boxes, 37.5 GB/s.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.parameters import link_bandwidth
from forestcoll.topology.machines.gaudi3 import Gaudi3
from forestcoll.topology.registry import topology_builder


@topology_builder(
    "gaudi2",
    summary="Intel Gaudi 2: 8 fully connected cards, 300 Gb/s Ethernet of each card between boxes",
    source="docs.habana.ai, Intel Gaudi Network Configuration",
)
@dataclass(frozen=True)
class Gaudi2(Gaudi3):
    """Boxes of Gaudi 2."""

    fabric_bandwidth: Fraction = link_bandwidth(
        Fraction(75, 2), "GB/s each way of the Ethernet links between two cards"
    )
    nic_bandwidth: Fraction = link_bandwidth(
        Fraction(75, 2), "GB/s each way of the Ethernet links of a card to the outside"
    )
