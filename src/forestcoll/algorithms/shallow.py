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

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import lcm

import numpy as np

from forestcoll.algorithms.crossings import Crossings
from forestcoll.algorithms.forests import Edge, LogicalTree, Part, forest, schedule_of
from forestcoll.algorithms.method import DoesNotApplyError, Method, Problem, methods
from forestcoll.base.parameters import derived_integer, integer
from forestcoll.demand.collective import Collective
from forestcoll.kernels import core_for
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology.graph.walks import hops

MOST_NODES = 64
"""The most compute nodes."""

MOST_TREES = 64
"""The most trees of a forest with several trees per root, unless their number is given; more of them take long."""

_POWER = 6

_GREATEST_ORDER = 4
"""The price of an edge of a growing tree is multiplied by up to this power of the depth of the child."""

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
    more_trees = times * 2 ** (len(roots) - 1).bit_length() - len(roots)
    return Centre(tuple(root for root, _ in sends.trees(roots, more_trees, height, 0)), height)


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
    found = sends.trees(roots, 0, height, passes)
    share = Fraction(1, len(roots))
    return forest(problem, (sends.logical(root, parents, share) for root, parents in found))


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

    @property
    def _following(self) -> list[int]:
        """For each root and node, the greatest distance from the node to one that it is on a shortest path to."""
        every = np.array(self.distances)
        is_between = [of_root[:, None] + every == of_root for of_root in every]
        return [int(far) for each in is_between for far in np.where(each, every, 0).max(axis=1)]

    def trees(self, roots: Sequence[int], more: int, height: int, passes: int) -> list[tuple[int, list[int]]]:
        """Return a tree for each of some roots, and `more` from the best of them: the root, and parents, -1 for none.

        Args:
            roots: the roots, as places.
            more: the number of trees in addition.
            height: the most sends in sequence.
            passes: the most passes in which nodes move.
        """
        places = len(self.members)
        links = [self.links[source].get(target, ()) for source in range(places) for target in range(places)]
        load = (len(roots) + more) * places + 1
        terms = max(height**_GREATEST_ORDER * max(map(len, links)), len(self.weights))
        core = core_for((load * max(self.weights)) ** _POWER * terms)
        made = core.grow_shallow(places, links, self._following, self.weights, roots, more, height, passes)
        return list(zip(made[0], made[1].reshape(-1, places).tolist(), strict=True))

    def logical(self, root: int, parents: Sequence[int], share: Fraction) -> LogicalTree:
        """Return a tree with its routes."""
        depths = {root: 0}
        order = [root]
        for parent in order:
            children = [node for node, above in enumerate(parents) if above == parent]
            depths |= dict.fromkeys(children, depths[parent] + 1)
            order += children
        order.sort(key=lambda node: (depths[node], node))
        edges = tuple(self.routes[parents[node]][node] for node in order[1:])
        return LogicalTree(self.members[root], share, edges)

    def _distances(self, source: int) -> list[int]:
        found = hops([source], self.links.__getitem__)
        if len(found) < len(self.members):
            raise DoesNotApplyError("a compute node does not reach all others")
        return [found[node] for node in range(len(self.members))]
