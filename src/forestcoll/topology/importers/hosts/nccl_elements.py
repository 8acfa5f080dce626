"""The topology XML of NCCL and RCCL as values: what the elements and attributes say, before a network is made of it.

The grammar is that of `src/graph/xml.cc` and `topo.cc` in both libraries: `system > cpu > pci* > gpu > nvlink`, and
`pci > nic > net`. Comments may hold `--`, which XML does not allow and NCCL does, so they are removed first.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from forestcoll.base.errors import shown
from forestcoll.topology.importers.source import Source, whole_number
from forestcoll.topology.importers.xml_elements import Element, read_elements

_HIDDEN_SWITCH = "fffffff:ffff:ff"
_MOST_LINKS = 10_000
"""The most NVLinks that one entry may count."""


@dataclass(frozen=True)
class GpuLinks:
    """One entry of a GPU's links: `kind` is `nvlink` or `xgmi`, `count` links to the device `target`."""

    kind: str
    target: str
    tclass: str
    count: int

    @property
    def is_to_cpu(self) -> bool:
        """Whether the other end is a CPU."""
        return self.tclass.startswith("0x068001")

    @property
    def is_to_switch(self) -> bool:
        """Whether the other end is an NVSwitch; one that a virtual machine hides has no bus id."""
        hidden = self.target.lower().startswith(("fffffff:ff", _HIDDEN_SWITCH))
        return hidden or (self.tclass.startswith("0x0680") and not self.is_to_cpu)


@dataclass(frozen=True)
class GpuElement:
    """A GPU: its index, its architecture, its links, and the GB/s to its CPU over NVLink-C2C, in thousandths."""

    dev: str
    sm: int
    gcn: str
    links: tuple[GpuLinks, ...]
    c2c: int
    line: int
    rank: str = ""


@dataclass(frozen=True)
class NetElement:
    """A port of a network card; speed in Mb/s."""

    name: str
    dev: int
    speed: int
    guid: str


@dataclass(eq=False)
class Slot:
    """A place in the tree of a host: a CPU, a PCIe switch, or a card with its GPUs and ports.

    Attributes:
        name: its bus id; of a CPU the number of its NUMA node.
        link_speed: the speed of its link upwards, as written.
        width: the lanes of that link.
        parent: the slot above; None for a CPU.
        gpus: GPUs on the card; several if it is shared by ranks.
        nets: ports of network cards.
        children: the slots below.
        is_cpu: whether it is a CPU.
        element: the element of a CPU.
    """

    name: str
    link_speed: str = ""
    width: int = 0
    parent: "Slot | None" = None
    gpus: list[GpuElement] = field(default_factory=list)
    nets: list[NetElement] = field(default_factory=list)
    children: list["Slot"] = field(default_factory=list)
    is_cpu: bool = False
    element: Element = field(default_factory=lambda: Element("cpu", {}, 0))

    def all(self) -> Iterator["Slot"]:
        """Yield this slot and those below it."""
        yield self
        for child in self.children:
            yield from child.all()

    @property
    def above(self) -> list["Slot"]:
        """The slots above this one, the nearest first."""
        return [] if self.parent is None else [self.parent, *self.parent.above]


@dataclass
class System:
    """One `<system>` of a file: its CPUs by the host that they belong to, and what was left out of it."""

    line: int
    hosts: dict[str, list[Slot]] = field(default_factory=dict)
    nets_without_dev: int = 0

    def slots(self) -> Iterator[Slot]:
        """Yield all slots of all hosts."""
        return (slot for cpus in self.hosts.values() for cpu in cpus for slot in cpu.all())


def read_systems(source: Source) -> list[System]:
    """Return what each `<system>` of a file holds. Raises `InputError` as `system_elements`, and for wrong values."""
    return [_system(source, element) for element in system_elements(source)]


def system_elements(source: Source) -> list[Element]:
    """Return each `<system>` of a file.

    Raises:
        InputError: there is none, or it is broken; the message names the line.
    """
    text = _without_comments(source.text)
    found = list(_parts(text))
    if not found and "<graphs" in text:
        what = "is a dump of NCCL's graphs, which are its plan and no network"
        raise source.error(f"{what}; run the job with NCCL_TOPO_DUMP_FILE=topo.xml and import that file")
    if "<system" not in text:
        raise source.error("has no <system>; expected topology XML of NCCL, which NCCL_TOPO_DUMP_FILE=topo.xml writes")
    if not found:
        raise source.error("has <system> but no </system>; the file is cut off, so write it again")
    systems = []
    line, counted_to = 0, 0
    for start, end in found:
        line, counted_to = line + text.count("\n", counted_to, start), start
        systems.append(read_elements(source, text[start:end], line))
    return systems


def _without_comments(text: str) -> str:
    """Return a text whose comments are empty lines."""
    parts, place = [], 0
    while (start := text.find("<!--", place)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts += [text[place:start], "\n" * text.count("\n", start, end)]
        place = end + 3
    return "".join([*parts, text[place:]])


def _parts(text: str) -> Iterator[tuple[int, int]]:
    """Yield where each `<system>` begins and ends; text around them does not matter."""
    place = 0
    while (start := text.find("<system", place)) >= 0 and (end := text.find("</system", start)) >= 0:
        place = text.find(">", end) + 1
        if not place:
            return
        yield start, place


def _system(source: Source, root: Element) -> System:
    system = System(root.line)
    for child in root.children:
        if child.tag == "cpu":
            slot = Slot(child.get("numaid", "0"), is_cpu=True, element=child)
            system.hosts.setdefault(child.get("host_hash"), []).append(slot)
            _fill(source, system, slot, child)
    return system


def _fill(source: Source, system: System, slot: Slot, element: Element) -> None:
    """Put what is below an element into its slot; the depth of XML is limited where it is read."""
    for child in element.children:
        if child.tag == "pci":
            width = whole_number(source, child.get("link_width", "0") or "0", "link_width", child.line, most=64)
            below = Slot(_bus_id(source, child), child.get("link_speed"), width, slot)
            slot.children.append(below)
            _fill(source, system, below, child)
        elif child.tag == "gpu":
            if slot.is_cpu:
                raise source.error("<gpu> is in no <pci>; put it into one", child.line)
            slot.gpus.append(_gpu(source, child))
        elif child.tag == "nic":
            _add_nets(source, system, slot, child)


def _bus_id(source: Source, element: Element) -> str:
    bus_id = element.get("busid").lower()
    if not bus_id:
        raise source.error("<pci> has no busid; give it one", element.line)
    return bus_id


def _gpu(source: Source, element: Element) -> GpuElement:
    links = tuple(_links(source, each) for each in element.children if each.tag in ("nvlink", "xgmi"))
    c2c = sum(
        _count(source, each, "bw") * _count(source, each, "count") for each in element.children if each.tag == "c2c"
    )
    sm = element.get("sm", "0") or "0"
    return GpuElement(
        element.get("dev"),
        whole_number(source, sm, "sm", element.line),
        element.get("gcn"),
        links,
        c2c,
        element.line,
        element.get("rank"),
    )


def _links(source: Source, element: Element) -> GpuLinks:
    target = element.get("target").lower()
    if not target:
        raise source.error(f"<{element.tag}> has no target; name a bus id", element.line)
    count = whole_number(source, element.get("count", "1"), "count", element.line, most=_MOST_LINKS)
    return GpuLinks(element.tag, target, element.get("tclass").lower(), count)


def _count(source: Source, element: Element, name: str) -> int:
    return whole_number(source, element.get(name, "0"), name, element.line, most=10**7)


def _add_nets(source: Source, system: System, slot: Slot, nic: Element) -> None:
    for net in nic.children:
        if net.tag != "net":
            continue
        if not net.get("dev"):
            system.nets_without_dev += 1
            continue
        dev = whole_number(source, net.get("dev"), "dev", net.line)
        text = net.get("speed", "0")
        try:
            speed = int(text[:18])
        except ValueError:
            raise source.error(f"net speed is {shown(text)}; expected Mb/s as a whole number", net.line) from None
        slot.nets.append(NetElement(net.get("name") or f"net{dev}", dev, speed, net.get("guid")))
