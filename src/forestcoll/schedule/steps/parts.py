"""The parts of shards that all transfers of a phase treat alike, each with the paths that it is sent along.

Each part reaches each rank once, so its paths are a tree. Where data is reduced, each rank sends its sum of a part
once, which is a tree read backwards.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.steps.value import StepSchedule

Path = tuple[int, ...]
"""The numbers of the nodes of a path, its ends too."""


class ShardPart(NamedTuple):
    """The part [`low`, `high`) of the shard of node `shard`, and its paths in an order in which data can flow."""

    shard: int
    low: Fraction
    high: Fraction
    paths: tuple[Path, ...]


class _Sent(NamedTuple):
    low: Fraction
    high: Fraction
    path: Path


def shard_parts(schedule: StepSchedule, number: int) -> Iterator[ShardPart]:
    """Yield the parts of each shard in a phase, from its beginning to its end; adjacent parts with equal paths are one.

    Args:
        schedule: a schedule that `verify` accepts, without a symmetry.
        number: the number of the phase.

    Example:
        >>> from forestcoll import generate
        >>> next(shard_parts(generate("ring:nodes=3", method="bfb"), 0)).paths
        ((0, 1), (0, 2))
    """
    phase, routes = schedule.phases[number], list(schedule.routes)
    of_shard: dict[int, list[_Sent]] = {}
    for step in phase.transfers:
        for each in step:
            path = (each.source, each.target) if each.route is None else routes[each.route]
            of_shard.setdefault(each.shard, []).append(_Sent(each.low, each.high, path))
    for shard in sorted(of_shard):
        yield from _parts_of(phase.op, shard, of_shard[shard])


def _parts_of(op: PhaseOp, shard: int, transfers: list[_Sent]) -> Iterator[ShardPart]:
    points = sorted({point for each in transfers for point in (each.low, each.high)} | {Fraction(0), Fraction(1)})
    waiting: ShardPart | None = None
    for low, high in pairwise(points):
        sent = [each.path for each in transfers if each.low <= low and high <= each.high]
        paths = tuple(sent if op is PhaseOp.REDUCE else _first_paths(sent, shard))
        if waiting is not None and waiting.paths == paths:
            waiting = waiting._replace(high=high)
            continue
        if waiting is not None:
            yield waiting
        waiting = ShardPart(shard, low, high, paths)
    if waiting is not None:
        yield waiting


def _first_paths(paths: list[Path], shard: int) -> list[Path]:
    """Return the paths of copies without those to the owner of the shard; of several to one node, the first."""
    first = {path[-1]: path for path in reversed(paths)}
    return [path for path in dict.fromkeys(paths) if first[path[-1]] == path and path[-1] != shard]
