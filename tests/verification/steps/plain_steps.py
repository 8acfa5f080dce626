"""A plain simulation of step schedules: it tracks the copies or summands of each piece of each shard."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfer
from forestcoll.topology import Topology

Held = dict[tuple[int, int, Fraction], Counter[int]]


def simulates(schedule: StepSchedule) -> bool:
    """Return whether all routes are paths, and all data arrives."""
    return all(is_path(schedule.topology, path) for path in schedule.routes) and all(
        _arrives(schedule, phase) for phase in schedule.phases
    )


def is_path(topology: Topology, path: tuple[int, ...]) -> bool:
    links = {(link.source, link.target) for link in topology.links}
    return len(path) >= 2 and len(set(path)) == len(path) and all(hop in links for hop in pairwise(path))


def path_of(schedule: StepSchedule, sent: Transfer) -> tuple[int, ...]:
    return (sent.source, sent.target) if sent.route is None else schedule.routes[sent.route]


def step_times(schedule: StepSchedule) -> tuple[Fraction, ...]:
    """Return the time of each step: the greatest load / bandwidth of a link."""
    bandwidths = {(link.source, link.target): link.bandwidth for link in schedule.topology.links}
    times = []
    for phase in schedule.phases:
        for step in phase.transfers:
            busy: Counter[tuple[int, int]] = Counter()
            for sent in step:
                for hop in pairwise(path_of(schedule, sent)):
                    size = (sent.high - sent.low) * schedule.shard_sizes[sent.shard]
                    busy[hop] += size / bandwidths[hop]  # type: ignore[assignment]
            times.append(Fraction(max(busy.values(), default=0)))
    return tuple(times)


def _arrives(schedule: StepSchedule, phase: StepPhase) -> bool:
    members, is_reduce = schedule.members, phase.op is PhaseOp.REDUCE
    points = sorted({Fraction(0), Fraction(1), *phase.transfers.points})
    pieces = [(shard, low) for shard in members for low in points[:-1]]
    held: Held = {
        (node, *piece): Counter([node] if is_reduce or node == piece[0] else []) for node in members for piece in pieces
    }
    for step in phase.transfers:
        before = {key: Counter(value) for key, value in held.items()}
        if not all(_is_sent(schedule, each, before, held, points, is_reduce=is_reduce) for each in step):
            return False
    if is_reduce:
        return all(held[shard, shard, low] == Counter(members) for shard, low in pieces)
    return all(held[node, *piece] for node in members for piece in pieces)


def _is_sent(
    schedule: StepSchedule, sent: Transfer, before: Held, held: Held, points: list[Fraction], *, is_reduce: bool
) -> bool:
    path, members = path_of(schedule, sent), set(schedule.members)
    if not is_path(schedule.topology, path) or (path[0], path[-1]) != (sent.source, sent.target):
        return False
    if not {sent.source, sent.target, sent.shard} <= members or not 0 <= sent.low < sent.high <= 1:
        return False
    for low in points[:-1]:
        if sent.low <= low < sent.high:
            what = before[sent.source, sent.shard, low]
            if is_reduce:
                held[sent.target, sent.shard, low] += what
            elif what:
                held[sent.target, sent.shard, low] |= what
            else:
                return False
    return True
