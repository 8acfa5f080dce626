"""Each rule of form, broken in a program that keeps all others; values of programs are frozen."""

import copy
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest

from forestcoll.base.errors import InputError
from forestcoll.programs.model import (
    Barrier,
    Block,
    Buffer,
    Channel,
    ChannelKind,
    Dependency,
    Instruction,
    Loop,
    Message,
    Multicast,
    Program,
    Rank,
    Span,
    Task,
    check_well_formed,
    first_malformed,
)
from small_programs import move

IN, OUT = (Span(0, buffer, 0, 1) for buffer in (Buffer.INPUT, Buffer.OUTPUT))
FAR = Span(1, Buffer.OUTPUT, 0, 1)
CHANNELS = (
    Channel(ChannelKind.FIFO, 0, 1),
    Channel(ChannelKind.MEMORY, 0, 1),
    Channel(ChannelKind.PORT, 0, 1),
    Channel(ChannelKind.MEMORY, 1, 0),
)


def program(*instructions: Instruction, **more: Any) -> Program:
    rank = Rank((Block(instructions),), 1, 1, 1, (0,))
    other = Rank((Block((move(Message(0, 1), FAR),)),), 1, 1, 1)
    groups = ((0, 1), (1,))
    base = Program("form", Task.BROADCAST, (rank, other), CHANNELS, chunks=1, root=0, groups=groups)
    return replace(base, **more)


COPY = move(IN, OUT)


def test_a_well_formed_program_has_no_fault() -> None:
    listed = (
        COPY,
        move(IN, Message(0, 1)),
        move(IN, FAR, channel=1, signals=(1,)),
        move(IN, FAR, channel=2, signals=(2,), flushes=(2,)),
        Instruction(waits=(3,), acquires=(0,), releases=(0,)),
        move(IN, Multicast(0, Buffer.OUTPUT, 0, 1)),
        Instruction(barrier=Barrier(0, 1)),
        Instruction(after=(Dependency(0, 0),)),
    )
    assert first_malformed(program(*listed)) is None
    check_well_formed(program(*listed))


BROKEN: dict[str, Program] = {
    "chunks-none": program(chunks=0),
    "placement-none": program(in_place=False, out_of_place=False),
    "slots-none": program(slots=0),
    "root-wrong": program(root=7),
    "shards-wrong": program(task=Task.ALLGATHER, root=None, shards=(1,)),
    "channel-ends": program(channels=(*CHANNELS, Channel(ChannelKind.FIFO, 0, 0))),
    "channel-twice": program(channels=(*CHANNELS, CHANNELS[0])),
    "group-ranks": program(groups=((0, 0),)),
    "buffer-small": program(chunks=2),
    "barrier-blocks": program(Instruction(barrier=Barrier(0, 2))),
    "count-none": program(replace(COPY, sources=(replace(IN, count=0),), targets=(replace(OUT, count=0),))),
    "counts-differ": program(replace(COPY, targets=(Message(0, 2),))),
    "half-done": program(Instruction(sources=(IN,))),
    "messages-two": program(move(IN, (Message(0, 1), Message(0, 1)))),
    "barrier-busy": program(replace(COPY, barrier=Barrier(0, 1))),
    "channel-unknown": program(move(IN, Message(9, 1))),
    "channel-foreign": program(move(Message(0, 1), OUT)),
    "group-unknown": program(move(IN, Multicast(5, Buffer.OUTPUT, 0, 1))),
    "group-foreign": program(move(IN, Multicast(1, Buffer.OUTPUT, 0, 1))),
    "rank-unknown": program(replace(COPY, targets=(replace(OUT, rank=9),))),
    "span-outside": program(replace(COPY, targets=(replace(OUT, offset=1),))),
    "span-unreachable": program(move(IN, FAR, channel=0)),
    "port-computes": program(move((IN, OUT), FAR, channel=2)),
    "port-reads": program(move(FAR, OUT, channel=2)),
    "semaphore-unknown": program(Instruction(acquires=(1,))),
    "dependency-unknown": program(Instruction(after=(Dependency(0, 5),))),
    "flush-needless": program(Instruction(flushes=(1,))),
}


@pytest.mark.parametrize("rule", BROKEN)
def test_each_violated_rule_is_named(rule: str) -> None:
    found = first_malformed(BROKEN[rule])
    assert found is not None
    assert found.rule == rule
    assert "\n" not in str(found)
    with pytest.raises(InputError, match="form: "):
        check_well_formed(BROKEN[rule], where="form")


SHARDED: dict[str, Any] = {"task": Task.ALLGATHER, "root": None}
SIGNALS = Instruction(signals=(1,))
ROOM = Rank((), 1, 1)

MESSAGES: list[tuple[Program, str]] = [
    (program(ranks=()), "the program has no ranks"),
    (program(slot_chunks=0), "a message has room for 0 chunks; it needs 1 or more"),
    (program(root=None), "broadcast needs a root"),
    (program(task=Task.ALLREDUCE), "allreduce has no root; 0 is given"),
    (program(**SHARDED), "allgather needs a shard of each rank"),
    (program(shards=(1, 0)), "broadcast has no shards"),
    (program(**SHARDED, shards=(2, -1)), "2 shards are given; each of 2 ranks has one of 0 chunks or more"),
    (program(**SHARDED, shards=(1, 1)), "the shards have 2 chunks together; the data has 1"),
    (program(task=Task.ALL_TO_ALL, root=None, shards=(2, 1), chunks=3), "the shards of an alltoall are not equal"),
    (program(ranks=(Rank((), 1, 1, -1), ROOM)), "rank 0: buffers have (1, 1, -1) chunks; they need 0 or more"),
    (program(ranks=(ROOM, Rank((), 1, 1, 0, (-1,)))), "rank 1: semaphores start with (-1,); they need 0 or more"),
    (
        program(move(IN, Message(1, 1))),
        "rank 0, block 0, step 0: it uses channel 1 for a message; that is not a FIFO channel",
    ),
    (program(COPY, move(IN, OUT, channel=9)), "rank 0, block 0, step 1: it uses channel 9; there are 4"),
    (program(move(IN, FAR)), "rank 0, block 0, step 0: it uses memory of rank 1 without a channel that leads there"),
    (
        program(Instruction(signals=(0,))),
        "rank 0, block 0, step 0: it uses channel 0 for signals; that is not a MEMORY or PORT channel",
    ),
    (
        program(Instruction(waits=(1,))),
        (
            "rank 0, block 0, step 0: it signals, flushes or waits on the wrong end of channel 1, which leads from "
            "rank 0 to rank 1"
        ),
    ),
    (program(Instruction(after=(Dependency(3, 0),))), "rank 0, block 0, step 0: it depends on block 3; the rank has 1"),
    (
        program(Instruction(after=(Dependency(0, 1),))),
        "rank 0, block 0, step 0: it depends on step 1 of block 0, which has 1 step",
    ),
    (
        program(ranks=(Rank((Block((SIGNALS,)), Block((SIGNALS,), number=7)), 1, 1), ROOM)),
        "rank 0, block 7, step 0: it signals over channel 1, and so does block 0; only one block may",
    ),
    (
        program(COPY, Instruction(sources=(IN,), step=12)),
        "rank 0, block 0, step 12: it has sources or targets, but not both",
    ),
    (
        program(ranks=(Rank((Block((COPY,), (Loop(0, 1, 2),)),), 1, 1), ROOM)),
        "rank 0, block 0: the loop from step 0 does not fit behind step 0 of the block",
    ),
]


@pytest.mark.parametrize(("broken", "message"), MESSAGES, ids=[message for _, message in MESSAGES])
def test_the_message_says_what_is_wrong_and_where(broken: Program, message: str) -> None:
    assert str(first_malformed(broken)) == message


@pytest.mark.parametrize("value", [IN, Message(1, 2), Dependency(0, 1), Instruction(sources=(IN,), step=1)])
def test_values_are_frozen_and_equal_to_their_copies(value: Span | Message | Dependency | Instruction) -> None:
    with pytest.raises(FrozenInstanceError):
        setattr(value, fields(value)[0].name, 4)
    assert copy.copy(value) == copy.deepcopy(value) == replace(value) == value
    assert len({value, copy.copy(value)}) == 1
    assert repr(IN) == f"Span(rank=0, buffer={Buffer.INPUT!r}, offset=0, count=1, packets=False)"
    with pytest.raises(TypeError):
        Instruction(())  # type: ignore[call-arg]


def test_memory_of_several_ranks_is_reached_over_their_own_channels() -> None:
    """One instruction reads the memory of two other ranks; its channel leads to the first of them."""
    third = replace(FAR, rank=2)
    sum_up = move((FAR, third), OUT, channel=1)
    ranks = (Rank((Block((sum_up,)),), 1, 1), ROOM, ROOM)
    reached = program(ranks=ranks, channels=(*CHANNELS, Channel(ChannelKind.MEMORY, 0, 2)))
    assert first_malformed(reached) is None
    assert str(first_malformed(replace(reached, channels=(*CHANNELS, Channel(ChannelKind.PORT, 0, 2))))) == (
        "rank 0, block 0, step 0: it uses memory of rank 2 without a channel that leads there"
    )


def test_a_loop_must_agree_with_its_instructions() -> None:
    """A loop of three rounds copies one chunk each."""
    rounds = [move(replace(IN, offset=i), replace(OUT, offset=i)) for i in range(3)]
    for last, rule in ((rounds[-1], None), (replace(rounds[-1], sources=(IN,)), "loop-differs")):
        block = Block((*rounds[:-1], last), (Loop(0, 1, 3),))
        found = first_malformed(program(chunks=3, ranks=(Rank((block,), 3, 3, 1), Rank((), 3, 3))))
        assert (found and found.rule) == rule
