"""What NCCL reads in a topology file, where it differs from what a person reads (`forestcoll import --lint`).

The facts are those of NCCL 2.27 to 2.32 (`src/graph/xml.cc`, `topo.cc`), tried with the released libraries.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from forestcoll.base.errors import plural, shown
from forestcoll.topology.importers.hosts.link_speeds import (
    LEAST_MBPS,
    MBPS_PER_GBPS,
    MOST_MBPS,
    PCIE_WORDS,
    in_words_of_nccl,
    pcie_rate,
    pcie_speed,
)
from forestcoll.topology.importers.hosts.nccl_elements import system_elements
from forestcoll.topology.importers.source import Source
from forestcoll.topology.importers.xml_elements import Element

_NEEDED = {
    "system": ("version",),
    "cpu": ("numaid", "arch"),
    "pci": ("busid", "class", "link_speed", "link_width"),
    "gpu": ("dev", "sm", "gdr"),
    "nvlink": ("target", "count", "tclass"),
}
"""Attributes without which NCCL refuses a file, if it cannot ask the system for them."""

_OF_JOBS = {
    "rank": "that of one job",
    "rail": "which 2.32 refuses unless it is its own",
    "plane": "which 2.32 refuses unless it is its own",
    "host_hash": "that of one host",
}
_SLOW = 6
"""GB/s."""


@dataclass(frozen=True)
class Finding:
    """Something that NCCL reads in another way than a person.

    Attributes:
        line: the line of the file where it is first.
        text: what NCCL makes of it, and what to write.
    """

    line: int
    text: str


def lint(source: Source) -> list[Finding]:
    """Return what NCCL will make of a topology file, in the order of its lines; what is repeated is said once.

    Raises:
        InputError: the file is no topology XML of NCCL, or not well-formed.
    """
    found: dict[str, list[int]] = {}
    for system in system_elements(source):
        for line, text in _findings(system):
            found.setdefault(text, []).append(line)
    more = {text: f" ({plural(len(lines), 'time')})" if len(lines) > 1 else "" for text, lines in found.items()}
    return sorted((Finding(lines[0], text + more[text]) for text, lines in found.items()), key=lambda each: each.line)


def _findings(system: Element) -> Iterator[tuple[int, str]]:
    for element in system.all(*_NEEDED):
        if missing := [name for name in _NEEDED[element.tag] if name not in element.attributes]:
            yield (
                element.line,
                f"<{element.tag}> has no {missing[0]}; NCCL refuses the file if the system does not say it",
            )
    for element in system.all():
        for name, why in _OF_JOBS.items():
            if name in element.attributes:
                yield element.line, f"<{element.tag}> has {name}, {why}; leave it out of a file for jobs"
    for pci in system.all("pci"):
        yield from _slot(pci)
    for net in system.all("net"):
        yield from _net(net)
    yield from _gpus(system)
    yield from _far(system)


def _slot(pci: Element) -> Iterator[tuple[int, str]]:
    speed, width = pci.get("link_speed"), pci.get("link_width", "0")
    if speed and not speed.startswith(PCIE_WORDS):
        known = in_words_of_nccl(speed)
        fix = "" if known == speed else f"; write {shown(known)}"
        yield pci.line, f"link_speed {shown(speed)} is unknown to NCCL and counts as 8 GT/s without a warning{fix}"
    if width == "0":
        yield pci.line, "link_width 0 counts as 16 lanes"
    lanes = pci.number("link_width")
    carries = pcie_speed(pcie_rate(speed, "nccl"), lanes, "nccl")
    if carries < _SLOW:
        slot = f"a slot of {speed or '8 GT/s'} with {plural(lanes, 'lane')}"
        yield pci.line, f"{slot} carries {float(carries):.3g} GB/s for NCCL"
    gpus = [each.get("dev") for each in pci.children if each.tag == "gpu"]
    if len(gpus) > 1:
        yield pci.line, f"{len(gpus)} <gpu> in one <pci> are as many ranks on one GPU; in a file for jobs, keep one"


def _net(net: Element) -> Iterator[tuple[int, str]]:
    name, speed = net.get("name") or "?", net.number("speed")
    if "dev" not in net.attributes:
        yield net.line, f"<net> {name} has no dev; NCCL leaves it out, or finds no path to it"
    if not speed:
        yield net.line, f"<net> {name} states no speed and counts as {LEAST_MBPS:,} Mb/s"
    elif speed > MOST_MBPS:
        yield net.line, f"<net> {name} has speed {speed}, which counts as {speed / MBPS_PER_GBPS:g} GB/s; write Mb/s"
    if net.get("gdr") == "0":
        yield net.line, f"<net> {name} has gdr 0: data passes through the memory of the CPU (no GPUDirect RDMA)"


def _gpus(system: Element) -> Iterator[tuple[int, str]]:
    """Yield what is odd about the NVLinks of the GPUs."""
    gpus = {
        pci.get("busid").lower(): gpu for pci in system.all("pci") for gpu in pci.children[::-1] if gpu.tag == "gpu"
    }
    if not gpus:
        yield system.line, "no <gpu>: the file only places devices, as one for a virtual machine"
        return
    links = {bus: _nvlinks(gpu) for bus, gpu in gpus.items()}
    for one, gpu in gpus.items():
        name = f"GPU {gpu.get('dev')}"
        for other, count in links[one].items():
            back = links[other][one] if other in links else count
            if other and other not in gpus:
                yield gpu.line, f"{name} has NVLinks to {other}, which is not in the file"
            elif other and back != count:
                yield gpu.line, f"{name} lists {plural(count, 'NVLink')} to {other}, which lists {back} back"
    usual = Counter(each.total() for each in links.values()).most_common(1)[0][0]
    for bus, gpu in gpus.items():
        if (total := links[bus].total()) != usual:
            yield gpu.line, f"GPU {gpu.get('dev')} has {plural(total, 'NVLink')}, most others {usual}"


def _nvlinks(gpu: Element) -> Counter[str]:
    """Return how many NVLinks a GPU lists to each other GPU by its bus id, and to other devices together."""
    found: Counter[str] = Counter()
    for entry in (each for each in gpu.children if each.tag == "nvlink"):
        to_gpu = entry.get("tclass").lower().startswith("0x03")
        found[entry.get("target").lower() if to_gpu else ""] += entry.number("count", 1)
    return found


def _far(system: Element) -> Iterator[tuple[int, str]]:
    """Yield the GPUs without a NIC at their PCIe switch, where others have one, and NICs in another order than GPUs."""
    tops = [pci for cpu in system.all("cpu") for pci in cpu.children if pci.tag == "pci"]
    groups = [(list(top.all("gpu")), list(top.all("net"))) for top in tops]
    near = [(_first(gpus), _first(nets)) for gpus, nets in groups if gpus and nets]
    for gpu in (gpu for gpus, nets in groups for gpu in gpus if near and not nets):
        yield gpu.line, f"GPU {gpu.get('dev')} shares no PCIe switch with a NIC, as others do"
    for (_, before), (gpu, net) in pairwise(sorted(near, key=lambda each: each[0].number("dev"))):
        if net.number("dev") < before.number("dev"):
            name, what = net.get("name") or "?", "the NICs have another order than the GPUs; do not pair them by number"
            yield net.line, f"<net> {name} is at GPU {gpu.get('dev')}: {what}"
            return


def _first(devices: Sequence[Element]) -> Element:
    return min(devices, key=lambda each: each.number("dev"))
