"""Capacity that must stay unused so that no switch gives out more than it takes in (ForestColl §E.4, left open there).

Rounding bandwidths down to whole trees can unbalance the switches of a one-way network. What a switch takes in beyond
what it gives out does no harm: with an arc back to the source that wide it is balanced, no cut between the source and a
compute node counts the arc, and edge splitting goes through (Bang-Jensen, Frank and Jackson; `docs/method.md`, 5.1).
What it gives out beyond what it takes in must go: not from one link, which leaves the next switch with too little, but
along a way that ends at a compute node which receives more than it needs, or at a switch that takes in too much. As
much is taken along a way as the trees can spare, by bisection, exactly.

Each way that is tried and fails costs a question a link, and a search visits a switch once, so a call is bounded by
(links + units of excess) questions; none is handed round a cycle. It is no complete search: where it fails there may be
a selection of ways that it did not try.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from forestcoll.topology import Topology

Fits: TypeAlias = Callable[[Sequence[int]], bool]


def trimmed(topology: Topology, capacities: Sequence[int], spare: Sequence[int], fits: Fits) -> tuple[int, ...] | None:
    """Return capacities, none greater than those given, so that no switch gives out too much and they fit, or None.

    Args:
        topology: the network.
        capacities: of each link; they fit.
        spare: of each node, how much less than now it may receive at most, 0 of switches.
        fits: whether the trees fit into some capacities; what fits fits into more.
    """
    trimming = _Trimming(topology, capacities, spare, fits)
    return tuple(trimming.left) if trimming.run() else None


def excess_of(topology: Topology, capacities: Sequence[int]) -> list[int]:
    """Return of each node how much more it gives out than it takes in."""
    excess = [0] * len(topology.nodes)
    for link, capacity in zip(topology.links, capacities, strict=True):
        excess[link.source] += capacity
        excess[link.target] -= capacity
    return excess


class _Trimming:
    def __init__(self, topology: Topology, capacities: Sequence[int], spare: Sequence[int], fits: Fits) -> None:
        self.left = list(capacities)
        self._topology, self._fits = topology, fits
        excess = excess_of(topology, capacities)
        self._excess = {switch: excess[switch] for switch in topology.switches if excess[switch] > 0}
        self._absorbs = list(spare)
        for switch in topology.switches:
            self._absorbs[switch] = max(0, -excess[switch])
        self._out: list[list[int]] = [[] for _ in topology.nodes]
        for number, link in enumerate(topology.links):
            self._out[link.source].append(number)

    def run(self) -> bool:
        """Take away what is too much, and return whether that was possible."""
        if sum(self._excess.values()) > sum(self._absorbs):
            return False
        for switch in self._excess:
            while self._excess[switch]:
                way = self._way(switch)
                if way is None:
                    return False
                self._take(switch, way)
        return True

    def _way(self, switch: int) -> list[int] | None:
        """Return links from `switch` to a node that can absorb, a unit of each of which the trees can spare."""
        seen = {switch}
        way: list[int] = []
        pending = [iter(self._out[switch])]
        while pending:
            link = next(pending[-1], None)
            if link is None:
                pending.pop()
                del way[-1:]
                continue
            target = self._topology.links[link].target
            if target in seen or not self.left[link] or not self._leads_on(target):
                continue
            if not self._spares([*way, link], 1):
                continue
            way.append(link)
            if self._absorbs[target]:
                return way
            seen.add(target)
            pending.append(iter(self._out[target]))
        return None

    def _leads_on(self, node: int) -> bool:
        return self._absorbs[node] > 0 or not self._topology.nodes[node].is_compute

    def _spares(self, way: Sequence[int], amount: int) -> bool:
        fewer = list(self.left)
        for link in way:
            fewer[link] -= amount
        return self._fits(fewer)

    def _take(self, switch: int, way: Sequence[int]) -> None:
        """Take as much as can be spared along a way that can spare a unit."""
        end = self._topology.links[way[-1]].target
        most = min(self._excess[switch], self._absorbs[end], *(self.left[link] for link in way))
        enough, too_much = 1, most + 1
        attempt = most
        while too_much - enough > 1:
            if self._spares(way, attempt):
                enough = attempt
            else:
                too_much = attempt
            attempt = (enough + too_much) // 2
        for link in way:
            self.left[link] -= enough
        self._excess[switch] -= enough
        self._absorbs[end] -= enough
