"""CPUs between GPUs, where a file says only which GPUs are near each other: a tree of PCIe switches and CPUs."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from forestcoll.topology.importers.hosts.host import Device, duplex
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import missing_speed

if TYPE_CHECKING:
    from forestcoll.topology.importers.hosts.amd_smi import AmdSmi
    from forestcoll.topology.importers.hosts.nvidia_smi_topo import NvidiaSmiTopo

Links = list[tuple[str, str, Fraction]]


def pcie_speeds(where: str, why: str, options: "AmdSmi | NvidiaSmiTopo", notes: Notes) -> tuple[Fraction, Fraction]:
    """Return what a PCIe slot carries, and what a link between two CPUs carries.

    Raises:
        InputError: the user has not given the speed of PCIe.
    """
    if options.pcie is None:
        raise missing_speed(where, f"what PCIe carries, and {why}", "--pcie", "32 for PCIe 4.0 x16")
    if options.link_bandwidth is not None:
        return options.pcie, options.link_bandwidth
    notes.assume(
        f"a link between two CPUs carries {options.pcie} GB/s, as PCIe does; "
        "forestcoll import --link-bandwidth gives another speed"
    )
    return options.pcie, options.pcie


def cpu_tree(
    cpus: Sequence[Sequence[Sequence[Sequence[str]]]], pcie: Fraction, between: Fraction
) -> tuple[list[Device], Links]:
    """Return the switches and the links of a tree.

    Args:
        cpus: of each CPU the groups of GPUs that reach each other below it. Such a group consists of groups, each of
            which shares a PCIe switch; if there are several, one more switch joins them.
        pcie: GB/s of a PCIe slot.
        between: GB/s between two CPUs, each of which has a link to every other one.
    """
    devices: list[Device] = []
    links: Links = []
    for number, groups in enumerate(cpus):
        cpu = f"CPU{number}"
        devices.append(Device(cpu, {"device": "cpu"}))
        for group in groups:
            above = cpu if len(group) == 1 else _switch(devices, links, f"PCIe-{group[0][0]}-{group[-1][0]}", cpu, pcie)
            for gpus in group:
                top = above if len(gpus) == 1 else _switch(devices, links, f"PCIe-{gpus[0]}", above, pcie)
                links += [link for gpu in gpus for link in duplex(gpu, top, pcie)]
    for one, other in combinations(range(len(cpus)), 2):
        links += duplex(f"CPU{one}", f"CPU{other}", between)
    return devices, links


def _switch(devices: list[Device], links: Links, name: str, above: str, pcie: Fraction) -> str:
    """Add a PCIe switch below a device and return its name."""
    devices.append(Device(name, {"device": "pcie switch"}))
    links += duplex(name, above, pcie)
    return name
