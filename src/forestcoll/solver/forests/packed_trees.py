"""Trees of an allreduce that were packed one by one, not grown from the bandwidths of a plan."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm

from forestcoll.demand.collective import PhaseOp
from forestcoll.solver.forests.apportionment import apportioned
from forestcoll.topology import Topology

Arc = tuple[int, ...]
"""The nodes of a walk between two nodes that copy or add up data. Its inner nodes only forward data."""


@dataclass(frozen=True)
class PackedTree:
    """A tree that joins all compute nodes.

    Attributes:
        root: the root.
        arcs: arcs that lead away from the root. Each begins at the root or at the end of an earlier arc. Data of a
            reduce flows along them in the other direction.
        weight: the part of the data that the tree carries, relative to the other trees of its phase.
    """

    root: int
    arcs: tuple[Arc, ...]
    weight: Fraction = Fraction(1)

    def rerooted(self, root: int) -> "PackedTree":
        """Return the tree with another node that an arc begins or ends at as its root."""
        at: dict[int, list[Arc]] = {}
        for arc in self.arcs:
            at.setdefault(arc[0], []).append(arc)
            at.setdefault(arc[-1], []).append(arc[::-1])
        arcs: list[Arc] = []
        reached, order = {root}, [root]
        for node in order:
            for arc in at.get(node, ()):
                if arc[-1] not in reached:
                    reached.add(arc[-1])
                    order.append(arc[-1])
                    arcs.append(arc)
        return PackedTree(root, tuple(arcs), self.weight)

    def pruned(self, members: Iterable[int]) -> "PackedTree":
        """Return the tree without the arcs that do not lead to a member."""
        needed, kept = set(members), []
        for arc in reversed(self.arcs):
            if arc[-1] in needed:
                needed.add(arc[0])
                kept.append(arc)
        return PackedTree(self.root, tuple(reversed(kept)), self.weight)

    def hops(self, op: PhaseOp) -> Iterator[tuple[int, int]]:
        """Yield the ends of each link that data crosses."""
        for arc in self.arcs:
            yield from itertools.pairwise(arc if op is PhaseOp.BROADCAST else arc[::-1])

    @property
    def height(self) -> int:
        """The greatest number of arcs from the root to a node."""
        depths = {self.root: 0}
        for arc in self.arcs:
            depths[arc[-1]] = depths[arc[0]] + 1
        return max(depths.values())


@dataclass(frozen=True)
class TreePacking:
    """The trees of both phases of an allreduce. In each phase, the trees of a root have the same total weight.

    Attributes:
        reduce: the trees along which data is added up.
        broadcast: the trees along which the sums are copied.
    """

    reduce: tuple[PackedTree, ...]
    broadcast: tuple[PackedTree, ...]

    @cached_property
    def weight(self) -> Fraction:
        """The total weight of the trees of each phase."""
        return Fraction(sum(self._integers(self.reduce)), self._unit)

    @cached_property
    def _unit(self) -> int:
        """The least number by which all weights are integers when they are multiplied by it."""
        return lcm(*(tree.weight.denominator for tree in (*self.reduce, *self.broadcast)))

    def _integers(self, trees: Iterable[PackedTree]) -> list[int]:
        """Return the weights of trees as multiples of 1 / `_unit`."""
        return [tree.weight.numerator * (self._unit // tree.weight.denominator) for tree in trees]

    @cached_property
    def trees(self) -> int:
        """The number of trees of each phase if all were equally large, and thus each as large as possible."""
        numbers = self._integers((*self.reduce, *self.broadcast))
        return sum(self._integers(self.reduce)) // gcd(*numbers)

    def algbw(self, topology: Topology) -> Fraction:
        """Return the algbw of an allreduce along these trees, in the unit of the topology."""
        numbers = topology.link_numbers
        loads = [0] * len(topology.links)
        for trees, op in ((self.reduce, PhaseOp.REDUCE), (self.broadcast, PhaseOp.BROADCAST)):
            for tree, weight in zip(trees, self._integers(trees), strict=True):
                for ends in tree.hops(op):
                    loads[numbers[ends]] += weight
        longest = max(load / link.bandwidth for load, link in zip(loads, topology.links, strict=True))
        return self.weight * self._unit / longest

    def rounded(self, trees: int) -> "TreePacking":
        """Return the packing with integer weights that add up to `trees` in each phase (Hamilton's method)."""
        roots = sorted({tree.root for tree in self.reduce})
        counts = apportioned([_weight_of(self.reduce, root) for root in roots], trees)
        return TreePacking(
            *(
                tuple(
                    tree
                    for root, count in zip(roots, counts, strict=True)
                    for tree in _with_integers([tree for tree in phase if tree.root == root], count)
                )
                for phase in (self.reduce, self.broadcast)
            )
        )


def _weight_of(trees: Iterable[PackedTree], root: int) -> Fraction:
    return sum((tree.weight for tree in trees if tree.root == root), Fraction(0))


def _with_integers(trees: Sequence[PackedTree], total: int) -> list[PackedTree]:
    counts = apportioned([tree.weight for tree in trees], total)
    return [
        PackedTree(tree.root, tree.arcs, Fraction(count)) for tree, count in zip(trees, counts, strict=True) if count
    ]
