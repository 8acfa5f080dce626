"""The matrix that `nvidia-smi topo -m` prints: which GPUs NVLink joins, and how near other devices are.

`NV4` is four NVLinks between two GPUs. If the NVLinks in a row are more than a GPU can have, all GPUs are on an
NVSwitch, and the number is that of the links of each GPU to it. PCIe is used where NVLink does not join all GPUs: its
switches and CPUs are found from the words `PIX`, `PXB`, `PHB`, `NODE` and `SYS`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import plural
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.hosts.cpus import cpu_tree, pcie_speeds
from forestcoll.topology.importers.hosts.device_table import DeviceTable, has_table, read_table
from forestcoll.topology.importers.hosts.host import Device, HostFile, duplex, groups, hosts_network
from forestcoll.topology.importers.hosts.nics import Nic, shared_out
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
_SHARED_WITH_NIC = (_ONE_BRIDGE, ("PXB",), ("PHB", "NODE", "PHX"))

Links = list[tuple[str, str, Fraction]]


@importers.add("nvidia-smi-topo", summary="the matrix of nvidia-smi topo -m", several=True, tried=20)
@dataclass(frozen=True)
class NvidiaSmiTopo(Importer):
    """Reads the matrix of nvidia-smi topo -m."""

    nvlink: Fraction | None = option("nvlink")
    pcie: Fraction | None = option("pcie")
    nic: Fraction | None = option("nic")
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
    if len(groups(table.gpus, links)) > 1:
        more, tree = _pcie(source, table, options, notes)
        switches, links = [*switches, *more], [*links, *tree]
    gpus = tuple(Device(gpu, {"gpu": gpu.removeprefix("GPU")}) for gpu in table.gpus)
    nics = () if alone else _nics(source, table, options, notes)
    if alone and table.nics:
        notes.ignore(f"{plural(len(table.nics), 'NIC')}: import one file for each host to join hosts by NICs")
    return HostFile(source, source.stem, gpus, tuple(switches), tuple(links), nics)


def _nvlinks(source: Source, table: DeviceTable, options: NvidiaSmiTopo, notes: Notes) -> tuple[list[Device], Links]:
    """Return the NVSwitch, if there is one, and the links over NVLink."""
    counts = {
        (one, other): int(relation.removeprefix("NV"))
        for (one, other), relation in table.relations.items()
        if relation.startswith("NV") and one in table.gpus and other in table.gpus
    }
    counts = {pair: count for pair, count in counts.items() if count}
    if not counts:
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


def _pcie(source: Source, table: DeviceTable, options: NvidiaSmiTopo, notes: Notes) -> tuple[list[Device], Links]:
    """Return PCIe switches and CPUs, and the links of the tree that they make with the GPUs."""
    pcie, between = pcie_speeds(source.where, "NVLink does not join all GPUs", options, notes)
    notes.assume(
        "GPUs with PIX share a PCIe switch; PXB joins these by one more; each has one link upwards, to its CPU"
    )
    cpus = [
        [_near(table, _ONE_BRIDGE, members) for members in _near(table, _SWITCHED, below)]
        for below in _near(table, _NUMA)
    ]
    return cpu_tree(cpus, pcie, between)


def _near(table: DeviceTable, words: Sequence[str], members: Sequence[str] | None = None) -> list[list[str]]:
    """Return the GPUs in groups whose members are as near as one of `words`; NVLink hides how near they are."""
    gpus = table.gpus if members is None else members
    pairs = [(one, other, Fraction(1)) for one in gpus for other in gpus if table.between(one, other) in words]
    return groups(gpus, pairs)


def _nics(source: Source, table: DeviceTable, options: NvidiaSmiTopo, notes: Notes) -> tuple[Nic, ...]:
    """Return the NICs that are nearest to a GPU, with the GPUs that use them."""
    for words in _SHARED_WITH_NIC:
        near = {nic: [gpu for gpu in table.gpus if table.between(gpu, nic) in words] for nic in table.nics}
        near = {nic: gpus for nic, gpus in near.items() if gpus}
        if near:
            break
    else:
        raise source.error("lists no NIC near a GPU that could join hosts; nvidia-smi topo -m lists NICs as columns")
    if options.nic is None:
        raise missing_speed(source.where, "what a NIC carries", "--nic", "50 for 400 Gb/s")
    far = [table.names.get(nic, nic) for nic in table.nics if nic not in near]
    if far:
        notes.ignore(f"{source.where}: {plural(len(far), 'NIC')} further away from GPUs than others: {listed(far)}")
    reach = options.nic if options.pcie is None else options.pcie
    if options.pcie is None:
        notes.assume("PCIe is as fast as the NICs; forestcoll import --pcie gives its speed")
    users: dict[str, list[str]] = {}
    by_gpus: dict[tuple[str, ...], list[str]] = {}
    for nic, gpus in near.items():
        by_gpus.setdefault(tuple(gpus), []).append(nic)
    for near_gpus, nics in by_gpus.items():
        users |= shared_out(near_gpus, nics)
    names = {nic: table.names.get(nic, nic) for nic in near}
    return tuple(Nic(names[nic], options.nic, tuple((gpu, reach) for gpu in users[nic])) for nic in near)
