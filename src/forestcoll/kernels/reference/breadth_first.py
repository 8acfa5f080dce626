"""Breadth-first broadcast (BFB, §6.1): one balancing flow for each node and step; every shard is separate."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

import numpy as np

from forestcoll.kernels.interface import ReportProgress, StepTransfers
from forestcoll.kernels.reference.network import Arc, Problem, max_flow_over


def broadcast_breadth_first(
    problem: Problem,
    demand: int,
    latencies: Sequence[int],
    chunks: int,
    targets: Sequence[int] = (),
    progress: ReportProgress = None,
) -> StepTransfers:
    """See `Core.broadcast_breadth_first`."""
    entering: list[dict[int, tuple[Fraction, int]]] = [{} for _ in range(problem.nodes)]
    for tail, head, rate, latency in zip(problem.tails, problem.heads, problem.capacities, latencies, strict=True):
        entering[head][tail] = (Fraction(rate, demand), latency)
    distances = [_distances_to(target, entering) for target in range(problem.nodes)]
    rows: list[tuple[int, int, int, int, Fraction, Fraction]] = []
    receivers = targets or range(problem.nodes)
    for done, target in enumerate(receivers, start=1):
        for step in range(1, max(distances[target]) + 1):
            bringers = {
                shard: [node for node in entering[target] if distances[node][shard] == step - 1]
                for shard in range(problem.nodes)
                if distances[target][shard] == step
            }
            parts = balanced_parts(bringers, entering[target], chunks)
            rows.extend((step - 1, shard, source, target, low, high) for shard, source, low, high in parts)
        if progress is not None:
            progress(done, len(receivers))
    return _columns(rows)


def _distances_to(target: int, entering: Sequence[Mapping[int, object]]) -> list[int]:
    distances = [-1] * len(entering)
    distances[target] = 0
    queue = deque([target])
    while queue:
        node = queue.popleft()
        for neighbour in entering[node]:
            if distances[neighbour] < 0:
                distances[neighbour] = distances[node] + 1
                queue.append(neighbour)
    if min(distances) < 0:
        raise ValueError("some node cannot reach some other")
    return distances


def balanced_parts(
    bringers: Mapping[int, Sequence[int]], links: Mapping[int, tuple[Fraction, int]], chunks: int
) -> Iterator[tuple[int, int, Fraction, Fraction]]:
    """Yield parts of shards as (shard, bringer, low, high) that arrive in the least time (LP (1), (13), (14)).

    `bringers` lists, for each shard, the nodes that can send it. `links` gives, for each bringer, the rate of its link
    in shards per unit of time, and its latency.
    """
    time = _least_time(list(bringers.values()), links, chunks)
    while (slow := _unserved(bringers, links, chunks, time)[1]) is not None:
        time = _least_time([bringers[shard] for shard in slow], links, chunks)
    flow, _ = _unserved(bringers, links, chunks, time)
    for shard, nodes in bringers.items():
        low = Fraction(0)
        for node in nodes:
            amount = flow.get((shard, node), Fraction(0))
            if amount:
                yield shard, node, low, low + amount
            low += amount


def _brought(link: tuple[Fraction, int], time: Fraction, chunks: int) -> Fraction:
    """Return how many shards `link` brings in `time`."""
    rate, latency = link
    shards = max(Fraction(0), rate * (time - latency))
    return Fraction(shards * chunks // 1, chunks) if chunks else shards


def _least_time(bringers: Sequence[Sequence[int]], links: Mapping[int, tuple[Fraction, int]], chunks: int) -> Fraction:
    """Return the least time in which the links that bring any of these shards can together bring all of them."""
    chosen = sorted((links[node] for node in {node for nodes in bringers for node in nodes}), key=lambda link: link[1])
    rates, latency = chosen[0]
    work = len(bringers) + rates * latency
    time = work / rates
    for rate, latency in chosen[1:]:
        if latency >= time:
            break
        rates, work = rates + rate, work + rate * latency
        time = work / rates
    while chunks and sum(_brought(link, time, chunks) for link in chosen) < len(bringers):
        time = min(link[1] + (_brought(link, time, chunks) + Fraction(1, chunks)) / link[0] for link in chosen)
    return time


def _unserved(
    bringers: Mapping[int, Sequence[int]], links: Mapping[int, tuple[Fraction, int]], chunks: int, time: Fraction
) -> tuple[dict[tuple[int, int], Fraction], set[int] | None]:
    """Return the flow from shards over links within `time`, and the shards whose links are too slow, or None."""
    capacities = {node: _brought(link, time, chunks) for node, link in links.items()}
    unit = chunks or np.lcm.reduce([each.denominator for each in capacities.values()], dtype=object)
    node_of = {("shard", shard): place + 2 for place, shard in enumerate(bringers)}
    node_of |= {("link", node): place + 2 + len(bringers) for place, node in enumerate(links)}
    arcs: dict[Arc, int] = {}
    for shard, nodes in bringers.items():
        arcs[0, node_of["shard", shard]] = int(unit)
        # more than any flow, so that the minimum cut contains all links of its shards
        arcs |= {(node_of["shard", shard], node_of["link", node]): int(unit) + 1 for node in nodes}
    arcs |= {(node_of["link", node], 1): int(capacity * unit) for node, capacity in capacities.items()}
    flow, source_side = max_flow_over(arcs, 0, 1)
    found = {
        (shard, node): Fraction(flow[node_of["shard", shard], node_of["link", node]], int(unit))
        for shard, nodes in bringers.items()
        for node in nodes
    }
    if sum(found.values()) == len(bringers):
        return found, None
    return found, {shard for shard in bringers if node_of["shard", shard] in source_side}


def _columns(rows: Sequence[tuple[int, int, int, int, Fraction, Fraction]]) -> StepTransfers:
    points = sorted({point for row in rows for point in row[4:]})
    places = {point: place for place, point in enumerate(points)}
    named = [(*row[:4], places[row[4]], places[row[5]]) for row in rows]
    steps, shards, sources, targets, lows, highs = np.array(named, dtype=np.int32).reshape(-1, 6).T
    numerators, denominators = [each.numerator for each in points], [each.denominator for each in points]
    return StepTransfers(steps, shards, sources, targets, lows, highs, numerators, denominators)
