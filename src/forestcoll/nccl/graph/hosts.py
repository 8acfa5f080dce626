"""Graph files of NCCL for the hosts of a network: the best rings and chains that NCCL can be told to use.

A host is a box of GPUs. Its rings go around inside it if it is alone; otherwise they enter it by a NIC and leave it by
one, as those of `algorithms/nccl_ring.py`. For an allreduce on a host of its own with direct links, the file also has
chains if these carry more. NCCL then uses as many channels for rings as for trees, so both have that of the chains.
`channels.py` finds the fewest channels.

NCCL makes two channels of one of a file, each of which takes one streaming multiprocessor (SM) of each GPU. So a
channel carries at most what two SMs move. Speeds in a file are what NCCL counts, which is less for an NVLink than
vendors publish, so the speed of a channel that stays in its host is converted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise, permutations
from typing import TYPE_CHECKING, TypeVar

from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.algorithms.ring_orders import Inside, nics_of, passages, port_numbers
from forestcoll.base.errors import InputError
from forestcoll.base.exact import to_fraction
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import UNROOTED, Collective, collective_named
from forestcoll.nccl.graph.channels import Channels, chain_channels, closed_channels, open_channels
from forestcoll.nccl.graph.file import Channel, Graph, GraphFile, Pattern, graphs_text, shared_gpus
from forestcoll.topology import Topology
from forestcoll.topology.gpus import GPUS, gpu_of
from forestcoll.topology.graph.boxes import BoxKind, box_numbers, kinds_of_boxes
from forestcoll.topology.importers.hosts.host import kept_hosts
from forestcoll.topology.importers.hosts.link_speeds import capability_of, nvlink_speed

if TYPE_CHECKING:
    from forestcoll.topology.graph.routes import Path

MOST_GPUS = 32
"""The most GPUs of a host: NCCL's `ncclNvmlMaxDevices`."""

_NO_GAIN = "a switch joins the GPUs, where NCCL finds rings as good by itself, and trees with more channels"

COPIES = 2
"""How many channels NCCL makes of one of a file."""

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class HostGraph:
    """The graph file of hosts that are alike.

    Attributes:
        hosts: the names of the hosts; none if they are not known.
        file: the graphs.
        rings: the rings, in the unit of the network; None if a file of NCCL has none.
        chains: the chains of an allreduce; None if rings carry as much.
        where: what messages name.
        unit: the unit of the channels.
    """

    hosts: tuple[str, ...]
    file: GraphFile
    rings: Channels | None
    chains: Channels | None
    where: str
    unit: str = "GB/s"

    @property
    def text(self) -> str:
        """The file."""
        return graphs_text(self.file, self.where)

    @property
    def sms(self) -> int:
        """How many SMs of each GPU the channels take."""
        return COPIES * max(len(each.orders) for each in (self.rings, self.chains) if each is not None)


def host_graphs(topology: Topology, collective: Collective | str = Collective.ALLGATHER) -> list[HostGraph]:
    """Return the graph file of each kind of host of a network, in the order of the first host of each kind.

    Args:
        topology: the network; nodes with one attribute `box` are a host.
        collective: allgather, reduce-scatter or allreduce.

    Example:
        >>> from forestcoll import load_topology
        >>> [host] = host_graphs(load_topology("hgx-a100-4:boxes=1"))
        >>> len(host.rings.orders), host.rings.speed, host.rings.total == host.rings.optimum, host.sms
        (6, Fraction(50, 1), True, 12)

    Raises:
        InputError: a host has more GPUs than NCCL's hosts have, or none; the collective has a root; no ring passes
            through all GPUs of a host; or the unit of the bandwidths is unknown.
    """
    if collective_named(collective) not in UNROOTED:
        what = collective_named(collective).with_article
        raise InputError(f"NCCL has no rings for {what}; give one of {', '.join(UNROOTED)}")
    topology = in_boxes(topology)
    inside = box_numbers(topology)
    outside = (topology.nodes[node].attributes.get("device") for node in topology.switches if node not in inside)
    if "nvswitch" in outside:
        what = "NVLink joins hosts, and NCCL's file cannot tell their GPUs apart without ranks"
        raise InputError(f"{topology.name}: {what}")
    kinds = kinds_of_boxes(topology)
    problem = problem_of(topology, collective_named(collective))
    boxes = [gpus_of(topology, kind) for kind in kinds]
    is_alone = sum(len(kind.names) for kind in kinds) == 1
    solve = _alone if is_alone else _joined
    found = [solve(problem, box) for box in boxes]
    if counts := sorted({len(rings.orders) for rings, _ in found}):
        tried = [[solve(problem, box, count) for box in boxes] for count in counts] if len(counts) > 1 else [found]
        found = max(tried, key=lambda each: min(rings.total for rings, _ in each))
    return [
        _host_graph(problem, kind, box, channels, is_alone=is_alone)
        for kind, box, channels in zip(kinds, boxes, found, strict=True)
    ]


def in_boxes(topology: Topology) -> Topology:
    """Return a network whose nodes have boxes: all nodes are in one if no node says in which it is."""
    if box_numbers(topology):
        return topology
    attributes = {"box": topology.name}
    return replace(
        topology, nodes=tuple(replace(node, attributes={**node.attributes, **attributes}) for node in topology.nodes)
    )


def gpus_of(topology: Topology, kind: BoxKind) -> tuple[int, ...]:
    """Return the compute nodes of the first host of a kind. Raises `InputError` if there are more than NCCL has."""
    box = tuple(number for number in kind.nodes[0] if topology.nodes[number].is_compute)
    if len(box) > MOST_GPUS:
        raise InputError(
            f"{topology.name}: {kind.names[0]} has {len(box)} GPUs; NCCL's file is for one host, which has at most "
            f"{MOST_GPUS}"
        )
    return box


def _fastest(topology: Topology, share: Fraction) -> Fraction | None:
    """Return the most that two SMs move, in the unit of the network; None if that is not known of the GPU.

    Args:
        topology: the network.
        share: what NCCL counts of a bandwidth.
    """
    capability, _ = _nvlink(topology)
    alike = (gpu for gpu in GPUS.values() if capability is not None and capability_of(gpu.name) == capability)
    gpu = gpu_of(topology) or next(alike, None)
    block = gpu.block_gbps if gpu is not None else _SLOWEST_BLOCK
    return None if block is None else COPIES * to_fraction(block) / gbps(topology) / share


def _nvlink(topology: Topology) -> tuple[int | None, Fraction | None]:
    """Return the compute capability of the GPUs, and what one NVLink carries in the network; None if not known."""
    if kept := kept_hosts(topology):
        first = next(iter(kept.values()))
        return first.sm, first.nvlink or None
    capability = capability_of(topology.name)
    return capability, None if capability is None else nvlink_speed(capability, "nominal")


_SLOWEST_BLOCK = 24.0
"""What an SM of an unknown GPU moves, in GB/s: the least of those that are known, that of an A100."""


def gbps(topology: Topology) -> Fraction:
    """Return one unit of bandwidth of a network in GB/s."""
    return bytes_per_microsecond(topology.bandwidth_unit) / 1000


def _alone(problem: Problem, box: Sequence[int], count: int | None = None) -> tuple[Channels, Channels | None]:
    """Return the rings of a host of its own and, for an allreduce, its chains if they carry more."""
    inside = Inside(problem, box)
    fastest = _fastest(problem.topology, share_of(problem, box))
    hops = inside.hops({}, {})
    rings = closed_channels(box, hops, fastest, count) if len(box) > 1 else None
    if rings is None:
        raise DoesNotApplyError(f"{problem.topology.name}: no ring passes through all GPUs of a host without its NICs")
    if problem.collective is not Collective.ALLREDUCE or inside.crosses_switches:
        return rings, None
    chains = chain_channels(box, hops, fastest)
    if chains is None or chains.total <= rings.total * Fraction(len(box), 2 * (len(box) - 1)):
        return rings, None
    return closed_channels(box, hops, fastest, len(chains.orders)) or rings, chains


def _joined(problem: Problem, box: Sequence[int], count: int | None = None) -> tuple[Channels, Channels | None]:
    """Return the rings of a host of several; the first and the last number of an order are those of NICs."""
    places: dict[Path, int] = {}
    nics, bandwidths = nics_of(problem, box), problem.topology.bandwidths
    for place, nic in enumerate(nics):
        for door in nic.values():
            places[door.arrival] = places[door.departure] = place
    inside, columns = Inside(problem, box), {}
    for each in passages(problem, box):
        links = [link for hop in pairwise(each.order) for link in inside.links(hop)]
        links += [*pairwise(each.arrival), *pairwise(each.departure)]
        columns[places[each.arrival], *each.order, places[each.departure]] = dict(Counter(links))
    paths = [next(iter(nic.values())).departure for nic in nics]
    ports = zip(paths, port_numbers(problem, nics), strict=True)
    least = min(bandwidths[path[-2], path[-1]] / len(numbers) for path, numbers in ports)
    fastest = min(filter(None, (_fastest(problem.topology, Fraction(1)), least)))
    rings = open_channels(columns, bandwidths, fastest, count)
    if rings is None:
        raise DoesNotApplyError(f"{problem.topology.name}: no rings with {count} channels pass through all hosts")
    return rings, None


def _host_graph(
    problem: Problem, kind: BoxKind, box: Sequence[int], found: tuple[Channels, Channels | None], *, is_alone: bool
) -> HostGraph:
    rings, chains = found
    kinds = kinds_of_paths(problem, box)
    speed = gbps(problem.topology) * (share_of(problem, box) if is_alone else 1)
    places = {member: place for place, member in enumerate(box)}
    devices = devices_of(problem.topology, box)

    def graph(pattern: Pattern, channels: Channels) -> Graph:
        ends = [(None, order, None) for order in channels.orders] if is_alone else _ends(problem, box, channels)
        made = tuple(Channel(entry, tuple(places[each] for each in order), leaving) for entry, order, leaving in ends)
        carried = channels.speed * speed
        return Graph(pattern, _is_paired(made), made, devices, carried, carried, *kinds)

    trees = None if chains is None else graph(Pattern.BALANCED_TREE, chains)
    is_switched = kinds[0] == "NVL" and len(box) > 1 and Inside(problem, box).crosses_switches
    file = GraphFile(graph(Pattern.RING, rings), trees, (_NO_GAIN,) if is_switched else ())
    return HostGraph(kind.names, file, rings, chains, problem.topology.name, problem.topology.bandwidth_unit)


def share_of(problem: Problem, box: Sequence[int]) -> Fraction:
    """Return what NCCL counts for an NVLink over what it carries in the network."""
    capability, speed = _nvlink(problem.topology)
    if capability is None or speed is None or kinds_of_paths(problem, box)[0] != "NVL":
        return Fraction(1)
    return (nvlink_speed(capability, "nccl") or speed) / speed


def devices_of(topology: Topology, box: Sequence[int]) -> tuple[int, ...]:
    """Return the number of each GPU of a host: the attribute `gpu` of importers, or its place.

    Raises:
        InputError: several ranks share a GPU.
    """
    texts = [str(topology.nodes[member].attributes.get("gpu", "")) for member in box]
    if not all(each.isascii() and each.isdecimal() for each in texts):
        return tuple(range(len(box)))
    if len(set(texts)) < len(texts):
        raise shared_gpus(topology.name)
    return tuple(map(int, texts))


def _ends(problem: Problem, box: Sequence[int], channels: Channels) -> list[tuple[int, tuple[int, ...], int]]:
    """Return the channels with the numbers of their NICs; opposite ones follow each other, if all are in such pairs.

    The ports of a NIC are used in turn.
    """
    numbers = port_numbers(problem, nics_of(problem, box))
    used = Counter[tuple[int, int]]()
    found = []
    for order in in_pairs(channels.orders, lambda one, other: (other[:2], other[-2:]) == (one[:-3:-1], one[1::-1])):
        ends = []
        for way, nic in enumerate((order[0], order[-1])):
            ends.append(numbers[nic][used[nic, way] % len(numbers[nic])])
            used[nic, way] += 1
        found.append((ends[0], order[1:-1], ends[1]))
    return found


def in_pairs(items: Iterable[_Item], is_opposite: Callable[[_Item, _Item], bool]) -> list[_Item]:
    """Return items in an order in which each is followed by an opposite one, where there is one left."""
    left, ordered = list(items), list[_Item]()
    while left:
        ordered.append(left.pop(0))
        place = next((place for place, each in enumerate(left) if is_opposite(ordered[-1], each)), None)
        if place is not None:
            ordered.append(left.pop(place))
    return ordered


def _is_paired(channels: Sequence[Channel]) -> bool:
    """Return whether channels 2i and 2i+1 enter and leave by two NICs in opposite directions."""
    pairs = [channels[place : place + 2] for place in range(0, len(channels), 2)]
    return any(each.entry != each.leaving for each in channels) and all(
        len(pair) == 2 and (pair[0].entry, pair[0].leaving) == (pair[1].leaving, pair[1].entry) for pair in pairs
    )


def kinds_of_paths(problem: Problem, box: Sequence[int]) -> tuple[str, str]:
    """Return the slowest kind of path between GPUs, and that to a NIC, in NCCL's words."""
    routes, boxes = problem.routes, problem.boxes
    inside = [path for one, other in permutations(box, 2) if (path := routes.find(one, other)) is not None]
    outside = [path[:-1] for member in box for path in boxes.exits(member)]
    return max((_kind(problem, path, "NVL") for path in inside), key=_KINDS.index, default="NVL"), max(
        (_kind(problem, path, "PIX") for path in outside), key=_KINDS.index, default="PIX"
    )


_KINDS = ("NVL", "PIX", "PXB", "PHB", "SYS")
"""Kinds of paths that are written, the fastest first."""


def _kind(problem: Problem, path: Sequence[int], least: str) -> str:
    devices = Counter(problem.topology.nodes[node].attributes.get("device") for node in path[1:-1])
    if devices["cpu"]:
        return "PHB" if devices["cpu"] == 1 else "SYS"
    if devices["pcie switch"]:
        return "PIX" if devices["pcie switch"] == 1 else "PXB"
    return least
