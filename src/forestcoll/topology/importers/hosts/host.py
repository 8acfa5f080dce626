"""Hosts as importers find them, and the network that they make together.

A host is its GPUs, the switches and links between these, and its NICs. Files of one host say nothing of the network
between hosts. Where links alone do not join all GPUs, the NICs join them: one switch, the fabric, has a link to every
NIC and is never the bottleneck itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from forestcoll.base.errors import InputError, plural, shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.graph.walks import joined
from forestcoll.topology.importers.hosts.nics import FABRIC, KEPT_NICS, Nic, changed_by_hand
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source
from forestcoll.topology.model import Topology

KEPT = "nccl"
"""The attribute of a network with what is kept of its hosts."""


@dataclass(frozen=True)
class Device:
    """A GPU or a switch inside a host: its name, which is unique in the file, and its attributes.

    A switch that several hosts share has the attribute `box` None.
    """

    name: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class HostFile:
    """What a file says of its host, or of its hosts.

    Attributes:
        source: the file.
        host: what the host is called.
        gpus: the GPUs.
        switches: the switches between them.
        links: one-way links between GPUs and switches, with GB/s.
        nics: the cards that reach other hosts.
        kept: for each host by its name what else is known of it, for writers; an attribute of the network keeps it.
    """

    source: Source
    host: str
    gpus: tuple[Device, ...]
    switches: tuple[Device, ...]
    links: tuple[tuple[str, str, Fraction], ...]
    nics: tuple[Nic, ...] = ()
    kept: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def is_joined(self) -> bool:
        """Whether links alone join all GPUs."""
        return len(groups((gpu.name for gpu in self.gpus), self.links)) <= 1


def groups(names: Iterable[str], links: Iterable[tuple[str, str, Fraction]]) -> list[list[str]]:
    """Return `names` in groups that links join, directly or over other devices, in either direction."""
    return joined(names, ((one, other) for one, other, _ in links))


def duplex(one: str, other: str, bandwidth: Fraction) -> tuple[tuple[str, str, Fraction], ...]:
    """Return the two one-way links of a full-duplex link."""
    return (one, other, bandwidth), (other, one, bandwidth)


def hosts_network(hosts: Sequence[HostFile], notes: Notes) -> TopologyBuilder:
    """Return the network of some hosts; NICs and a fabric are in it only where links alone do not join the GPUs.

    Raises:
        InputError: nothing can join the hosts.
    """
    hosts = _with_own_names(hosts, notes)
    where = ", ".join(dict.fromkeys(host.source.where for host in hosts))
    if len(hosts) == 1 and len(hosts[0].gpus) == 1:
        why = "has 1 compute node; a collective needs at least two"
        fix = "'forestcoll import' takes a file of each host, or --hosts N for N such hosts"
        raise InputError(f"{where}: {why}; {fix}")
    with_fabric = len(hosts) > 1 or not hosts[0].is_joined
    nics = [nic for host in hosts for nic in host.nics]
    attributes = _kept(hosts)
    if with_fabric:
        _check_fabric(hosts)
    elif nics:
        attributes[KEPT_NICS] = [nic.document() for nic in nics]
        why = "links inside the host join all GPUs; --hosts N, a file for each host, or a cluster of this one uses them"
        notes.ignore(f"{plural(len(nics), 'NIC')}: {why}")
    builder = TopologyBuilder(_name(hosts), where=where, attributes=attributes)
    for host in hosts:
        _add_host(builder, host, with_fabric=with_fabric)
    if with_fabric and nics:
        builder.add_switch(FABRIC)
        for nic in nics:
            nic.join(builder)
        notes.assume("the fabric between hosts is one switch that is never the bottleneck; the NICs limit")
    return builder


@dataclass(frozen=True)
class KeptHost:
    """What a network keeps of an imported NVIDIA host.

    Attributes:
        text: its elements, as a file for NCCL_TOPO_FILE.
        sm: the compute capability of its GPUs, times 10.
        nvlink: what one NVLink carries in the network; 0 if there are none.
        nets: the numbers of the ports of the NICs that the network can have.
    """

    text: str
    sm: int
    nvlink: Fraction
    nets: frozenset[str]


def kept_hosts(topology: Topology) -> dict[str, KeptHost]:
    """Return what a network keeps of its hosts, by their names.

    Raises:
        InputError: the attribute was changed by hand, and is broken.
    """
    entries: Any = topology.attributes.get(KEPT, ())
    try:
        return {
            str(name): KeptHost(
                str(each["text"]), int(each["sm"]), Fraction(each["nvlink"]), frozenset(each["nets"].split(","))
            )
            for each in entries
            for name in each["hosts"]
        }
    except (TypeError, KeyError, AttributeError, ValueError, ZeroDivisionError):
        raise changed_by_hand(topology, KEPT) from None


def _kept(hosts: Sequence[HostFile]) -> dict[str, object]:
    """Return what is kept of hosts as an attribute of the network; hosts that are alike share it."""
    alike: dict[tuple[tuple[str, str], ...], list[str]] = {}
    for host in hosts:
        for name, kept in host.kept.items():
            alike.setdefault(tuple(kept.items()), []).append(name)
    return {KEPT: [{"hosts": names, **dict(kept)} for kept, names in alike.items()]} if alike else {}


def _name(hosts: Sequence[HostFile]) -> str:
    first = hosts[0].source.stem
    return first if len(hosts) == 1 else f"{first} and {plural(len(hosts) - 1, 'more host')}"


def _check_fabric(hosts: Sequence[HostFile]) -> None:
    alone = [host for host in hosts if not host.nics]
    if len(hosts) > 1 and alone:
        source = alone[0].source
        what = f"lists no NIC of host {shown(alone[0].host)} that joins it to other hosts"
        raise source.error(f"{what}; import one host alone, or NCCL's topology XML of each host")


def _add_host(builder: TopologyBuilder, host: HostFile, *, with_fabric: bool) -> None:
    for gpu in host.gpus:
        builder.add_compute(gpu.name, **{"box": host.host, **gpu.attributes})
    for switch in host.switches:
        attributes = {"box": host.host, **switch.attributes}
        builder.add_switch(switch.name, **{name: value for name, value in attributes.items() if value is not None})
    for link in host.links:
        builder.add_link(*link)
    for nic in host.nics if with_fabric else ():
        nic.add(builder, host.host)


def _with_own_names(hosts: Sequence[HostFile], notes: Notes) -> list[HostFile]:
    """Return the hosts, their devices named HOST/DEVICE where there are several; each host has a name of its own."""
    if len(hosts) == 1:
        return list(hosts)
    named: dict[str, HostFile] = {}
    for host in hosts:
        name, number = host.host, 2
        while name in named:
            name, number = f"{host.host}-{number}", number + 1
        if name != host.host:
            notes.assume(f"{host.source.where}: a second host is called {host.host!r}; it is named {name!r} here")
        named[name] = host
    return [_renamed(host, name) for name, host in named.items()]


def _renamed(host: HostFile, name: str) -> HostFile:
    def full(device: str) -> str:
        return f"{name}/{device}"

    def own(device: Device) -> Device:
        box = {"box": box_of(device.attributes["box"])} if device.attributes.get("box") else {}
        return Device(full(device.name), {"box": name} | dict(device.attributes) | box)

    def box_of(box: str) -> str:
        return name if box == host.host else box

    return HostFile(
        host.source,
        name,
        tuple(map(own, host.gpus)),
        tuple(map(own, host.switches)),
        tuple((full(one), full(other), bandwidth) for one, other, bandwidth in host.links),
        tuple(nic.renamed(f"{name}/") for nic in host.nics),
        {box_of(box): kept for box, kept in host.kept.items()},
    )
