"""A simulation in rounds and messages is that of a program in which they are written out, one after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import cast

import numpy as np
import numpy.typing as npt
import pytest

from forestcoll import generate
from forestcoll.kernels.events import EventTables, event_program
from forestcoll.programs.lowering import Options, Style, lower
from forestcoll.programs.model import Block, Dependency, Instruction, Message, Program
from forestcoll.simulation import Costs
from forestcoll.simulation.program.events import EventSimulation
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.program.rounds import Messages, chunks_in_rounds, tables_in_messages, tables_in_rounds
from forestcoll.simulation.program.tables import Encoder


def written_out(program: Program, rounds: int) -> Program:
    """Return a program with the instructions of all rounds."""
    times = {loop.times for rank in program.ranks for block in rank.blocks for loop in block.loops}
    if times:
        blocks = [[looped(block, rounds) for block in rank.blocks] for rank in program.ranks]
        chunks = program.chunks // min(times) * rounds
    else:
        blocks = [list(repeated(rank.blocks, rounds)) for rank in program.ranks]
        chunks = program.chunks * rounds
    ranks = tuple(replace(rank, blocks=tuple(listed)) for rank, listed in zip(program.ranks, blocks, strict=True))
    return replace(program, ranks=ranks, chunks=chunks, shards=())


def looped(block: Block, rounds: int) -> Block:
    listed: list[Instruction] = []
    done = 0
    for loop in block.loops:
        listed += block.instructions[done : loop.first]
        listed += block.instructions[loop.first : loop.first + loop.length] * rounds
        done = loop.first + loop.length * loop.times
    return Block((*listed, *block.instructions[done:]))


def repeated(blocks: tuple[Block, ...], rounds: int) -> Iterator[Block]:
    lengths = [len(block.instructions) for block in blocks]
    for block in blocks:
        yield Block(tuple(later(each, turn, lengths) for turn in range(rounds) for each in block.instructions))


def later(instruction: Instruction, turn: int, lengths: list[int]) -> Instruction:
    after = tuple(Dependency(each.block, each.instruction + turn * lengths[each.block]) for each in instruction.after)
    return replace(instruction, after=after)


def in_messages(program: Program, messages: Messages) -> Program:
    """Return a program with the slices of all messages; their places in the buffers mean nothing."""
    ranks = []
    for rank in program.ranks:
        parts = [[list(slices_of(each, messages)) for each in block.instructions] for block in rank.blocks]
        ends = [list(accumulate(map(len, block))) for block in parts]
        blocks = (Block(tuple(each for listed in block for each in after_ends(listed, ends))) for block in parts)
        ranks.append(replace(rank, blocks=tuple(blocks)))
    slots = None if program.slots is None else program.slots * messages.slices
    return replace(program, ranks=tuple(ranks), chunks=program.chunks * messages.slices, slots=slots, shards=())


def slices_of(instruction: Instruction, messages: Messages) -> Iterator[Instruction]:
    if not any(isinstance(place, Message) for place in instruction.places):
        yield with_count(instruction, instruction.count * messages.slices)
        return
    whole, rest = divmod(instruction.count, messages.chunks)
    for count in (messages.chunks,) * whole + (rest,) * bool(rest):
        yield from [with_count(instruction, count)] * messages.slices


def with_count(instruction: Instruction, count: int) -> Instruction:
    sources = tuple(replace(place, count=count) for place in instruction.sources)
    targets = tuple(replace(place, count=count) for place in instruction.targets)
    return replace(instruction, sources=sources, targets=targets)


def after_ends(parts: list[Instruction], ends: list[list[int]]) -> Iterator[Instruction]:
    """Yield slices, of which the first one waits for the last slices of what the instruction waits for."""
    after = tuple(Dependency(each.block, ends[each.block][each.instruction] - 1) for each in parts[0].after)
    yield replace(parts[0], after=after)
    yield from (replace(part, after=()) for part in parts[1:])


def arrays(tables: EventTables, name: str) -> Sequence[npt.ArrayLike]:
    """Return the arrays or the number of a table."""
    value = cast("dict[str, npt.ArrayLike | tuple[npt.ArrayLike, ...]]", tables)[name]
    return value if isinstance(value, tuple) else (value,)


@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize(
    ("spec", "collective", "options"),
    [
        ("torus:dims=2x3", "allreduce", Options()),
        ("dgx-a100:boxes=1", "allgather", Options(chunks=16)),
        ("dgx-a100:boxes=2,gpus=4", "allreduce", Options(style=Style.ONE_SIDED, pieces=3, chunks=16)),
        ("torus:dims=2x3", "allreduce", Options(style=Style.ONE_SIDED)),
    ],
)
def test_rounds_take_as_long_as_a_program_with_all_of_them(
    spec: str, collective: str, options: Options, rounds: int
) -> None:
    schedule = generate(spec, collective)
    program, paths, costs = lower(schedule, options).program, Paths.of(schedule), Costs(block_gbps=3)
    plain = written_out(program, rounds)
    check_rounds(tables_in_rounds(program, Encoder(program, paths, costs).tables(), rounds), plain, paths, costs)
    assert chunks_in_rounds(program, rounds) == plain.chunks


@pytest.mark.parametrize("messages", [Messages(1, 1), Messages(3, 2), Messages(64, 4)])
@pytest.mark.parametrize(
    ("spec", "options"),
    [
        ("torus:dims=2x3", Options(pieces=2, instances=2)),
        ("mi250:boxes=1,gpus=8", Options(chunks=64, step_chunks=5, lanes=2)),
    ],
)
def test_the_tables_are_those_of_all_messages(spec: str, options: Options, messages: Messages) -> None:
    schedule = generate(spec, "allreduce")
    program, paths, costs = replace(lower(schedule, options).program, slots=3), Paths.of(schedule), Costs(block_gbps=3)
    wanted = Encoder(in_messages(program, messages), paths, costs).tables()
    found = tables_in_messages(Encoder(program, paths, costs).tables(), messages)
    check_equal(found, wanted)
    rounds = written_out(in_messages(program, messages), 2)
    check_rounds(tables_in_rounds(program, found, 2), rounds, paths, costs)


def check_rounds(found: EventTables, plain: Program, paths: Paths, costs: Costs) -> None:
    """Check that a program in rounds does the same at the same times as the program `plain`, which has no loops."""
    looped, wanted = (
        event_program(tables).run(launch=1e-6, overhead=1e-6, reduction=1e-12, chunk_bytes=1e5)
        for tables in (found, Encoder(plain, paths, costs).tables())
    )
    assert looped[:2] == wanted[:2]
    assert looped[0]
    assert [each.tolist() for each in looped[2:]] == [each.tolist() for each in wanted[2:]]


def test_loops_that_are_no_parts_of_a_block_are_refused() -> None:
    schedule = generate("ring:nodes=4")
    tables = Encoder(lower(schedule).program, Paths.of(schedule), Costs()).tables()
    rows = [[0, 0, 2], [0, 1, 0], [0, 10**6, 2], [10**6, 1, 2]]
    for loops in (*rows, [1, 1, 2, 0, 1, 2], [0, 2, 2, 1, 1, 2], [0, 1, 2**31 - 1], [0]):
        ends = np.full(len(tables["block_starts"]), len(loops), dtype=np.int32)
        ends[0] = 0
        with pytest.raises(ValueError, match="loops is malformed"):
            event_program({**tables, "loops": (ends, np.array(loops, dtype=np.int32))})


def check_equal(found: EventTables, wanted: EventTables) -> None:
    assert found.keys() == wanted.keys()
    for name in wanted:
        assert all(map(np.array_equal, arrays(found, name), arrays(wanted, name))), name


def test_more_rounds_take_longer() -> None:
    schedule = generate("ring:nodes=4")
    simulation = EventSimulation(lower(schedule).program, Paths.of(schedule), Costs())
    one = simulation.run(1000).seconds
    assert simulation.run(1000, 1).seconds == one
    assert one < simulation.run(3000, 3).seconds < 3 * one + 1e-12
