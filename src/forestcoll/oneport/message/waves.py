"""The packets of one cycle, each sent as soon as its ports are free, in a pattern that repeats.

The packets of a cycle get exact times: every send starts after the packet has arrived. The next cycle repeats all
sends after the time C, so a port must be free modulo C. The packets of R cycles take (R - 1) C + S, where S is the end
of the last send of one cycle. A node does not wait for the next cycle before it forwards a packet, so S is often much
less than H C, which a schedule that forwards in the next cycle needs.

Sends are placed one after the other, at the earliest time at which all ports are free (list scheduling). The next send
is the one with the least key. With given trees the key is the start of the send, then the longest time that remains
after it (Jackson's rule, which is optimal for one packet on one tree). Without trees the key is the end of the send, so
that trees grow where packets arrive first (the heuristic "earliest completing edge first").

Times are integers. A send costs the number of sends at its ports.
"""

import heapq
from bisect import bisect_right, insort
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from forestcoll.oneport.platform.platform import Platform

Route = tuple[int, ...]

Key = Callable[[int, Route, Sequence[int]], int]
"""A key of a packet, the route of its next send, and the start on each link of the route."""

FINE = 1 << 200
"""The weight of the first of two parts of a key. It is above all times."""


@dataclass(frozen=True, slots=True)
class WaveSend:
    """A send of one cycle, in integer units of time. `link` is the place of the link."""

    start: int
    end: int
    packet: int
    link: int


@dataclass(frozen=True)
class Wave:
    """The sends of the packets of a cycle.

    Attributes:
        cycle: the time after which all sends repeat.
        packets: the number of packets of a cycle.
        sends: the sends of the first cycle.
        trees: for each packet, the routes of its tree, in the order in which they are used.
    """

    cycle: int
    packets: int
    sends: tuple[WaveSend, ...]
    trees: tuple[tuple[Route, ...], ...]

    def makespan(self, packets: int) -> int:
        """Return the end of the last send if this number of packets is sent. The last cycle may have fewer packets."""
        ends = [0] * self.packets
        for send in self.sends:
            ends[send.packet] = max(ends[send.packet], send.end)
        return max(
            (packets - 1 - packet) // self.packets * self.cycle + end
            for packet, end in enumerate(ends)
            if packet < packets
        )


class WaveBuilder:
    """Places the sends of packets with given times of links.

    Args:
        platform: the network with its source.
        times: the time of a packet over each link, an integer above 0.
    """

    def __init__(self, platform: Platform, times: Sequence[int]) -> None:
        self._platform, self._times = platform, times
        place = {port: number for number, port in enumerate(platform.all_ports)}
        self._ports = [[place[port] for port in ports] for ports in platform.ports]

    def along(self, trees: Sequence[Sequence[Route]], cycle: int | None) -> Wave | None:
        """Return a wave along given trees, one for each packet; None if the sends do not fit into the cycle.

        Without `cycle`, the packets are sent only once, and the length of the cycle is the time of all of them.
        """
        tails: dict[tuple[int, Route], int] = {}
        leaving: list[dict[int, list[Route]]] = []
        for packet, tree in enumerate(trees):
            below: dict[int, int] = {}
            found: dict[int, list[Route]] = {}
            for route in reversed(tree):
                first, *others = (self._times[link] for link in self._platform.links_of(route))
                tails[packet, route] = sum(others) + below.get(route[-1], 0)
                below[route[0]] = max(below.get(route[0], 0), first + tails[packet, route])
                found.setdefault(route[0], []).append(route)
            leaving.append(found)

        def key(packet: int, route: Route, starts: Sequence[int]) -> int:
            return starts[0] * FINE - tails[packet, route]

        return self._placement(cycle, key).place(leaving)

    def grown(
        self,
        routes: Mapping[int, Sequence[Route]],
        packets: int,
        cycle: int | None,
        *,
        apart: bool = False,
        key: "Key | None" = None,
    ) -> Wave | None:
        """Return a wave along trees that grow by the send that ends first; see `along` for the rest.

        Args:
            routes: for each compute node, the routes that leave it.
            packets: the number of packets of a cycle.
            cycle: the length of a cycle.
            apart: whether the nodes are first divided into equal parts, one for each packet, and a packet first
                reaches the nodes of its part. So a node has many branches in one tree and few in the others, as in
                two-tree broadcasts (Sanders, Speck and Traff 2009).
            key: what is least for the next send. It may only grow while sends are placed. The default is the end.
        """
        placement = self._placement(cycle, key or self._end)
        placement.apart = apart
        return placement.place([routes] * packets)

    def _placement(self, cycle: int | None, key: Key) -> "_Placement":
        return _Placement((self._platform, self._times, self._ports), cycle, key)

    def _end(self, packet: int, route: Route, starts: Sequence[int]) -> int:  # noqa: ARG002 (as `Key`)
        return starts[-1] + self._times[self._platform.topology.link_numbers[route[-2], route[-1]]]


class _Placement:
    """The state of list scheduling: the busy intervals of each port, modulo the cycle."""

    def __init__(
        self,
        links: tuple[Platform, Sequence[int], Sequence[Sequence[int]]],
        cycle: int | None,
        key: Key,
    ) -> None:
        self._platform, self._times, self._ports = links
        self._key = key
        self._once = cycle is None
        self._cycle = cycle or 0
        self._busy: list[list[tuple[int, int]]] = [[] for _ in self._platform.all_ports]
        self.apart = False
        self._inner: set[int] = set()
        self._later: list[tuple[int, Route]] = []

    def place(self, leaving: Sequence[Mapping[int, Sequence[Route]]]) -> Wave | None:
        """Place the sends of all packets; `leaving` has the routes of each packet by their first node."""
        arrived = [{self._platform.source: 0} for _ in leaving]
        heap: list[tuple[int, int, int, Route]] = []
        for packet, routes in enumerate(leaving):
            self._push(heap, packet, routes.get(self._platform.source, ()), 0)
        sends: list[WaveSend] = []
        trees: list[list[Route]] = [[] for _ in leaving]
        left = len(leaving) * len(self._platform.destinations)
        quota = [-(-len(self._platform.destinations) // len(leaving))] * len(leaving)
        while left and (heap or self.apart):
            if not heap:
                self.apart = False
                for packet, route in self._later:
                    self._push(heap, packet, [route], arrived[packet][route[0]])
                continue
            first, holders, packet, route = heapq.heappop(heap)
            if route[-1] in arrived[packet]:
                continue
            if self.apart and (route[-1] in self._inner or not quota[packet]):
                self._later.append((packet, route))
                continue
            starts = self._starts(route, arrived[packet][route[0]])
            if starts is None:
                continue
            key = self._key(packet, route, starts)
            if (key, len(trees[packet])) > (first, holders):
                heapq.heappush(heap, (key, len(trees[packet]), packet, route))
                continue
            end = self._book(route, starts, packet, sends)
            trees[packet].append(route)
            arrived[packet][route[-1]] = end
            left -= 1
            self._inner.add(route[-1])
            quota[packet] -= 1
            self._push(heap, packet, leaving[packet].get(route[-1], ()), end)
        if left:
            return None
        cycle = max(send.end for send in sends) if self._once else self._cycle
        return Wave(cycle, len(leaving), tuple(sends), tuple(map(tuple, trees)))

    def _push(self, heap: list[tuple[int, int, int, Route]], packet: int, routes: Sequence[Route], ready: int) -> None:
        for route in routes:
            starts = self._starts(route, ready)
            if starts is not None:
                heapq.heappush(heap, (self._key(packet, route, starts), 0, packet, route))

    def _starts(self, route: Route, ready: int) -> list[int] | None:
        """Return the earliest start on each link of a route from the time `ready`, or None if there is none."""
        starts = []
        for link in self._platform.links_of(route):
            start = self._earliest(link, ready)
            if start is None:
                return None
            starts.append(start)
            ready = start + self._times[link]
        return starts

    def _earliest(self, link: int, ready: int) -> int | None:
        time, start = self._times[link], ready
        while self._once or (time <= self._cycle and start < ready + self._cycle):
            later = max((self._free(port, start, time) for port in self._ports[link]), default=start)
            if later == start:
                return start
            start = later
        return None

    def _free(self, port: int, start: int, time: int) -> int:
        """Return `start` if the port is free for `time` from then on, else the end of an interval in the way."""
        busy = self._busy[port]
        if not busy:
            return start
        shift = 0 if self._once else start // self._cycle * self._cycle
        begin = start - shift
        place = bisect_right(busy, (begin, _LATE))
        if place and busy[place - 1][1] > begin:
            return busy[place - 1][1] + shift
        if place < len(busy) and busy[place][0] < begin + time:
            return busy[place][1] + shift
        if not self._once and begin + time > self._cycle and busy[0][0] < begin + time - self._cycle:
            return busy[0][1] + shift + self._cycle
        return start

    def _book(self, route: Route, starts: Sequence[int], packet: int, sends: list[WaveSend]) -> int:
        """Reserve the ports of a route and return the time when the packet has arrived."""
        end = 0
        for link, start in zip(self._platform.links_of(route), starts, strict=True):
            end = start + self._times[link]
            sends.append(WaveSend(start, end, packet, link))
            for port in self._ports[link]:
                self._reserve(port, start, end)
        return end

    def _reserve(self, port: int, start: int, end: int) -> None:
        if self._once:
            insort(self._busy[port], (start, end))
            return
        shift = start // self._cycle * self._cycle
        begin, stop = start - shift, end - shift
        insort(self._busy[port], (begin, min(stop, self._cycle)))
        if stop > self._cycle:
            insort(self._busy[port], (0, stop - self._cycle))


_LATE = 1 << 200
"""Later than every time."""
