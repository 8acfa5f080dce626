"""Which trees a failure breaks, and what is left of the others.

A tree is broken if it uses a link that fails in either direction, or leads out of the nodes that fail: other nodes then
miss the data. If no edge leads out of them, the tree only loses the edges into them, and the nodes that are left still
have all of its data.
"""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from forestcoll.solver.forests.packed_trees import Arc
from forestcoll.topology import Topology
from forestcoll.topology.changes import Change


@dataclass(frozen=True)
class Breaking:
    """The failures of a network.

    Attributes:
        topology: the network, whose trees lead away from their roots.
        failures: the failures.
    """

    topology: Topology
    failures: tuple[Change, ...]

    @cached_property
    def links(self) -> tuple[frozenset[int], ...]:
        """For each failure, the links that no tree may use to be kept."""
        return tuple(frozenset(self._links_of(each)) for each in self.failures)

    def _links_of(self, failure: Change) -> Iterable[int]:
        numbers, gone = self.topology.link_numbers, set(failure.nodes)
        for ends in failure.links:
            yield from (numbers[way] for way in (ends, ends[::-1]) if way in numbers)
        if gone:
            links = enumerate(self.topology.links)
            yield from (place for place, link in links if link.source in gone and link.target not in gone)

    @cached_property
    def used_once(self) -> tuple[frozenset[int], ...]:
        """For each failure, links of it of which a tree uses at most one, and that one at most once.

        They are the two directions of a link between compute nodes, or links into one compute node.
        """
        return tuple(self._used_once(links) for links in self.links)

    def _used_once(self, links: AbstractSet[int]) -> frozenset[int]:
        compute = set(self.topology.compute)
        into: dict[int, set[int]] = {}
        pairs = set()
        for number in links:
            link = self.topology.links[number]
            pairs.add(frozenset((link.source, link.target)))
            if link.target in compute:
                into.setdefault(link.target, set()).add(number)
        if len(pairs) == 1 and next(iter(pairs)) <= compute:
            return frozenset(links)
        return frozenset(max(into.values(), key=len, default=()))

    @cached_property
    def of_link(self) -> tuple[tuple[int, ...], ...]:
        """For each link, the failures that break the trees that use it."""
        found: list[list[int]] = [[] for _ in self.topology.links]
        for failure, links in enumerate(self.links):
            for number in links:
                found[number].append(failure)
        return tuple(map(tuple, found))

    def uses(self, arcs: Iterable[Arc]) -> list[int]:
        """Return the numbers of the links that a tree uses, as often as it uses them."""
        numbers = self.topology.link_numbers
        return [numbers[ends] for arc in arcs for ends in pairwise(arc)]

    def broken_by(self, uses: Iterable[int]) -> set[int]:
        """Return the failures that break a tree."""
        return {failure for number in uses for failure in self.of_link[number]}

    def roots(self, failure: int) -> list[int]:
        """Return the compute nodes that are left."""
        gone = self.failures[failure].nodes
        return [node for node in self.topology.compute if node not in gone]


def without_nodes(arcs: Sequence[Arc], gone: AbstractSet[int]) -> list[Arc]:
    """Return the arcs of a tree that is not broken, without those into nodes that are gone."""
    return [arc for arc in arcs if arc[-1] not in gone]
