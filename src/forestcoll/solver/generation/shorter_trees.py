"""Shorter trees with the same loads: two trees exchange the parents of a node, as long as the sum of 2^depth falls.

If a node c has the parent p in one tree and q in another one with the same share, c may have q in the first and p in
the second. Both stay trees if q is not below c in the first and p is not below c in the second. All edges, routes and
shares stay the same, and so do the load of each link, the algbw and what each node sends and receives. Of all
exchanges, the one that lowers the sum over the nodes of all trees most is done first; the search ends when none lowers
it. The sum is an integer below 2^53, so all numbers that decide are exact.

Data of a pipeline passes as many sends as a tree is high before the last rank has its first part. On four MI250 boxes,
a reduce has trees of up to 14 instead of 21 sends. Cost: for N nodes and T trees, a table has the gains of all N·T^2
exchanges, and each exchange computes N·T of them again.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from forestcoll.base.exact import as_float
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule

_NONE = -1

FloatArray = npt.NDArray[np.float64]

_EXACT = 2**53
"""All integers below this one are exact as floats."""


def with_shorter_trees(schedule: TreeSchedule) -> TreeSchedule:
    """Return a schedule with the same shares and loads whose trees are shorter, if exchanges of parents make them so.

    These stay the same: a schedule that lists base trees, or has routes that begin or end on switches; and a phase with
    trees so high that the sum of 2^depth over all nodes is 2^53 or more.

    Args:
        schedule: a schedule that `verify` accepts.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.verification import verify
        >>> schedule = with_shorter_trees(generate("mi250:boxes=1", "reduce:root=0"))
        >>> verify(schedule).ok, str(schedule.algbw)
        (True, '300')
    """
    members = set(schedule.members)
    ends = {node for number in range(len(schedule.routes)) for node in _ends(schedule, number)}
    if schedule.symmetry is not None or not ends <= members:
        return schedule
    return replace(schedule, phases=tuple(_shorter(schedule, phase) for phase in schedule.phases))


def _ends(schedule: TreeSchedule, route: int) -> tuple[int, int]:
    nodes = schedule.routes[route]
    return nodes[0], nodes[-1]


def _shorter(schedule: TreeSchedule, phase: Phase) -> Phase:
    forest = _Forest(schedule, phase)
    if forest.sum >= _EXACT:
        return phase
    forest.exchange()
    return replace(phase, routes=Rows.of([list(forest.listed(tree)) for tree in range(len(phase))]))


class _Forest:
    """The trees of a phase, from their roots outwards; nodes are numbered by their places among the members.

    Attributes:
        parents: for each tree and node, the parent; below 0 for the root.
        routes: for each tree and node, the route from or to its parent.
        depths: for each tree and node, the sends between the root and the node.
        sums: for each tree and node, the sum of 2^depth over the node and all nodes below it.
        below: for each tree and two nodes, whether the second is the first or below it.
    """

    def __init__(self, schedule: TreeSchedule, phase: Phase) -> None:
        self._reduces = phase.op is PhaseOp.REDUCE
        places = {member: place for place, member in enumerate(schedule.members)}
        self._roots = [places[root] for root in phase.roots]
        trees, nodes = len(phase), len(places)
        self.parents = np.full((trees, nodes), _NONE, dtype=np.int64)
        self.routes = np.full((trees, nodes), _NONE, dtype=np.int64)
        self.depths = np.zeros((trees, nodes))
        self.sums = np.zeros((trees, nodes))
        self.below = np.zeros((trees, nodes, nodes), dtype=np.bool_)
        numbers = {share: number for number, share in enumerate(phase.shares)}
        shares = np.array([numbers[share] for share in phase.shares])
        self._alike = shares[:, np.newaxis] == shares
        for number, tree in enumerate(phase):
            for route in tree.routes:
                source, target = (places[node] for node in _ends(schedule, route))
                lower, upper = (source, target) if self._reduces else (target, source)
                self.parents[number, lower], self.routes[number, lower] = upper, route
            self._measure(number)

    @property
    def sum(self) -> float:
        """The sum of 2^depth over the nodes of all trees."""
        return as_float(sum(self.sums[tree, root] for tree, root in enumerate(self._roots)))

    def exchange(self) -> None:
        """Do the best exchange, as long as there is one."""
        trees, nodes = self.parents.shape
        gains = np.zeros((nodes, trees, trees))
        for tree in range(trees):
            self._add_gains(gains, tree)
        while True:
            node, one, other = map(int, np.unravel_index(int(np.argmin(gains)), gains.shape))
            if gains[node, one, other] >= 0:
                return
            for table in (self.parents, self.routes):
                table[[one, other], node] = table[[other, one], node]
            for tree in (one, other):
                self._measure(tree)
            for tree in (one, other):
                self._add_gains(gains, tree)

    def listed(self, tree: int) -> Iterator[int]:
        """Yield the routes of a tree in the order in which data flows."""
        outward = [self.routes[tree, node] for node in np.argsort(self.depths[tree], kind="stable")[1:]]
        yield from map(int, reversed(outward) if self._reduces else outward)

    def _measure(self, tree: int) -> None:
        """Determine the depths of a tree, and what follows from them."""
        order = self._outward(tree)
        for node in order[1:]:
            self.depths[tree, node] = self.depths[tree, self.parents[tree, node]] + 1
        with np.errstate(over="ignore"):  # such a phase stays as it is
            self.sums[tree] = np.exp2(self.depths[tree])
        self.below[tree] = np.eye(len(order), dtype=np.bool_)
        for node in reversed(order[1:]):
            upper = self.parents[tree, node]
            self.sums[tree, upper] += self.sums[tree, node]
            self.below[tree, upper] |= self.below[tree, node]

    def _outward(self, tree: int) -> Sequence[int]:
        """Return the nodes of a tree, each after its parent."""
        children: dict[int, list[int]] = {}
        for node, upper in enumerate(self.parents[tree].tolist()):
            children.setdefault(upper, []).append(node)
        order = [self._roots[tree]]
        for node in order:
            order += children.get(node, ())
        return order

    def _add_gains(self, gains: FloatArray, tree: int) -> None:
        """Write how the sum changes if a tree exchanges the parents of a node with another one, for all nodes."""
        own, count = self.parents[tree], len(self.parents)
        nodes = np.arange(len(own))
        inner = (self.parents != _NONE) & (own != _NONE)
        # how much deeper a node is in this tree with its parent in the other one, and in the other with that in this
        here = self.depths[tree, self.parents] + 1 - self.depths[tree]
        there = self.depths[:, own] + 1 - self.depths
        with np.errstate(over="ignore", invalid="ignore"):  # a node below itself, which is not allowed
            change = self.sums[tree] * (np.exp2(here) - 1) + self.sums * (np.exp2(there) - 1)
        loops = self.below[tree, nodes, self.parents] | self.below[np.arange(count)[:, np.newaxis], nodes, own]
        found = np.where(self._alike[tree][:, np.newaxis] & inner & ~loops, change, 0.0).T
        gains[:, tree, :], gains[:, :, tree] = found, found
