"""MultiTree: trees from all members take turns in adding an edge; in each time step all links are free again."""

from collections.abc import Sequence
from itertools import count, pairwise
from typing import TypeAlias

import numpy as np

from forestcoll.kernels.interface import Numbers, ReportProgress, TurnRule

_Ends: TypeAlias = tuple[int, int]

_Price: TypeAlias = tuple[int, int]
"""The width of a path, negative, then its hops: the least price is the best."""


def take_turns(
    nodes: int,
    tails: Sequence[int],
    heads: Sequence[int],
    widths: Sequence[int],
    copies: Sequence[int],
    members: Sequence[int],
    rule: int,
    progress: ReportProgress = None,
) -> tuple[Numbers, Numbers] | None:
    """See `Core.take_turns`."""
    del nodes, progress
    links = list(zip(tails, heads, strict=True))
    step = _Step(dict(zip(links, widths, strict=True)), dict(zip(links, copies, strict=True)), members, TurnRule(rule))
    trees = [_Tree(root, members) for root in members]
    while any(tree.missing for tree in trees):
        if not step.grow(trees):
            return None
    paths = [path for tree in trees for path in tree.paths]
    starts = np.cumsum([0, *map(len, paths)], dtype=np.int32)
    return starts, np.array([node for path in paths for node in path], dtype=np.int32)


class _Tree:
    """A tree while it grows.

    Attributes:
        joined: its nodes in the order of joining.
        missing: the other members, from the root on in cyclic order.
        paths: the paths of its edges.
        old: the number of nodes that were in the tree when the step began.
    """

    def __init__(self, root: int, members: Sequence[int]) -> None:
        first = members.index(root)
        self.joined, self.paths, self.old = [root], list[tuple[int, ...]](), 1
        self.missing = [*members[first + 1 :], *members[:first]]


class _Step:
    """The copies of links that are left in a time step, and the search for paths over them."""

    def __init__(
        self, widths: dict[_Ends, int], copies: dict[_Ends, int], members: Sequence[int], rule: TurnRule
    ) -> None:
        self._widths, self._copies, self._members, self._rule = widths, copies, members, rule
        self._widest = max([*widths.values(), *copies.values()], default=0) + 1
        self._left = copies

    def grow(self, trees: Sequence[_Tree]) -> bool:
        """Let the trees take turns until none can grow in this step; return whether any has grown."""
        self._left = dict(self._copies)
        for tree in trees:
            tree.old = len(tree.joined)
        for turn in count():
            growths = [self._add_to(tree) for tree in trees]
            if not any(growths):
                return turn > 0
        return False

    def _add_to(self, tree: _Tree) -> bool:
        """Add the best edge to a tree; of equal ones, that of the parent that joined first."""
        is_source = self._rule is TurnRule.SOURCE
        parents = tree.joined[: tree.old] if is_source else tree.joined
        found = [edge for edge in (self._search(tree, parent) for parent in parents) if edge is not None]
        if not found:
            return False
        path = found[0][1] if is_source else min(found, key=lambda edge: edge[0])[1]
        for link in pairwise(path):
            self._left[link] -= 1
        tree.paths.append(path)
        tree.joined.append(path[-1])
        tree.missing.remove(path[-1])
        return True

    def _search(self, tree: _Tree, parent: int) -> tuple[_Price, tuple[int, ...]] | None:
        """Return the price of the cheapest path from a node through switches to a missing member, and the path.

        Of equal prices, the path whose end is preferred is taken, and of those the one that is found first. Longer
        paths are only tried if they may have a lower price.
        """
        best: tuple[_Price, int] | None = None
        path: tuple[int, ...] = ()
        level: list[tuple[int, tuple[int, ...]]] = [(self._widest, (parent,))]
        seen, hops = {parent}, 0
        while level and (best is None or any(self._price(width, hops) < best[0] for width, _ in level)):
            hops += 1
            following = []
            for width, reached in level:
                after = self._after(reached[-1], width)
                child = self._child(tree, after)
                if child is not None:
                    tie = 0 if self._rule is TurnRule.SOURCE else tree.missing.index(child)
                    found = self._price(after[child], hops), tie
                    if best is None or found < best:
                        best, path = found, (*reached, child)
                for target in sorted(after.keys() - set(self._members) - seen):
                    seen.add(target)
                    following.append((after[target], (*reached, target)))
            level = following
        return None if best is None else (best[0], path)

    def _child(self, tree: _Tree, after: dict[int, int]) -> int | None:
        """Return the missing member with the widest path: the first after the root, by the source's rule of all."""
        order = self._members if self._rule is TurnRule.SOURCE else tree.missing
        children = [node for node in order if node in tree.missing and node in after]
        return max(children, key=lambda node: after[node], default=None)

    def _price(self, width: int, hops: int) -> _Price:
        return -width, 0 if self._rule is TurnRule.WIDEST else hops

    def _width(self, link: _Ends) -> int:
        if self._rule is TurnRule.SOURCE:
            return 1
        return (self._widths if self._rule is TurnRule.BANDWIDTH else self._left)[link]

    def _after(self, node: int, width: int) -> dict[int, int]:
        """Return the nodes after a node, with the widths of the paths to them; `width` is that of the path to it."""
        return {
            head: min(width, self._width((tail, head)))
            for (tail, head), left in self._left.items()
            if tail == node and left
        }
