"""Networks in which a rank has few peers: logical links between boxes instead of the fabric.

A *peer* of a rank is a rank of another box that it exchanges data with. Here the fabric between the boxes is replaced
by logical links. The link of a compute node to the fabric has a number within its box. Link j of box b is joined with
link j of the boxes b + d for each distance d of a set (`box_distances`), by logical links that together have its
bandwidth. So a rank has at most one peer for each distance.

Every schedule on the logical network is a schedule on the network itself with the same algbw: a logical link stands for
a path through the fabric. The links at the ends of the paths carry no more than their bandwidth, because the parts of
the distances add up to 1. For the links between switches of the fabric, the sums are checked.

What is lost is the difference between the optima of the two networks, which are both computed. Often nothing is lost:

- *All boxes send.* If the links into a box limit an allgather, B - 1 of B boxes must send their data over them. A
  distance with c(d) edges in the tree over boxes has the part c(d) / (B - 1) of the bandwidth. Then the images of this
  tree load all logical links in proportion to their bandwidth, and each box receives each shard once. So the links into
  a box allow the same algbw as before. For data that is reduced, all edges are reversed: -d has the part of d.
- *One root.* In a broadcast, all data must enter each box, so the bandwidth out of every set of boxes must be that of
  one box. With equal parts, this is so: a connected circulant network with |D| distances has at least |D| links out of
  each set. (Let A be a smallest set with the fewest links out of it. In each node as many links begin as end, so the
  complement has as many, and A has at most half of the nodes. By submodularity two images of A are equal or disjoint.
  So the symmetries that preserve A move each of its nodes to each other one, and the same number e of links leaves A
  from each node; e ≥ 1, and e ≥ |D| - |A| + 1. So |A| · e ≥ |D|, both if |A| ≤ |D| and if |A| > |D|.)

A rank may also have a single peer to send to and a single one to receive from, with the whole bandwidth of its link to
the fabric (`one_peer_network`). Then the links of a box take turns with the distances 1, 2, 3 and so on. Messages to
different ranks never share a NIC, so each takes less time.

Inside a box, ranks with other numbers can only be reached over the links of the box. If these limit the algbw, the
optimum of the logical network can be lower. A NIC that is a switch has no peers itself: the compute nodes behind it
share its bandwidth equally, and keep the rest of their links to it for traffic within the box.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from itertools import pairwise

from forestcoll.base.errors import InputError, shown
from forestcoll.topology.graph.box_distances import box_distances, distance_counts
from forestcoll.topology.graph.boxes import box_numbers
from forestcoll.topology.graph.walks import shortest_paths, unreachable_pair
from forestcoll.topology.model import Link, Topology


class BandwidthSplit(Enum):
    """How the bandwidth of a link to the fabric is divided among the distances."""

    OUTWARDS = "outwards"
    """For trees of all boxes whose data flows away from the roots."""
    INWARDS = "inwards"
    """For trees of all boxes whose data flows towards the roots."""
    BOTH = "both"
    """For both at the same time."""
    EQUAL = "equal"
    """Equal parts, for one root."""


@dataclass(frozen=True)
class LogicalNetwork:
    """A network whose fabric is replaced by logical links.

    Attributes:
        topology: the network; its nodes have the numbers of the network that it was made from.
        paths: the NICs and switches of the fabric, in order, that each logical link passes through, by its ends.
        distances: the distances between boxes that are joined.
    """

    topology: Topology
    paths: Mapping[tuple[int, int], tuple[int, ...]]
    distances: tuple[int, ...]


@dataclass(frozen=True)
class _Port:
    """The link of a compute node to the fabric, in both directions.

    Attributes:
        node: the compute node.
        switch: the switch of the fabric that the link leads to.
        up: the bandwidth to the fabric.
        down: the bandwidth from the fabric.
        over: the switches of the box between the node and the fabric: none, a NIC, or a PCIe switch and a NIC. Several
            nodes may share a NIC; each has an equal part of its bandwidth.
    """

    node: int
    switch: int
    up: Fraction
    down: Fraction
    over: tuple[int, ...] = ()


def logical_network(topology: Topology, max_peers: int, spread: BandwidthSplit) -> LogicalNetwork:
    """Return the network in which a rank can exchange data with at most `max_peers` ranks of other boxes.

    Raises:
        InputError: `max_peers` is too small, or the network does not consist of equal boxes behind a fabric that is not
            oversubscribed, with at most one link for each compute node, its own or that of a NIC of the box; or the
            links of a box do not join its compute nodes.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> network = logical_network(build_topology("dgx-a100:boxes=4"), 2, BandwidthSplit.OUTWARDS)
        >>> network.distances, len(network.paths)
        ((1, 3), 64)
    """
    ports = _ports(topology)
    distances = box_distances(len(ports), max_peers)
    if not distances:
        least = 1 if len(ports) == 2 else 2
        raise InputError(f"max_peers is {max_peers}; {len(ports)} boxes need at least {least} peers")
    parts = _parts(len(ports), distances, spread)
    return _network(topology, ports, [parts] * len(ports[0]))


def one_peer_network(topology: Topology) -> LogicalNetwork:
    """Return the network in which a rank sends to at most one rank of another box, and receives from at most one.

    Link j of a box to the fabric leads to link j of the box whose distance is j mod (B - 1) + 1, for B boxes.

    Raises:
        InputError: as `logical_network`.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> network = one_peer_network(build_topology("mi250:boxes=4"))
        >>> network.distances, len(network.paths)
        ((1, 2, 3), 64)
    """
    ports = _ports(topology)
    parts = [{1 + number % (len(ports) - 1): Fraction(1)} for number in range(len(ports[0]))]
    return _network(topology, ports, parts)


def _network(
    topology: Topology, ports: Sequence[Sequence[_Port]], parts: Sequence[Mapping[int, Fraction]]
) -> LogicalNetwork:
    """Return the logical network of `parts`: for each link of a box, the part of its bandwidth for each distance."""
    links, paths = _joined(topology, ports, parts)
    inner = {switch for box in ports for each in box for switch in each.over}
    fabric = {each.switch for box in ports for each in box}.union(*paths.values()) - inner
    kept = _inside(topology, ports, fabric)
    nodes = tuple(
        replace(each, multicast=False, aggregation=False) if number in fabric else each
        for number, each in enumerate(topology.nodes)
    )
    ordered = tuple(sorted((*kept, *links), key=lambda each: (each.source, each.target)))
    distances = tuple(sorted({distance for each in parts for distance in each}))
    logical = replace(topology, nodes=nodes, links=ordered)
    pair = unreachable_pair(logical, logical.compute)
    if pair is not None:
        one, other = (_name(topology, node) for node in pair)
        raise InputError(
            f"{topology.name}: max_peers does not apply: without the fabric, compute node {one} cannot reach {other}; "
            "the links of each box must join its compute nodes"
        )
    return LogicalNetwork(logical, paths, distances)


def _inside(topology: Topology, ports: Sequence[Sequence[_Port]], fabric: AbstractSet[int]) -> tuple[Link, ...]:
    """Return the links inside boxes, without the bandwidth to NICs that logical links use."""
    used: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for each in (each for box in ports for each in box):
        for one, other in pairwise((each.node, *each.over)):
            used[one, other] += each.up
            used[other, one] += each.down
    links = (
        replace(each, bandwidth=each.bandwidth - used[each.source, each.target])
        for each in topology.links
        if each.source not in fabric and each.target not in fabric
    )
    return tuple(each for each in links if each.bandwidth > 0)


def _parts(boxes: int, distances: Sequence[int], spread: BandwidthSplit) -> dict[int, Fraction]:
    """Return the part of the bandwidth of each distance."""
    if spread is BandwidthSplit.EQUAL:
        return dict.fromkeys(distances, Fraction(1, len(distances)))
    out = {each: Fraction(count, boxes - 1) for each, count in distance_counts(boxes, distances).items()}
    into = {each: out[-each % boxes] for each in distances}
    if spread is BandwidthSplit.BOTH:
        return {each: (out[each] + into[each]) / 2 for each in distances}
    return out if spread is BandwidthSplit.OUTWARDS else into


def _ports(topology: Topology) -> list[list[_Port]]:
    """Return the links to the fabric of each box, in the order of the compute nodes, after all checks."""
    box_of = box_numbers(topology)
    if len(set(box_of.values())) < 2:
        raise _refused(topology, "it has no two boxes; the attribute box of a node names its box")
    homeless = next((each for each in topology.compute if each not in box_of), None)
    if homeless is not None:
        raise _refused(topology, f"compute node {_name(topology, homeless)} has no attribute box")
    up: dict[int, list[Link]] = defaultdict(list)
    down: dict[int, list[Link]] = defaultdict(list)
    for link in topology.links:
        source, target = box_of.get(link.source), box_of.get(link.target)
        if source is not None and target is not None and source != target:
            raise _refused(topology, f"{_between(topology, link)} joins two boxes without a switch between them")
        if source is not None and target is None:
            up[link.source].append(link)
        if source is None and target is not None:
            down[link.target].append(link)
    ports: list[list[_Port]] = [[] for _ in range(max(box_of.values()) + 1)]
    for node in sorted({*up, *down}):
        port = _port(topology, node, up[node], down[node])
        ports[box_of[node]] += [port] if topology.nodes[node].is_compute else _shared(topology, port, box_of)
    for listed in ports:
        listed.sort(key=lambda each: each.node)
    _check_equal(topology, ports)
    return ports


def _port(topology: Topology, node: int, up: Sequence[Link], down: Sequence[Link]) -> _Port:
    if len(up) != 1 or len(down) != 1 or up[0].target != down[0].source:
        kind = "compute node" if topology.nodes[node].is_compute else "switch"
        raise _refused(topology, f"{kind} {_name(topology, node)} has more than one full-duplex link to the fabric")
    return _Port(node, up[0].target, up[0].bandwidth, down[0].bandwidth)


def _shared(topology: Topology, port: _Port, box_of: Mapping[int, int]) -> list[_Port]:
    """Return the ports of the compute nodes behind a NIC that is a switch, which share its port equally.

    They have links to the NIC, or to a PCIe switch, whose compute nodes are divided among its NICs in their order.
    """
    nic = port.node
    near = _inner_neighbours(topology, nic, box_of)
    over: tuple[int, ...] = (nic,)
    behind = sorted(near)
    if len(near) == 1 and not topology.nodes[behind[0]].is_compute:
        over = behind[0], nic
        port = replace(port, up=min(port.up, near[over[0]][1]), down=min(port.down, near[over[0]][0]))
        near = _inner_neighbours(topology, over[0], box_of)
        behind = _of_nic(topology, nic, sorted(near))
    if not behind or not all(topology.nodes[each].is_compute for each in behind):
        raise _refused(
            topology, f"switch {_name(topology, nic)} joins its box to the fabric, not a compute node or a NIC"
        )
    up, down = port.up / len(behind), port.down / len(behind)
    return [_Port(each, port.switch, min(up, near[each][0]), min(down, near[each][1]), over) for each in behind]


def _of_nic(topology: Topology, nic: int, around: Sequence[int]) -> list[int]:
    """Return the compute nodes at a PCIe switch that use one of its NICs; none if they cannot be divided equally."""
    nodes = [each for each in around if topology.nodes[each].is_compute]
    nics = [each for each in around if not topology.nodes[each].is_compute]
    count, rest = divmod(len(nodes), len(nics))
    return [] if rest else nodes[count * nics.index(nic) :][:count]


def _inner_neighbours(
    topology: Topology, switch: int, box_of: Mapping[int, int]
) -> dict[int, tuple[Fraction, Fraction]]:
    """Return the nodes of its box that a switch has full-duplex links to, and the bandwidths to and from it."""
    widths, targets = topology.bandwidths, set(topology.targets[switch])
    inside = (each for each in topology.sources[switch] if each in targets and box_of.get(each) == box_of[switch])
    return {each: (widths[each, switch], widths[switch, each]) for each in inside}


def _check_equal(topology: Topology, ports: Sequence[Sequence[_Port]]) -> None:
    for one, other in (pair for listed in ports for pair in pairwise(listed)):
        if one.node == other.node:
            raise _refused(topology, f"compute node {_name(topology, one.node)} has more than one NIC")
    first = [(each.up, each.down) for each in ports[0]]
    for box, listed in enumerate(ports):
        if not listed or [(each.up, each.down) for each in listed] != first:
            raise _refused(
                topology, f"box {box} and box 0, in the order of the nodes, have different links to the fabric"
            )


def _joined(
    topology: Topology, ports: Sequence[Sequence[_Port]], parts: Sequence[Mapping[int, Fraction]]
) -> tuple[list[Link], dict[tuple[int, int], tuple[int, ...]]]:
    """Return the logical links and their paths, after a check that the fabric can carry all of them."""
    routes = _Fabric.of(topology, ports)
    links: list[Link] = []
    paths: dict[tuple[int, int], tuple[int, ...]] = {}
    loads: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for box, distance in ((box, distance) for box in range(len(ports)) for distance in sorted(set().union(*parts))):
        for here, there, part in zip(ports[box], ports[(box + distance) % len(ports)], parts, strict=True):
            if distance not in part:
                continue
            bandwidth = min(here.up, there.down) * part[distance]
            path = routes.path(here.switch, there.switch)
            links.append(Link(here.node, there.node, bandwidth))
            paths[here.node, there.node] = (*here.over, *path, *reversed(there.over))
            for hop in pairwise(path):
                loads[hop] += bandwidth
    routes.check(loads)
    return links, paths


@dataclass(frozen=True)
class _Fabric:
    """The links between switches of the fabric, and the shortest paths from each switch that a box has a link to."""

    topology: Topology
    paths: Mapping[int, Mapping[int, tuple[int, ...]]]

    @staticmethod
    def of(topology: Topology, ports: Sequence[Sequence[_Port]]) -> "_Fabric":
        inside = box_numbers(topology)
        ends = sorted({each.switch for box in ports for each in box})
        after = [[other for other in each if other not in inside] for each in topology.targets]
        return _Fabric(topology, {each: shortest_paths(each, after.__getitem__) for each in ends})

    def path(self, source: int, target: int) -> tuple[int, ...]:
        """Return a shortest path between two switches, with both of them."""
        if target not in self.paths[source]:
            names = f"{_name(self.topology, source)} to {_name(self.topology, target)}"
            raise _refused(self.topology, f"the fabric has no path from {names}")
        return self.paths[source][target]

    def check(self, loads: Mapping[tuple[int, int], Fraction]) -> None:
        """Check that each link of the fabric can carry the bandwidths of all paths over it."""
        for (source, target), load in loads.items():
            bandwidth = self.topology.bandwidths[source, target]
            if load > bandwidth:
                link = f"the link from {_name(self.topology, source)} to {_name(self.topology, target)}"
                unit = self.topology.bandwidth_unit
                raise _refused(self.topology, f"{link} has {bandwidth} {unit}, and shortest paths need {load} {unit}")


def _refused(topology: Topology, reason: str) -> InputError:
    needed = "it needs equal boxes behind switches, with one link for each compute node or NIC"
    return InputError(f"{topology.name}: max_peers does not apply: {reason}; {needed}")


def _name(topology: Topology, node: int) -> str:
    return shown(topology.nodes[node].id)


def _between(topology: Topology, link: Link) -> str:
    return f"the link from {_name(topology, link.source)} to {_name(topology, link.target)}"


def with_paths(route: Sequence[int], paths: Mapping[tuple[int, int], tuple[int, ...]]) -> Iterator[int]:
    """Yield the nodes of a route on the logical network, with the switches that its logical links pass through."""
    yield route[0]
    for hop in pairwise(route):
        yield from paths.get(hop, ())
        yield hop[1]
