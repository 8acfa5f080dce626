"""How far the hosts of a network are from each other, and the least number of links that rings or trees pass.

The distance of two hosts is the least number of links on a walk from one to the other outside of all hosts. Hosts on
one leaf switch have the distance 2, hosts below one spine 4, neighbours in a torus 1.

Lower bound: join the hosts whose distance is at most t, and let c(t) be the number of the groups that arise. A ring
over all hosts has at least c(t) sends of a distance above t (none if c(t) = 1), a tree c(t) - 1. The sum over all
t >= 0 is a bound of the links that are passed. Leaf/spine fabrics, pods and rails reach it, if the hosts of each group
follow one another, and a torus does, if all neighbours in the order are neighbours in it. If all walks that return have
an even length, a ring passes an even number of links.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.base.errors import InputError
from forestcoll.topology import Topology
from forestcoll.topology.graph.boxes import box_name, box_numbers
from forestcoll.topology.graph.walks import hops

Integers: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Hosts:
    """The hosts of a network.

    Attributes:
        members: the numbers of the compute nodes of each host; a compute node without a box is a host of its own.
        names: the name of each host.
        distances: the distance from each host to each other one.
    """

    members: tuple[tuple[int, ...], ...]
    names: tuple[str, ...]
    distances: Integers

    @cached_property
    def groups(self) -> tuple[tuple[int, Integers], ...]:
        """For each t at which groups change, over how many t they stay, and the first host of the group of each."""
        levels = [0, *np.unique(self.distances[self.distances > 0]).tolist()]
        found = []
        for least, following in pairwise(levels):
            first = _joined(np.minimum(self.distances, self.distances.T) <= least)
            if not first.any():
                break
            found.append((following - least, first))
        return tuple(found)

    @property
    def is_even(self) -> bool:
        """Whether all walks that return to their host have an even length."""
        odd = self.distances % 2
        return bool(np.array_equal(odd, odd[:1].T ^ odd[:1]))

    def clustered(self) -> Integers:
        """Return the hosts such that those of each group follow one another, otherwise in the order of the network."""
        return np.lexsort((np.arange(len(self.names)), *(first for _, first in self.groups)))


def hosts_of(topology: Topology) -> Hosts:
    """Return the hosts of a network.

    Raises:
        InputError: a host cannot reach another.

    Example:
        >>> from forestcoll import load_topology
        >>> hosts_of(load_topology("cluster:boxes=4,boxes_per_leaf=2,oversubscription=2")).distances.tolist()
        [[0, 2, 4, 4], [2, 0, 4, 4], [4, 4, 0, 2], [4, 4, 2, 0]]
    """
    numbers = box_numbers(topology)
    keys = dict.fromkeys((numbers[node], -1) if node in numbers else (-1, node) for node in topology.compute)
    place_of = {key: place for place, key in enumerate(keys)}
    members: list[list[int]] = [[] for _ in place_of]
    places = {}
    for node in range(len(topology.nodes)):
        key = (numbers[node], -1) if node in numbers else (-1, node)
        places[node] = place_of.get(key, len(place_of) + node)
        if topology.nodes[node].is_compute:
            members[places[node]].append(node)
    names = tuple(_name(topology, each) for each in members)
    after: dict[int, dict[int, None]] = {place: {} for place in places.values()}
    for link in topology.links:
        if places[link.source] != places[link.target]:
            after[places[link.source]][places[link.target]] = None
    return Hosts(tuple(map(tuple, members)), names, _distances(topology, after, len(members)))


def _name(topology: Topology, members: list[int]) -> str:
    node = topology.nodes[members[0]]
    return box_name(topology, members) if "box" in node.attributes else str(node.id)


def _distances(topology: Topology, after: dict[int, dict[int, None]], count: int) -> Integers:
    """Return the distances of hosts, over switches only if these join all hosts, else over other hosts, too."""
    for onwards in (lambda place: () if place < count else after[place], after.__getitem__):
        found = _walked(after, onwards, count)
        if found is not None:
            return found
    raise InputError(f"{topology.name}: a host cannot reach another, so there is no ring over all of them")


def _walked(
    after: dict[int, dict[int, None]], onwards: Callable[[int], "tuple[int, ...] | dict[int, None]"], count: int
) -> Integers | None:
    """Return the distances of hosts; None if some do not reach each other. Hosts with equal links share a walk."""
    rows: dict[tuple[int, ...], Integers] = {}
    found = np.zeros((count, count), dtype=np.int64)
    for host in range(count):
        start = tuple(after[host])
        if start not in rows:
            rows[start] = np.full(count, -1, dtype=np.int64)
            for place, length in hops(start, onwards).items():
                if place < count:
                    rows[start][place] = length + 1
        found[host] = rows[start]
        found[host, host] = 0
    return None if (found < 0).any() else found


def _joined(near: npt.NDArray[np.bool_]) -> Integers:
    """Return for each host the first one of its group, in which near hosts are joined."""
    first = np.arange(len(near))
    while True:
        lower = np.where(near, first, len(near)).min(axis=1)
        if np.array_equal(lower, first):
            return first
        first = lower


def ring_bound(hosts: Hosts, size: int, count: int) -> int:
    """Return the fewest links that rings pass together.

    Args:
        hosts: the hosts.
        size: the number of hosts of each ring.
        count: the number of rings. Each host is in equally many.
    """
    if size < 2:
        return 0
    of_each = size * count // len(hosts.names)
    total = 0
    for width, first in hosts.groups:
        sizes = np.unique(first, return_counts=True)[1]
        # rings that visit a group, over all groups, without those that stay in one
        visits = -(-sizes * of_each // np.minimum(sizes, size))
        inside = np.where(sizes >= size, sizes * of_each // size, 0)
        total += width * (int(visits.sum()) - min(count, int(inside.sum())))
    return total + total % 2 if hosts.is_even else total


def tree_bound(hosts: Hosts) -> int:
    """Return the fewest links that a tree over all hosts passes."""
    return sum(width * (len(np.unique(first)) - 1) for width, first in hosts.groups)
