"""Runs the programs of all ranks in one process: in each slot all sends read first, then all receives write."""

from collections import defaultdict, deque
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from forestcoll import Collective
from forestcoll.torch.slots.program import Memory, Program, Size, Timetable, program_of

Vector = NDArray[np.int64]
GARBAGE = -(10**9)


def programs_of(timetable: Timetable, size: Size) -> list[Program]:
    return [program_of(timetable, rank, size) for rank in range(timetable.plan.size)]


def run(timetable: Timetable, size: Size, inputs: Sequence[Vector], programs: Sequence[Program]) -> list[Vector]:
    """Return the result of each rank; inputs are not changed."""
    memories = [_memory(timetable, size, rank, inputs, programs[rank].scratch) for rank in range(len(inputs))]
    for slot in range(len(programs[0].slots)):
        flying: dict[tuple[int, int], deque[Vector]] = defaultdict(deque)
        for rank, program in enumerate(programs):
            for peer, where in program.slots[slot].sends:
                flying[rank, peer].append(memories[rank][where.memory][where.low : where.high].copy())
        for rank, program in enumerate(programs):
            for peer, where in program.slots[slot].receives:
                memories[rank][where.memory][where.low : where.high] = flying[peer, rank].popleft()
            for sums in program.slots[slot].rounds:
                for into, what in sums:
                    added = memories[rank][what.memory][what.low : what.high]
                    memories[rank][into.memory][into.low : into.high] += added
        assert not any(flying.values()), "a message has no receive in its slot"
    return [memory[Memory.DATA] for memory in memories]


def _memory(
    timetable: Timetable, size: Size, rank: int, inputs: Sequence[Vector], scratch: int
) -> dict[Memory, Vector]:
    collective, root = timetable.plan.collective, timetable.plan.root
    begin, end = size.parts(timetable.plan).get(rank, (0, 0))
    source = inputs[rank].copy()
    source.flags.writeable = False
    data = inputs[rank].copy()
    if collective is Collective.ALLGATHER:
        data = np.full(size.count, GARBAGE)
        data[begin:end] = inputs[rank][begin:end]
    elif collective is Collective.REDUCE_SCATTER:
        data = inputs[rank][begin:end].copy()
    elif collective is Collective.REDUCE and rank != root:
        data.flags.writeable = False
    return {Memory.DATA: data, Memory.SOURCE: source, Memory.SCRATCH: np.full(scratch, GARBAGE)}


def expected(timetable: Timetable, size: Size, inputs: Sequence[Vector]) -> list[Vector]:
    plan, parts = timetable.plan, size.parts(timetable.plan)
    total, ranks = np.sum(inputs, axis=0), range(plan.size)
    of_rank: dict[Collective, Callable[[int], Vector]] = {
        Collective.ALLGATHER: lambda _: np.concatenate([inputs[rank][slice(*parts[rank])] for rank in ranks]),
        Collective.REDUCE_SCATTER: lambda rank: total[slice(*parts[rank])],
        Collective.ALLREDUCE: lambda _: total,
        Collective.BROADCAST: lambda _: inputs[plan.root or 0],
        Collective.REDUCE: lambda rank: total if rank == plan.root else inputs[rank],
    }
    return [of_rank[plan.collective](rank) for rank in ranks]
