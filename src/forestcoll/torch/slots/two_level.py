"""Two levels: slots of the backend's own collectives on two groups, the box and the rail.

In slot s, chunk s is in the first stage, chunk s - 1 in the second, and so on, so both levels work at the same time.
What is executed is the two-level forest of `algorithms/two_level.py`: `require_forest` computes from `STAGES`, which is
what runs, the hops of each root's data, and compares them with those of the verified schedule.

Chunks are contiguous, but the data of a rail are not: an allgather copies each chunk to its places, a reduce-scatter
from them, both while another chunk moves.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import pairwise

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.runtime import Plan
from forestcoll.torch.calls.elements import TORCH_OPS
from forestcoll.torch.calls.inner import method
from forestcoll.torch.slots.boxes import EqualBoxes
from forestcoll.torch.slots.movement import Movement, cuts_of
from forestcoll.torch.slots.steps import Action, Bound, Step


class Level(Enum):
    """A group of a stage."""

    BOX = "box"
    RAIL = "rail"


@dataclass(frozen=True, slots=True)
class Stage:
    """What a chunk goes through in one slot: a collective of the backend on the ranks of a level."""

    level: Level
    collective: Collective


STAGES = {
    Collective.ALLGATHER: (Stage(Level.RAIL, Collective.ALLGATHER), Stage(Level.BOX, Collective.ALLGATHER)),
    Collective.REDUCE_SCATTER: (
        Stage(Level.BOX, Collective.REDUCE_SCATTER),
        Stage(Level.RAIL, Collective.REDUCE_SCATTER),
    ),
    Collective.ALLREDUCE: (
        Stage(Level.BOX, Collective.REDUCE_SCATTER),
        Stage(Level.RAIL, Collective.ALLREDUCE),
        Stage(Level.BOX, Collective.ALLGATHER),
    ),
}
"""The stages of each collective, in the order of the slots of a chunk."""

Pairs = frozenset[tuple[int, int]]
"""Sends from one rank to another."""


def require_forest(plan: Plan, boxes: EqualBoxes, stages: Sequence[Stage] | None = None) -> None:
    """Check that the stages move each root's data over the hops of a verified schedule.

    Args:
        plan: of the verified schedule.
        boxes: of the ranks.
        stages: what runs; those of the collective if None.

    Raises:
        InputError: a flow of the schedule has other hops.
    """
    chosen = STAGES[plan.collective] if stages is None else stages
    for flow in plan.flows:
        reduced, copied = _hops(chosen, boxes, flow.root)
        found = [frozenset((hop.source, hop.target) for hop in hops) for hops in (flow.reduce, flow.broadcast)]
        if [reduced, copied] != found:
            raise InputError(
                f"the two-level forest of this network sends the data of rank {flow.root} over other ranks than those "
                "of its rail, or not directly inside boxes; use cuda='slots'"
            )


def _hops(stages: Sequence[Stage], boxes: EqualBoxes, root: int) -> tuple[Pairs, Pairs]:
    """Return by which hops the stages add up and copy the data whose sum, or origin, is at `root`."""
    copied = _spread([each.level for each in stages if each.collective is not Collective.REDUCE_SCATTER], boxes, root)
    adding = [each.level for each in reversed(stages) if each.collective is not Collective.ALLGATHER]
    return frozenset((target, source) for source, target in _spread(adding, boxes, root)), copied


def _spread(levels: Sequence[Level], boxes: EqualBoxes, root: int) -> Pairs:
    """Return the hops from `root`, level by level: each rank that has the data gives them to the ranks of its group."""
    holders, hops = [root], set[tuple[int, int]]()
    for level in levels:
        new = [(holder, rank) for holder in holders for rank in ranks_of(boxes, level, holder) if rank not in holders]
        hops.update(new)
        holders += [rank for _, rank in new]
    return frozenset(hops)


def ranks_of(boxes: EqualBoxes, level: Level, rank: int) -> tuple[int, ...]:
    """Return the ranks of the group of `rank` on a level."""
    return boxes.rail_of(rank) if level is Level.RAIL else boxes.box_of(rank)


def stages_of_slots(stages: int, chunks: int) -> Iterator[list[tuple[int, int]]]:
    """Yield for each slot the stages in it, each with its chunk.

    Example:
        >>> list(stages_of_slots(2, 2))
        [[(0, 0)], [(0, 1), (1, 0)], [(1, 1)]]
    """
    for slot in range(chunks + stages - 1):
        yield [(stage, slot - stage) for stage in range(stages) if 0 <= slot - stage < chunks]


@dataclass(frozen=True, slots=True)
class TwoLevel:
    """This rank's part in two levels.

    Attributes:
        boxes: of the ranks.
        rank: this one.
        groups: the group of each level.
        whole: the group of all ranks, for the few elements that cannot be divided by the ranks of a box.
    """

    boxes: EqualBoxes
    rank: int
    groups: dict[Level, dist.ProcessGroup]
    whole: dist.ProcessGroup

    def bound(self, movement: Movement) -> Bound:
        """Return the slots of a collective on this rank's memory."""
        build = {
            Collective.ALLGATHER: self._allgather,
            Collective.REDUCE_SCATTER: self._reduce_scatter,
            Collective.ALLREDUCE: self._allreduce,
        }[movement.collective]
        bound, parts = Bound(f"{movement.collective.value} on two levels"), build(movement)
        stages = STAGES[movement.collective]
        for listed in stages_of_slots(len(stages), len(parts[0])) if parts[0] else ():
            step = Step()
            for stage, chunk in listed:
                self._add(step, stages[stage], parts[stage][chunk], movement)
            bound.steps.append(step)
        _add_copies(bound, parts)
        if movement.collective is Collective.ALLREDUCE:
            self._add_rest(bound, movement)
        return bound

    def _add(self, step: Step, stage: Stage, part: "_Part", movement: Movement) -> None:
        group, op = self.groups[stage.level], TORCH_OPS[movement.step_op]
        step.transfers.append(lambda: [_started(group, stage.collective, part.out, part.source, op)])
        step.peers |= {*ranks_of(self.boxes, stage.level, self.rank)} - {self.rank}

    def _add_rest(self, bound: Bound, movement: Movement) -> None:
        """Let the group of all ranks add up the last elements, fewer than a box has ranks, in the first slot."""
        rest = movement.data[movement.data.numel() // self.boxes.per_box * self.boxes.per_box :]
        if not rest.numel():
            return
        if not bound.steps:
            bound.steps.append(Step())
        op = TORCH_OPS[movement.step_op]
        bound.steps[0].transfers.append(lambda: [_started(self.whole, Collective.ALLREDUCE, rest, rest, op)])
        bound.steps[0].peers |= {*range(self.boxes.size)} - {self.rank}

    def _allgather(self, movement: Movement) -> "list[list[_Part]]":
        """The rail gathers, the box gathers what the rails brought, and a copy puts it into its places."""
        shard, boxes, per_box = _source(movement), self.boxes.boxes, self.boxes.per_box
        placed = movement.data.view(boxes, per_box, -1)
        chunks = _chunks(shard.numel(), movement.chunks, movement.grain)
        came, joined = _buffers(shard, chunks, boxes), _buffers(shard, chunks, self.boxes.size)
        rails, in_box = [], []
        for number, (low, high) in enumerate(chunks):
            column = came[number % 2][: boxes * (high - low)]
            whole = joined[number % 2][: self.boxes.size * (high - low)]
            rails.append(_Part(column, shard[low:high]))
            after = _copy(placed[:, :, low:high], whole.view(per_box, boxes, -1).transpose(0, 1))
            in_box.append(_Part(whole, column, after=after))
        return [rails, in_box]

    def _reduce_scatter(self, movement: Movement) -> "list[list[_Part]]":
        """A copy puts the parts of each rail together, the box reduces and scatters them, and so does the rail."""
        source, boxes, per_box = _source(movement), self.boxes.boxes, self.boxes.per_box
        placed = source.view(boxes, per_box, -1)
        chunks = _chunks(movement.data.numel(), movement.chunks, movement.grain)
        packed, mine = _buffers(source, chunks, self.boxes.size), _buffers(source, chunks, boxes)
        in_box, rails = [], []
        for number, (low, high) in enumerate(chunks):
            whole = packed[number % 2][: self.boxes.size * (high - low)]
            column = mine[number % 2][: boxes * (high - low)]
            before = _copy(whole.view(per_box, boxes, -1), placed[:, :, low:high].transpose(0, 1))
            in_box.append(_Part(column, whole, before=before))
            rails.append(_Part(movement.data[low:high], column))
        return [in_box, rails]

    def _allreduce(self, movement: Movement) -> "list[list[_Part]]":
        """The box reduces and scatters, the rail reduces, the box gathers, all in place."""
        data, per_box = movement.data, self.boxes.per_box
        parts: list[list[_Part]] = [[], [], []]
        for low, high in _chunks(data.numel() // per_box * per_box, movement.chunks, movement.grain * per_box):
            whole = data[low:high]
            mine = whole.view(per_box, -1)[self.rank % per_box]
            for listed, part in zip(parts, (_Part(mine, whole), _Part(mine, mine), _Part(whole, mine)), strict=True):
                listed.append(part)
        return parts


@dataclass(frozen=True, slots=True)
class _Part:
    """The memory of a chunk in a stage, and the copies before its first stage and after its last."""

    out: torch.Tensor
    source: torch.Tensor
    before: Action | None = None
    after: Action | None = None


def _add_copies(bound: Bound, parts: list[list[_Part]]) -> None:
    """Put copies beside the slot before the first stage of their chunk, or the slot after the last."""
    for chunk, part in enumerate(parts[0]):
        if part.before is not None:
            (bound.steps[chunk - 1].beside if chunk else bound.before).append(part.before)
    for chunk, part in enumerate(parts[-1]):
        slot = chunk + len(parts)
        if part.after is not None:
            (bound.steps[slot].beside if slot < len(bound.steps) else bound.finally_).append(part.after)


def _source(movement: Movement) -> torch.Tensor:
    assert movement.source is not None  # noqa: S101 (only a collective in place has none)
    return movement.source


def _chunks(count: int, chunks: int, unit: int) -> list[tuple[int, int]]:
    """Return the chunks that are not empty."""
    cuts = cuts_of(count, chunks, unit)
    return [(low, high) for low, high in pairwise(cuts) if low < high]


def _buffers(like: torch.Tensor, chunks: Sequence[tuple[int, int]], ranks: int) -> list[torch.Tensor]:
    """Return memory for two chunks of so many ranks: a chunk is done before the next but one needs the memory."""
    longest = max((high - low for low, high in chunks), default=0)
    return [like.new_empty(longest * ranks) for _ in range(2)]


def _copy(target: torch.Tensor, source: torch.Tensor) -> Action:
    return lambda: target.copy_(source)


def _started(
    group: dist.ProcessGroup, collective: Collective, out: torch.Tensor, source: torch.Tensor, op: dist.ReduceOp
) -> dist.Work:
    """Start a collective of the backend on flat memory."""
    if collective is Collective.ALLGATHER:
        gather = c10d.AllgatherOptions()
        gather.asyncOp = True  # else NCCL would use the present stream, and the groups would wait for each other
        return method(group, "all_gather_single")(out, source, gather)
    if collective is Collective.REDUCE_SCATTER:
        scatter = c10d.ReduceScatterOptions()
        scatter.reduceOp, scatter.asyncOp = op, True
        return method(group, "reduce_scatter_single")(out, source, scatter)
    reduce = c10d.AllreduceOptions()
    reduce.reduceOp, reduce.asyncOp = op, True
    return group.allreduce([out], reduce)
