"""The network that NCCL prints of its hosts (subsystem GRAPH), with the bandwidths that it counts.

    === System : maxBw 48.0 totalBw 370.8 ===
    CPU/0-0 (1/1/3)
    + PCI[48.0] - DEV/0-60 (10de233510de18bf)
                  + LOC[5000.0] - GPU/0-60
                  + NVL[370.8] - NVS/0-0
    + PCI[48.0] - NIC/0-40000
                  + NET[50.0] - NET/0-0 (0/1/1/50.000000)
    ==========================================

A `+` stands under the name of the node that it belongs to. All nodes but GPUs become switches, and one switch, which
NCCL does not print, joins the network devices of all hosts.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from forestcoll.nccl.job.communicators import Communicator, Gpu
from forestcoll.topology import Topology, TopologyBuilder

_NODE = re.compile(
    r"(?P<at>(?: *\+ (?P<kind>[A-Z0-9]+)\[(?P<bandwidth>\d+\.\d+)\] - )?)(?P<node>[A-Z]+/[-\da-f]+)(?: |$)"
)
_RANK_BITS = 40
"""NCCL 2.30 adds the number of a rank among those of one GPU above these bits of the PCI bus."""


def network_of(communicator: Communicator) -> Topology | None:
    """Return the network that the ranks of a communicator printed, with compute node i for rank i.

    It is None if a host printed no system, or one that does not list its GPUs.
    """
    names = {gpu.rank: gpu.host for gpu in communicator.gpus}
    hosts = list(dict.fromkeys(names.values()))
    if len(names) < communicator.size or len(communicator.hosts or ()) != len(hosts):
        return None
    ids = [f"{host}/gpu{place}" for host, place in _places(communicator.gpus)]
    builder = TopologyBuilder("the network in the log")
    for gpu, node in zip(communicator.gpus, ids, strict=True):
        builder.add_compute(node, box=gpu.host)
    fabric = None if len(hosts) < 2 else builder.add_switch("fabric")
    for host in hosts:
        gpus = [gpu for gpu in communicator.gpus if gpu.host == host]
        found = (_System.of(lines, gpus) for lines in communicator.systems.get(host, ()))
        system = next((each for each in found if each is not None and (each.devices or fabric is None)), None)
        if system is None:
            return None
        known = {node: ids[rank] for node, rank in system.ranks.items()}
        for node in dict.fromkeys(chain(*system.links)):
            if node not in known:
                known[node] = str(builder.add_switch(f"{host}/{node}", box=host))
        for (one, other), bandwidth in system.links.items():
            builder.add_duplex(known[one], known[other], bandwidth)
        for device, bandwidth in system.devices.items():
            if fabric is not None:
                builder.add_duplex(known[device], fabric, bandwidth)
    return builder.build()


def _places(gpus: Sequence[Gpu]) -> list[tuple[str, int]]:
    """Return for each rank its host, and its place among the ranks of the host."""
    seen: dict[str, int] = {}
    found = []
    for gpu in gpus:
        found.append((gpu.host, seen.setdefault(gpu.host, 0)))
        seen[gpu.host] += 1
    return found


@dataclass(frozen=True)
class _System:
    """A host.

    Attributes:
        ranks: the rank of each GPU, by the name of its node.
        links: the bandwidth of each link, by the names of its ends.
        devices: the bandwidth of each network device.
    """

    ranks: Mapping[str, int]
    links: Mapping[tuple[str, str], str]
    devices: Mapping[str, str]

    @staticmethod
    def of(lines: Sequence[str], gpus: Sequence[Gpu]) -> "_System | None":
        """Return the host that lines describe; None if a line is damaged, or its GPUs are not those of the ranks."""
        links: dict[tuple[str, str], str] = {}
        devices: dict[str, str] = {}
        above: dict[int, str] = {}
        for line in lines:
            match, column = _NODE.match(line), line.find("+")
            if match is None or (match["kind"] and column not in above):
                return None
            above[match.end("at")] = node = match["node"]
            if not match["kind"]:
                continue
            if (node, above[column]) not in links:
                links[above[column], node] = match["bandwidth"]
            if match["kind"] == "NET":
                devices[node] = match["bandwidth"]
        ranks = _ranks(gpus, [node for node in dict.fromkeys(chain(*links)) if node.startswith("GPU/")])
        return None if ranks is None else _System(ranks, links, devices)


def _ranks(gpus: Sequence[Gpu], nodes: Sequence[str]) -> dict[str, int] | None:
    """Return the rank of each GPU of a system by its bus; None if they are not those of the host."""
    by_bus: dict[int, list[int]] = {}
    for gpu in gpus:
        by_bus.setdefault(int(gpu.bus or "0", 16), []).append(gpu.rank)
    found = {}
    for node in nodes:
        number = int(node.rsplit("-", 1)[-1].removeprefix("GPU/"), 16)
        same, place = by_bus.get(number % 2**_RANK_BITS, []), number >> _RANK_BITS
        if place >= len(same):
            return None
        found[node] = same[place]
    return found if len(found) == len(gpus) else None
