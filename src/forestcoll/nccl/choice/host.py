"""The hosts of a network with NVIDIA's GPUs as topology files, from which NCCL makes its table.

These files are for asking a library on any machine: they number ranks, and for NCCL 2.32 the rail of each NIC. A job
would refuse them. GPUs are joined by NVLinks, directly or over an NVSwitch. GPUs that share NICs are behind one PCIe
switch with them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.routes import Path
from forestcoll.base.units import bytes_per_microsecond, has_known_size
from forestcoll.topology import Topology
from forestcoll.topology.importers.hosts.link_speeds import nvlink_speed

_CAPABILITIES = {"b300": 103, "b200": 100, "h200": 90, "h100": 90, "a100": 80, "dgx-1": 70, "dgx-2": 70}
"""The compute capability, times 10, of the GPU whose name the name of a network contains."""

_AMD_CPUS = ("a100",)
"""The machines whose CPUs are AMD's; those of the others are Intel's."""

_PCIE = {70: "8.0 GT/s PCIe", 80: "16.0 GT/s PCIe"}
"""The speed of a PCIe slot; 32.0 GT/s for later GPUs."""

_CPUS = {
    True: 'vendor="AuthenticAMD" familyid="143" modelid="49"',
    False: 'vendor="GenuineIntel" familyid="6" modelid="143"',
}


@dataclass(frozen=True)
class HostFiles:
    """The topology files of the kinds of hosts of a network, and what they do not say.

    Attributes:
        texts: the content of each file.
        nvls: whether the NVSwitch adds up and copies data.
    """

    texts: tuple[str, ...]
    nvls: bool

    @property
    def gpus(self) -> int:
        """The number of GPUs of a host."""
        return self.texts[0].count("<gpu ")

    @property
    def capability(self) -> int:
        """The compute capability of the GPUs, times 10."""
        return int(self.texts[0].partition(' sm="')[2].partition('"')[0])

    @property
    def is_amd(self) -> bool:
        """Whether the CPUs are AMD's."""
        return 'vendor="AuthenticAMD"' in self.texts[0]


def host_files(problem: Problem) -> tuple[HostFiles, int]:
    """Return the files of the kinds of hosts of a problem, and the number of hosts.

    Raises:
        DoesNotApplyError: the GPUs are unknown or not NVIDIA's; hosts share NVLink; some GPUs of a host take no part;
            hosts have different numbers of GPUs; or a link is no whole number of NVLinks.
    """
    topology = problem.topology
    name = topology.name.lower()
    machine = next((each for each in _CAPABILITIES if each in name), None)
    if machine is None or not has_known_size(topology.bandwidth_unit):
        raise DoesNotApplyError("the name of the network contains no machine with GPUs of NVIDIA that NCCL knows")
    if f"g{machine}" in name:
        raise DoesNotApplyError("the hosts of a rack share NVLink, and NCCL's table of such a job is not known")
    problem.require_boxes()
    if len(problem.members) < len(topology.compute):
        raise DoesNotApplyError("NCCL's table of a part of the GPUs of a host is not known")
    boxes = problem.boxes.members
    if len({len(box) for box in boxes}) > 1:
        raise DoesNotApplyError("hosts have different numbers of GPUs, and NCCL's table of such a job is not known")
    capability, vendor = _CAPABILITIES[machine], _CPUS[machine in _AMD_CPUS]
    texts = dict.fromkeys(_text(_Host(problem, box, capability), vendor) for box in boxes)
    nvls = any(topology.nodes[switch].multicast for switch in topology.able_switches)
    return HostFiles(tuple(texts), nvls), len(boxes)


@dataclass(frozen=True)
class _Host:
    """One host of a network."""

    problem: Problem
    gpus: Sequence[int]
    capability: int

    @property
    def topology(self) -> Topology:
        return self.problem.topology

    def bandwidth(self, source: int, target: int) -> Fraction:
        """Return the bandwidth of a link in GB/s."""
        unit = bytes_per_microsecond(self.topology.bandwidth_unit) / 1000
        return self.topology.bandwidths[source, target] * unit

    def nvlinks(self, place: int) -> Iterator[tuple[str, int]]:
        """Yield what the NVLinks of a GPU lead to, as a bus id, and how many there are."""
        gpu, inside = self.gpus[place], self.problem.boxes.inside(self.gpus[place])
        outside = {path[1] for path in self.problem.boxes.exits(gpu)}
        for target in self.topology.targets[gpu]:
            if target not in inside or target in outside:
                continue
            count = self.bandwidth(gpu, target) / (nvlink_speed(self.capability, "nominal") or 1)
            if count.denominator > 1:
                named = f"{self.topology.nodes[gpu].id} to {self.topology.nodes[target].id}"
                raise DoesNotApplyError(f"the link of {named} is {float(count):.4g} NVLinks, no whole number")
            is_gpu = target in self.gpus
            yield (_bus(16 + self.gpus.index(target)) if is_gpu else "0000:c0:00.0"), int(count)

    def groups(self) -> Mapping[frozenset[int], list[int]]:
        """Return the places of GPUs by the nodes over which data leaves the host from them: its NICs."""
        found: dict[frozenset[int], list[int]] = {}
        for place, gpu in enumerate(self.gpus):
            doors = frozenset(path[-2] for path in self._exits(gpu))
            found.setdefault(doors, []).append(place)
        return found

    def speeds(self, places: Sequence[int]) -> list[int]:
        """Return the speeds of the NICs of these GPUs in Mb/s."""
        paths = {path[-2]: path for place in places for path in self._exits(self.gpus[place])}
        return [int(self.bandwidth(path[-2], path[-1]) * 8000) for _, path in sorted(paths.items())]

    def _exits(self, gpu: int) -> tuple[Path, ...]:
        return self.problem.boxes.exits(gpu)


def _bus(number: int) -> str:
    return f"0000:{number:02x}:00.0"


def _text(host: _Host, vendor: str) -> str:
    """Return the topology file of a host: two CPUs with half of the PCIe switches each; one, if there are few GPUs."""
    groups = list(host.groups().values())
    half = (len(groups) + 1) // 2 if len(host.gpus) > 4 else len(groups)
    lines = ['<system version="1">']
    nics = 0
    for cpu, part in enumerate((groups[:half], groups[half:])):
        if part:
            lines.append(f'<cpu numaid="{cpu}" arch="x86_64" {vendor}>')
            for places in part:
                lines += _switch(host, places, nics)
                nics += len(host.speeds(places))
            lines.append("</cpu>")
    return "\n".join([*lines, "</system>", ""])


def _switch(host: _Host, places: Sequence[int], nics: int) -> Iterator[str]:
    """Yield the lines of a PCIe switch with GPUs and their NICs, which have numbers from `nics` on."""
    width = f'link_speed="{_PCIE.get(host.capability, "32.0 GT/s PCIe")}" link_width="16"'
    yield f'<pci busid="{_bus(128 + places[0])}" class="0x060400" {width}>'
    for place in places:
        yield f'<pci busid="{_bus(16 + place)}" class="0x030200" {width}>'
        yield f'<gpu dev="{place}" sm="{host.capability}" rank="{place}" gdr="1">'
        for target, count in host.nvlinks(place):
            kind = "0x068000" if target == "0000:c0:00.0" else "0x030200"
            yield f'<nvlink target="{target}" count="{count}" tclass="{kind}"/>'
        yield "</gpu></pci>"
    for number, speed in enumerate(host.speeds(places), start=nics):
        yield f'<pci busid="{_bus(160 + number)}" class="0x020000" {width}><nic>'
        at = f'port="1" guid="{number + 1:#x}" maxconn="131072" gdr="1" rail="{number}" plane="0"'
        yield f'<net name="mlx5_{number}" dev="{number}" speed="{speed}" {at}/>'
        yield "</nic></pci>"
    yield "</pci>"
