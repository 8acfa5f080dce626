"""A network with capacities, and max-flow by shortest augmenting paths (Edmonds and Karp): O(V E^2), any integers."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Arc: TypeAlias = tuple[int, int]
Capacities: TypeAlias = dict[Arc, int]


@dataclass(frozen=True)
class Problem:
    """A network with its terminals, as `Core.Problem` takes it."""

    nodes: int
    tails: Sequence[int]
    heads: Sequence[int]
    capacities: Sequence[int]
    terminals: Sequence[int]
    weights: Sequence[int] = ()

    def supplies(self, supply: int) -> dict[int, int]:
        """Return the supply of each terminal: `supply` times its weight, which is 1 if no weights are given."""
        weights = self.weights or [1] * len(self.terminals)
        return {terminal: supply * weight for terminal, weight in zip(self.terminals, weights, strict=True)}

    def arc_capacities(self) -> Capacities:
        """Return the capacity of every (tail, head)."""
        capacities: Capacities = {}
        for tail, head, capacity in zip(self.tails, self.heads, self.capacities, strict=True):
            capacities[tail, head] = capacities.get((tail, head), 0) + capacity
        return capacities


def with_arcs(capacities: Capacities, added: Iterable[tuple[int, int, int]]) -> Capacities:
    """Return `capacities` with the arcs (tail, head, capacity) added; capacities between the same nodes add up."""
    result = dict(capacities)
    for tail, head, capacity in added:
        result[tail, head] = result.get((tail, head), 0) + capacity
    return result


def max_flow(capacities: Capacities, source: int, sink: int) -> tuple[int, set[int]]:
    """Return the greatest flow from `source` to `sink`, and the source side of the minimum cut nearest to the sink."""
    flow, source_side = max_flow_over(capacities, source, sink)
    leaving = sum(amount for (tail, _), amount in flow.items() if tail == source)
    return leaving - sum(amount for (_, head), amount in flow.items() if head == source), source_side


def max_flow_over(capacities: Capacities, source: int, sink: int) -> tuple[Capacities, set[int]]:
    """Return a greatest flow over each arc, and the source side of the minimum cut nearest to the sink."""
    residual: dict[int, dict[int, int]] = {source: {}, sink: {}}
    for (tail, head), capacity in capacities.items():
        forward = residual.setdefault(tail, {})
        forward[head] = forward.get(head, 0) + capacity
        residual.setdefault(head, {}).setdefault(tail, 0)
    while path := _shortest_path(residual, source, sink):
        amount = min(residual[tail][head] for tail, head in path)
        for tail, head in path:
            residual[tail][head] -= amount
            residual[head][tail] += amount
    flow = {(tail, head): max(0, capacity - residual[tail][head]) for (tail, head), capacity in capacities.items()}
    return flow, set(residual) - _reaching(residual, sink)


def _shortest_path(residual: dict[int, dict[int, int]], source: int, sink: int) -> list[Arc]:
    reached_from = {source: source}
    queue = deque([source])
    while queue and sink not in reached_from:
        node = queue.popleft()
        for neighbour, capacity in residual[node].items():
            if capacity > 0 and neighbour not in reached_from:
                reached_from[neighbour] = node
                queue.append(neighbour)
    if sink not in reached_from:
        return []
    path = []
    node = sink
    while node != source:
        path.append((reached_from[node], node))
        node = reached_from[node]
    return path


def _reaching(residual: dict[int, dict[int, int]], sink: int) -> set[int]:
    """Return the nodes from which flow could still reach `sink`."""
    reaching = {sink}
    queue = deque([sink])
    while queue:
        node = queue.popleft()
        for neighbour in residual[node]:
            if neighbour not in reaching and residual[neighbour].get(node, 0) > 0:
                reaching.add(neighbour)
                queue.append(neighbour)
    return reaching
