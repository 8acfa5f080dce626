"""Trees of bounded height that load all links about equally: the cheapest edges are added, then nodes move."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from forestcoll.kernels.interface import Numbers, ReportProgress

_POWER = 6

_ORDERS = (0, 1, 4)
"""A tree chooses the edge with the least price, times a power of the depth of the child: the exponents to try."""


def grow_shallow(
    places: int,
    links: Sequence[Sequence[int]],
    following: Sequence[int],
    weights: Sequence[int],
    roots: Sequence[int],
    more: int,
    height: int,
    passes: int,
    progress: ReportProgress = None,
) -> tuple[list[int], Numbers]:
    """See `Core.grow_shallow`."""
    del progress
    search = _Search(places, links, following, weights, height)
    trees = [search.grow(root) for root in roots]
    trees += [search.grow(min(roots, key=search.growth)) for _ in range(more)]
    for _ in range(passes):
        changes = [search.improve(trees, place) for place in range(len(trees))]
        if not any(changes):
            break
    parents = [tree.parents.get(node, -1) for tree in trees for node in range(places)]
    return [tree.root for tree in trees], np.array(parents, dtype=np.int32)


@dataclass
class _Tree:
    """A tree while it changes: for each node but the root its parent."""

    root: int
    parents: dict[int, int]

    def depth(self, node: int) -> int:
        return 0 if node == self.root else 1 + self.depth(self.parents[node])

    def below(self, node: int) -> set[int]:
        """Return the nodes of the subtree of a node."""
        return {node}.union(*(self.below(child) for child, parent in self.parents.items() if parent == node))


class _Search:
    """The loads of all links, and the changes of trees that make their sum smaller."""

    def __init__(
        self, places: int, links: Sequence[Sequence[int]], following: Sequence[int], weights: Sequence[int], height: int
    ) -> None:
        self._places, self._following, self._weights, self._height = places, following, weights, height
        self._links = {divmod(number, places): row for number, row in enumerate(links) if len(row)}
        self._loads = [0] * len(weights)

    def grow(self, root: int) -> _Tree:
        """Return the best of the trees of all orders, and load its links."""
        tree, _ = min((self._grown(root, order) for order in _ORDERS), key=lambda each: each[1])
        self._load_tree(tree, 1)
        return tree

    def growth(self, root: int) -> int:
        """Return by how much the sum grows with one more tree of a root."""
        return min(self._grown(root, order)[1] for order in _ORDERS)

    def _grown(self, root: int, order: int) -> tuple[_Tree, int]:
        """Return a tree, and by how much it makes the sum grow; its links are not loaded."""
        tree, total = _Tree(root, {}), 0
        offers: dict[int, tuple[int, int, int]] = {}
        fresh, left = root, set(range(self._places)) - {root}
        while left:
            depth = tree.depth(fresh)
            for node in left:
                is_near = depth + self._following[root * self._places + node] < self._height
                if is_near and (fresh, node) in self._links:
                    offer = self._price(fresh, node) * (depth + 1) ** order, fresh, node
                    offers[node] = min(offer, offers.get(node, offer))
            _, parent, fresh = min(offers.values())
            del offers[fresh]
            left.discard(fresh)
            tree.parents[fresh] = parent
            total += self._price(parent, fresh)
            self._load(parent, fresh, 1)
        self._load_tree(tree, -1)
        return tree, total

    def improve(self, trees: list[_Tree], place: int) -> bool:
        """Grow a tree again, and move its nodes; return whether it changed."""
        tree = trees[place]
        known = self._load_tree(tree, -1)
        other = self.grow(tree.root)
        found = self._load_tree(other, -1)
        if found < known:
            trees[place] = other
        self._load_tree(trees[place], 1)
        moves = [self._move(trees[place], node) for node in range(self._places)]
        return any(moves) or found < known

    def _move(self, tree: _Tree, node: int) -> bool:
        """Let a node join its best parent; return whether that is another one."""
        if node == tree.root:
            return False
        known, below = tree.parents[node], tree.below(node)
        most = self._height - max(tree.depth(each) for each in below) + tree.depth(node) - 1
        self._load(known, node, -1)
        best, price = known, self._price(known, node)
        for parent in range(self._places):
            if (parent, node) in self._links and parent not in below and tree.depth(parent) <= most:
                found = self._price(parent, node)
                if found < price:
                    best, price = parent, found
        self._load(best, node, 1)
        tree.parents[node] = best
        return best != known

    def _load_tree(self, tree: _Tree, change: int) -> int:
        """Change the loads of the links of a tree, and return what its links add to the sum."""
        total = 0
        for node, parent in tree.parents.items():
            total += self._price(parent, node) if change > 0 else 0
            self._load(parent, node, change)
            total += self._price(parent, node) if change < 0 else 0
        return total

    def _price(self, source: int, target: int) -> int:
        """Return by how much the sum grows with one more tree on the links of a send."""
        grown = ((self._weights[link], self._loads[link]) for link in self._links[source, target])
        return sum(weight**_POWER * ((load + 1) ** _POWER - load**_POWER) for weight, load in grown)

    def _load(self, source: int, target: int, change: int) -> None:
        for link in self._links[source, target]:
            self._loads[link] += change
