"""The shortest trees that join members of a network (Dreyfus and Wagner, 1971).

For each set of members and each node that may branch, the shortest tree from the node to the set consists of a walk to
a node that may branch, and of the shortest trees from there to two parts of the set. The time triples with each member.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from forestcoll.topology.graph.metric import Lengths


class LeastTrees:
    """The shortest trees from each node that may branch to all members.

    Args:
        distances: the distance from each node to each other one.
        branching: the numbers of the nodes that may branch, members among them.
        members: the numbers of the nodes to join, few.
    """

    def __init__(self, distances: Lengths, branching: Sequence[int], members: Sequence[int]) -> None:
        self._nodes = list(branching)
        self._places = {node: place for place, node in enumerate(self._nodes)}
        between = distances[np.ix_(self._nodes, self._nodes)]
        sets, count = 2 ** len(members), len(self._nodes)
        self._lengths: Lengths = np.zeros((sets, count), dtype=distances.dtype)
        self._branch = np.zeros((sets, count), dtype=np.int32)
        self._part = np.zeros((sets, count), dtype=np.int32)
        for place, member in enumerate(members):
            self._lengths[1 << place] = distances[self._nodes, member]
            self._branch[1 << place] = self._places[member]
        everywhere = np.arange(count)
        for held in range(3, sets):
            if held & (held - 1):
                merged, self._part[held] = self._merged(held)
                through = between + merged
                self._branch[held] = np.argmin(through, axis=1)
                self._lengths[held] = through[everywhere, self._branch[held]]

    def _merged(self, held: int) -> tuple[Lengths, npt.NDArray[np.int32]]:
        """Return, for each node, the least length of two trees that join the set together, and the part of one."""
        parts = np.fromiter(_parts(held), dtype=np.int64)
        sums = self._lengths[parts] + self._lengths[held ^ parts]
        best = np.argmin(sums, axis=0)
        return sums[best, np.arange(sums.shape[1])], parts[best].astype(np.int32)

    def length(self, root: int) -> float:
        """Return the length of the shortest tree from `root`, which may branch. A float, or an exact integer."""
        found: float = self._lengths[-1, self._places[root]]
        return found

    def walks(self, root: int) -> Iterator[tuple[int, int]]:
        """Yield the start and the end of each walk of the shortest tree from `root`; the start was reached before."""
        pending = [(self._places[root], len(self._lengths) - 1)]
        for place, held in pending:
            branch = int(self._branch[held, place])
            yield self._nodes[place], self._nodes[branch]
            if held & (held - 1):
                part = int(self._part[held, branch])
                pending += [(branch, part), (branch, held ^ part)]


def _parts(held: int) -> Iterator[int]:
    """Yield each division of a set of bits into two parts once: the part with its lowest bit."""
    low = held & -held
    rest = part = held ^ low
    while part:
        part = (part - 1) & rest
        yield part | low
