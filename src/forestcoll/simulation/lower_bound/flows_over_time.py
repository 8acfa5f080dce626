"""Flows over time: in an allreduce, the summands of each member must reach each other member, for all M bytes.

A send takes at least the time L, and an instruction the overhead o (see `hop_bounds`). Let u and s be two members. Each
byte of the result on s has a summand of u, whatever else was added to it on the way. So each byte comes along a walk of
messages from u to s. It leaves u after o, each further message leaves at least L after the one before, and the last one
leaves at least L before the end T. Each message uses its links for its own bytes only. So the walks of all bytes are a
flow over time of M bytes from u to s, and T is at least the time of the quickest flow.

L. R. Ford and D. R. Fulkerson (*Constructing maximal dynamic flows from static flows*, 1958) show that no flow over
time brings more than a static flow whose paths are used as long as possible: a path i of h(i) sends and the bandwidth
b(i) brings b(i)·max(0, T - h(i)·L - o). The successive shortest path algorithm finds paths that are optimal for each T.

Proof that no flow brings more: give each node v a time t(v), with t(u) = o and t(s) = T. A walk is at u at t(u) or
later, and at s at t(s) or earlier. So it has a link from v to w over which it leaves v at t(v) or later and is at w at
t(w) or earlier, with c = L if v is a rank, and c = 0 if v is a switch. So its byte uses the link in a window of the
length t(w) - t(v) - c. All windows of positive length together bound the bytes. By the duality of linear programs,
some times leave them room for exactly as many bytes as the paths bring.

Every two members give a bound. Those of different boxes, and those that are far apart, are tried first.

Cost: for each length of a path between two members, the shortest paths and a flow along all of them are computed.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from math import lcm

from forestcoll.simulation.lower_bound.arrivals import Arrival
from forestcoll.simulation.lower_bound.distances import Distances
from forestcoll.solver.flows.max_flow import MaxFlow
from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import box_numbers

MOST_PAIRS = 24
"""The most pairs of members that are tried."""

MOST_MEMBERS = 64
"""The most members of which pairs are made."""


def quickest_flows(topology: Topology, members: Sequence[int]) -> frozenset[Arrival]:
    """Return how fast the summands of one member can reach another one in an allreduce, for several pairs of members.

    Args:
        topology: the network.
        members: the nodes that take part.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> from forestcoll.simulation.lower_bound.flows_over_time import quickest_flows
        >>> quickest_flows(build_topology("ring:nodes=3"), range(3))  # directly, or over the third node
        frozenset({Arrival(part=1.0, rates=((1, 1000.0), (2, 1000.0)))})
    """
    pairs = _far_pairs(topology, members)
    return frozenset(Arrival.of(1.0, topology, successive_shortest_paths(topology, *pair)) for pair in pairs)


def successive_shortest_paths(topology: Topology, source: int, target: int) -> Iterator[tuple[int, Fraction]]:
    """Yield the sends of the shortest augmenting paths between two compute nodes, and the bandwidth of all of them.

    Each pair has more sends than the one before.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> from forestcoll.simulation.lower_bound.flows_over_time import successive_shortest_paths
        >>> [(sends, int(rate)) for sends, rate in successive_shortest_paths(build_topology("ring:nodes=5"), 0, 2)]
        [(2, 1), (3, 1)]
    """
    residual = _Residual(topology)
    while (found := residual.augment(source, target)) is not None:
        yield found


class _Residual:
    """The bandwidth that is left of links: arc 2·i is link i, and arc 2·i + 1 takes back what the link carries."""

    def __init__(self, topology: Topology) -> None:
        self._unit = lcm(*(link.bandwidth.denominator for link in topology.links))
        self._leaving: list[list[int]] = [[] for _ in topology.nodes]
        self._tails: list[int] = []
        self._heads: list[int] = []
        self._left: list[int] = []
        self._sends: list[int] = []  # a send begins on each link that leaves a compute node
        for link in topology.links:
            room, sends = int(link.bandwidth * self._unit), int(topology.nodes[link.source].is_compute)
            for tail, head, left, each in (
                (link.source, link.target, room, sends),
                (link.target, link.source, 0, -sends),
            ):
                self._leaving[tail].append(len(self._tails))
                self._tails.append(tail)
                self._heads.append(head)
                self._left.append(left)
                self._sends.append(each)

    def augment(self, source: int, target: int) -> tuple[int, Fraction] | None:
        """Use all shortest paths between two nodes, and return their sends and bandwidth; None if there is no path."""
        sends = self._distances(source)
        if target not in sends:
            return None
        arcs = [
            arc
            for arc, left in enumerate(self._left)
            if left and self._tails[arc] in sends
            if sends[self._heads[arc]] == sends[self._tails[arc]] + self._sends[arc]
        ]
        rows = [(self._tails[arc], self._heads[arc], self._left[arc]) for arc in arcs]
        most = MaxFlow(len(self._leaving), rows, source, target)
        for arc, amount in zip(arcs, most.flow, strict=True):
            self._left[arc] -= amount
            self._left[arc ^ 1] += amount
        return sends[target], Fraction(most.value, self._unit)

    def _distances(self, source: int) -> Mapping[int, int]:
        """Return the fewest sends to each node that can be reached.

        Arcs that take back have negative sends, so a node is looked at again when a shorter path to it is found.
        """
        sends, waiting = {source: 0}, deque([source])
        while waiting:
            node = waiting.popleft()
            for arc in self._leaving[node]:
                head, known = self._heads[arc], sends[node] + self._sends[arc]
                if self._left[arc] and (head not in sends or known < sends[head]):
                    sends[head] = known
                    waiting.append(head)
        return sends


def _far_pairs(topology: Topology, members: Sequence[int]) -> list[tuple[int, int]]:
    """Return one pair of members of each kind, those of different boxes and those that are far apart first.

    Members are of one kind if their links have the same bandwidths, and the nodes of their box are at the same
    distances from and to them, in sends inside the box. Of many members, only the first and the last ones are used.
    """
    some = members if len(members) <= MOST_MEMBERS else (*members[: MOST_MEMBERS // 2], *members[-MOST_MEMBERS // 2 :])
    boxes, inside = box_numbers(topology), defaultdict[int | None, set[int]](set)
    for node in range(len(topology.nodes)):
        inside[boxes.get(node)].add(node)
    onwards, back = Distances(topology), Distances(topology.transposed())
    there = {member: onwards.sends({member}, inside[boxes.get(member)]) for member in some}
    here = {member: back.sends({member}, inside[boxes.get(member)]) for member in some}
    kinds = {
        member: (links, *sorted(there[member].values()), *sorted(here[member].values()))
        for member, links in _bandwidths(topology, some).items()
    }
    found: dict[object, tuple[bool, int, tuple[int, int]]] = {}
    for one, other in permutations(some, 2):
        apart = there[one].get(other)
        far = max(there[one].values()) + max(here[other].values()) if apart is None else apart
        found.setdefault((kinds[one], kinds[other], apart), (apart is not None, -far, (one, other)))
    return [pair for *_, pair in sorted(found.values())[:MOST_PAIRS]]


def _bandwidths(topology: Topology, members: Sequence[int]) -> Mapping[int, tuple[tuple[bool, Fraction], ...]]:
    """Return, for each member, whether its links leave it, and their bandwidths."""
    found: dict[int, list[tuple[bool, Fraction]]] = {member: [] for member in members}
    for link in topology.links:
        for node, leaves in ((link.source, True), (link.target, False)):
            if node in found:
                found[node].append((leaves, link.bandwidth))
    return {member: tuple(sorted(listed)) for member, listed in found.items()}
