"""MultiTree: greedy trees from all roots at the same time, one time step after another.

A link has as many copies as its bandwidth is a multiple of that of the slowest link. In each time step, all copies are
free again, and trees take turns: at its turn, a tree adds one node, over links that have a copy left. All trees carry
equal parts.

Source: J. Huang et al., Communication Algorithm-Architecture Co-Design for Distributed Deep Learning, ISCA 2021, and
its code `multitree_allreduce.py`. The choice of the edge is not fixed by the paper, so there are three rules:

- `multitree-source`, as in the code: the first parent, in the order of joining, among the nodes that were in the tree
  when the step began.
- `multitree`: the path of the greatest bandwidth, also from nodes that joined in this step.
- `multitree-remaining`: the path with the most copies left, also from nodes that joined in this step.

In the last two, ties are broken by the order in which parents joined, then by the first child after the root in cyclic
order.

Where it loses: the choice is greedy. A tree may enter a box several times, and nothing keeps slow links free for the
trees that will need them.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import partial
from heapq import heappop, heappush, heapreplace
from itertools import count, pairwise

from forestcoll.baselines.baseline import DoesNotApplyError, Problem
from forestcoll.baselines.forests import Edge, LogicalTree, forest, schedule_of
from forestcoll.schedule.trees.value import TreeSchedule


class Rule(StrEnum):
    """How a tree chooses its next edge."""

    SOURCE = "source"
    BANDWIDTH = "bandwidth"
    REMAINING = "remaining"


def multitree(rule: Rule) -> Callable[[Problem], TreeSchedule]:
    """Return the function that makes the schedule of MultiTree with a rule.

    The function raises `DoesNotApplyError` if some compute nodes cannot reach all others, or if there are too many.
    """
    return partial(_schedule, rule=rule)


MOST_NODES = 256
"""The most compute nodes: the time of the search grows with their third power."""


def _schedule(problem: Problem, rule: Rule) -> TreeSchedule:
    if len(problem.members) > MOST_NODES:
        raise DoesNotApplyError(f"the search takes too long for more than {MOST_NODES} compute nodes")
    return schedule_of(problem, lambda each: forest(each, _Step.trees(each, rule)))


class _GrowingTree:
    """A tree while it grows.

    Attributes:
        root: its root.
        missing: for each member that is not in the tree, its cyclic distance after the root.
        joined: the nodes of the tree, in the order of joining.
        edges: its edges.
        parents: a heap of the nodes that may still find a child in this step, by their expected price.
    """

    def __init__(self, root: int, members: Sequence[int]) -> None:
        place = members.index(root)
        self.root = root
        self.missing = {node: (number - place) % len(members) for number, node in enumerate(members) if node != root}
        self.joined = [root]
        self.edges: list[Edge] = []
        self.parents: list[tuple[int, int]] = []

    def begin_step(self) -> None:
        self.parents = [(_CHEAPEST, place) for place in range(len(self.joined))]

    def add(self, edge: Edge, *, may_be_parent: bool) -> None:
        child = edge[-1]
        self.edges.append(edge)
        del self.missing[child]
        if may_be_parent:
            heappush(self.parents, (_CHEAPEST, len(self.joined)))
        self.joined.append(child)


_CHEAPEST = -(10**30)
"""A price below that of all paths."""


class _Step:
    """The copies of links that are left in a time step, and the search for paths over them."""

    def __init__(self, problem: Problem, rule: Rule) -> None:
        self._rule = rule
        self._is_compute = [node.is_compute for node in problem.topology.nodes]
        links = problem.topology.links
        slowest = min(link.bandwidth for link in links)
        order = sorted({link.bandwidth for link in links})
        self._place = {(link.source, link.target): order.index(link.bandwidth) for link in links}
        self._copies = {(link.source, link.target): int(link.bandwidth // slowest) for link in links}
        self._left: dict[tuple[int, int], int] = {}
        self._open: list[dict[int, None]] = []

    def _begin(self) -> None:
        """Free all copies. `_open` has the neighbours of each node over links with a copy left."""
        self._left = dict(self._copies)
        self._open = [{} for _ in self._is_compute]
        for source, target in sorted(self._left):
            self._open[source][target] = None

    def _take(self, edge: Edge) -> None:
        """Take a copy of each link of a path."""
        for hop in pairwise(edge):
            self._left[hop] -= 1
            if not self._left[hop]:
                del self._open[hop[0]][hop[1]]

    @classmethod
    def trees(cls, problem: Problem, rule: Rule) -> Iterator[LogicalTree]:
        """Grow a tree from each member until all trees reach all members."""
        step, trees = cls(problem, rule), [_GrowingTree(member, problem.members) for member in problem.members]
        while any(tree.missing for tree in trees):
            if not step._grow([tree for tree in trees if tree.missing]):
                raise DoesNotApplyError("some compute nodes cannot send to all others through switches and members")
        for tree in trees:
            yield LogicalTree(tree.root, problem.share, tuple(tree.edges))

    def _grow(self, trees: Sequence[_GrowingTree]) -> bool:
        """Let the trees take turns until none can grow in this step; return whether any has grown."""
        self._begin()
        for tree in trees:
            tree.begin_step()
        for turn in count():
            if not sum(self._add_to(tree) for tree in trees):
                return turn > 0
        return False

    def _add_to(self, tree: _GrowingTree) -> bool:
        """Add the best edge to a tree.

        Prices never fall within a step, because copies and missing nodes only become fewer. So the price that a parent
        had is a lower bound, and the first parent whose price is still the lowest has the best edge.
        """
        while tree.missing and tree.parents:
            _, place = tree.parents[0]
            found = self._search(tree.joined[place], tree.missing)
            if found is None:
                heappop(tree.parents)
                continue
            price, edge = found
            heapreplace(tree.parents, (_CHEAPEST if self._rule is Rule.SOURCE else price, place))
            if tree.parents[0][1] == place:
                self._take(edge)
                tree.add(edge, may_be_parent=self._rule is not Rule.SOURCE)
                return True
        return False

    def _search(self, parent: int, missing: dict[int, int]) -> tuple[int, Edge] | None:
        """Return the cheapest path from `parent` through switches to a missing node, with its price.

        The price puts the widest paths first, then those with the fewest hops.
        """
        best: tuple[int, int] | None = None
        edge: Edge = ()
        level: list[tuple[int, Edge]] = [(-_CHEAPEST, (parent,))]
        seen = {parent}
        hops = 0
        while level and (best is None or any(self._price(width, hops) < best[0] for width, _ in level)):
            hops += 1
            following = []
            for width, path in level:
                node = path[-1]
                for target in self._open[node]:
                    if self._is_compute[target]:
                        if target not in missing:
                            continue
                        found = self._price(min(width, self._width(node, target)), hops), self._tie(missing[target])
                        if best is None or found < best:
                            best, edge = found, (*path, target)
                    elif target not in seen:
                        seen.add(target)
                        following.append((min(width, self._width(node, target)), (*path, target)))
            level = following
        return None if best is None else (best[0], edge)

    def _price(self, width: int, hops: int) -> int:
        return hops - width * len(self._is_compute)

    def _tie(self, distance: int) -> int:
        return 0 if self._rule is Rule.SOURCE else distance

    def _width(self, source: int, target: int) -> int:
        """Return how wide a link is: the place of its bandwidth in the order of bandwidths, or its copies left."""
        if self._rule is Rule.SOURCE:
            return 1
        return (self._place if self._rule is Rule.BANDWIDTH else self._left)[source, target]
