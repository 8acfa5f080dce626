"""Removal of capacity so that no switch sends more than it receives (ForestColl §E.4 leaves this problem open).

Rounding bandwidths down to whole trees can unbalance the switches of a network with one-way links. A switch that
receives more than it sends is harmless: an arc of that capacity back to the source balances it. No cut between the
source and a compute node counts the arc, and edge splitting stays possible (Bang-Jensen, Frank and Jackson;
`docs/evidence/method-proofs.md`).

If a switch sends more than it receives, the excess is removed. Removal from one link alone would leave the next switch
with too little, so capacity is removed along a path. The path ends at a compute node that receives more than it needs,
or at a switch that receives more than it sends. Bisection finds the most capacity that the trees can spare on the path.

Cost: a search visits each switch once and tests each link once, so a call makes at most one test per link for each unit
of excess. The search is not complete: if it fails, other paths may exist that it did not try.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from forestcoll.topology import Topology

Fits: TypeAlias = Callable[[Sequence[int]], bool]


def trimmed(topology: Topology, capacities: Sequence[int], spare: Sequence[int], fits: Fits) -> tuple[int, ...] | None:
    """Return reduced capacities with which the trees fit and no switch sends more than it receives, or None.

    Args:
        topology: the network.
        capacities: the capacity of each link; the trees fit into them.
        spare: for each compute node, by how much its entering capacity may decrease; 0 for switches.
        fits: returns whether the trees fit into the given capacities. It is monotone: trees that fit into capacities
            also fit into greater ones.
    """
    trimming = _Trimming(topology, capacities, spare, fits)
    return tuple(trimming.left) if trimming.run() else None


def excess_of(topology: Topology, capacities: Sequence[int]) -> list[int]:
    """Return the exit capacity minus the entering capacity of each node."""
    excess = [0] * len(topology.nodes)
    for source, target, capacity in zip(*topology.link_ends, capacities, strict=True):
        excess[source] += capacity
        excess[target] -= capacity
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
        self._out = topology.leaving

    def run(self) -> bool:
        """Remove the excess of all switches; return whether that was possible."""
        if sum(self._excess.values()) > sum(self._absorbs):
            return False
        for switch in self._excess:
            while self._excess[switch]:
                path = self._path(switch)
                if path is None:
                    return False
                self._remove(switch, path)
        return True

    def _path(self, switch: int) -> list[int] | None:
        """Return a path from `switch` to a node that may receive less, if the trees can spare a unit of each link."""
        seen = {switch}
        path: list[int] = []
        pending = [iter(self._out[switch])]
        while pending:
            link = next(pending[-1], None)
            if link is None:
                pending.pop()
                del path[-1:]
                continue
            target = self._topology.links[link].target
            if target in seen or not self.left[link] or not self._leads_on(target):
                continue
            if not self._spares([*path, link], 1):
                continue
            path.append(link)
            if self._absorbs[target]:
                return path
            seen.add(target)
            pending.append(iter(self._out[target]))
        return None

    def _leads_on(self, node: int) -> bool:
        return self._absorbs[node] > 0 or not self._topology.nodes[node].is_compute

    def _spares(self, path: Sequence[int], amount: int) -> bool:
        fewer = list(self.left)
        for link in path:
            fewer[link] -= amount
        return self._fits(fewer)

    def _remove(self, switch: int, path: Sequence[int]) -> None:
        """Remove the most capacity that the trees can spare along `path`, which is at least one unit."""
        end = self._topology.links[path[-1]].target
        most = min(self._excess[switch], self._absorbs[end], *(self.left[link] for link in path))
        enough, too_much = 1, most + 1
        attempt = most
        while too_much - enough > 1:
            if self._spares(path, attempt):
                enough = attempt
            else:
                too_much = attempt
            attempt = (enough + too_much) // 2
        for link in path:
            self.left[link] -= enough
        self._excess[switch] -= enough
        self._absorbs[end] -= enough
