"""Orbits of a symmetry: nodes and links that the symmetry maps to each other, which a linear program can combine.

If a group maps a network to itself, the mean of all images of a solution is a solution with the same value. So a linear
program with one column per orbit of links has the same optimum as the program with one column per link.
`topology.automorphisms` finds the group and proves that it is a symmetry.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.topology.model import Topology
from forestcoll.topology.symmetry.shifts import Symmetry


@dataclass(frozen=True)
class Orbits:
    """The orbits of a group of symmetries.

    Attributes:
        symmetry: the group.
        of_node: for each node, the number of its orbit.
        of_link: for each link, the number of its orbit.
    """

    symmetry: Symmetry
    of_node: tuple[int, ...]
    of_link: tuple[int, ...]

    @staticmethod
    def of(topology: Topology, symmetry: Symmetry | None = None) -> "Orbits":
        """Return the orbits of `symmetry`, or of the group that `find_symmetry` finds."""
        from forestcoll.topology.symmetry.automorphisms import find_symmetry

        group = find_symmetry(topology) if symmetry is None else symmetry
        places = topology.link_numbers
        nodes, links = DisjointSets(len(topology.nodes)), DisjointSets(len(topology.links))
        for image in (shift.image.tolist() for shift in group.shifts):
            for node, moved in enumerate(image):
                nodes.join(node, moved)
            for (source, target), place in places.items():
                links.join(place, places[image[source], image[target]])
        return Orbits(group, nodes.numbers(), links.numbers())

    @cached_property
    def node_sizes(self) -> tuple[int, ...]:
        """For each orbit of nodes, its number of nodes."""
        return _sizes(self.of_node)

    @cached_property
    def link_sizes(self) -> tuple[int, ...]:
        """For each orbit of links, its number of links."""
        return _sizes(self.of_link)

    @cached_property
    def first_nodes(self) -> tuple[int, ...]:
        """For each orbit of nodes, its first node."""
        return _firsts(self.of_node)

    @cached_property
    def first_links(self) -> tuple[int, ...]:
        """For each orbit of links, its first link."""
        return _firsts(self.of_link)

    def of_reversed(self, topology: Topology) -> tuple[int, ...]:
        """Return, for each orbit of links of a full duplex network, the orbit of the opposite links."""
        firsts = (topology.links[place] for place in self.first_links)
        return tuple(self.of_link[topology.link_numbers[link.target, link.source]] for link in firsts)

    def first_compute(self, topology: Topology) -> tuple[int, ...]:
        """Return the first node of each orbit of compute nodes."""
        return tuple(node for node in self.first_nodes if topology.nodes[node].is_compute)


def link_orbits(topology: Topology, symmetry: Symmetry) -> npt.NDArray[np.int64]:
    """Return, for each link, the number of the first link of its orbit."""
    sources, targets = (np.array(ends, dtype=np.int64) for ends in topology.link_ends)
    codes = sources * len(topology.nodes) + targets  # rising, as links are sorted
    first = np.arange(len(codes))
    for shift in symmetry.shifts:
        image = shift.image.astype(np.int64)
        links = np.searchsorted(codes, image[sources] * len(topology.nodes) + image[targets])
        first = least_on_cycle(first, links, shift.order)
    return first


def least_on_cycle(values: npt.NDArray[np.int64], image: npt.NDArray[np.int64], order: int) -> npt.NDArray[np.int64]:
    """Return, for each place, the least of `values` on its cycle under `image`, which has `order` steps."""
    reach = 1
    while reach < order:  # each of `values` is the least over `reach` steps; `image` advances by `reach` steps
        values = np.minimum(values, values[image])
        image = image[image]
        reach *= 2
    return values


def summed_over_images(topology: Topology, symmetry: Symmetry, loads: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the load of each link by all images of routes that alone have the loads `loads`.

    The elements of the group map a link to each link of its orbit equally often. So the links of an orbit have equal
    loads, and no element is computed.
    """
    orbits = link_orbits(topology, symmetry)
    together = np.zeros_like(loads)
    np.add.at(together, orbits, loads)
    sizes = np.bincount(orbits, minlength=len(loads))
    summed: npt.NDArray[Any] = together[orbits] * (symmetry.order // sizes[orbits])
    return summed


class DisjointSets:
    """Disjoint sets of the integers from 0 to `count` - 1; the least member represents a set."""

    def __init__(self, count: int) -> None:
        self._leader = list(range(count))

    def _find(self, number: int) -> int:
        while self._leader[number] != number:
            self._leader[number] = self._leader[self._leader[number]]
            number = self._leader[number]
        return number

    def join(self, one: int, other: int) -> None:
        """Merge the sets of two integers."""
        low, high = sorted((self._find(one), self._find(other)))
        self._leader[high] = low

    def numbers(self) -> tuple[int, ...]:
        """Return, for each integer, the number of its set; sets are numbered in the order of their least members."""
        leaders = [self._find(number) for number in range(len(self._leader))]
        order = {leader: place for place, leader in enumerate(sorted(set(leaders)))}
        return tuple(order[leader] for leader in leaders)


def _sizes(numbers: Sequence[int]) -> tuple[int, ...]:
    sizes = [0] * (max(numbers, default=-1) + 1)
    for number in numbers:
        sizes[number] += 1
    return tuple(sizes)


def _firsts(numbers: Sequence[int]) -> tuple[int, ...]:
    firsts: dict[int, int] = {}
    for place, number in enumerate(numbers):
        firsts.setdefault(number, place)
    return tuple(firsts[number] for number in range(len(firsts)))
