"""XML of hwloc (`lstopo topology.xml`): GPUs, and the matrix of NVLink or xGMI bandwidths between them.

The matrix has MB/s for each direction, and 1000000 or 0 on the diagonal. All NVSwitches are merged into one: the file
lacks the links between them. CPUs can be part of the matrix, on POWER. Network cards are attached to the GPUs that are
nearest in the tree of objects.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from forestcoll.base.errors import plural, shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.hosts.host import Device, HostFile, duplex, groups, hosts_network
from forestcoll.topology.importers.hosts.nics import Near, Nic, counted, note_unused, note_without_speed, users_of
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import Source
from forestcoll.topology.importers.xml_elements import Element, read_elements

NVSWITCH = "NVSwitch"
_CARDS = ("3", "2")
"""The types of objects that are cards of InfiniBand, and network interfaces."""
_MATRICES = ("NVLinkBandwidth", "XGMIBandwidth")
_MOST_OBJECTS = 4096
_MB_PER_GB = 1000


@importers.add("hwloc-xml", summary="XML of hwloc (lstopo topology.xml)", several=True, tried=50)
@dataclass(frozen=True)
class HwlocXml(Importer):
    """Reads XML of hwloc (lstopo topology.xml)."""

    nic: Fraction | None = option("nic")
    nics: str = option("nics")
    link_bandwidth: Fraction | None = option("link_bandwidth")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is XML of hwloc."""
        head = text[: 2**14]
        return "<topology" in head and ("hwloc" in head or '<object type="Machine"' in head)

    def read(self, sources: Sequence[Source], notes: Notes) -> TopologyBuilder:
        """Return the network of a host."""
        return hosts_network([_host(source, self, notes, alone=len(sources) == 1) for source in sources], notes)


def _host(source: Source, options: HwlocXml, notes: Notes, *, alone: bool) -> HostFile:
    root = read_elements(source)
    matrix = next((each for each in root.all() if each.get("name") in _MATRICES and each.tag.startswith("dist")), None)
    if matrix is None:
        what = "has no matrix of NVLink or xGMI bandwidths; hwloc writes it if it is built with NVML or ROCm"
        raise source.error(f"{what}. Run nvidia-smi topo -m or amd-smi topology and import that")
    objects = _objects(source, matrix, {each.get("gp_index"): each for each in root.all("object")})
    names = [_name(each) for each in objects]
    rows = _rows(source, matrix, len(objects))
    total: dict[tuple[str, str], Fraction] = {}
    for one, row in zip(names, rows, strict=True):
        for other, value in zip(names, row, strict=True):
            if one != other and value:
                total[one, other] = total.get((one, other), Fraction(0)) + value / _MB_PER_GB
    gpus = {name: each for name, each in zip(names, objects, strict=True) if each.get("type") == "OSDev"}
    merged = sum(name == NVSWITCH for name in names)
    if merged > 1:
        notes.assume(
            f"the {plural(merged, 'NVSwitch', 'NVSwitches')} are one, as the file lacks the links between them"
        )
    links = [(one, other, value) for (one, other), value in sorted(total.items())]
    cpus = sorted({name for name in names if name.startswith("CPU")})
    links += _between_cpus(source, cpus, list(gpus), links, options)
    switches = [Device(NVSWITCH, {"device": "nvswitch"})] * bool(merged) + [
        Device(cpu, {"device": "cpu"}) for cpu in cpus
    ]
    parents = {id(child): parent for parent in root.all("object") for child in parent.children}
    devices = tuple(Device(name, _attributes(each, parents)) for name, each in gpus.items())
    names_of_host = (each.get("value") for each in root.all("info") if each.get("name") == "HostName")
    host = source.stem if not alone else next(names_of_host, "") or source.stem
    cards = _cards(root, parents)
    if options.nic is None and alone:
        note_without_speed(cards, notes)
        cards = {}
    nics = _nics(source, cards, {name: _path(each, parents) for name, each in gpus.items()}, options, notes)
    return HostFile(source, host, devices, tuple(switches), tuple(links), tuple(nics))


def _path(element: Element, parents: Mapping[int, Element]) -> list[Element]:
    """Return an object and those above it, the nearest first."""
    path = [element]
    while id(path[-1]) in parents:
        path.append(parents[id(path[-1])])
    return path


def _cards(root: Element, parents: Mapping[int, Element]) -> dict[str, list[Element]]:
    """Return the network cards by their names, with the objects above: those of InfiniBand, if there are any."""
    devices = [each for each in root.all("object") if each.get("type") == "OSDev"]
    kinds = ([each for each in devices if each.get("osdev_type") == kind] for kind in _CARDS)
    return {each.get("name"): _path(each, parents) for each in next(filter(None, kinds), [])}


def _nics(
    source: Source,
    cards: Mapping[str, Sequence[Element]],
    gpus: Mapping[str, Sequence[Element]],
    options: HwlocXml,
    notes: Notes,
) -> list[Nic]:
    """Return the network cards that count, each attached to the GPUs that use it."""
    if not cards:
        return []
    if options.nic is None:
        raise missing_speed(source.where, "what a NIC carries", "--nic", "50 for 400 Gb/s")
    notes.assume("PCIe is as fast as the NICs")
    meetings = {name: _meeting(path, gpus) for name, path in cards.items()}
    nearest = max(meeting.level for meeting in meetings.values())
    near = [name for name, meeting in meetings.items() if meeting.level == nearest]
    names = counted(source.where, list(cards), near, options.nics)
    groups_of_cards: dict[_Meeting, list[str]] = {}
    for name in names:
        groups_of_cards.setdefault(meetings[name], []).append(name)
    order = sorted(groups_of_cards, key=lambda meeting: -meeting.depth)
    users = users_of(
        (Near(groups_of_cards[each], each.gpus, each.level == 0) for each in order), all_count=options.nics != "near"
    )
    note_unused(source.where, [name for name in cards if name not in users], options.nics, notes)
    return [Nic(name, options.nic, tuple((gpu, options.nic) for gpu in users[name])) for name in names if name in users]


@dataclass(frozen=True)
class _Meeting:
    """The lowest object above a card with GPUs below it.

    Attributes:
        level: 2 for a PCIe switch, 1 for a CPU, 0 for the host.
        depth: how far it is from the host.
        gpus: the GPUs below it.
    """

    level: int
    depth: int
    gpus: tuple[str, ...]


def _meeting(card: Sequence[Element], gpus: Mapping[str, Sequence[Element]]) -> _Meeting:
    for place, top in enumerate(card):
        below = tuple(name for name, path in gpus.items() if any(each is top for each in path))
        if below and top.get("type") != "Machine":
            is_switch = top.get("type") in ("PCIDev", "Bridge") and not top.get("bridge_type").startswith("0-")
            return _Meeting(2 if is_switch else 1, len(card) - place, below)
    return _Meeting(0, 0, tuple(gpus))


def _between_cpus(
    source: Source, cpus: list[str], gpus: list[str], links: list[tuple[str, str, Fraction]], options: HwlocXml
) -> list[tuple[str, str, Fraction]]:
    if len(groups(gpus, links)) < 2 or len(cpus) < 2:
        return []
    if options.link_bandwidth is None:
        raise missing_speed(source.where, "what the link between two CPUs carries", "--link-bandwidth")
    return [link for pair in combinations(cpus, 2) for link in duplex(*pair, options.link_bandwidth)]


def _objects(source: Source, matrix: Element, known: Mapping[str, Element]) -> list[Element]:
    words = [word for child in matrix.children if child.tag == "indexes" for word in child.text.split()]
    if len(words) > _MOST_OBJECTS:
        raise source.error(f"the matrix has more than {_MOST_OBJECTS} objects", matrix.line)
    objects = [known.get(word.rpartition(":")[2]) for word in words]
    missing = next((word for word, each in zip(words, objects, strict=True) if each is None), None)
    if missing is not None or not words:
        raise source.error(
            f"the matrix names {shown(missing or 'no object')}, which is no object of the file", matrix.line
        )
    return [each for each in objects if each is not None]


def _name(element: Element) -> str:
    if element.get("subtype") == NVSWITCH:
        return NVSWITCH
    if element.get("type") in ("Package", "NUMANode"):
        return f"CPU{element.get('os_index', '0')}"
    name = element.get("name") or f"PCI-{element.get('pci_busid', element.get('gp_index'))}"
    found = re.fullmatch(r"(?:nvml|cuda|rsmi|amdsmi)([0-9]{1,4})", name)
    return name if found is None else f"GPU{int(found[1])}"


def _attributes(element: Element, parents: Mapping[int, Element]) -> dict[str, object]:
    parent = parents.get(id(element))
    bus_id: dict[str, object] = (
        {} if parent is None or not parent.get("pci_busid") else {"busid": parent.get("pci_busid")}
    )
    return {"device": element.get("name")} | bus_id


def _rows(source: Source, matrix: Element, count: int) -> list[list[Fraction]]:
    words = [word for child in matrix.children if child.tag == "u64values" for word in child.text.split()]
    if len(words) != count * count:
        raise source.error(f"the matrix has {len(words)} values for {count} objects; it is cut off", matrix.line)
    wrong = next((word for word in words if not (word.isascii() and word.isdecimal() and len(word) < 20)), None)
    if wrong is not None:
        raise source.error(f"{shown(wrong)} in the matrix is no number of MB/s", matrix.line)
    values = [Fraction(int(word)) for word in words]
    return [values[place : place + count] for place in range(0, count * count, count)]
