"""Shallow forests: trees of bounded height, the same number for each root, that load all links about equally.

A link with the load b (the number of trees that use it, over its bandwidth) counts b^6, so the busiest links decide. A
tree grows edge by edge: the next edge is the one by which the sum over all links grows least, sometimes with a
preference for parents near the root. Then the trees take turns: a tree grows again and replaces the old one if the sum
falls, and nodes leave their parent for another one if the sum falls. The search ends when no tree changes.

In an allreduce, any rank may be the root of a tree, and data makes twice as many sends as the tree is high. So central
forests have only roots from which all ranks are near (`central_roots`). First, each root has one tree. Further trees
get the root with which the sum over all links grows least.

**Invariant.** Let d be distances in sends. For each node w of a growing tree and each node u such that w is on a
shortest path from the root to u: the depth of w plus d(w, u) does not exceed the bound. So each node can still join.

With the least height, messages arrive after the fewest sends; each more send allows less load. Cost: for N nodes and T
trees, each pass looks at about 4·T·N^2 edges.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import pairwise
from math import lcm

from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import Edge, LogicalTree, Part, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Method, Problem, methods
from forestcoll.base.parameters import derived_integer, integer
from forestcoll.demand.collective import Collective
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology.graph.walks import hops

MOST_NODES = 64
"""The most compute nodes."""

MOST_TREES = 64
"""The most trees of a forest with several trees per root, unless their number is given; more of them take long."""

_POWER = 6

_PASSES = 12
"""The most passes over all nodes."""

_FEW_PASSES = 4
"""The passes of a method; more of them make forests at most 1 % faster, and take up to twice as long."""


@methods.add(
    "shallow",
    summary="Trees of bounded height, with the same number for each root.",
    by_size=[tuple(tuple(f"shallow:more={more}{trees}" for more in range(5)) for trees in (",trees=1", ""))],
)
@dataclass(frozen=True)
class Shallow(Method):
    """Trees of bounded height: few sends, at an algbw that may be below the optimum.

    Attributes:
        more: the most sends in sequence of a tree in addition to the longest shortest path.
        trees: the trees per root; each has the same share. If None, 4, 2 or 1, so that there are few trees in all.

    Example:
        >>> from forestcoll import generate
        >>> methods = "shallow:trees=1", "shallow", "shallow:more=1", "trees"
        >>> [round(float(generate("mi250:boxes=1", method=each).algbw)) for each in methods]
        [200, 267, 305, 343]
    """

    takes = frozenset({"ranks"})

    more: int = integer(0, "sends in addition to the longest shortest path", minimum=0)
    trees: int | None = derived_integer("4, 2 or 1", "trees per root", minimum=1)

    def schedule(self, problem: Problem) -> TreeSchedule:
        """Return the trees."""
        most = MOST_TREES // len(problem.members)
        trees = self.trees or next((each for each in (4, 2) if each <= most), 1)
        return schedule_of(problem, lambda each: shallow_forest(each, self.more, trees, _FEW_PASSES))


@methods.add(
    "central",
    summary="An allreduce along trees of bounded height, whose roots are the nodes near to all others.",
    by_size=["central", "central:more=1"],
)
@dataclass(frozen=True)
class Central(Method):
    """An allreduce along trees of bounded height, whose roots are only the nodes that are near to all others.

    Attributes:
        more: the most sends by which a root is farther from a node than the most central one.
        times: how many times as many trees as needed.

    Example:
        >>> from forestcoll import generate
        >>> generate("mi250:boxes=1", "allreduce", "central").size
        '8 trees'
    """

    collectives = (Collective.ALLREDUCE,)
    takes = frozenset({"ranks"})

    more: int = integer(0, "sends from a root to a node in addition to the least number", minimum=0)
    times: int = integer(1, "trees, as a multiple of those needed")

    def schedule(self, problem: Problem) -> TreeSchedule:
        """Return the trees."""
        centre = central_roots(problem, self.more, self.times)
        return schedule_of(problem, lambda each: central_forest(each, centre))


def shallow_forest(problem: Problem, more: int, trees: int, passes: int = _PASSES) -> Part:
    """Return a forest whose trees have at most `more` sends in sequence more than the longest shortest path.

    Args:
        problem: the problem; its collective is an allgather.
        more: the sends in addition.
        trees: the number of trees of each root; each has the same share.
        passes: the most passes over all nodes.

    Raises:
        DoesNotApplyError: there are too many compute nodes, or one does not reach another.
    """
    sends = _Sends.of(problem)
    roots = [root for root in range(len(problem.members)) for _ in range(trees)]
    return _forest(sends, problem, roots, sends.diameter + more, passes)


@dataclass(frozen=True)
class Centre:
    """The roots of a central forest.

    Attributes:
        roots: the root of each tree, as its place among the members; the number of trees is a power of two.
        height: the most sends in sequence of a tree.
    """

    roots: tuple[int, ...]
    height: int


def central_roots(problem: Problem, more: int, times: int) -> Centre:
    """Return the roots of a central forest: all nodes that are near to all others.

    Args:
        problem: the problem of an allreduce.
        more: the most sends from a root to the farthest node, or back, are so many more than is possible for any node.
        times: how many times as many trees as needed: the least power of two with which each root has a tree.

    Raises:
        DoesNotApplyError: there are too many compute nodes, one does not reach another, or all nodes are roots.

    Example:
        >>> from forestcoll.topology import build_topology
        >>> from forestcoll.demand.collective import Collective
        >>> from forestcoll.demand.demand import NodeDemand
        >>> problem = Problem(build_topology("mi250:boxes=1"), NodeDemand(Collective.ALLREDUCE))
        >>> central_roots(problem, more=0, times=1)
        Centre(roots=(1, 2, 9, 10), height=3)
    """
    sends = _Sends.of(problem)
    there, back = sends.distances, zip(*sends.distances, strict=True)
    farthest = [max(*row, *column) for row, column in zip(there, back, strict=True)]
    height = min(farthest) + more
    if height >= max(farthest):
        raise DoesNotApplyError("all compute nodes would be roots; these are shallow forests")
    roots = [node for node, far in enumerate(farthest) if far <= height]
    search = _ForestSearch(sends, height)
    search.trees += map(search.grow, roots)
    for _ in range(times * 2 ** (len(roots) - 1).bit_length() - len(roots)):
        search.trees.append(search.grow(min(roots, key=search.growth)))
    return Centre(tuple(tree.root for tree in search.trees), height)


def central_forest(problem: Problem, centre: Centre) -> Part:
    """Return a forest of trees with given roots, all with the same share.

    Args:
        problem: the problem of an allreduce, or its problem on the transposed network.
        centre: the roots.

    Raises:
        DoesNotApplyError: there are too many compute nodes, or one does not reach another.
    """
    return _forest(_Sends.of(problem), problem, centre.roots, centre.height, _PASSES)


def _forest(sends: "_Sends", problem: Problem, roots: Sequence[int], height: int, passes: int) -> Part:
    search = _ForestSearch(sends, height)
    search.trees += map(search.grow, roots)
    search.run(passes)
    return forest(problem, (each.logical(sends, Fraction(1, len(roots))) for each in search.trees))


class _Sends:
    """The possible sends between members, which are numbered from 0.

    Attributes:
        members: the nodes.
        routes: for each source and target, the nodes of the route.
        links: for each source and target, the numbers of its links.
        weights: for each link, the busy time for the share of a tree, in a common unit.
        distances: for each source and target, the least number of sends in sequence.
    """

    @staticmethod
    def of(problem: Problem) -> "_Sends":
        """Return the sends of a problem. Raises `DoesNotApplyError` if there are too many compute nodes."""
        if len(problem.members) > MOST_NODES:
            raise DoesNotApplyError(f"the search takes too long for more than {MOST_NODES} compute nodes")
        return _Sends(problem)

    def __init__(self, problem: Problem) -> None:
        self.members = problem.members
        topology, crossings = problem.topology, Crossings(problem)
        numbers = topology.link_numbers
        self.routes: list[dict[int, Edge]] = [{} for _ in self.members]
        self.links: list[dict[int, tuple[int, ...]]] = [{} for _ in self.members]
        for source, one in enumerate(self.members):
            for target, other in enumerate(self.members):
                edge: Edge | None = crossings.edge(one, other) if one != other else None
                route = edge if edge is None or len(edge) > 2 else problem.routes.find(one, other)
                if route is not None:
                    self.routes[source][target] = route
                    self.links[source][target] = tuple(numbers[hop] for hop in pairwise(route))
        times = [1 / link.bandwidth for link in topology.links]
        unit = lcm(*(time.denominator for time in times))
        self.weights = [int(time * unit) for time in times]
        self.distances = [self._distances(source) for source in range(len(self.members))]

    @property
    def diameter(self) -> int:
        """The greatest distance."""
        return max(map(max, self.distances))

    @cached_property
    def following(self) -> list[list[int]]:
        """For each root and node, the greatest distance from the node to one that it is on a shortest path to."""
        every = self.distances
        return [
            [
                max(far for far, whole in zip(row, of_root, strict=True) if of_root[node] + far == whole)
                for node, row in enumerate(every)
            ]
            for of_root in every
        ]

    @cached_property
    def parents(self) -> list[list[int]]:
        """For each node, the nodes that can send to it."""
        return [
            [one for one in range(len(self.members)) if node in self.links[one]] for node in range(len(self.members))
        ]

    def _distances(self, source: int) -> list[int]:
        found = hops([source], self.links.__getitem__)
        if len(found) < len(self.members):
            raise DoesNotApplyError("a compute node does not reach all others")
        return [found[node] for node in range(len(self.members))]


@dataclass
class _Tree:
    """A tree while it changes: for each node its parent, its depth and its children."""

    root: int
    parents: dict[int, int]
    depths: list[int]
    children: list[set[int]]

    def height(self, node: int) -> int:
        """Return the height of the subtree of a node."""
        return max((1 + self.height(child) for child in self.children[node]), default=0)

    def below(self, node: int) -> Iterator[int]:
        """Yield the nodes of the subtree of a node."""
        yield node
        for child in self.children[node]:
            yield from self.below(child)

    def move(self, node: int, parent: int) -> None:
        """Give a node another parent."""
        self.children[self.parents[node]].discard(node)
        self.children[parent].add(node)
        self.parents[node] = parent
        change = self.depths[parent] + 1 - self.depths[node]
        for each in self.below(node):
            self.depths[each] += change

    def logical(self, sends: _Sends, share: Fraction) -> LogicalTree:
        """Return the tree with its routes."""
        order = sorted(self.parents, key=lambda node: (self.depths[node], node))
        edges = tuple(sends.routes[self.parents[node]][node] for node in order)
        return LogicalTree(sends.members[self.root], share, edges)


_ORDERS = (0, 1, 4)
"""A tree chooses the edge with the least price, times a power of the depth of the child: the exponents to try."""


@cache
def _growth(load: int) -> int:
    grown: int = (load + 1) ** _POWER - load**_POWER
    return grown


@dataclass
class _ForestSearch:
    sends: _Sends
    height: int
    trees: list[_Tree] = field(default_factory=list)
    loads: list[int] = field(init=False)
    factors: list[int] = field(init=False)
    prices: list[int] = field(init=False)
    """For each link, by how much the sum grows with one more tree on it."""

    def __post_init__(self) -> None:
        self.loads = [0] * len(self.sends.weights)
        self.factors = [weight**_POWER for weight in self.sends.weights]
        self.prices = list(self.factors)

    def grow(self, root: int) -> _Tree:
        """Return the best of the trees that grow by the orders of `_ORDERS`, and load its links."""
        grown = [self._grown(root, order) for order in _ORDERS]
        tree = min(grown, key=lambda each: each[1])[0]
        self._load_tree(tree, 1)
        return tree

    def growth(self, root: int) -> int:
        """Return by how much the sum grows with one more tree of a root."""
        return min(self._grown(root, order)[1] for order in _ORDERS)

    def _grown(self, root: int, order: int) -> tuple[_Tree, int]:
        """Return a tree, and by how much it makes the sum grow."""
        count, total, prices = len(self.sends.members), 0, self.prices
        limits = [self.height - each for each in self.sends.following[root]]
        tree = _Tree(root, {}, [0] * count, [set() for _ in range(count)])
        offers: dict[int, tuple[int, int, int]] = {}
        """For each node that can join, the value of its best edge, the parent and the node."""
        fresh, left = root, set(range(count)) - {root}
        while left:
            depth, links = tree.depths[fresh], self.sends.links[fresh]
            factor = (depth + 1) ** order
            for node in left:
                if depth < limits[node] and node in links:
                    price = sum([prices[link] for link in links[node]]) * factor
                    if node not in offers or (price, fresh) < offers[node]:
                        offers[node] = price, fresh, node
            _, parent, fresh = min(offers.values())
            del offers[fresh]
            left.discard(fresh)
            tree.parents[fresh], tree.depths[fresh] = parent, tree.depths[parent] + 1
            tree.children[parent].add(fresh)
            total += self._price(parent, fresh)
            self._load(parent, fresh, 1)
        self._load_tree(tree, -1)
        return tree, total

    def _load_tree(self, tree: _Tree, change: int) -> int:
        """Change the loads of the links of a tree, and return by how much the sum grows."""
        total = 0
        for node, parent in tree.parents.items():
            total += self._price(parent, node) if change > 0 else 0
            self._load(parent, node, change)
        return total

    def run(self, passes: int) -> None:
        """Move nodes until none moves, or for so many passes."""
        for _ in range(passes):
            moves = [self._improve(place) for place in range(len(self.trees))]
            if not any(moves):
                return

    def _improve(self, place: int) -> bool:
        """Grow a tree again, and move its nodes; return whether it changed."""
        tree = self.trees[place]
        self._load_tree(tree, -1)
        other = self.grow(tree.root)
        self._load_tree(other, -1)
        costs: list[int] = []
        for each in (tree, other):
            costs.append(self._load_tree(each, 1))
            self._load_tree(each, -1)
        better = costs[1] < costs[0]
        self.trees[place] = other if better else tree
        self._load_tree(self.trees[place], 1)
        moves = [self._move(self.trees[place], node) for node in range(len(tree.depths))]
        return better or any(moves)

    def _move(self, tree: _Tree, node: int) -> bool:
        """Let a node join its best parent; return whether that is another one."""
        if node == tree.root:
            return False
        known, below = tree.parents[node], set(tree.below(node))
        most = self.height - tree.height(node) - 1
        self._load(known, node, -1)
        best, price = known, self._price(known, node)
        for parent in self.sends.parents[node]:
            if tree.depths[parent] <= most and parent not in below:
                found = self._price(parent, node)
                if found < price:
                    best, price = parent, found
        self._load(best, node, 1)
        if best != known:
            tree.move(node, best)
        return best != known

    def _price(self, source: int, target: int) -> int:
        return sum([self.prices[link] for link in self.sends.links[source][target]])

    def _load(self, source: int, target: int, change: int) -> None:
        for link in self.sends.links[source][target]:
            load = self.loads[link] = self.loads[link] + change
            self.prices[link] = self.factors[link] * _growth(load)
