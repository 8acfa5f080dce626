"""Each rule of form, broken in a program that keeps all others; values of programs are frozen."""

import copy
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import pytest

import fault_lists
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
from refusal import refusal
from small_programs import FAR, IN, OUT, move

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


SHARDED: dict[str, Any] = {"task": Task.ALLGATHER, "root": None}
SIGNALS = Instruction(signals=(1,))
ROOM = Rank((), 1, 1)
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
    "no ranks": program(ranks=()),
    "no room for a message": program(slot_chunks=0),
    "no root": program(root=None),
    "a root of an allreduce": program(task=Task.ALLREDUCE),
    "no shards": program(**SHARDED),
    "shards of a broadcast": program(shards=(1, 0)),
    "a negative shard": program(**SHARDED, shards=(2, -1)),
    "shards of another sum": program(**SHARDED, shards=(1, 1)),
    "shards of an alltoall that differ": program(task=Task.ALL_TO_ALL, root=None, shards=(2, 1), chunks=3),
    "a negative size of a buffer": program(ranks=(Rank((), 1, 1, -1), ROOM)),
    "a negative semaphore": program(ranks=(ROOM, Rank((), 1, 1, 0, (-1,)))),
    "a message over another kind of channel": program(move(IN, Message(1, 1))),
    "an unknown channel of a copy": program(COPY, move(IN, OUT, channel=9)),
    "memory of another rank without a channel": program(move(IN, FAR)),
    "a signal over another kind of channel": program(Instruction(signals=(0,))),
    "a wait on the wrong end": program(Instruction(waits=(1,))),
    "an unknown block": program(Instruction(after=(Dependency(3, 0),))),
    "an instruction that waits for itself": program(Instruction(after=(Dependency(0, 1),))),
    "two blocks that signal over one channel": program(
        ranks=(Rank((Block((SIGNALS,)), Block((SIGNALS,), number=7)), 1, 1), ROOM)
    ),
    "sources without targets and another step": program(COPY, Instruction(sources=(IN,), step=12)),
    "a loop that does not fit": program(ranks=(Rank((Block((COPY,), (Loop(0, 1, 2),)),), 1, 1), ROOM)),
}


def test_every_message_of_the_form() -> None:
    found = [(name, first_malformed(broken)) for name, broken in BROKEN.items()]
    fault_lists.check("programs", found)
    for (name, broken), (_, fault) in zip(BROKEN.items(), found, strict=True):
        assert refusal(check_well_formed, broken, where="form") == f"form: {fault}", name


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
