"""MultiTree: greedy trees from all roots at the same time, one time step after another.

A link has as many copies as its bandwidth is a multiple of that of the slowest link. In each time step, all copies are
free again, and trees take turns: at its turn, a tree adds one node, over links that have a copy left. All trees carry
equal parts.

Source: J. Huang et al., Communication Algorithm-Architecture Co-Design for Distributed Deep Learning, ISCA 2021, and
its code `multitree_allreduce.py`. The choice of the edge is not fixed by the paper, so there are four rules:

- `multitree-source`, as in the code: the first parent, in the order of joining, among the nodes that were in the tree
  when the step began.
- `multitree`: the path with the most copies left on its links, also from nodes that joined in this step.
- `multitree-remaining`: the same, and of equal paths that with the fewest hops.
- `multitree-bandwidth`: the path of the greatest bandwidth, then that with the fewest hops, also from nodes that joined
  in this step.

In the last three, ties are broken by the order in which parents joined, then by the first child after the root in
cyclic order.

Where it loses: the choice is greedy. A tree may enter a box several times, and nothing keeps slow links free for the
trees that will need them.
"""

from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from heapq import heappop, heappush, heapreplace
from itertools import count, pairwise

from forestcoll.algorithms.baseline import Family, baseline
from forestcoll.algorithms.forests import Edge, LogicalTree, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.trees.value import TreeSchedule


class _EdgeRule(StrEnum):
    """How a tree chooses its next edge."""

    SOURCE = "source"
    WIDEST = "widest"
    REMAINING = "remaining"
    BANDWIDTH = "bandwidth"


MOST_NODES = 256
"""The most compute nodes: the time of the search grows with their third power."""


def multitree(rule: _EdgeRule) -> Callable[[Problem], TreeSchedule]:
    """Return the function that makes the schedule of MultiTree with a rule.

    The function raises `DoesNotApplyError` if some compute nodes cannot reach all others, or if there are too many.
    """
    return lambda problem: _schedule(problem, rule)


def _schedule(problem: Problem, rule: _EdgeRule) -> TreeSchedule:
    if len(problem.members) > MOST_NODES:
        raise DoesNotApplyError(f"the search takes too long for more than {MOST_NODES} compute nodes")
    return schedule_of(problem, lambda each: forest(each, _Step.trees(each, rule)))


class _GrowingTree:
    """A tree while it grows.

    Attributes:
        root: its root.
        first: the place of the root among the members.
        missing: the members that are not in the tree: bit i for the member at place i.
        joined: the nodes of the tree, in the order of joining.
        edges: its edges.
        parents: a heap of the nodes that may still find a child in this step, by their expected price.
    """

    def __init__(self, root: int, first: int, members: int) -> None:
        self.root, self.first = root, first
        self.missing = (1 << members) - 1 - (1 << first)
        self.joined = [root]
        self.edges: list[Edge] = []
        self.parents: list[tuple[int, int]] = []

    def begin_step(self) -> None:
        self.parents = [(_CHEAPEST, place) for place in range(len(self.joined))]

    def add(self, edge: Edge, place: int, *, may_be_parent: bool) -> None:
        """Add an edge to the member at `place`."""
        self.edges.append(edge)
        self.missing -= 1 << place
        if may_be_parent:
            heappush(self.parents, (_CHEAPEST, len(self.joined)))
        self.joined.append(edge[-1])


_CHEAPEST = -(10**30)
"""A price below that of all paths."""

_WIDEST = -_CHEAPEST
"""A width above that of all links: the width of a path without links."""


class _Step:
    """The copies of links that are left in a time step, and the search for paths over them.

    The members that a node can send to are kept as bits, one integer for each width of links, so that a search does
    not visit each of them.
    """

    def __init__(self, problem: Problem, rule: _EdgeRule) -> None:
        self._rule = rule
        self._members = problem.members
        self._nodes = len(problem.topology.nodes)
        self._bits = {member: 1 << place for place, member in enumerate(problem.members)}
        is_compute = [node.is_compute for node in problem.topology.nodes]
        widths = problem.topology.bandwidths
        order = sorted(set(widths.values()))
        usable = {ends: each for ends, each in widths.items() if ends[1] in self._bits or not is_compute[ends[1]]}
        self._place = {ends: order.index(each) for ends, each in usable.items()}
        self._copies = {ends: int(each // order[0]) for ends, each in usable.items()}
        self._left: dict[tuple[int, int], int] = {}
        self._children: list[dict[int, int]] = []
        self._switches: list[dict[int, None]] = []

    def _begin(self) -> None:
        """Free all copies.

        `_children` has for each node the members after it over links with a copy left, as bits by the width of the
        link, and `_switches` the switches after it.
        """
        self._left = dict(self._copies)
        self._children = [{} for _ in range(self._nodes)]
        self._switches = [{} for _ in range(self._nodes)]
        for source, target in sorted(self._left):
            if target in self._bits:
                self._move(source, target, to=self._width(source, target))
            else:
                self._switches[source][target] = None

    def _move(self, source: int, target: int, *, start: int | None = None, to: int | None = None) -> None:
        """Move the bit of a member after a node from one width to another; None if it is not among the children."""
        children, bit = self._children[source], self._bits[target]
        if start is not None:
            children[start] -= bit
            if not children[start]:
                del children[start]
        if to is not None:
            children[to] = children.get(to, 0) | bit

    def _take(self, edge: Edge) -> None:
        """Take a copy of each link of a path."""
        for source, target in pairwise(edge):
            width = self._width(source, target)
            self._left[source, target] -= 1
            left = self._left[source, target]
            if target not in self._bits:
                if not left:
                    del self._switches[source][target]
            elif not left or self._rule in {_EdgeRule.WIDEST, _EdgeRule.REMAINING}:
                self._move(source, target, start=width, to=self._width(source, target) if left else None)

    @classmethod
    def trees(cls, problem: Problem, rule: _EdgeRule) -> Iterator[LogicalTree]:
        """Grow a tree from each member until all trees reach all members."""
        members = problem.members
        step, trees = (
            cls(problem, rule),
            [_GrowingTree(root, place, len(members)) for place, root in enumerate(members)],
        )
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
            found = self._search(tree.joined[place], tree)
            if found is None:
                heappop(tree.parents)
                continue
            price, edge, child = found
            heapreplace(tree.parents, (_CHEAPEST if self._rule is _EdgeRule.SOURCE else price, place))
            if tree.parents[0][1] == place:
                self._take(edge)
                tree.add(edge, child, may_be_parent=self._rule is not _EdgeRule.SOURCE)
                return True
        return False

    def _search(self, parent: int, tree: _GrowingTree) -> tuple[int, Edge, int] | None:
        """Return the cheapest path from `parent` through switches to a missing node, its price and the node's place.

        Of equal prices, the path that is found first is taken.
        """
        best: tuple[int, int] | None = None
        edge: Edge = ()
        child = 0
        level: list[tuple[int, Edge]] = [(_WIDEST, (parent,))]
        seen = {parent}
        hops = 0
        while level and (best is None or any(self._price(width, hops) < best[0] for width, _ in level)):
            hops += 1
            following = []
            for width, path in level:
                node = path[-1]
                widest, members = self._widest_children(node, width, tree.missing)
                if members:
                    place = self._chosen(members, tree.first)
                    found = self._price(widest, hops), self._tie(place, tree.first)
                    if best is None or found < best:
                        best, edge, child = found, (*path, self._members[place]), place
                for target in self._switches[node]:
                    if target not in seen:
                        seen.add(target)
                        following.append((min(width, self._width(node, target)), (*path, target)))
            level = following
        return None if best is None else (best[0], edge, child)

    def _widest_children(self, node: int, width: int, missing: int) -> tuple[int, int]:
        """Return the width of the widest paths over `node` to missing members, and these members as bits.

        Args:
            node: the node before the members.
            width: the width of the path to the node.
            missing: the missing members as bits.
        """
        most, members = -1, 0
        for each, bits in self._children[node].items():
            limited = min(each, width)
            if limited >= most and bits & missing:
                members = bits & missing | (members if limited == most else 0)
                most = limited
        return most, members

    def _chosen(self, members: int, first: int) -> int:
        """Return the place of the first member after the root in cyclic order; by the source's rule, of the first."""
        after = 0 if self._rule is _EdgeRule.SOURCE else members >> first << first
        chosen = after or members
        return (chosen & -chosen).bit_length() - 1

    def _price(self, width: int, hops: int) -> int:
        """Return the price of a path: the widest first, then, except by the widest rule, the one with fewest hops."""
        return (0 if self._rule is _EdgeRule.WIDEST else hops) - width * self._nodes

    def _tie(self, place: int, first: int) -> int:
        return 0 if self._rule is _EdgeRule.SOURCE else (place - first) % len(self._members)

    def _width(self, source: int, target: int) -> int:
        """Return how wide a link is: the place of its bandwidth in the order of bandwidths, or its copies left."""
        if self._rule is _EdgeRule.SOURCE:
            return 1
        return (self._place if self._rule is _EdgeRule.BANDWIDTH else self._left)[source, target]


_DESCRIPTIONS = {
    _EdgeRule.WIDEST: ("multitree", "MultiTree", "Greedy trees; the path with the most bandwidth left first"),
    _EdgeRule.REMAINING: (
        "multitree-remaining",
        "MultiTree (remaining)",
        "Greedy trees; the path with the most bandwidth left first, then that with the fewest hops",
    ),
    _EdgeRule.BANDWIDTH: (
        "multitree-bandwidth",
        "MultiTree (bandwidth)",
        "Greedy trees; the path of the greatest bandwidth first, then that with the fewest hops",
    ),
    _EdgeRule.SOURCE: ("multitree-source", "MultiTree (source)", "Greedy trees, by the rule of the published code"),
}
for _rule, (_name, _title, _summary) in _DESCRIPTIONS.items():
    baseline(_name, Family.TREES, UNROOTED, title=_title, summary=_summary)(multitree(_rule))
