"""Distances between nodes along links with lengths."""

import heapq
from collections.abc import Mapping

Arcs = Mapping[int, list[tuple[int, int]]]
"""For each node, the nodes that are one link further, and the lengths of these links."""


def least_sums(begin: Mapping[int, int], arcs: Arcs) -> dict[int, int]:
    """Return the least sum at each node if the sums of `begin` grow by the length of each link on the way (Dijkstra).

    With the sum 0 at one node, these are the distances from it. Nodes that are not reached have no sum.
    """
    reached: dict[int, int] = {}
    waiting = [(length, node) for node, length in begin.items()]
    heapq.heapify(waiting)
    while waiting:
        length, node = heapq.heappop(waiting)
        if node not in reached:
            reached[node] = length
            for further, more in arcs.get(node, []):
                if further not in reached:
                    heapq.heappush(waiting, (length + more, further))
    return reached
