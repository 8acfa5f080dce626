"""Topology XML of NCCL and RCCL, as `NCCL_TOPO_DUMP_FILE=topo.xml` writes it.

Each GPU lists its own outgoing links. All NVSwitches are one node, since each GPU has links to each of them. Where
NVLink or Infinity Fabric joins all GPUs, PCIe leads to NICs only. Otherwise PCIe switches, CPUs and the links between
CPUs are part of the network.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.errors import plural
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.hosts.host import Device, HostFile, duplex, hosts_network
from forestcoll.topology.importers.hosts.link_speeds import in_words_of_nccl, nvlink_speed, xgmi_speed
from forestcoll.topology.importers.hosts.nccl_elements import GpuElement, GpuLinks, Slot, System, read_systems
from forestcoll.topology.importers.hosts.nics import Nic
from forestcoll.topology.importers.hosts.pcie_tree import C2C_PER_GBPS, Links, PcieTree
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import Source
from forestcoll.topology.importers.xml_elements import Element

NVSWITCH = "NVSwitch"
_DUMP = "run the job with NCCL_TOPO_DUMP_FILE=topo.xml and import that file"
_MEMORY = Fraction(5000)
"""What NCCL counts between two ranks of one GPU, in GB/s."""
_NAMES = {"nvlink": "NVLink", "xgmi": "xGMI link"}


@importers.add("nccl-xml", summary="topology XML of NCCL and RCCL (NCCL_TOPO_DUMP_FILE)", several=True, tried=10)
@dataclass(frozen=True)
class NcclXml(Importer):
    """Reads topology XML of NCCL and RCCL (NCCL_TOPO_DUMP_FILE)."""

    speeds: str = option("speeds")
    nvlink: Fraction | None = option("nvlink")
    xgmi: Fraction | None = option("xgmi")
    pcie: Fraction | None = option("pcie")
    nic: Fraction | None = option("nic")
    nics: str = option("nics")
    link_bandwidth: Fraction | None = option("link_bandwidth")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is such a file."""
        return ("<system" in text and ("<cpu" in text or "</system" in text)) or "<graphs" in text

    def read(self, sources: Sequence[Source], notes: Notes) -> TopologyBuilder:
        """Return the network of the hosts in some files; several hosts are joined by NVLink or by their NICs."""
        hosts = []
        for source in sources:
            systems = read_systems(source)
            for number, system in enumerate(systems):
                name = source.stem if len(systems) == 1 else f"{source.stem}-{number}"
                host = _Host(source, name, self, notes)
                found = _host_file(host, system)
                hosts.append(_with_ranks(replace(found, kept=_kept(host, system, found.nics)), system, notes))
        return hosts_network(hosts, notes)


@dataclass(frozen=True)
class _Host:
    """What all steps of the import of one `<system>` need."""

    source: Source
    name: str
    options: NcclXml
    notes: Notes


@dataclass(frozen=True)
class _Gpu:
    """A GPU with its name in the network, and the host that it is in."""

    name: str
    key: str
    slot: Slot
    element: GpuElement


def _host_file(host: _Host, system: System) -> HostFile:
    """Return what one `<system>` says, of one host or of several that NVLink joins."""
    _check(host, system)
    names = _host_names(host, system)
    gpus = [gpu for key in names for gpu in _gpus_of(system, key, names)]
    by_place = {(gpu.key, gpu.slot.name): gpu for gpu in gpus}
    links = [link for gpu in gpus for link in _links_of(host, gpu, by_place)]
    devices = tuple(
        Device(gpu.name, {"box": names[gpu.key], "busid": gpu.slot.name, "gpu": gpu.element.dev}) for gpu in gpus
    )
    has_switch = any(NVSWITCH in link for link in links)
    shared = {"box": None} if len(names) > 1 else {}
    switches = [Device(NVSWITCH, {"device": "nvswitch", **shared})] if has_switch else []
    trees = {key: _tree(host, system, key, names, gpus) for key in names}
    nics: list[Nic] = []
    plain = HostFile(host.source, host.name, devices, tuple(switches), tuple(links))
    if all(_is_joined(plain, [gpu.name for gpu in gpus if gpu.key == key]) for key in names):
        nics = [nic for tree in trees.values() for nic in tree.nics_at_gpus()]
        return HostFile(host.source, host.name, devices, tuple(switches), tuple(links), tuple(nics))
    if links:
        host.notes.assume(f"{host.source.where}: links between GPUs do not join them all; PCIe and CPUs do")
    for key, tree in trees.items():
        more, tree_links = tree.network()
        switches += [Device(each.name, {"box": names[key], **each.attributes}) for each in more]
        links += [*tree_links, *_links_to_cpu(host, tree, [gpu for gpu in gpus if gpu.key == key])]
        nics += tree.nics_in_tree()
    return HostFile(host.source, host.name, devices, tuple(switches), tuple(links), tuple(nics))


_OF_JOBS = ("rank", "rail", "plane", "host_hash", "guid", "net", "mlopart")
"""Attributes that NCCL adds to a file itself, and which would be wrong for another host or job."""


def _kept(host: _Host, system: System, nics: Sequence[Nic]) -> dict[str, dict[str, str]]:
    """Return for each NVIDIA host its elements for NCCL_TOPO_FILE, what an NVLink carries, and the ports in use."""
    kept = {}
    if any(gpu.gcn for slot in system.slots() for gpu in slot.gpus):
        return {}
    nets = ",".join(str(port) for nic in nics for port in nic.attributes["devices"])
    for key, name in _host_names(host, system).items():
        root = Element("system", {"version": "1"}, 0, [_for_all_jobs(cpu.element) for cpu in system.hosts[key]])
        gpu = next(gpu for cpu in system.hosts[key] for slot in cpu.all() for gpu in slot.gpus)
        speed = host.options.nvlink or nvlink_speed(gpu.sm, host.options.speeds)
        text = "\n".join([*root.lines(), ""])
        kept[name] = {"text": text, "sm": str(gpu.sm), "nvlink": str(speed or 0), "nets": nets}
    return kept


def _for_all_jobs(element: Element) -> Element:
    """Return an element without what depends on the job; ranks that share a GPU become one."""
    attributes = {name: value for name, value in element.attributes.items() if name not in _OF_JOBS}
    if (speed := attributes.get("link_speed")) is not None:
        attributes["link_speed"] = in_words_of_nccl(speed)
    seen: set[str] = set()
    children = []
    for each in element.children:
        if each.tag != "gpu" or each.get("dev") not in seen:
            children.append(_for_all_jobs(each))
        seen |= {each.get("dev")} if each.tag == "gpu" else set()
    return Element(element.tag, attributes, element.line, children)


def _with_ranks(found: HostFile, system: System, notes: Notes) -> HostFile:
    """Return a host in which each GPU that several ranks share is a switch, to which its ranks have links."""
    shared = {slot.name: slot.gpus for slot in system.slots() if len(slot.gpus) > 1}
    gpus: list[Device] = []
    switches, links = list(found.switches), list(found.links)
    for gpu in found.gpus:
        elements = shared.get(gpu.attributes["busid"])
        if elements is None:
            gpus.append(gpu)
            continue
        switches.append(Device(gpu.name, {**gpu.attributes, "device": "gpu"}))
        for number, element in enumerate(elements):
            rank = Device(f"{gpu.name}-rank{element.rank or number}", {**gpu.attributes, "gpu": element.dev})
            gpus.append(rank)
            links += duplex(rank.name, gpu.name, _MEMORY)
        notes.assume(f"{found.source.where}: ranks that share a GPU exchange {_MEMORY} GB/s, NCCL's figure")
    return replace(found, gpus=tuple(gpus), switches=tuple(switches), links=tuple(links))


def _check(host: _Host, system: System) -> None:
    slots = list(system.slots())
    if not any(slot.gpus for slot in slots):
        what = "no <gpu>" if any(slot.nets for slot in slots) else "no <gpu>, <nvlink> or <net>"
        kind = "a file for NCCL_TOPO_FILE only places devices" if slots else "it holds no <cpu> either"
        raise host.source.error(f"has {what}, so it is no network ({kind}); {_DUMP}", system.line)
    if system.nets_without_dev:
        count = plural(system.nets_without_dev, "<net>")
        host.notes.ignore(f"{host.source.where}: {count} without dev, which NCCL does not use either")


def _host_names(host: _Host, system: System) -> dict[str, str]:
    """Return by its key in the file the name of each host that has GPUs."""
    with_gpus = [key for key, cpus in system.hosts.items() if any(slot.gpus for cpu in cpus for slot in cpu.all())]
    if len(with_gpus) == 1:
        return {with_gpus[0]: host.name}
    return {key: f"host{number}" for number, key in enumerate(with_gpus)}


def _prefix(key: str, names: dict[str, str]) -> str:
    return f"{names[key]}/" if len(names) > 1 else ""


def _gpus_of(system: System, key: str, names: dict[str, str]) -> list[_Gpu]:
    """Return the GPUs of a host in the order of their numbers."""
    slots = [slot for cpu in system.hosts[key] for slot in cpu.all() if slot.gpus]
    slots.sort(key=lambda slot: (_number(slot.gpus[0].dev), slot.name))
    used = Counter(slot.gpus[0].dev for slot in slots)
    return [
        _Gpu(
            f"{_prefix(key, names)}GPU{slot.gpus[0].dev if used[slot.gpus[0].dev] == 1 else f'-{slot.name}'}",
            key,
            slot,
            slot.gpus[0],
        )
        for slot in slots
    ]


def _number(dev: str) -> int:
    return int(dev) if dev.isascii() and dev.isdecimal() and len(dev) < 9 else 2**30


def _is_joined(plain: HostFile, gpus: list[str]) -> bool:
    part = tuple(device for device in plain.gpus if device.name in gpus)
    return HostFile(plain.source, plain.host, part, plain.switches, plain.links).is_joined


def _links_of(host: _Host, gpu: _Gpu, gpus: dict[tuple[str, str], _Gpu]) -> Links:
    """Return the links that a GPU lists, to other GPUs in one direction and to the NVSwitch in both."""
    links: Links = []
    for entry in gpu.element.links:
        if entry.count == 0 or entry.is_to_cpu:
            continue
        other = gpus.get((gpu.key, entry.target)) or _elsewhere(gpus, entry.target)
        if entry.is_to_switch:
            links += duplex(gpu.name, NVSWITCH, entry.count * _speed(host, gpu, entry))
        elif other is gpu:
            host.notes.ignore(f"{host.source.where}: links of a GPU to itself")
        elif other is None:
            host.notes.ignore(f"{host.source.where}: links to devices that are not in the file, such as {entry.target}")
        else:
            links.append((gpu.name, other.name, entry.count * _speed(host, gpu, entry)))
    return links


def _elsewhere(gpus: dict[tuple[str, str], _Gpu], bus_id: str) -> _Gpu | None:
    """Return the only GPU of another host with that bus id, or None."""
    found = [gpu for (_, place), gpu in gpus.items() if place == bus_id]
    return found[0] if len(found) == 1 else None


def _speed(host: _Host, gpu: _Gpu, entry: GpuLinks) -> Fraction:
    """Return what one link of an entry carries."""
    options, where = host.options, host.source.where
    if entry.kind == "nvlink":
        if options.nvlink is not None:
            return options.nvlink
        speed = nvlink_speed(gpu.element.sm, options.speeds)
        kind = f"sm={gpu.element.sm}"
        if speed is None:
            raise missing_speed(where, f"what one NVLink of a GPU with {kind} carries", "--nvlink")
    else:
        if options.xgmi is not None:
            return options.xgmi
        speed = xgmi_speed(gpu.element.gcn, options.speeds)
        kind = f"gcn={gpu.element.gcn or '?'}"
        if speed is None:
            raise missing_speed(where, f"what one xGMI link of a GPU with {kind} carries", "--xgmi")
    source = "NCCL's figure" if options.speeds == "nccl" else "the nominal speed"
    host.notes.assume(f"one {_NAMES[entry.kind]} of a GPU with {kind} carries {speed} GB/s each way, {source}")
    return speed


def _links_to_cpu(host: _Host, tree: PcieTree, gpus: list[_Gpu]) -> Links:
    """Return the links of GPUs to their own CPU over NVLink and NVLink-C2C."""
    links: Links = []
    for gpu in gpus:
        bandwidth = Fraction(gpu.element.c2c, C2C_PER_GBPS)
        bandwidth += sum(entry.count * _speed(host, gpu, entry) for entry in gpu.element.links if entry.is_to_cpu)
        if bandwidth:
            links += duplex(gpu.name, tree.cpu_of(gpu.slot), bandwidth)
    return links


def _tree(host: _Host, system: System, key: str, names: dict[str, str], gpus: list[_Gpu]) -> PcieTree:
    slots = {gpu.slot: gpu.name for gpu in gpus if gpu.key == key}
    return PcieTree(host.source.where, _prefix(key, names), system.hosts[key], slots, host.options, host.notes)
