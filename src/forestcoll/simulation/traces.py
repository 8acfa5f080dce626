"""The time of traces on a network whose links move one message at a time, as ASTRA-sim's analytical model does.

A message is sent whole from node to node. Each link serves its messages in the order in which they come. A message
arrives one latency after its last byte has left, and a send is done when its message has arrived. So a message that
crosses a switch takes twice the time of its transfer, unless it is one of many.

The source is `congestion_aware/network/Link.cpp` of astra-sim/astra-network-analytical, and
`CongestionAwareNetworkApi.cc` and `CustomAlgorithm.cc` of astra-sim/astra-sim.
"""

import heapq
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from forestcoll.programs.formats.chakra.document import Kind, Node, Trace
from forestcoll.simulation.loads import bytes_per_second
from forestcoll.simulation.program.paths import Paths

UNKNOWN_LATENCY_US = 0.5
"""The latency of a link of unknown latency, as network files for ASTRA-sim state it."""

SUM_SECONDS = 1e-9
"""The time of a sum without a stated duration, as in ASTRA-sim."""

_Place = tuple[int, int]
"""The numbers of a rank and of a node of its trace."""


def seconds_of(traces: Sequence[Trace], paths: Paths) -> float:
    """Return the time until the last node is done, in seconds. The traces must not have a fault."""
    return _Run(traces, paths).seconds()


@dataclass(slots=True)
class _Flight:
    """A message on its way: the send, its links, and how many of them it has crossed."""

    send: _Place
    size: int
    links: tuple[int, ...]
    crossed: int = 0


@dataclass(slots=True)
class _Link:
    """A link: seconds per byte, its latency in seconds, and the messages that wait for it."""

    byte_seconds: float
    latency: float
    busy: bool = False
    waiting: deque[_Flight] = field(default_factory=deque)


class _Run:
    """The state of a simulation."""

    def __init__(self, traces: Sequence[Trace], paths: Paths) -> None:
        rates = bytes_per_second(paths.topology).tolist()
        self.links = [
            _Link(1 / rate, float(UNKNOWN_LATENCY_US if link.latency_us is None else link.latency_us) * 1e-6)
            for link, rate in zip(paths.topology.links, rates, strict=True)
        ]
        self.paths = paths
        self.nodes = {(trace.rank, node.number): node for trace in traces for node in trace.nodes}
        self.needs = {place: len(set(node.after)) for place, node in self.nodes.items()}
        self.wakes: dict[_Place, list[_Place]] = {}
        for (rank, number), node in self.nodes.items():
            for other in set(node.after):
                self.wakes.setdefault((rank, other), []).append((rank, number))
        self.arrived: set[tuple[int, int, int]] = set()
        self.posted: dict[tuple[int, int, int], _Place] = {}
        self.events: list[tuple[float, int, _Place | _Link | _Flight]] = []
        self.now, self.count = 0.0, 0

    def seconds(self) -> float:
        """Run all events, and return the time of the last one."""
        for place in [place for place, need in self.needs.items() if not need]:
            self._begin(place)
        while self.events:
            self.now, _, event = heapq.heappop(self.events)
            if isinstance(event, _Link):
                self._free(event)
            elif isinstance(event, _Flight):
                self._arrive(event)
            else:
                self._done(event)
        return self.now

    def _at(self, time: float, event: _Place | _Link | _Flight) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, event))

    def _begin(self, place: _Place) -> None:
        node, rank = self.nodes[place], place[0]
        if node.kind is Kind.COMPUTE:
            self._at(self.now + SUM_SECONDS, place)
        elif node.kind is Kind.SEND:
            self._send(_Flight(place, node.size, self.paths.between(rank, node.peer).links))
        elif _message(rank, node) in self.arrived:
            self._at(self.now, place)
        else:
            self.posted[_message(rank, node)] = place

    def _send(self, flight: _Flight) -> None:
        """Send a message over its next link, or let it wait for the link."""
        link = self.links[flight.links[flight.crossed]]
        if link.busy:
            link.waiting.append(flight)
            return
        link.busy = True
        free = self.now + flight.size * link.byte_seconds
        self._at(free + link.latency, flight)
        self._at(free, link)

    def _free(self, link: _Link) -> None:
        link.busy = False
        if link.waiting:
            self._send(link.waiting.popleft())

    def _arrive(self, flight: _Flight) -> None:
        flight.crossed += 1
        if flight.crossed < len(flight.links):
            self._send(flight)
            return
        message = _message(flight.send[0], self.nodes[flight.send])
        self.arrived.add(message)
        if message in self.posted:
            self._done(self.posted.pop(message))
        self._done(flight.send)

    def _done(self, place: _Place) -> None:
        for other in self.wakes.get(place, ()):
            self.needs[other] -= 1
            if not self.needs[other]:
                self._begin(other)


def _message(rank: int, node: Node) -> tuple[int, int, int]:
    """Return the source, the target and the tag of a message."""
    return (rank, node.peer, node.tag) if node.kind is Kind.SEND else (node.peer, rank, node.tag)
