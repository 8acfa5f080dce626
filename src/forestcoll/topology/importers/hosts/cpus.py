"""CPUs between GPUs, where a file says only which GPUs are near each other: a tree of PCIe switches and CPUs.

A CPU is a NUMA node. If there are more than two, the first half is one socket and the others are another one. All CPUs
of a socket share its link to the other.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from forestcoll.topology.importers.hosts.host import Device, duplex
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import missing_speed

if TYPE_CHECKING:
    from forestcoll.topology.importers.hosts.amd_smi import AmdSmi
    from forestcoll.topology.importers.hosts.nvidia_smi_topo import NvidiaSmiTopo

Links = list[tuple[str, str, Fraction]]

CPU_LINK = Fraction(16)
"""What NCCL assumes between two CPUs of AMD, in GB/s."""

SOCKETS = 2
"""The sockets of a host with several CPUs."""


def pcie_speeds(where: str, why: str, options: "AmdSmi | NvidiaSmiTopo", notes: Notes) -> tuple[Fraction, Fraction]:
    """Return what a PCIe slot carries, and what a link between two CPUs carries.

    Raises:
        InputError: the user has not given the speed of PCIe.
    """
    if options.pcie is None:
        raise missing_speed(where, f"what PCIe carries, and {why}", "--pcie", "32 for PCIe 4.0 x16")
    if options.link_bandwidth is not None:
        return options.pcie, options.link_bandwidth
    between = min(options.pcie, CPU_LINK)
    notes.assume(
        f"the link between two sockets carries {between} GB/s, NCCL's figure for CPUs of AMD; "
        "forestcoll import --link-bandwidth gives another speed"
    )
    return options.pcie, between


@dataclass(frozen=True)
class CpuTree:
    """PCIe switches and CPUs.

    Attributes:
        switches: the switches and CPUs.
        links: the links of these and of GPUs.
        nics: for each NIC the switch or CPU above it.
    """

    switches: list[Device]
    links: Links
    nics: dict[str, str]


def cpu_tree(
    cpus: Sequence[Sequence[Sequence[Sequence[str]]]],
    pcie: Fraction,
    between: Fraction,
    nics: Collection[str] = (),
) -> CpuTree:
    """Return a tree of PCIe switches and CPUs.

    Args:
        cpus: of each CPU the groups of GPUs and NICs that reach each other below it. Such a group consists of groups,
            each of which shares a PCIe switch; if there are several, one more switch joins them.
        pcie: GB/s of a PCIe slot.
        between: GB/s of the link between two sockets.
        nics: the NICs among the devices; CPUs with NICs only are the last ones.
    """
    near = sum(any(device not in nics for group in groups for each in group for device in each) for groups in cpus)
    tree = CpuTree([], [], {})
    for number, groups in enumerate(cpus):
        cpu = f"CPU{number}"
        tree.switches.append(Device(cpu, {"device": "cpu"}))
        for group in groups:
            above = cpu if len(group) == 1 else _switch(tree, f"PCIe-{group[0][0]}-{group[-1][0]}", cpu, pcie)
            for devices in group:
                top = above if len(devices) == 1 else _switch(tree, f"PCIe-{devices[0]}", above, pcie)
                tree.nics.update((device, top) for device in devices if device in nics)
                tree.links.extend(
                    link for device in devices if device not in nics for link in duplex(device, top, pcie)
                )
    _join(tree, [sum(len(devices) for group in groups for devices in group) * pcie for groups in cpus], between, near)
    return tree


def _join(tree: CpuTree, widths: Sequence[Fraction], between: Fraction, near: int) -> None:
    """Join CPUs: the first half of the first `near` is one socket, and the others of these are the other socket.

    CPUs with NICs only follow. It is not known where they are, so they are at the first socket.
    """
    tops = [f"CPU{number}" for number in range(near)]
    if near > SOCKETS:
        tops = [f"socket{place * SOCKETS // near}" for place in range(near)]
        tree.switches.extend(Device(f"socket{number}", {"device": "cpu"}) for number in range(SOCKETS))
        for number, top in enumerate(tops):
            tree.links.extend(duplex(f"CPU{number}", top, widths[number]))
    if near > 1:
        tree.links.extend(duplex(tops[0], tops[-1], between))
    for number in range(near, len(widths)):
        tree.links.extend(duplex(f"CPU{number}", tops[0], widths[number]))


def _switch(tree: CpuTree, name: str, above: str, pcie: Fraction) -> str:
    """Add a PCIe switch below a device and return its name."""
    tree.switches.append(Device(name, {"device": "pcie switch"}))
    tree.links.extend(duplex(name, above, pcie))
    return name
