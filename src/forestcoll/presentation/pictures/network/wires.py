"""The lines of a picture: the links between two marks together, each direction with its bandwidth and load."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.presentation.pictures.layout import Mark, NetworkLayout
from forestcoll.topology import Link, Topology

_EQUAL = 1e-6
"""Loads that differ by less than this part of the greatest load are drawn as equal."""

Point = tuple[float, float]


@dataclass(frozen=True)
class Wire:
    """All links from one mark to another, in one direction.

    Attributes:
        source: the number of the mark that sends.
        target: the number of the mark that receives.
        links: the numbers of the links.
        bandwidth: the greatest bandwidth of one link.
        load: the greatest part of the time in which one of the links is busy; None without a schedule.
        least: the least such part.
    """

    source: int
    target: int
    links: tuple[int, ...]
    bandwidth: Fraction
    load: float | None = None
    least: float | None = None

    @property
    def ends(self) -> tuple[int, int]:
        """The two marks, the smaller number first."""
        return min(self.source, self.target), max(self.source, self.target)


def wires_of(topology: Topology, layout: NetworkLayout, busy: Sequence[float] | None = None) -> tuple[Wire, ...]:
    """Return the wires of a picture; links inside a mark have none.

    Args:
        topology: the network.
        layout: its layout.
        busy: for each link, the part of the time in which it is busy.
    """
    found: dict[tuple[int, int], list[int]] = {}
    for number, link in enumerate(topology.links):
        ends = layout.of_node[link.source], layout.of_node[link.target]
        if ends[0] != ends[1] and layout.undrawn.isdisjoint(ends):
            found.setdefault(ends, []).append(number)
    return tuple(_wire(topology, ends, numbers, busy) for ends, numbers in sorted(found.items()))


def _wire(topology: Topology, ends: tuple[int, int], numbers: list[int], busy: Sequence[float] | None) -> Wire:
    bandwidth = max(topology.links[number].bandwidth for number in numbers)
    loads = [] if busy is None else [busy[number] for number in numbers]
    return Wire(*ends, tuple(numbers), bandwidth, max(loads, default=None), min(loads, default=None))


def paired(wires: Sequence[Wire]) -> list[tuple[Wire, Wire | None]]:
    """Return each wire with its opposite if one line can stand for both: equal bandwidth and load.

    Otherwise both directions are listed on their own, with None.
    """
    by_ends = {(wire.source, wire.target): wire for wire in wires}
    pairs: list[tuple[Wire, Wire | None]] = []
    for wire in wires:
        back = by_ends.get((wire.target, wire.source))
        if back is not None and _alike(wire, back):
            if wire.source < wire.target:
                pairs.append((wire, back))
        else:
            pairs.append((wire, None))
    return pairs


def _alike(one: Wire, other: Wire) -> bool:
    loads = (one.load, other.load), (one.least, other.least)
    return one.bandwidth == other.bandwidth and all(a is b or abs((a or 0) - (b or 0)) < _EQUAL for a, b in loads)


def ends_of(one: Mark, other: Mark) -> tuple[Point, Point]:
    """Return the ends of a line between two marks: vertical where the marks are above each other."""
    inset = 6.0
    left = max(one.x - one.width / 2, other.x - other.width / 2) + inset
    right = min(one.x + one.width / 2, other.x + other.width / 2) - inset
    if right >= left and abs(one.y - other.y) > 1:
        narrow = one if one.width <= other.width else other
        x = min(max(narrow.x, left), right)
        return (x, one.y), (x, other.y)
    return _towards(one, other.x, inset), _towards(other, one.x, inset)


def _towards(mark: Mark, x: float, inset: float) -> Point:
    half = max(mark.width / 2 - inset, 0.0) if not mark.is_compute else 0.0
    return min(max(x, mark.x - half), mark.x + half), mark.y


def width_of(bandwidth: Fraction, most: Fraction) -> float:
    """Return the width of a line: from 1.2 to 6, by the square root of the bandwidth."""
    return 1.2 + 4.8 * math.sqrt(bandwidth / most)


def reference_bandwidth(topology: Topology) -> Fraction:
    """Return the bandwidth whose line is widest; if all bandwidths are equal, a greater one, for thinner lines."""
    values = {link.bandwidth for link in topology.links}
    return max(values) * (1 if len(values) > 1 else 6)


def names_of(topology: Topology, link: Link) -> str:
    """Return the ids of the ends of a link."""
    return f"{topology.nodes[link.source].id} → {topology.nodes[link.target].id}"
