"""Flows over time: in an allreduce, the summands of each member must reach each other member, for all M bytes.

A send takes at least the time L, and an instruction the overhead o (see `hop_bounds`). Let u and s be two members. Each
byte of the result on s has a summand of u, whatever else was added to it on the way. So each byte comes along a walk of
messages from u to s. It leaves u after o, each further message leaves at least L after the one before, and the last one
leaves at least L before the end T. Each message uses its links for its own bytes only. So the walks of all bytes are a
flow over time of M bytes from u to s, and T is at least the time of the quickest flow.

L. R. Ford and D. R. Fulkerson (*Constructing maximal dynamic flows from static flows*, 1958) show that no flow over
time brings more than a static flow whose paths are used as long as possible: a path i of h(i) sends and the bandwidth
b(i) brings b(i)·max(0, T - h(i)·L - o). Shortest augmenting paths, one after the other, are the best ones for every T.

Proof that no flow brings more: give each node v a time t(v), with t(u) = o and t(s) = T. A walk is at u at t(u) or
later, and at s at t(s) or earlier. So it has a link from v to w over which it leaves v at t(v) or later and is at w at
t(w) or earlier, with c = L if v is a rank, and c = 0 if v is a switch. So its byte uses the link in a window of the
length t(w) - t(v) - c. All windows of positive length together bound the bytes. By the duality of linear programs,
some times leave them room for exactly as many bytes as the paths bring.

Every two members give a bound. Those of different boxes, and those that are far apart, are tried first.

Cost: a pair has as many augmenting paths as a rank has links, about, and each looks at all links at least once.
"""

from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import permutations

from forestcoll.topology import Topology
from forestcoll.topology.boxes import box_numbers
from forestcoll.tuning.arrivals import Arrival
from forestcoll.tuning.distances import Distances

MOST_PAIRS = 24
"""The most pairs of members that are tried."""

MOST_MEMBERS = 64
"""The most members of which pairs are made."""


def summands(topology: Topology, members: Sequence[int]) -> frozenset[Arrival]:
    """Return how fast all summands of a member can reach another one in an allreduce, for several pairs of members.

    Args:
        topology: the network.
        members: the nodes that take part.

    Example:
        >>> from forestcoll import build_topology
        >>> from forestcoll.tuning.flows_over_time import summands
        >>> summands(build_topology("ring:nodes=3"), range(3))  # directly, or over the third node
        frozenset({Arrival(part=1.0, rates=((1, 1000.0), (2, 1000.0)))})
    """
    pairs = _far_pairs(topology, members)
    return frozenset(Arrival.of(1.0, topology, shortest_ways(topology, *pair)) for pair in pairs)


def shortest_ways(topology: Topology, source: int, target: int) -> Iterator[tuple[int, Fraction]]:
    """Yield the sends and the bandwidth of each shortest augmenting path between two compute nodes.

    Example:
        >>> from forestcoll import build_topology
        >>> from forestcoll.tuning.flows_over_time import shortest_ways
        >>> [(sends, int(bandwidth)) for sends, bandwidth in shortest_ways(build_topology("ring:nodes=5"), 0, 2)]
        [(2, 1), (3, 1)]
    """
    arcs = _Arcs(topology)
    while (path := arcs.shortest_path(source, target)) is not None:
        yield sum(arcs.sends[arc] for arc in path), arcs.use(path)


class _Arcs:
    """The links with what is left of their bandwidth; arc 2·i is link i, and arc 2·i + 1 takes back what it carries.

    Attributes:
        sends: for each arc, 1 if it leaves a compute node, as a send begins there, else 0; negative if it takes back.
    """

    def __init__(self, topology: Topology) -> None:
        self._ends: list[int] = []
        self._left: list[Fraction] = []
        self.sends: list[int] = []
        self._leaving: list[list[int]] = [[] for _ in topology.nodes]
        for link in topology.links:
            sends = int(topology.nodes[link.source].is_compute)
            for start, end, left, each in (
                (link.source, link.target, link.bandwidth, sends),
                (link.target, link.source, Fraction(0), -sends),
            ):
                self._leaving[start].append(len(self._ends))
                self._ends.append(end)
                self._left.append(left)
                self.sends.append(each)

    def shortest_path(self, source: int, target: int) -> list[int] | None:
        """Return the arcs of a path of the fewest sends over arcs with bandwidth left, from its end; None if none is.

        Sends of arcs may be negative, so a node is looked at again when a shorter path to it is found.
        """
        sends, last, waiting = {source: 0}, dict[int, int](), deque([source])
        while waiting:
            node = waiting.popleft()
            for arc in self._leaving[node]:
                end, known = self._ends[arc], sends[node] + self.sends[arc]
                if self._left[arc] and (end not in sends or known < sends[end]):
                    sends[end], last[end] = known, arc
                    waiting.append(end)
        return self._back(source, target, last) if target in last else None

    def _back(self, source: int, target: int, last: Mapping[int, int]) -> list[int]:
        path, node = [], target
        while node != source:
            path.append(last[node])
            node = self._ends[last[node] ^ 1]
        return path

    def use(self, path: Sequence[int]) -> Fraction:
        """Use all bandwidth that is left of a path, and return it."""
        most = min(self._left[arc] for arc in path)
        for arc in path:
            self._left[arc] -= most
            self._left[arc ^ 1] += most
        return most


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
