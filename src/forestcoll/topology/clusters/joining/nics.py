"""The NICs of a box: where they are, what they share, and the nodes and links that they add to the box.

A NIC that belongs to one GPU alone, in one plane and without a PCIe limit, is a link from the GPU to its leaf switch.
In all other cases it is a node: GPUs that share it have links to it, and it has a link to one leaf switch of each
plane. With a PCIe limit, the GPUs of a group reach their NICs through a PCIe switch.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from forestcoll.base.errors import shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.clusters.joining.box import Box


@dataclass(frozen=True)
class Nics:
    """The NICs of one box.

    Attributes:
        box: the box.
        requested: the number of NICs that the user gave; None for those of the box.
        bandwidth: GB/s each way of a NIC that the user gave; None for that of the box.
        pcie_bandwidth: GB/s each way between a GPU or a NIC and the PCIe switch; None if PCIe is no limit.
        planes: the number of planes that share the bandwidth of each NIC.
    """

    box: Box
    requested: int | None
    bandwidth: Fraction | None
    pcie_bandwidth: Fraction | None
    planes: int

    @cached_property
    def count(self) -> int:
        """The number of NICs of a box."""
        return len(self.box.ports) if self.requested is None else self.requested

    @property
    def problem(self) -> str | None:
        """What is wrong between the numbers, and how to fix it, or None."""
        return self._problem_of_box() or self._problem_of_numbers()

    def _problem_of_box(self) -> str | None:
        own, name = len(self.box.ports), shown(self.box.name)
        if self.count == 0:
            return f"box {name} has no NICs of its own; give nics and nic_bandwidth"
        if self.box.has_own_nics and self.count != own:
            return f"box {name} has {own} NICs or PCIe switches to the outside; leave nics out or give nics={own}"
        if self.box.has_own_nics and self.pcie_bandwidth is not None:
            return f"box {name} has PCIe switches or NICs of its own; leave pcie_bandwidth out"
        if self.bandwidth is None and (self.count != own or any(port.bandwidth is None for port in self.box.ports)):
            return f"the bandwidth of the {self.count} NICs of box {name} is not known; give nic_bandwidth in GB/s"
        return None

    def _problem_of_numbers(self) -> str | None:
        gpus = len(self.box.gpus)
        if not self._uses_ports and gpus % self.count and self.count % gpus:
            return (
                f"{self.count} NICs cannot be shared evenly by {gpus} GPUs; make nics a divisor or a multiple of {gpus}"
            )
        return None

    @property
    def _uses_ports(self) -> bool:
        """Whether the NICs are at the ports of the box."""
        return self.count == len(self.box.ports)

    @property
    def _are_nodes(self) -> bool:
        """Whether each NIC is a node that is added to the box."""
        if self.box.has_own_nics:
            return False
        return self.planes > 1 or self.pcie_bandwidth is not None or self.count != len(self._gpus)

    @property
    def _pcie_switches(self) -> int:
        """The number of PCIe switches that are added to a box."""
        gpus = len(self._gpus)
        return 0 if self.pcie_bandwidth is None or self.count == gpus else min(gpus, self.count)

    @property
    def links(self) -> int:
        """The number of one-way links that `add` adds to a box."""
        if not self._are_nodes:
            return 0
        gpus = len(self._gpus)
        return 2 * (gpus + self.count if self._pcie_switches else max(gpus, self.count))

    def bandwidth_of(self, nic: int) -> Fraction:
        """Return GB/s each way of a NIC; there must be no `problem`."""
        stated = self.bandwidth if self.bandwidth is not None else self.box.ports[nic].bandwidth
        return Fraction(0) if stated is None else stated

    def add(self, network: TopologyBuilder, box: int) -> list[tuple[str, str]]:
        """Add the NICs of box number `box`, and return the ids of the nodes that send to leaves and receive from them.

        For most NICs these two are the same.
        """
        if not self._are_nodes and self._uses_ports:
            return [(self._id(box, port.node), self._id(box, port.entry)) for port in self.box.ports]
        if not self._are_nodes:
            return [(self._id(box, gpu), self._id(box, gpu)) for gpu in self.box.gpus]
        nics = []
        for nic in range(self.count):
            attributes: dict[str, Any] = {"box": box, "device": "nic", "nic_bandwidth": str(self.bandwidth_of(nic))}
            nics.append(str(network.add_switch(f"b{box}/nic{nic}", **attributes)))
        for one, other, bandwidth in self._inner_links(network, box, nics):
            network.add_duplex(one, other, bandwidth)
        return [(nic, nic) for nic in nics]

    def _inner_links(self, network: TopologyBuilder, box: int, nics: list[str]) -> Iterator[tuple[str, str, Fraction]]:
        """Yield the links between GPUs, PCIe switches and NICs."""
        gpus = [self._id(box, place) for place in self._gpus]
        for group in range(min(len(gpus), self.count)):
            own_gpus, own_nics = _part(gpus, group, self.count), _part(nics, group, len(gpus))
            if self._pcie_switches and self.pcie_bandwidth is not None:
                pcie = str(network.add_switch(f"b{box}/pcie{group}", box=box))
                yield from ((node, pcie, self.pcie_bandwidth) for node in (*own_gpus, *own_nics))
                continue
            for gpu in own_gpus:
                for nic in own_nics:
                    yield gpu, nic, self.pcie_bandwidth or self.bandwidth_of(nics.index(nic))

    @property
    def _gpus(self) -> list[int]:
        """The places of the GPUs in the order of their NICs."""
        return [port.node for port in self.box.ports] if self._uses_ports else list(self.box.gpus)

    def _id(self, box: int, place: int) -> str:
        return f"b{box}/{self.box.nodes[place].id}"


def _part(items: list[str], group: int, others: int) -> list[str]:
    """Return the items of a group, where there are as many groups as items or `others`, whichever are fewer."""
    size = max(1, len(items) // min(len(items), others))
    return items[group * size : (group + 1) * size]
