"""Distances to and from a cut: data that crosses it makes sends before and after.

A send takes at least the time L, and an instruction the overhead o (see `hop_bounds`). In an allgather, data starts at
the members outside a set S, and has to reach the member s of S. It makes one send after the other, and one of them is
the last that enters S. Let link i with the bandwidth b(i) be the one over which it enters. It makes at least p(i) sends
before, and at least q(i) sends inside S after. So its bytes leave over link i after the time p(i)·L + o, and before
T - (q(i) + 1)·L, if T is the whole time. With A bytes of such data,

    sum over i of b(i)·max(0, T - (1 + p(i) + q(i))·L - o) >= A,

and the bound is the least such T. If all links are used, it is A / sum of b(i) + o + (1 + the mean of p + q)·L, where
links count by their bandwidths.

The data of all members outside S has to reach each member of S, so s may be any of them. All members, or only those
that are at least d sends away from S, have at least the least p(i) of one of them.

Links into S may begin or end on switches. A send goes over any number of switches.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product

from forestcoll.simulation.lower_bound.arrivals import Arrival
from forestcoll.topology import Link, Topology
from forestcoll.topology.graph.walks import fewest_counted


class Distances:
    """Distances in sends on a network."""

    def __init__(self, topology: Topology) -> None:
        """Prepare the links of a network."""
        self._compute, self._after = frozenset(topology.compute), topology.targets

    def sends(self, start: Collection[int], within: Collection[int] | None = None) -> Mapping[int, int]:
        """Return, for each compute node that is reached from a set of nodes, the number of sends.

        Args:
            start: the set; its compute nodes are reached without a send, and others over its switches with one.
            within: the nodes that sends may pass; None for all.
        """

        def after(node: int) -> Iterable[int]:
            targets = self._after[node]
            return targets if within is None else [target for target in targets if target in within]

        found = fewest_counted(start, after, self._compute)
        return {node: sends for node, sends in found.items() if node in self._compute}

    def around(self, node: int, within: Collection[int] | None = None) -> Mapping[int, int]:
        """Return, for each compute node, the number of sends after the one that a node receives or passes on."""
        found = self.sends({node}, within)
        return found if node in self._compute else {other: sends - 1 for other, sends in found.items()}


def entrances(topology: Topology, sets: Iterable[Collection[int]], members: Sequence[int]) -> frozenset[Arrival]:
    """Return what must enter each of some sets in an allgather.

    Args:
        topology: the network.
        sets: the sets of nodes.
        members: the nodes that take part.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> from forestcoll.simulation.lower_bound.distances import entrances
        >>> entrances(build_topology("ring:nodes=2"), [{0}], range(2))
        frozenset({Arrival(part=0.5, rates=((1, 1000.0),))})
    """
    onwards, back = Distances(topology), Distances(topology.transposed())
    before = cache(back.around)
    found: set[Arrival] = set()
    for nodes in sets:
        links = [link for link in topology.links if link.source not in nodes and link.target in nodes]
        inside = [each for each in members if each in nodes]
        outside = [each for each in members if each not in nodes]
        if links and inside and outside:
            after = {node: onwards.around(node, nodes) for node in sorted({link.target for link in links})}
            earlier = _earlier([before(link.source) for link in links], outside)
            later = _farthest([after[link.target] for link in links], inside, links)
            for (number, ahead), behind in product(earlier, later):
                paths = (
                    (1 + before_link + after_link, link.bandwidth)
                    for link, before_link, after_link in zip(links, ahead, behind, strict=True)
                    if before_link is not None and after_link is not None
                )
                found.add(Arrival.of(number / len(members), topology, paths))
    return frozenset(found)


_Sends = Sequence[int | None]
"""For each link into a set, the number of sends before or after; None if it cannot be used."""


def _earlier(distances: Sequence[Mapping[int, int]], outside: Sequence[int]) -> Iterator[tuple[int, _Sends]]:
    """Yield numbers of members outside a set, with the sends that their data makes before it enters over each link."""
    nearest = {member: min(each[member] for each in distances if member in each) for member in outside}
    for least in range(max(nearest.values()) + 1):
        far = [member for member, sends in nearest.items() if sends >= least]
        yield len(far), [min((each[member] for member in far if member in each), default=None) for each in distances]


def _farthest(
    distances: Sequence[Mapping[int, int]], members: Sequence[int], links: Sequence[Link]
) -> Iterator[_Sends]:
    """Yield the sends to the member that is farthest on average, and to the one with the greatest least number."""
    bandwidths = [float(link.bandwidth) for link in links]

    def mean(member: int) -> float:
        return sum(each.get(member, len(members)) * one for each, one in zip(distances, bandwidths, strict=True))

    def least(member: int) -> int:
        return min(each.get(member, len(members)) for each in distances)

    for member in dict.fromkeys((max(members, key=mean), max(members, key=least))):
        yield [each.get(member) for each in distances]
