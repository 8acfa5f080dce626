"""XML of hwloc (`lstopo topology.xml`): GPUs, and the matrix of NVLink or xGMI bandwidths between them.

The matrix has MB/s for each direction, and 1000000 or 0 on the diagonal. All NVSwitches are merged into one: the file
lacks the links between them. CPUs can be part of the matrix, on POWER.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from forestcoll.base.errors import plural, shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.hosts.host import Device, HostFile, duplex, groups, hosts_network
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import Source
from forestcoll.topology.importers.xml_elements import Element, read_elements

NVSWITCH = "NVSwitch"
_MATRICES = ("NVLinkBandwidth", "XGMIBandwidth")
_MOST_OBJECTS = 4096
_MB_PER_GB = 1000


@importers.add("hwloc-xml", summary="XML of hwloc (lstopo topology.xml)", several=True, tried=50)
@dataclass(frozen=True)
class HwlocXml(Importer):
    """Reads XML of hwloc (lstopo topology.xml)."""

    link_bandwidth: Fraction | None = option("link_bandwidth")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is XML of hwloc."""
        head = text[: 2**14]
        return "<topology" in head and ("hwloc" in head or '<object type="Machine"' in head)

    def read(self, sources: Sequence[Source], notes: Notes) -> TopologyBuilder:
        """Return the network of a host."""
        return hosts_network([_host(source, self, notes) for source in sources], notes)


def _host(source: Source, options: HwlocXml, notes: Notes) -> HostFile:
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
    return HostFile(source, next(names_of_host, "") or source.stem, devices, tuple(switches), tuple(links))


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
