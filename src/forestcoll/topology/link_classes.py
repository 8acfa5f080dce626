"""Link classes: links of the same bandwidth between the same sorts of nodes, as people speak of them.

The sorts are compute nodes, switches that are NICs or another known device, other switches of a box, and switches
outside the boxes, by their attribute `tier` if they have one.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from forestcoll.topology.model import Node, Topology

Ends = tuple[int, int]
"""The two ends of a link, the smaller number first."""


Key = tuple[tuple[str, ...], Fraction]

DEVICES = {"nic": "NIC", "nvswitch": "NVSwitch", "pcie switch": "PCIe switch", "cpu": "CPU"}
"""The sorts of switches by their attribute `device`, which imported hosts have."""


@dataclass(frozen=True)
class LinkClass:
    """Links of one class.

    Attributes:
        sorts: the sorts of the two ends, sorted.
        bandwidth: the bandwidth each way; the greater one if the two directions differ.
        links: the ends of each link, the smaller number first, in rising order.
    """

    sorts: tuple[str, str]
    bandwidth: Fraction
    links: tuple[Ends, ...]

    def name(self, unit: str) -> str:
        """Return what output calls the class.

        Example:
            >>> from forestcoll.topology.registry import build_topology
            >>> [each.name("GB/s") for each in link_classes(build_topology("dgx-a100:boxes=2"))]
            ['16 links of 300 GB/s between GPUs and box switches', '16 links of 25 GB/s between GPUs and switches']
        """
        count = len(self.links)
        one, other = self.sorts
        between = f"between {_plural(one)}" if one == other else f"between {_plural(one)} and {_plural(other)}"
        return f"{count} link{'s' * (count != 1)} of {self.bandwidth} {unit} {between}"


def _plural(sort: str) -> str:
    return f"{sort}es" if sort.lower().endswith("switch") else f"{sort}s"


def link_classes(topology: "Topology", links: Iterable[Ends] | None = None) -> list[LinkClass]:
    """Return the classes of `links`, or of all links, in the order of their first links."""
    bandwidths: dict[Ends, Fraction] = {}
    for link in topology.links:
        ends = (min(link.source, link.target), max(link.source, link.target))
        bandwidths[ends] = max(link.bandwidth, bandwidths.get(ends, Fraction(0)))
    classes: dict[tuple[tuple[str, str], Fraction], list[Ends]] = {}
    for ends in sorted(bandwidths) if links is None else links:
        one, other = sorted((_sort(topology.nodes[ends[0]]), _sort(topology.nodes[ends[1]])))
        classes.setdefault(((one, other), bandwidths[ends]), []).append(ends)
    return [LinkClass(sorts, bandwidth, tuple(ends)) for (sorts, bandwidth), ends in classes.items()]


def is_nic(node: "Node") -> bool:
    """Return whether a node is a switch that stands for a NIC: its attribute `device` is `nic`."""
    return not node.is_compute and node.attributes.get("device") == "nic"


def nic_name(node: "Node") -> object:
    """Return the name of a NIC: its id or, if it is two nodes, one for each direction, their attribute `nic`."""
    return node.attributes.get("nic", node.id)


def _sort(node: "Node") -> str:
    if node.is_compute:
        return "GPU"
    if (device := DEVICES.get(str(node.attributes.get("device")))) is not None:
        return device
    if "box" in node.attributes:
        return "box switch"
    tier = node.attributes.get("tier")
    return f"{tier} switch" if tier in {"leaf", "spine", "core"} else "switch"
