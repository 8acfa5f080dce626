"""Lower limits of the lengths of Steiner trees with many members: least arborescences of a smaller graph.

Each node that may branch and is no member is merged with the member for which the sum of the distances there and back
is least. Merging can only make trees shorter, so the least arborescence of the merged graph is at most as long as the
shortest Steiner tree. Both are equal if every such node has distance 0 to and from a member.
"""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from forestcoll.topology.graph.arborescence import cheapest_tree
from forestcoll.topology.graph.metric import Lengths


class LeastArborescences:
    """The least arborescences of the graph in which all nodes that may branch are merged with members.

    Args:
        distances: the distance from each node to each other one.
        branching: the numbers of the nodes that may branch, members among them.
        members: the numbers of the nodes to join.
    """

    def __init__(self, distances: Lengths, branching: Sequence[int], members: Sequence[int]) -> None:
        nodes = np.array(list(branching))
        listed = np.array(list(members))
        around = distances[np.ix_(listed, nodes)] + distances[np.ix_(nodes, listed)].T
        nearest = np.argmin(around, axis=0)
        places = {member: place for place, member in enumerate(listed.tolist())}
        self._place = {
            node: places.get(node, int(near)) for node, near in zip(nodes.tolist(), nearest.tolist(), strict=True)
        }
        order = np.array([self._place[node] for node in nodes.tolist()])
        count = len(listed)
        rows: Lengths = np.full((count, len(nodes)), distances.max(), dtype=distances.dtype)
        np.minimum.at(rows, order, distances[np.ix_(nodes, nodes)])
        between: Lengths = np.full((count, count), distances.max(), dtype=distances.dtype)
        np.minimum.at(between.T, order, rows.T)
        self._members = listed.tolist()
        self._arcs = list(itertools.permutations(range(count), 2))
        self._lengths = between[~np.eye(count, dtype=np.bool_)].tolist()
        self._found: dict[int, tuple[int, ...]] = {}

    def length(self, root: int) -> float:
        """Return the length of the least arborescence from the member with which `root` is merged; it may branch."""
        length: float = sum(self._lengths[arc] for arc in self._least(root))
        return length

    def walks(self, root: int) -> Iterator[tuple[int, int]]:
        """Yield both members of each arc of the least arborescence from `root`; the first was reached before."""
        for start, end in map(self._arcs.__getitem__, self._least(root)):
            yield self._members[start], self._members[end]

    def _least(self, root: int) -> tuple[int, ...]:
        place = self._place[root]
        if place not in self._found:
            self._found[place] = cheapest_tree(range(len(self._members)), self._arcs, self._lengths, place).arcs
        return self._found[place]
