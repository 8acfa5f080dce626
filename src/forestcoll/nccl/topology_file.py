"""Topology files of NCCL (`NCCL_TOPO_FILE`) for the hosts of a network: the host that NCCL sees.

Hosts that were imported from NCCL's own dump keep its elements; what the network has lost is taken out of them: GPUs,
NVLinks and ports of NICs, and a slower port states its speed. Other hosts must be NVIDIA machines of builders. Their
PCIe is made up: GPUs and the NICs that they use share a switch, and bus ids are numbers in turn, so such a file is for
NCCL on a CPU, not for a job. A file has no `rank`, `rail`, `plane`, `guid` and `host_hash`: NCCL adds these to it, and
refuses those of another job. The file for a virtual machine, which hides its PCIe switches, has CPUs and PCIe only.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import cast

from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.ring_orders import nics_of, port_numbers
from forestcoll.base.errors import InputError
from forestcoll.nccl.graph.hosts import gbps, gpus_of, in_boxes
from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import BoxKind, kinds_of_boxes
from forestcoll.topology.importers.hosts.host import KeptHost, kept_hosts
from forestcoll.topology.importers.hosts.link_speeds import MBPS_PER_GBPS, capability_of, nvlink_speed
from forestcoll.topology.importers.hosts.nics import FABRIC
from forestcoll.topology.importers.source import Source
from forestcoll.topology.importers.xml_elements import Element, read_elements

_A100 = 80
_PCIE = ((90, "32.0 GT/s PCIe"), (80, "16.0 GT/s PCIe"), (0, "8.0 GT/s PCIe"))
"""The least compute capability, times 10, and the speed of the slots of its machines, in exactly NCCL's words."""

_INTEL = {"affinity": "", "arch": "x86_64", "vendor": "GenuineIntel", "familyid": "6", "modelid": "143"}
_AMD = {**_INTEL, "vendor": "AuthenticAMD", "familyid": "143", "modelid": "49"}
"""The CPUs of a DGX A100."""

_ARM = {"affinity": "", "arch": "arm64"}
"""Those of GB200, GB300 and GH200; other machines have Intel's."""

_GPU, _SWITCH, _NIC, _NVSWITCH = "0x030200", "0x060400", "0x020700", "0x068000"


def texts_of(topology: Topology) -> dict[str, str]:
    """Return the topology file of each kind of host, by the name of the first host of the kind.

    Example:
        >>> from forestcoll import load_topology
        >>> texts = texts_of(load_topology("dgx-a100:boxes=2"))
        >>> list(texts), texts["b0"].count("<gpu "), texts["b0"].count("<net ")
        (['b0'], 8, 8)

    Raises:
        InputError: a host is neither imported from NCCL's XML nor an NVIDIA machine of a builder, or has too many GPUs.
    """
    return {name: _text(root) for name, root in _roots(topology)}


def texts_for_virtual_machines(topology: Topology) -> dict[str, str]:
    """Return the same files with CPUs and PCIe slots only; NCCL finds the rest in the virtual machine."""
    return {name: _text(_part(root)) for name, root in _roots(topology)}


def _text(root: Element) -> str:
    return "\n".join([*root.lines(), ""])


def _part(element: Element) -> Element:
    return replace(element, children=[_part(each) for each in element.children if each.tag in {"cpu", "pci"}])


def _roots(topology: Topology) -> Iterator[tuple[str, Element]]:
    topology = in_boxes(topology)
    kept = kept_hosts(topology)
    for kind in kinds_of_boxes(topology):
        name = kind.names[0]
        yield name, _Kept(topology, kind, kept[name]).root() if name in kept else _Built(topology, kind).root()


class _Kept:
    """The elements of a dump, without what the network has lost."""

    def __init__(self, topology: Topology, kind: BoxKind, kept: KeptHost) -> None:
        self.topology = topology
        self.text = kept.text
        self.name = kind.names[0]
        self.nvlink = kept.nvlink
        self.used = kept.nets if topology.find(FABRIC) is not None else frozenset[str]()
        nodes = [(number, topology.nodes[number].attributes) for number in kind.nodes[0]]
        self.by_bus = {str(each.get("busid")): number for number, each in nodes if each.get("device", "gpu") == "gpu"}
        self.switches = [number for number, each in nodes if each.get("device") == "nvswitch"]
        self.nics = {
            str(port): number
            for number, each in nodes
            if each.get("device") == "nic"
            for port in cast("Sequence[int]", each.get("devices", ()))
        }

    def root(self) -> Element:
        return self._changed(read_elements(Source(self.name, self.text, self.name)))

    def _changed(self, element: Element) -> Element:
        children = (self._left(element, each) for each in element.children)
        return replace(element, children=[each for each in children if each is not None])

    def _left(self, parent: Element, child: Element) -> Element | None:
        """Return a child as the network has left it; None if nothing of it is left."""
        if child.tag == "nic":
            card = self._card(child)
            return card if card.children else None
        if child.tag == "gpu":
            number = self.by_bus.get(parent.get("busid").lower())
            return None if number is None else replace(child, children=list(self._links(child, number)))
        if child.tag in {"cpu", "pci"}:
            changed = self._changed(child)
            return changed if changed.children or not child.children else None
        return child

    def _card(self, card: Element) -> Element:
        """Return the ports of a card that are left, each with its share of what the network gives the card."""
        left = [net for net in card.children if net.get("dev") not in self.used or net.get("dev") in self.nics]
        before = sum(net.number("speed") for net in card.children)
        changed = []
        for net in left:
            number = self.nics.get(net.get("dev"))
            now = None if number is None else self._speed(number)
            same = now is None or before <= 0 or now == before
            speed = net.get("speed") if same else str(floor(net.number("speed") * Fraction(now or 0) / before))
            changed.append(replace(net, attributes={**net.attributes, "speed": speed}))
        return replace(card, children=changed)

    def _speed(self, number: int) -> Fraction | None:
        """Return the Mb/s from a NIC to the fabric."""
        fabric = self.topology.find(FABRIC)
        found = None if fabric is None else self.topology.bandwidths.get((number, fabric))
        return None if found is None else found * gbps(self.topology) * MBPS_PER_GBPS

    def _links(self, gpu: Element, number: int) -> Iterator[Element]:
        """Yield the entries of a GPU, with as many NVLinks to each device as the network has left."""
        left: dict[int, int] = {}
        for entry in gpu.children:
            ends = self._ends(entry)
            if entry.tag != "nvlink" or not ends or not self.nvlink:
                if entry.tag != "nvlink" or ends is not None:
                    yield entry
                continue
            bandwidth = sum((self.topology.bandwidths.get((number, end), Fraction(0)) for end in ends), Fraction(0))
            remaining = left.setdefault(ends[0], floor(bandwidth / self.nvlink))
            count = min(entry.number("count", 1), remaining)
            left[ends[0]] -= count
            if count:
                yield replace(entry, attributes={**entry.attributes, "count": str(count)})

    def _ends(self, entry: Element) -> list[int] | None:
        """Return the nodes that an entry leads to; an empty list for a CPU, None for a GPU that has failed."""
        tclass = entry.get("tclass").lower()
        if tclass.startswith("0x068001") or not tclass.startswith(("0x0680", "0x03")):
            return []
        if tclass.startswith("0x0680"):
            return self.switches or None
        number = self.by_bus.get(entry.get("target").lower())
        return None if number is None else [number]


class _Built:
    """The elements of a machine of a builder."""

    def __init__(self, topology: Topology, kind: BoxKind) -> None:
        capability = capability_of(topology.name)
        if capability is None:
            raise InputError(
                f"{topology.name}: is no NVIDIA machine that is known; import a dump of NCCL "
                "(NCCL_TOPO_DUMP_FILE) and change that, or name a machine such as dgx-a100"
            )
        self.capability = capability
        self.problem = problem_of(topology)
        self.box = gpus_of(topology, kind)
        self.buses = {member: f"0000:{place + 1:02x}:00.0" for place, member in enumerate(self.box)}
        self.nodes = kind.nodes[0]

    def root(self) -> Element:
        groups = self._groups()
        cpus = []
        for number in range(min(2, len(groups))):
            half = [
                group for place, group in enumerate(groups) if place * 2 // len(groups) == number or len(groups) == 1
            ]
            attributes = {"numaid": str(number), **self._cpu()}
            cpus.append(Element("cpu", attributes, 0, [self._switch(*group) for group in half]))
        return Element("system", {"version": "1"}, 0, cpus)

    def _cpu(self) -> dict[str, str]:
        if any(name in self.problem.topology.name for name in ("gb200", "gb300", "gh200")):
            return _ARM
        return _AMD if self.capability == _A100 else _INTEL

    def _groups(self) -> list[tuple[list[int], list[tuple[int, Fraction]]]]:
        """Return the GPUs that share NICs, with the numbers of the ports of these and the GB/s of each port."""
        nics = nics_of(self.problem, self.box)
        groups = [[member] for member in self.box]
        for nic in nics:
            shared = [group for group in groups if set(group) & set(nic)]
            groups = [group for group in groups if group not in shared]
            groups.append(sorted(member for group in shared for member in group))
        ports: dict[int, list[tuple[int, Fraction]]] = {}
        for nic, numbers in zip(nics, port_numbers(self.problem, nics), strict=True):
            path = next(iter(nic.values())).departure
            bandwidth = self.problem.topology.bandwidths[path[-2], path[-1]] * gbps(self.problem.topology)
            ports.setdefault(min(nic), []).extend((number, bandwidth / len(numbers)) for number in numbers)
        return [(group, [port for member in group for port in ports.get(member, ())]) for group in sorted(groups)]

    def _switch(self, gpus: Sequence[int], ports: Sequence[tuple[int, Fraction]]) -> Element:
        """Return the PCIe switch of a group, or its only GPU."""
        below = [self._pci(self.buses[gpu], _GPU, self._gpu(gpu)) for gpu in gpus]
        if not ports:
            return below[0]
        for number, bandwidth in ports:
            attributes = {"name": f"mlx5_{number}", "dev": str(number), "speed": str(floor(bandwidth * MBPS_PER_GBPS))}
            net = Element("net", {**attributes, "port": "1", "maxconn": "131072", "gdr": "1"}, 0)
            below.append(self._pci(f"0001:{number + 1:02x}:00.0", _NIC, Element("nic", {}, 0, [net])))
        return self._pci(f"0002:{gpus[0] - self.box[0] + 1:02x}:00.0", _SWITCH, *below)

    def _pci(self, bus: str, kind: str, *children: Element) -> Element:
        speed = next(words for least, words in _PCIE if self.capability >= least)
        return Element("pci", {"busid": bus, "class": kind, "link_speed": speed, "link_width": "16"}, 0, list(children))

    def _gpu(self, gpu: int) -> Element:
        topology = self.problem.topology
        one = nvlink_speed(self.capability, "nominal") or Fraction(0)
        links = []
        for end in topology.targets[gpu]:
            count = floor(topology.bandwidths[gpu, end] * gbps(topology) / one)
            is_switch = end not in self.buses
            if end in self.nodes and count and not (is_switch and "nvswitch" not in str(topology.nodes[end].id)):
                target = "0003:01:00.0" if is_switch else self.buses[end]
                kind = _NVSWITCH if is_switch else _GPU
                links.append(Element("nvlink", {"target": target, "count": str(count), "tclass": kind}, 0))
        place = self.box.index(gpu)
        return Element("gpu", {"dev": str(place), "sm": str(self.capability), "gdr": "1"}, 0, links)
