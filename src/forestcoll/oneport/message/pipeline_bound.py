"""Lower bounds for the broadcast of one message in packets of any sizes, along any trees.

A packet of n bytes takes beta + n c over a link, and a packet has at least 1 byte. Let L be the size of the message.

- Ports: at the prices of ports that prove the optimum of a series with costs beta + L c, the cheapest tree for a packet
  of n bytes costs f(n). As a minimum of increasing lines f is concave with f(0) >= 0, so packets of L bytes in total
  cost at least f(L). Therefore the time is at least the time per message of that series.
- Receive: no byte can be sent to node d before a neighbour of d has it. If nodes have one port, the port of d then
  needs at least the least beta + L c of the links into d, because that sum over packets is concave too. Otherwise the
  links into d share the bytes.
- Last packet: if nodes have one port, the source needs at least the least beta + L c of its links to send every packet
  once. When it has sent the last one for the first time, only one other node has this packet. The number of nodes with
  the packet at most doubles in the time of the fastest link for 1 byte, and the packet must reach the farthest node.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.units import bytes_per_microsecond
from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.series.optimum import steady_optimum
from forestcoll.topology import NodeId, Topology
from forestcoll.topology.graph.arborescence import Number
from forestcoll.topology.graph.node_ports import RECEIVE_LIMIT, SEND_LIMIT, shared_bandwidths
from forestcoll.topology.graph.walks import cheapest, onwards


def packet_times(topology: Topology, packet_size: int | Fraction) -> list[Fraction]:
    """Return the time of a packet of `packet_size` bytes over each link, in microseconds: beta + n c.

    Raises:
        InputError: the unit of bandwidths is unknown.
    """
    unit = bytes_per_microsecond(topology.bandwidth_unit)
    return [(link.latency_us or Fraction(0)) + packet_size / (link.bandwidth * unit) for link in topology.links]


@dataclass(frozen=True)
class PipelineBound:
    """A lower bound on the time of a broadcast, in microseconds.

    Attributes:
        ports: by the prices of ports.
        receive: by the last node that begins to receive.
        last_packet: by the packet that the source sends last; 0 if nodes use all their links at once.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.oneport import pipelined_broadcast
        >>> bounds = pipelined_broadcast(load_topology("ring:nodes=3"), 0, 3000).bounds
        >>> str(bounds.time), bounds.limit
        ('3/2', 'ports')
    """

    ports: Fraction
    receive: Fraction
    last_packet: Fraction

    @property
    def time(self) -> Fraction:
        """The greatest of the bounds."""
        return max(self.ports, self.receive, self.last_packet)

    @property
    def limit(self) -> str:
        """What the greatest bound is about."""
        names = {"ports": self.ports, "receive": self.receive, "last packet": self.last_packet}
        return max(names, key=names.__getitem__)


def pipeline_bound(platform: Platform, start_ups: Sequence[Fraction], size: int) -> PipelineBound:
    """Return lower bounds for `size` bytes.

    Args:
        platform: the network with its source; its costs are the times of a byte.
        start_ups: the start-up of each link, in microseconds.
        size: L, 1 or more.
    """
    whole = [start_up + size * cost for start_up, cost in zip(start_ups, platform.costs, strict=True)]
    byte = [start_up + cost for start_up, cost in zip(start_ups, platform.costs, strict=True)]
    series = steady_optimum(Platform.of(platform.topology, platform.topology.nodes[platform.source].id, whole))
    distances = _distances(platform, [platform.source], byte)
    return PipelineBound(
        ports=1 / series.throughput,
        receive=max(_receive(platform, start_ups, whole, distances, size)),
        last_packet=_last_packet(platform, whole, byte) if platform.sends_one_at_a_time else Fraction(0),
    )


def shared_bound(topology: Topology, source: NodeId, size: int) -> PipelineBound:
    """Return lower bounds for `size` bytes if links of a node share a bandwidth.

    The bounds without shared bandwidths hold, too. The bound by prices also has prices of shared bandwidths, of which a
    message of L bytes uses L / bandwidth.
    """
    unit = bytes_per_microsecond(topology.bandwidth_unit)
    whole = packet_times(topology, size)
    limits = {name: shared_bandwidths(topology, name) for name in (SEND_LIMIT, RECEIVE_LIMIT)}
    nodes = tuple(
        replace(node, attributes={name: each[number] * unit / size for name, each in limits.items() if number in each})
        for number, node in enumerate(topology.nodes)
    )
    links = tuple(replace(link, bandwidth=1 / time) for link, time in zip(topology.links, whole, strict=True))
    messages = replace(topology, nodes=nodes, links=links)
    free = replace(topology, port_model=None)
    start_ups = packet_times(topology, 0)
    byte = [time - start_up for time, start_up in zip(packet_times(topology, 1), start_ups, strict=True)]
    bounds = pipeline_bound(Platform.of(free, source, byte), start_ups, size)
    return replace(bounds, ports=1 / steady_optimum(Platform.of(messages, source)).throughput)


def _receive(
    platform: Platform,
    start_ups: Sequence[Fraction],
    whole: Sequence[Fraction],
    distances: Sequence[Fraction | None],
    size: int,
) -> Iterable[Fraction]:
    for node in platform.destinations:
        entering = [
            (number, begin)
            for number, link in enumerate(platform.topology.links)
            if link.target == node and (begin := distances[link.source]) is not None
        ]
        begin = min(begin for _, begin in entering)
        if platform.receives_one_at_a_time:
            yield begin + min(whole[number] for number, _ in entering)
        else:
            rate = sum((1 / platform.costs[number] for number, _ in entering), Fraction(0))
            yield begin + min(start_ups[number] for number, _ in entering) + size / rate


def _last_packet(platform: Platform, whole: Sequence[Fraction], byte: Sequence[Fraction]) -> Fraction:
    links, leaving = platform.topology.links, platform.topology.leaving[platform.source]
    begin = min(whole[number] for number in leaving)
    onwards = min(farthest(platform, [platform.source, links[number].target], byte) for number in leaving)
    return begin + max(doubling_time(platform, byte, 2), onwards)


def doubling_time(platform: Platform, times: Sequence[Number], begun: int) -> Number:
    """Return the least time in which all compute nodes can have a packet that `begun` nodes have.

    In the time of the fastest link, the number of nodes with the packet at most doubles, because each node sends to one
    neighbour at a time.
    """
    links, left = platform.topology.links, -(-len(platform.topology.compute) // begun)
    nodes = platform.topology.nodes
    fastest = min(time for time, link in zip(times, links, strict=True) if nodes[link.source].is_compute)
    return (left - 1).bit_length() * fastest


def farthest(platform: Platform, starts: Sequence[int], times: Sequence[Number]) -> Number:
    """Return the least time for a packet from the nearest of `starts` to the farthest compute node, without waiting."""
    distances = _distances(platform, starts, times)
    return max(each for node in platform.topology.compute if (each := distances[node]) is not None)


def _distances(platform: Platform, starts: Sequence[int], times: Sequence[Number]) -> list[Number | None]:
    """Return the least time of a packet from the nearest of `starts` to each node; None if it cannot be reached."""
    found = cheapest(dict.fromkeys(starts, times[0] - times[0]), onwards(platform.topology, times))
    return [found.get(node) for node in range(len(platform.topology.nodes))]


def packets_bound(platform: Platform, start_ups: Sequence[Fraction], size: int, packets: int) -> Fraction:
    """Return a lower bound for `size` bytes in this number of packets of equal size, by the last node to receive."""
    packet_size = -(-size // packets)
    packet = [start_up + packet_size * cost for start_up, cost in zip(start_ups, platform.costs, strict=True)]
    distances = _distances(platform, [platform.source], packet)
    if not platform.receives_one_at_a_time:
        return max(each for node in platform.destinations if (each := distances[node]) is not None)
    count = -(-size // packet_size)
    return max(_receive(platform, start_ups, [count * each for each in packet], distances, size))
