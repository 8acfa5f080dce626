"""Finds the root of a broadcast or a reduce, which the file formats of the runtimes do not name."""

from collections.abc import Iterator
from dataclasses import replace

from forestcoll.base.errors import InputError
from forestcoll.programs.model import Instruction, Message, Multicast, Program, Task


def with_root(program: Program, root: int | None) -> Program:
    """Return `program` with its root: `root`, or the rank that receives nothing (broadcast) or sends nothing (reduce).

    Raises:
        InputError: a root is given but the task has none, the rank does not exist, or the root cannot be determined.
    """
    if not program.task.has_root:
        if root is not None:
            raise InputError(f"{program.name}: {program.task.value} has no root; leave the root out")
        return program
    if root is None:
        root = _only_root(program)
    if not 0 <= root < len(program.ranks):
        raise InputError(f"{program.name}: there is no rank {root}; ranks are 0 to {len(program.ranks) - 1}")
    return replace(program, root=root)


def _only_root(program: Program) -> int:
    moving = {pair[program.task is Task.BROADCAST] for pair in _flows(program)}
    still = [rank for rank in range(len(program.ranks)) if rank not in moving]
    if len(still) != 1:
        does = "get nothing" if program.task is Task.BROADCAST else "give nothing"
        why = f"{len(still)} ranks {does}, so the root of this {program.task.value} is unknown"
        raise InputError(f"{program.name}: {why}; give its rank (--root)")
    return still[0]


def _flows(program: Program) -> Iterator[tuple[int, int]]:
    """Yield pairs of ranks between which data moves: (source, target)."""
    for rank, _, _, instruction in program.instructions():
        yield from ((other, rank) for other in _others(program, rank, instruction, sources=True))
        yield from ((rank, other) for other in _others(program, rank, instruction, sources=False))


def _others(program: Program, rank: int, instruction: Instruction, *, sources: bool) -> Iterator[int]:
    for place in instruction.sources if sources else instruction.targets:
        if isinstance(place, Message):
            channel = program.channels[place.channel]
            yield channel.source if sources else channel.target
        elif isinstance(place, Multicast):
            yield from (each for each in program.groups[place.group] if each != rank)
        elif place.rank != rank:
            yield place.rank
