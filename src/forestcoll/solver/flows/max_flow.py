"""Max-flow with integer capacities of any size (Y. Dinitz, 1970): blocking flows over shortest augmenting paths.

Cost: at most V phases, each of V E steps; networks of collectives need a few phases.
"""

from collections.abc import Sequence

_Arc = tuple[int, int, int]
"""Tail, head, capacity."""


class MaxFlow:
    """A greatest flow from one node to another.

    Attributes:
        value: the amount of the flow.
        flow: the flow over each arc, in the order in which arcs were given.
        inside: the nodes on the side of the source of a least cut.
    """

    def __init__(self, nodes: int, arcs: Sequence[_Arc], source: int, sink: int) -> None:
        self._heads: list[int] = []
        self._left: list[int] = []
        self._leaving: list[list[int]] = [[] for _ in range(nodes)]
        for tail, head, capacity in arcs:
            for start, end, room in ((tail, head, capacity), (head, tail, 0)):
                self._leaving[start].append(len(self._heads))
                self._heads.append(end)
                self._left.append(room)
        self._source, self._sink = source, sink
        self.value = 0
        while (levels := self._levels())[sink] >= 0:
            self._block(levels)
        self.flow = [self._left[2 * place + 1] for place in range(len(arcs))]
        self.inside = {node for node, level in enumerate(levels) if level >= 0}

    def _levels(self) -> list[int]:
        """Return the number of arcs with room from the source to each node; -1 if it is not reached."""
        levels = [-1] * len(self._leaving)
        levels[self._source] = 0
        queue = [self._source]
        for node in queue:
            for arc in self._leaving[node]:
                head = self._heads[arc]
                if self._left[arc] and levels[head] < 0:
                    levels[head] = levels[node] + 1
                    queue.append(head)
        return levels

    def _block(self, levels: list[int]) -> None:
        """Send flow along shortest paths until every such path has an arc without room."""
        tried = [0] * len(self._leaving)
        path: list[int] = []
        node = self._source
        while True:
            if node == self._sink:
                self._augment(path)
                path, node = [], self._source
            arc = self._next(node, levels, tried)
            if arc is not None:
                path.append(arc)
                node = self._heads[arc]
            elif path:
                arc = path.pop()
                node = self._heads[arc ^ 1]
                tried[node] += 1
            else:
                return

    def _next(self, node: int, levels: list[int], tried: list[int]) -> int | None:
        leaving = self._leaving[node]
        while tried[node] < len(leaving):
            arc = leaving[tried[node]]
            if self._left[arc] and levels[self._heads[arc]] == levels[node] + 1:
                return arc
            tried[node] += 1
        return None

    def _augment(self, path: list[int]) -> None:
        amount = min(self._left[arc] for arc in path)
        for arc in path:
            self._left[arc] -= amount
            self._left[arc ^ 1] += amount
        self.value += amount
