"""All-to-all by shortest-path trees (A.5); the lengths grow with how much of each arc the earlier rounds used."""

import heapq
from collections.abc import Sequence

from forestcoll.kernels.interface import ReportProgress
from forestcoll.kernels.reference.network import Problem


def spread_all_to_all(
    problem: Problem, rounds: int, gap: float, progress: ReportProgress = None
) -> tuple[int, list[int], list[int]]:
    """See `Core.spread_all_to_all`. This version does all rounds and ignores the gap."""
    del gap
    loads = [0] * len(problem.tails)
    lengths = [max(problem.capacities) // capacity for capacity in problem.capacities]
    first = list(lengths)
    for done in range(rounds):
        for source in problem.terminals:
            _, arc_to, order = _shortest_paths(problem, source, lengths)
            beyond = {node: int(node in problem.terminals) for node in order}
            for node in reversed(order[1:]):
                loads[arc_to[node]] += beyond[node]
                beyond[problem.tails[arc_to[node]]] += beyond[node]
        # a length grows with the square of the load of the arc relative to its capacity
        needed = [load * max(problem.capacities) // each for load, each in zip(loads, problem.capacities, strict=True)]
        lengths = [1 + each**2 for each in needed]
        if progress is not None:
            progress(done + 1, rounds)
    return rounds, loads, first


def distance_sum(problem: Problem, lengths: Sequence[int], progress: ReportProgress = None) -> int:
    """See `Core.distance_sum`."""
    total = 0
    for done, source in enumerate(problem.terminals, start=1):
        distance, _, _ = _shortest_paths(problem, source, lengths)
        total += sum(distance[terminal] for terminal in problem.terminals)
        if progress is not None:
            progress(done, len(problem.terminals))
    return total


def _shortest_paths(
    problem: Problem, source: int, lengths: Sequence[int]
) -> tuple[dict[int, int], dict[int, int], list[int]]:
    """Return the distance of each node, the arc by which it is reached, and the nodes by distance."""
    leaving: dict[int, list[int]] = {}
    for arc, tail in enumerate(problem.tails):
        leaving.setdefault(tail, []).append(arc)
    distance, arc_to, order = {source: 0}, {source: -1}, []
    heap = [(0, source)]
    while heap:
        far, node = heapq.heappop(heap)
        if far > distance[node]:
            continue
        order.append(node)
        for arc in leaving.get(node, ()):
            through, target = far + lengths[arc], problem.heads[arc]
            if through < distance.get(target, through + 1):
                distance[target], arc_to[target] = through, arc
                heapq.heappush(heap, (through, target))
    if not distance.keys() >= set(problem.terminals):
        raise ValueError("some terminal cannot reach some other")
    return distance, arc_to, order
