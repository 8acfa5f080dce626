"""Search for an isomorphism from a small network to its transpose (reverse symmetry, Definition 6).

Nodes are matched one by one. Each new node is a neighbour of a matched node. A match is rejected if the arcs to and
from the matched nodes differ, or if the numbers of nodes at some distance differ. The number of tried matches is
limited, so the search always ends. A complete match is tested as a whole.
"""

from collections import Counter
from collections.abc import Iterator

import numpy as np

from forestcoll.design.wiring import Wiring, is_mirror
from forestcoll.schedule.rows import IntArray

MOST_TRIALS = 200_000
"""The maximum number of matches of two nodes that are tried."""


def find_mirror(wiring: Wiring) -> IntArray | None:
    """Return an isomorphism to the transpose, or None if there is none or the search reached its limit."""
    search = _MirrorSearch(wiring)
    for _ in search.completions(0):
        image = np.array([search.image[node] for node in range(wiring.nodes)], dtype=np.int32)
        if is_mirror(wiring, image):
            return image
    return None


class _MirrorSearch:
    def __init__(self, wiring: Wiring) -> None:
        self.image: dict[int, int] = {}
        self._wiring = wiring
        self._arcs = Counter(zip(wiring.sources_of_arcs.tolist(), wiring.targets_of_arcs.tolist(), strict=True))
        forward, backward = _profiles(wiring), _profiles(wiring.transposed())
        self._marks = [(forward[node], backward[node]) for node in range(wiring.nodes)]
        self._order = _order(wiring)
        self._used: set[int] = set()
        self._trials = 0

    def completions(self, place: int) -> Iterator[None]:
        """Yield once for each complete match of the nodes from `place` to the end of the order."""
        if place == len(self._order):
            yield
            return
        node = self._order[place]
        for candidate in self._candidates(node, place):
            self._trials += 1
            if self._trials > MOST_TRIALS:
                return
            if self._fits(node, candidate, place):
                self.image[node] = candidate
                self._used.add(candidate)
                yield from self.completions(place + 1)
                self._used.discard(candidate)
                del self.image[node]

    def _candidates(self, node: int, place: int) -> list[int]:
        """Return the unused nodes that can be the image of `node`, from the arcs of an earlier node."""
        for earlier in self._order[:place]:
            if self._arcs[earlier, node]:
                near = self._wiring.entering[self.image[earlier]].tolist()
                return sorted(set(near) - self._used)
            if self._arcs[node, earlier]:
                near = self._wiring.targets[self.image[earlier]].tolist()
                return sorted(set(near) - self._used)
        return sorted(set(range(self._wiring.nodes)) - self._used)

    def _fits(self, node: int, candidate: int, place: int) -> bool:
        forward, backward = self._marks[node]
        if self._marks[candidate] != (backward, forward):
            return False
        if self._arcs[node, node] != self._arcs[candidate, candidate]:
            return False
        return all(
            self._arcs[node, other] == self._arcs[self.image[other], candidate]
            and self._arcs[other, node] == self._arcs[candidate, self.image[other]]
            for other in self._order[:place]
        )


def _profiles(wiring: Wiring) -> list[tuple[int, ...]]:
    """Return, for each node, how many nodes are reached after 1, 2, ... hops."""
    reached = np.eye(wiring.nodes, dtype=np.bool_)
    sizes = []
    for _ in range(wiring.nodes):
        reached = reached | reached[wiring.targets].any(axis=1)
        sizes.append(reached.sum(axis=1))
        if reached.all():
            break
    return [tuple(column) for column in np.array(sizes).T.tolist()]


def _order(wiring: Wiring) -> list[int]:
    """Return the nodes in breadth-first order from node 0."""
    order = [0]
    for node in order:
        order.extend(sorted(set(wiring.targets[node].tolist()) - set(order)))
    return order
