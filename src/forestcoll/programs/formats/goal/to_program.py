"""Converts a GOAL schedule whose comments state the data into a program that can be run.

Only what the file says orders operations: `requires` and messages. Operations of a rank that wait for each other in a
chain become a block, in the order of the chain, and all other `requires` become dependencies. `irequires` orders starts
only, which orders no data. The messages between two ranks with one tag are a channel. Simulators do not limit how many
messages wait for their receiver.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from graphlib import TopologicalSorter

from forestcoll.base.errors import InputError
from forestcoll.programs.formats.goal.document import Goal, Operation, OperationKind
from forestcoll.programs.model import Task
from forestcoll.programs.model import program as model
from forestcoll.programs.model.validation import data_chunks


def to_program(goal: Goal) -> model.Program:
    """Return the program of `goal`, which must keep the rules of `goal_fault`.

    Raises:
        InputError: the file does not say which data it moves.
    """
    header = goal.header
    if header is None or not goal.states_data:
        raise InputError("the GOAL schedule does not say which data it moves")
    connections = sorted({_connection(rank, each) for rank, each in _messages(goal)})
    program = model.Program(
        name=header.name,
        task=Task(header.collective),
        ranks=(),
        channels=tuple(model.Channel(model.ChannelKind.FIFO, *each) for each in connections),
        chunks=header.chunks,
        shards=header.shards,
        root=header.root,
        slots=None,
        slot_chunks=header.chunks,
    )
    numbers = {connection: number for number, connection in enumerate(connections)}
    ranks = [_rank(program, rank, operations, numbers) for rank, operations in enumerate(goal.ranks)]
    return replace(program, ranks=tuple(ranks))


def _messages(goal: Goal) -> list[tuple[int, Operation]]:
    return [
        (rank, each)
        for rank, listed in enumerate(goal.ranks)
        for each in listed
        if each.kind is not OperationKind.COMPUTE
    ]


def _connection(rank: int, operation: Operation) -> tuple[int, int, int]:
    """Return the source, the target and the tag of a message."""
    ends = (rank, operation.peer) if operation.kind is OperationKind.SEND else (operation.peer, rank)
    return (*ends, operation.tag)


def _rank(
    program: model.Program, rank: int, operations: Sequence[Operation], numbers: Mapping[tuple[int, int, int], int]
) -> model.Rank:
    places: dict[int, model.Dependency] = {}
    blocks: list[list[model.Instruction]] = []
    for number in TopologicalSorter({place: each.after for place, each in enumerate(operations)}).static_order():
        operation = operations[number]
        others = [places[each] for each in operation.after]
        own = next((each for each in others if each.instruction == len(blocks[each.block]) - 1), None)
        if own is None:
            blocks.append([])
        block = len(blocks) - 1 if own is None else own.block
        after = tuple(each for each in others if each != own)
        places[number] = model.Dependency(block, len(blocks[block]))
        channel = -1 if operation.kind is OperationKind.COMPUTE else numbers[_connection(rank, operation)]
        blocks[block].append(_instruction(operation, channel, after, number))
    return model.Rank(
        tuple(model.Block(tuple(each)) for each in blocks), *data_chunks(program, rank), _scratch_chunks(operations)
    )


def _scratch_chunks(operations: Sequence[Operation]) -> int:
    """Return the size of the scratch buffer: the end of the last span that is used."""
    spans = (span for each in operations if each.data is not None for places in each.data for span in places)
    return max((span.offset + span.count for span in spans if span.buffer is model.Buffer.SCRATCH), default=0)


def _instruction(
    operation: Operation, channel: int, after: tuple[model.Dependency, ...], step: int
) -> model.Instruction:
    sources, targets = operation.data or ((), ())
    message = model.Message(channel, (*sources, *targets)[0].count)
    return model.Instruction(
        sources=(message,) if operation.kind is OperationKind.RECEIVE else sources,
        targets=(message,) if operation.kind is OperationKind.SEND else targets,
        after=after,
        step=step,
    )
