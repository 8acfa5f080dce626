"""Lower limits of the lengths of Steiner trees with many members: least arborescences of a smaller graph.

Each node that may branch and is no member is merged with the member for which the sum of the distances there and back
is least. Merging can only make trees shorter, so the least arborescence of the merged graph is at most as long as the
shortest Steiner tree. Both are equal if every such node has distance 0 to and from a member. Chu and Liu (1965) and
Edmonds (1967) found the least arborescence: every node takes its shortest entering arc, and cycles are contracted.

Cost: at most N passes over a matrix of N x N members for each root.
"""

from collections.abc import Iterator, Sequence

import numpy as np

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
        self._arcs: Lengths = np.full((count, count), distances.max(), dtype=distances.dtype)
        np.minimum.at(self._arcs.T, order, rows.T)
        self._members = listed.tolist()
        self._found: dict[int, list[tuple[int, int]]] = {}

    def length(self, root: int) -> float:
        """Return the length of the least arborescence from the member with which `root` is merged; it may branch."""
        length: float = sum(self._arcs[arc] for arc in self._least(root))
        return length

    def walks(self, root: int) -> Iterator[tuple[int, int]]:
        """Yield both members of each arc of the least arborescence from `root`; the first was reached before."""
        leaving: dict[int, list[int]] = {}
        for start, end in self._least(root):
            leaving.setdefault(start, []).append(end)
        pending = [self._place[root]]
        for start in pending:
            for end in leaving.get(start, ()):
                yield self._members[start], self._members[end]
                pending.append(end)

    def _least(self, root: int) -> list[tuple[int, int]]:
        place = self._place[root]
        if place not in self._found:
            self._found[place] = _least_arborescence(self._arcs, place)
        return self._found[place]


def _least_arborescence(arcs: Lengths, root: int) -> list[tuple[int, int]]:
    """Return the arcs of the least arborescence of a complete graph. The diagonal of `arcs` is ignored."""
    arcs = arcs.copy()
    np.fill_diagonal(arcs, arcs.max() + 1)
    entering = np.argmin(arcs, axis=0)
    least = arcs[entering, np.arange(len(arcs))]
    parents = entering.tolist()
    cycles = _cycles(parents, root)
    if not cycles:
        return [(parent, node) for node, parent in enumerate(parents) if node != root]
    inside = {node for cycle in cycles for node in cycle}
    clusters = [*([node] for node in range(len(arcs)) if node not in inside), *cycles]
    sources, targets, merged = _merged(arcs - least, clusters)
    chosen = _least_arborescence(merged, clusters.index([root]))
    listed = [(int(sources[arc]), int(targets[arc])) for arc in chosen]
    entered = {end for _, end in listed}
    return listed + [(parents[node], node) for node in sorted(inside - entered)]


def _cycles(parents: Sequence[int], root: int) -> list[list[int]]:
    """Return the cycles of the arcs from `parents`; none leads through the root, whose parent does not count."""
    done, cycles = {root}, []
    for start in range(len(parents)):
        path, node = dict[int, int](), start
        while node not in done and node not in path:
            path[node] = len(path)
            node = parents[node]
        if node in path:
            cycles.append(list(path)[path[node] :])
        done.update(path)
    return cycles


def _merged(arcs: Lengths, clusters: Sequence[Sequence[int]]) -> tuple[Lengths, Lengths, Lengths]:
    """Return, for each pair of clusters, the source and the target of the shortest arc between them, and its length."""
    rows = [np.array(cluster)[np.argmin(arcs[cluster], axis=0)] for cluster in clusters]
    shortest = np.stack([arcs[row, np.arange(len(arcs))] for row in rows])
    targets = np.stack([np.array(cluster)[np.argmin(shortest[:, cluster], axis=1)] for cluster in clusters], axis=1)
    sources = np.stack([row[target] for row, target in zip(rows, targets, strict=True)])
    return sources, targets, arcs[sources, targets]
