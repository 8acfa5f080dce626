"""A random platform similar to those of Tiers: a wide area network, metropolitan networks on it, local ones on those.

M. Doar, *A better model for generating test networks*, Globecom 1996; the series of broadcasts were tested on such
platforms (INRIA RR-4871, §7). As in Tiers, the nodes of a wide or metropolitan network are at random places of a
square. They are joined by a shortest spanning tree, and by more links between the nearest nodes that are not joined
yet. A local network is a star around its first node. Networks of a level are joined to random nodes of the level above.
Unlike in Tiers, the numbers of nodes are fixed, and the start-up of a link is the time of light in glass, 5 us a
kilometre.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import ClassVar, NamedTuple

from forestcoll.base.parameters import flag, integer, link_bandwidth
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.registry import Recipe, Size, topology_builder

_WIDE, _METROPOLITAN, _LOCAL = 2000, 50, 1
"""Sides of the squares in kilometres; all nodes of a local network are at the same place."""

_MICROSECONDS = 5
_MASK = 2**64 - 1

Place = tuple[int, int]


class Draws:
    """Random numbers that are the same for the same seed on every machine and in every version of Python: SplitMix64.

    G. L. Steele, D. Lea and C. H. Flood, *Fast splittable pseudorandom number generators*, 2014.
    """

    def __init__(self, seed: int) -> None:
        self._state = seed & _MASK

    def _next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)

    def integer(self, lowest: int, highest: int) -> int:
        """Return an integer from `lowest` to `highest`, all equally likely."""
        count = highest - lowest + 1
        beyond = (2**64 // count) * count  # larger numbers would make some results more likely
        while (drawn := self._next()) >= beyond:
            continue
        return lowest + drawn % count


class _Wire(NamedTuple):
    """A full-duplex link: its ends, its level, and its length in kilometres."""

    one: int
    other: int
    level: str
    length: int


@topology_builder(
    "tiers",
    summary="random one-port platform: wide, metropolitan and local networks",
    source="similar to M. Doar, A better model for generating test networks, Globecom 1996",
)
@dataclass(frozen=True)
class Tiers(Recipe):
    """A random platform. Nodes are numbered from 0: the wide network, then the metropolitan ones, then the local."""

    port_model: ClassVar[str | None] = "one-port"

    wide: int = integer(5, "nodes of the wide network", is_size=True)
    areas: int = integer(2, "metropolitan networks", minimum=0, is_size=True)
    metropolitan: int = integer(4, "nodes of each metropolitan network", is_size=True)
    offices: int = integer(2, "local networks of each metropolitan one", minimum=0, is_size=True)
    local: int = integer(4, "nodes of each local network", is_size=True)
    seed: int = integer(1, "seed of the random numbers", minimum=0, is_size=True)
    redundancy: int = integer(2, "links of wide and metropolitan networks beyond a tree", minimum=0)
    wide_bandwidth: Fraction = link_bandwidth(1, "of wide links, each way, at most")
    metropolitan_bandwidth: Fraction = link_bandwidth(5, "of metropolitan links, at most")
    local_bandwidth: Fraction = link_bandwidth(10, "of local links, at most")
    slowest: int = integer(20, "least bandwidth of a link, in percent of the most of its level", maximum=100)
    routers: bool = flag("nodes of wide and metropolitan networks are switches")

    def problem(self) -> str | None:
        if self.routers and self._counts()[2] < 2:
            return "with routers only local nodes compute, and there are fewer than two; add offices"
        if not self.routers and sum(self._counts()) < 2:
            return "there are fewer than two nodes; make the wide network larger"
        return None

    def _counts(self) -> tuple[int, int, int]:
        return self.wide, self.areas * self.metropolitan, self.areas * self.offices * self.local

    def size(self) -> Size:
        wide, metropolitan, local = self._counts()
        joins = self.areas + self.areas * self.offices
        inside = _size(self.wide, self.redundancy) + self.areas * _size(self.metropolitan, self.redundancy)
        inside += self.areas * self.offices * (self.local - 1)
        return Size(local if self.routers else wide + metropolitan + local, 2 * (inside + joins))

    def fill(self, network: TopologyBuilder) -> None:
        wide, metropolitan, local = self._counts()
        for node in range(wide + metropolitan + local):
            tier = "wide" if node < wide else "metropolitan" if node < wide + metropolitan else "local"
            add = network.add_switch if self.routers and tier != "local" else network.add_compute
            add(node, tier=tier)
        draws = Draws(self.seed)
        most = {"wide": self.wide_bandwidth, "metropolitan": self.metropolitan_bandwidth, "local": self.local_bandwidth}
        for wire in self._wires(draws):
            bandwidth = most[wire.level] * draws.integer(self.slowest, 100) / 100
            network.add_duplex(wire.one, wire.other, bandwidth, latency_us=max(1, _MICROSECONDS * wire.length))

    def _wires(self, draws: Draws) -> Iterator[_Wire]:
        wide = range(self.wide)
        yield from _meshed(wide, "wide", _WIDE, self.redundancy, draws)
        begin, offices = self.wide, self.wide + self.areas * self.metropolitan
        for _ in range(self.areas):
            area = range(begin, begin + self.metropolitan)
            begin += self.metropolitan
            yield from _meshed(area, "metropolitan", _METROPOLITAN, self.redundancy, draws)
            yield _Wire(_one_of(wide, draws), _one_of(area, draws), "wide", draws.integer(1, _WIDE))
            for _ in range(self.offices):
                yield _Wire(_one_of(area, draws), offices, "metropolitan", draws.integer(1, _METROPOLITAN))
                yield from (_Wire(offices, offices + leaf, "local", _LOCAL) for leaf in range(1, self.local))
                offices += self.local


def _size(nodes: int, redundancy: int) -> int:
    """Return the number of links of a network of `nodes` nodes."""
    return min(nodes - 1 + redundancy, nodes * (nodes - 1) // 2)


def _one_of(nodes: Sequence[int], draws: Draws) -> int:
    return nodes[draws.integer(0, len(nodes) - 1)]


def _meshed(nodes: Sequence[int], level: str, side: int, redundancy: int, draws: Draws) -> Iterator[_Wire]:
    """Yield the links of a network: a shortest spanning tree (Prim), then the shortest of the remaining links."""
    places = [(draws.integer(0, side), draws.integer(0, side)) for _ in nodes]
    joined = {0}
    tree = set()
    while len(joined) < len(nodes):
        outside = [other for other in range(len(nodes)) if other not in joined]
        one, other = min(
            ((one, other) for one in sorted(joined) for other in outside),
            key=lambda pair: (_squared(places[pair[0]], places[pair[1]]), pair),
        )
        joined.add(other)
        tree.add((min(one, other), max(one, other)))
    left = [(one, other) for other in range(len(nodes)) for one in range(other) if (one, other) not in tree]
    left.sort(key=lambda pair: (_squared(places[pair[0]], places[pair[1]]), pair))
    for one, other in [*sorted(tree), *left[:redundancy]]:
        yield _Wire(nodes[one], nodes[other], level, isqrt(_squared(places[one], places[other])))


def _squared(one: Place, other: Place) -> int:
    return (one[0] - other[0]) ** 2 + (one[1] - other[1]) ** 2
