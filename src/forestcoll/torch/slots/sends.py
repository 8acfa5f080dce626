"""Runs a program of slots with sends and receives of torch's groups, one for the box and one for the rest.

NCCL gives the peers of a box few channels in a communicator that spans boxes: what stays in the box has a group of its
own. All ranks start the two groups of a slot in the same order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

import torch
import torch.distributed as dist

from forestcoll.demand.collective import Collective
from forestcoll.runtime import ReduceOp
from forestcoll.torch.slots.movement import Movement
from forestcoll.torch.slots.program import Memory, Message, Program, Range, Size, Slot, Timetable, program_of
from forestcoll.torch.slots.steps import Bound, Step, Transfer
from forestcoll.torch.slots.streams import Device

_KEPT_PROGRAMS = 64

_ADDS: dict[ReduceOp, Callable[[list[torch.Tensor], list[torch.Tensor]], None]] = {
    ReduceOp.SUM: torch._foreach_add_,
    ReduceOp.MIN: torch._foreach_minimum_,
    ReduceOp.MAX: torch._foreach_maximum_,
    ReduceOp.PROD: torch._foreach_mul_,
}


@dataclass(frozen=True, slots=True)
class Peers:
    """A group that slots send and receive in.

    Attributes:
        group: of torch.
        places: of each rank in it its number there.
    """

    group: dist.ProcessGroup
    places: dict[int, int]


class Sends:
    """This rank's part in a schedule of trees.

    Args:
        timetable: of the schedule.
        rank: this rank.
        peers: the groups, the one of the box first; a message takes the first one that has its peer.
        device: where the tensors are.
    """

    def __init__(self, timetable: Timetable, rank: int, peers: Sequence[Peers], device: Device) -> None:
        self._name = f"{timetable.plan.collective.value} in slots"
        self._peers, self._device = peers, device
        self._program: Callable[[Size], Program] = lru_cache(_KEPT_PROGRAMS)(partial(program_of, timetable, rank))
        self._rank, self._plan = rank, timetable.plan

    def bound(self, movement: Movement) -> Bound:
        """Return the slots of a collective on this rank's memory."""
        size = Size(movement.count, movement.counts, movement.chunks, movement.grain)
        program = self._program(size)
        data = movement.data
        source = data if movement.source is None else movement.source
        memory = {Memory.DATA: data, Memory.SOURCE: source, Memory.SCRATCH: data.new_empty(program.scratch)}
        bound = Bound(self._name)
        own = self._own(movement, size)
        if own is not None and own[0].data_ptr() != own[1].data_ptr():
            bound.before.append(partial(own[0].copy_, own[1]))
        bound.steps = [self._step(slot, memory, _ADDS[movement.step_op]) for slot in program.slots]
        return bound

    def _own(self, movement: Movement, size: Size) -> tuple[torch.Tensor, torch.Tensor] | None:
        """Return where this rank's own part goes first, and where it is; None if it is there."""
        if not movement.collective.has_shards or movement.source is None:
            return None
        part = slice(*size.parts(self._plan)[self._rank])
        if movement.collective is Collective.ALLGATHER:
            return movement.data[part], movement.source
        return movement.data, movement.source[part]

    def _step(
        self,
        slot: Slot,
        memory: dict[Memory, torch.Tensor],
        add: Callable[[list[torch.Tensor], list[torch.Tensor]], None],
    ) -> Step:
        step = Step(peers={message.peer for message in (*slot.sends, *slot.receives)})
        for number, peers in enumerate(self._peers):
            receives = [each for each in slot.receives if self._group_of(each) == number]
            sends = [each for each in slot.sends if self._group_of(each) == number]
            if receives or sends:
                step.transfers.append(self._batch(peers, receives, sends, memory))
        for sums in slot.rounds:
            into = [_part(memory, each.into) for each in sums]
            step.after.append(partial(add, into, [_part(memory, each.what) for each in sums]))
        return step

    def _group_of(self, message: Message) -> int:
        return next(number for number, peers in enumerate(self._peers) if message.peer in peers.places)

    def _batch(
        self, peers: Peers, receives: list[Message], sends: list[Message], memory: dict[Memory, torch.Tensor]
    ) -> Transfer:
        group = peers.group
        calls = [
            partial(start, [_part(memory, each.where)], peers.places[each.peer], 0)
            for start, messages in ((group.recv, receives), (group.send, sends))
            for each in messages
        ]
        return lambda: self._device.together(group, lambda: [call() for call in calls])


def _part(memory: dict[Memory, torch.Tensor], where: Range) -> torch.Tensor:
    return memory[where.memory][where.low : where.high]
