"""The matrix that `nvidia-smi topo -m` prints: which GPUs NVLink joins, and how near other devices are.

`NV4` is four NVLinks between two GPUs. If the NVLinks in a row are more than a GPU can have, all GPUs are on an
NVSwitch, and the number is that of the links of each GPU to it. PCIe is used where NVLink does not join all GPUs: its
switches and CPUs are found from the words `PIX`, `PXB`, `PHB`, `NODE` and `SYS`. GPUs of one NUMA node are at one CPU.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from types import MappingProxyType

from forestcoll.base.errors import plural
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.hosts.cpus import SOCKETS, CpuTree, cpu_tree, pcie_speeds
from forestcoll.topology.importers.hosts.device_table import DeviceTable, has_table, read_table
from forestcoll.topology.importers.hosts.host import Device, HostFile, duplex, groups, hosts_network
from forestcoll.topology.importers.hosts.nics import (
    Near,
    Nic,
    counted,
    note_unused,
    note_without_speed,
    share,
    users_of,
    within_slots,
)
from forestcoll.topology.importers.hosts.nvidia_smi_nvlink import stated_speed
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes, listed
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import Source

NVSWITCH = "NVSwitch"
MOST_NVLINKS = 18
"""The most NVLinks that a GPU has; more in a row are one group of links to a switch, counted for each peer."""

_ALIKE = {
    (18,): ("H100 or B200", "25 on H100 and H200, 50 on B200"),
    (4,): ("a pair of A40, A6000 or RTX 3090, or of older GPUs", "14.0625 on A40, A6000 and RTX 3090, 25 on V100"),
    (1, 1, 1, 1): ("a DGX-1 with P100, or some GPUs of one with V100", "20 on P100, 25 on V100"),
}
"""The NVLinks of a GPU, by peer, that GPUs with links of different speeds have, which these are, and the speeds."""

_ONE_BRIDGE = ("PIX", "PSB")
_SWITCHED = (*_ONE_BRIDGE, "PXB")
_CPU = (*_SWITCHED, "PHB")
_NUMA = (*_CPU, "NODE")
_SYSTEM = ("SYS", "SOC")
_LEVELS = (_ONE_BRIDGE, ("PXB",), ("PHB", "PHX"), ("NODE",), _SYSTEM)
"""How near a NIC can be to a GPU, from the nearest."""
_NEAR = ((*_ONE_BRIDGE, "PXB"), ("PHB", "PHX", "NODE"), _SYSTEM)
"""NICs at a PCIe switch with a GPU are near, or else those at a CPU with one, or else all."""

Links = list[tuple[str, str, Fraction]]


@importers.add("nvidia-smi-topo", summary="the matrix of nvidia-smi topo -m", several=True, tried=20)
@dataclass(frozen=True)
class NvidiaSmiTopo(Importer):
    """Reads the matrix of nvidia-smi topo -m."""

    nvlink: Fraction | None = option("nvlink")
    pcie: Fraction | None = option("pcie")
    nic: Fraction | None = option("nic")
    nics: str = option("nics")
    link_bandwidth: Fraction | None = option("link_bandwidth")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text holds such a matrix."""
        return "GPU0" in text and has_table(text)

    def read(self, sources: Sequence[Source], notes: Notes) -> TopologyBuilder:
        """Return the network of one host, or of several that NICs join."""
        return hosts_network([_host(source, self, notes, alone=len(sources) == 1) for source in sources], notes)


def _host(source: Source, options: NvidiaSmiTopo, notes: Notes, *, alone: bool) -> HostFile:
    table = read_table(source)
    if table.tables > 1:
        notes.ignore(
            f"{source.where}: {plural(table.tables - 1, 'further matrix', 'further matrices')}; put each into a file"
        )
    switches, links = _nvlinks(source, table, options, notes)
    cards = _cards(source, table, options, notes, alone=alone)
    nics = []
    if len(groups(table.gpus, links)) > 1:
        tree = _pcie(source, table, options, notes, cards)
        switches, links = [*switches, *tree.switches], [*links, *tree.links]
        nics = [_nic(table, card, options, [top]) for card, top in tree.nics.items()]
    elif cards:
        nics = _nics_at_gpus(source, table, options, notes, cards)
    gpus = tuple(Device(gpu, {"gpu": gpu.removeprefix("GPU")}) for gpu in table.gpus)
    return HostFile(source, source.stem, gpus, tuple(switches), tuple(links), tuple(nics))


def _nvlinks(source: Source, table: DeviceTable, options: NvidiaSmiTopo, notes: Notes) -> tuple[list[Device], Links]:
    """Return the NVSwitch, if there is one, and the links over NVLink."""
    counts = {
        (one, other): int(relation.removeprefix("NV"))
        for (one, other), relation in table.relations.items()
        if relation.startswith("NV") and one in table.gpus and other in table.gpus
    }
    counts = {pair: count for pair, count in counts.items() if count}
    if not counts:
        if "Legend" in source.text and "NV#" not in source.text:
            notes.assume(
                f"{source.where}: no NVLink, as the matrix is that of nvidia-smi topo -mp, which shows none; "
                "if the GPUs have NVLink, import that of nvidia-smi topo -m"
            )
        return [], []
    rows = {gpu: [count for (one, _), count in counts.items() if one == gpu] for gpu in table.gpus}
    ports = {gpu: max(row) for gpu, row in rows.items() if row}
    switched = any(sum(row) > MOST_NVLINKS for row in rows.values())
    speed = _nvlink(source, [sorted(set(row) if switched else row) for row in rows.values()], options, notes)
    pairs = [(one, other, count * speed) for (one, other), count in sorted(counts.items())]
    if not switched:
        return [], pairs
    numbers = listed(sorted({f"NV{port}" for port in ports.values()}))
    notes.assume(f"{source.where}: {numbers} for each peer is an NVSwitch with that many links to each GPU")
    switches: list[Device] = []
    links: Links = []
    for group in groups(ports, pairs):
        name = f"{NVSWITCH}{len(switches) or ''}"
        switches.append(Device(name, {"device": "nvswitch"}))
        for gpu in group:
            links += duplex(gpu, name, ports[gpu] * speed)
    return switches, links


def _nvlink(source: Source, rows: list[list[int]], options: NvidiaSmiTopo, notes: Notes) -> Fraction:
    """Return what one NVLink carries, if the file says so or the links of the GPUs leave one speed only."""
    if options.nvlink is not None:
        return options.nvlink
    stated = stated_speed(source)
    if stated is not None:
        notes.assume(f"one NVLink carries {float(stated):g} GB/s each way: nvidia-smi nvlink -s in the same file")
        return stated
    for counts, (machines, speeds) in _ALIKE.items():
        if list(counts) in rows:
            what = f"what one NVLink carries, and {' '.join(f'NV{count}' for count in counts)} is {machines}"
            raise missing_speed(source.where, what, "--nvlink", speeds)
    notes.assume(
        "one NVLink carries 25 GB/s each way, as on V100 and A100; forestcoll import --nvlink gives another speed"
    )
    return Fraction(25)


def _pcie(source: Source, table: DeviceTable, options: NvidiaSmiTopo, notes: Notes, cards: Sequence[str]) -> CpuTree:
    """Return PCIe switches and CPUs, and the links of the tree that they make with the GPUs and NICs."""
    pcie, between = pcie_speeds(source.where, "NVLink does not join all GPUs", options, notes)
    notes.assume(
        "GPUs with PIX share a PCIe switch; PXB joins these by one more; each has one link upwards, to its CPU"
    )
    cpus = _near(table, _NUMA, [*table.gpus, *cards], table.numa)
    if len(cpus) < len(_near(table, _NUMA, [*table.gpus, *cards])):
        notes.assume(f"{source.where}: GPUs of one NUMA node are at one CPU, also those with SYS between them")
    own = [cpu for cpu in cpus if set(cpu) & set(table.gpus)]
    if len(own) > SOCKETS:
        notes.assume(f"{source.where}: the {len(own)} CPUs are two sockets, the first half and the rest, with one link")
    alone = [table.name(card) for cpu in cpus if cpu not in own for card in cpu]
    if alone:
        _say_shared(source, alone, notes)
    tree = [[_near(table, _ONE_BRIDGE, group) for group in _near(table, _SWITCHED, cpu)] for cpu in cpus]
    return cpu_tree(tree, pcie, between, cards)


def _near(
    table: DeviceTable, words: Sequence[str], devices: Sequence[str], numa: Mapping[str, str] = MappingProxyType({})
) -> list[list[str]]:
    """Return devices in groups whose members are as near as one of `words`, or which are in one NUMA node.

    NVLink hides how near GPUs are.
    """
    pairs = [
        (one, other, Fraction(1))
        for one, other in combinations(devices, 2)
        if table.between(one, other) in words or (one in numa and numa[one] == numa.get(other))
    ]
    return groups(devices, pairs)


def _cards(source: Source, table: DeviceTable, options: NvidiaSmiTopo, notes: Notes, *, alone: bool) -> list[str]:
    """Return the NICs that join hosts: those that are near GPUs, or those that the user names."""
    if alone and options.nic is None:
        note_without_speed(table.nics, notes)
        return []
    near = next((cards for words in _NEAR if (cards := [nic for nic in table.nics if _gpus(table, nic, words)])), [])
    if not near and not alone:
        raise source.error("lists no NIC near a GPU that could join hosts; nvidia-smi topo -m lists NICs as columns")
    if options.nic is None:
        raise missing_speed(source.where, "what a NIC carries", "--nic", "50 for 400 Gb/s")
    by_name = {table.name(nic): nic for nic in table.nics}
    names = counted(source.where, list(by_name), [table.name(nic) for nic in near], options.nics)
    note_unused(source.where, [name for name in by_name if name not in names], options.nics, notes)
    return [by_name[name] for name in names]


def _nics_at_gpus(
    source: Source, table: DeviceTable, options: NvidiaSmiTopo, notes: Notes, cards: Sequence[str]
) -> list[Nic]:
    """Return the NICs, each attached to the GPUs that use it."""
    if options.pcie is None:
        notes.assume("PCIe is as fast as the NICs; forestcoll import --pcie gives its speed")
    near: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for card in cards:
        level = next((number for number, words in enumerate(_LEVELS) if _gpus(table, card, words)), len(_LEVELS) - 1)
        near.setdefault((level, tuple(_gpus(table, card, _LEVELS[level]) or table.gpus)), []).append(card)
    far = [card for (level, _), found in near.items() if _LEVELS[level] == _SYSTEM for card in found]
    if far and len(table.gpus) > 1:
        _say_shared(source, [table.name(card) for card in far], notes)
    order = [Near(near[key], key[1], _LEVELS[key[0]] == _SYSTEM) for key in sorted(near)]
    users = users_of(order, all_count=options.nics != "near")
    share(users, {gpu: [card for card in cards if table.between(gpu, card) in _SWITCHED] for gpu in table.gpus})
    note_unused(source.where, [table.name(card) for card in cards if card not in users], options.nics, notes)
    nics = [_nic(table, card, options, users[card]) for card in cards if card in users]
    return nics if options.pcie is None else within_slots(nics, dict.fromkeys(table.gpus, options.pcie))


def _nic(table: DeviceTable, card: str, options: NvidiaSmiTopo, devices: Sequence[str]) -> Nic:
    speed = options.nic or Fraction(0)
    return Nic(table.name(card), speed, tuple((device, options.pcie or speed) for device in devices))


def _gpus(table: DeviceTable, nic: str, words: Sequence[str]) -> list[str]:
    """Return the GPUs that are as near to a NIC as one of `words`."""
    return [gpu for gpu in table.gpus if table.between(gpu, nic) in words]


def _say_shared(source: Source, names: list[str], notes: Notes) -> None:
    count = plural(len(names), "NIC")
    notes.assume(f"{source.where}: {count} with SYS to all GPUs, shared by all GPUs of the host: {listed(names)}")
