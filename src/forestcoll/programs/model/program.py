"""A program: the instructions of each thread block of each rank, on chunks of buffers. The values are frozen.

One kind of instruction represents the many kinds of the runtimes. An instruction does the following, in this order:

1. It waits until its dependencies (`after`) are done, for a signal of each channel in `waits`, for a count of each
   semaphore in `acquires`, and for the other blocks at its `barrier`.
2. It reads all `sources` and adds them up, chunk by chunk; a single source is copied.
3. It writes the sum to all `targets`.
4. It signals each channel in `signals`, waits until the helper of each channel in `flushes` has done its work, and adds
   a count to each semaphore in `releases`.

Each part is optional; an instruction without any part does nothing. A source or a target is a *place*:

- a `Span` of the memory of this rank,
- a `Span` of the memory of another rank (*one-sided*: that rank has no instruction for it),
- a `Message` over a FIFO channel (*two-sided*: the other end has an instruction for it), or
- a `Multicast` span of all ranks of a group at once.

In the following table, m is memory, and in and out are messages:

| runtime's name | sources | targets | more |
| --- | --- | --- | --- |
| MSCCL s, r, cpy | m; in; m | out; m; m | |
| MSCCL rcs, rrc, rrs, rrcs | in; in + m; in + m; in + m | m + out; m; out; m + out | |
| MSCCL re: dst += src | dst, src | dst | |
| MSCCL nop, depid and deps | | | `after` |
| MSCCL++ put, get, copy | m; remote; m | remote; m; m | `channel` for put and get |
| MSCCL++ pws, pwsf | m | remote | `signals`; and `flushes` |
| MSCCL++ signal, wait, flush, rlxsignal, rlxwait | | | `signals`; `waits`; `flushes`; and `relaxed` |
| MSCCL++ re, rre (m, remote...) | m, m... | m | `channel` for rre |
| MSCCL++ res, rres (m, remote...) | m, m... | m, remote... | `channel` |
| MSCCL++ the same with packets | spans with `packets` | spans with `packets` | |
| MSCCL++ glres, gstore | multicast; m | multicast | |
| MSCCL++ nop | | | the next instruction has `meets`; all others do not |
| MSCCL++ barrier, sem_acquire, sem_release | | | `barrier`; `acquires`; `releases` |

An operation of a file that moves several pairs of spans becomes several instructions with the same `step`. Loops are
unrolled: a chunk of a program is as small as the data that one round of a loop moves.

**Time.** Blocks run at the same time. Each does its instructions one after the other, except where `meets` is False.
Ranks start at different times, and a rank ends when its last block does. Nothing else is ordered: an instruction of a
block is before one of another block only if a chain of dependencies, messages, signals, semaphores, barriers or packets
orders them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from forestcoll.programs.model.construction import made_fast
from forestcoll.programs.model.task import Task


class Buffer(StrEnum):
    """A buffer that every rank has; the value is its name in messages."""

    __hash__ = str.__hash__  # that of `Enum` is a function of Python, and dictionaries call it for each instruction

    INPUT = "input"
    """The contribution of the rank. In place, one of input and output is the other or a part of it: see `Task`."""
    OUTPUT = "output"
    """The result of the rank."""
    SCRATCH = "scratch"
    """Space for intermediate data; a chunk must be written before it is read."""


class ChannelKind(StrEnum):
    """How data moves from one rank to another."""

    __hash__ = str.__hash__

    FIFO = "fifo"
    """Messages, in order. The sender copies each message into slots that the receiver empties: see `Program.slots`.
    Once the sending instruction is done, its source may be overwritten. Only `Message` uses such a channel."""
    MEMORY = "memory"
    """The block itself reads and writes the memory of the other rank; the access ends with the instruction."""
    PORT = "port"
    """A helper of the channel does the work that instructions give it, in order, at any later time: it reads the
    source, writes the target, and passes signals on. An instruction with `flushes` waits until all that work is
    done."""


class Protocol(StrEnum):
    """How a runtime moves bytes; the value is the name in its formats."""

    SIMPLE = "Simple"
    LL = "LL"
    LL128 = "LL128"


@made_fast
@dataclass(frozen=True, slots=True)
class Span:
    """`count` chunks of a `buffer` of `rank`, from number `offset`.

    Attributes:
        rank: the rank that owns the memory.
        buffer: which buffer.
        offset: the first chunk.
        count: the number of chunks, 1 or more.
        packets: each piece of data has a flag next to it. The writer sets the flag, and the reader waits for it, so the
            reader is ordered after the writer. A reader of a packet that is never written waits forever; if it is
            written twice, the reader may see either.
    """

    rank: int
    buffer: Buffer
    offset: int
    count: int
    packets: bool = False

    def moved(self, times: int) -> "Span":
        """Return the span that begins `times` lengths later."""
        return Span(self.rank, self.buffer, self.offset + times * self.count, self.count, self.packets)


@made_fast
@dataclass(frozen=True, slots=True)
class Message:
    """The next `count` chunks of a FIFO channel: received where it is a source, sent where it is a target.

    Instruction number i that receives from a channel receives the data of instruction number i that sends to it.
    """

    channel: int
    count: int

    def moved(self, times: int) -> "Message":  # noqa: ARG002 (the next message of a channel has no place)
        """Return the message itself."""
        return self


@dataclass(frozen=True, slots=True)
class Multicast:
    """The same `count` chunks of the same `buffer` of all ranks of a group, through a switch.

    As a source it is the sum over all ranks of the group; as a target, all ranks of the group get the result.
    """

    group: int
    buffer: Buffer
    offset: int
    count: int
    packets: bool = False

    def moved(self, times: int) -> "Multicast":
        """Return the span that begins `times` lengths later."""
        return Multicast(self.group, self.buffer, self.offset + times * self.count, self.count, self.packets)


Place: TypeAlias = Span | Message | Multicast


@dataclass(frozen=True, slots=True)
class Channel:
    """A one-way connection: data and signals go from rank `source` to rank `target`.

    The n-th wait on a channel ends when n signals have come over it, of any purpose. At most one block sends or signals
    over a channel, and at most one receives or waits.

    Attributes:
        kind: how data moves.
        source: the rank whose instructions send, put or signal; for a `get` too, this is the rank that acts.
        target: the rank whose instructions receive or wait.
        number: distinguishes channels of one kind between the same ranks; `chan` in MSCCL.
    """

    kind: ChannelKind
    source: int
    target: int
    number: int = 0


@made_fast
@dataclass(frozen=True, slots=True)
class Dependency:
    """Instruction number `instruction` of block number `block` of the same rank, and all before it, must be done."""

    block: int
    instruction: int


@dataclass(frozen=True, slots=True)
class Barrier:
    """A barrier for `blocks` blocks of a rank: none continues before all have reached it. It can be used repeatedly."""

    number: int
    blocks: int


@made_fast
@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One instruction of a block; the docstring of the module states the order in which its parts take effect.

    Attributes:
        sources: what is read and added up; all places have the same count.
        targets: where the sum is written.
        channel: the MEMORY or PORT channel from this rank that reaches the spans of another rank; None if there are no
            such spans. If spans of several other ranks are used at once, one of their MEMORY channels.
        after: instructions of other blocks of this rank that must be done before.
        waits: channels to this rank; one signal of each is waited for.
        signals: channels from this rank; one signal is given over each. A block that waits for the signal sees what
            this block did before, and what the helper of the channel was given before, if it has one.
        flushes: PORT channels from this rank; at the end, all work that this block gave them is done.
        acquires: semaphores of this rank; the instruction waits until each is above 0, and lowers it by 1.
        releases: semaphores of this rank; each is raised by 1.
        barrier: a meeting; an instruction with a barrier has nothing else except `meets`.
        relaxed: `waits` and `signals` order time, but no memory: they only say that the other rank has come so far,
            which is what a first write to its memory requires. What a switch wrote before is present when this rank
            ends.
        meets: all threads of the block meet before this instruction, so that all earlier ones are done. If it is False,
            the threads do not wait for each other: reads and writes of this instruction may happen before those of the
            instructions since the last meeting, and what these waited for orders this one only after the next meeting.
        step: the number of the step in the file that the program was read from; None if there is no file.
    """

    sources: tuple[Place, ...] = ()
    targets: tuple[Place, ...] = ()
    channel: int | None = None
    after: tuple[Dependency, ...] = ()
    waits: tuple[int, ...] = ()
    signals: tuple[int, ...] = ()
    flushes: tuple[int, ...] = ()
    acquires: tuple[int, ...] = ()
    releases: tuple[int, ...] = ()
    barrier: Barrier | None = None
    relaxed: bool = False
    meets: bool = True
    step: int | None = None

    @property
    def places(self) -> tuple[Place, ...]:
        """Return all sources and targets."""
        return self.sources + self.targets

    @property
    def count(self) -> int:
        """Return the number of chunks that the instruction moves; 0 if it moves none."""
        places = self.sources or self.targets
        return places[0].count if places else 0

    def moved(self, times: int) -> "Instruction":
        """Return the same instruction with each span `times` of its lengths later, as in a round of a `Loop`."""
        return Instruction(
            sources=tuple([place.moved(times) for place in self.sources]),
            targets=tuple([place.moved(times) for place in self.targets]),
            channel=self.channel,
            after=self.after,
            waits=self.waits,
            signals=self.signals,
            flushes=self.flushes,
            acquires=self.acquires,
            releases=self.releases,
            barrier=self.barrier,
            relaxed=self.relaxed,
            meets=self.meets,
            step=self.step,
        )


@dataclass(frozen=True, slots=True)
class Loop:
    """A note on a block: some of its instructions repeat, each time some chunks further.

    Instructions `first` to `first + length * times - 1` are `times` copies of the `length` instructions from `first`.
    In copy number i, the offset of each `Span` and `Multicast` is greater by i times its count, and the instruction of
    each dependency is greater by i times its `stride`. All else is the same.

    Attributes:
        first: the number of the first instruction.
        length: the number of instructions of one round.
        times: the number of rounds, 2 or more.
        strides: for each dependency of the first round, in order, the number of instructions of a round of its block.
    """

    first: int
    length: int
    times: int
    strides: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A thread block: instructions that one group of threads does one after the other.

    Attributes:
        instructions: what it does.
        loops: which instructions repeat, in ascending order, not nested; they do not change what the program does.
        number: its id in the file that the program was read from; None means its index in `Rank.blocks`.
    """

    instructions: tuple[Instruction, ...]
    loops: tuple[Loop, ...] = ()
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Rank:
    """The blocks of one rank, and the sizes of its buffers in chunks.

    In place, a buffer that lies inside the other one may have the size 0 here, as in some files.
    """

    blocks: tuple[Block, ...]
    input_chunks: int
    output_chunks: int
    scratch_chunks: int = 0
    semaphores: tuple[int, ...] = ()
    """The count that each semaphore starts with."""


@dataclass(frozen=True)
class Program:
    """Programs of all ranks for one collective, over data that is cut into equal chunks.

    Attributes:
        name: the name of the program in files.
        task: the task of the program, which defines the content of buffers before and after.
        ranks: the blocks and buffers of each rank; a tuple or, if they would take gigabytes, `DeferredRanks`.
        channels: connections between ranks; instructions name them by their index here.
        chunks: the number of chunks of the total data M (see `Task`).
        shards: for each rank, the chunks of its part of the data, if the task has parts; they add up to `chunks`. Else
            empty.
        root: of a broadcast or a reduce, the rank that all data starts from or ends on.
        groups: ranks that a switch reaches at once; multicasts name them by their index here.
        in_place: whether it can run with the input buffer inside the output buffer, or the output inside the input.
        out_of_place: whether it can run with separate buffers.
        protocol: how the runtime moves bytes.
        slots: the number of messages that a FIFO channel holds before its sender must wait; None for no limit.
        slot_chunks: the most chunks of one message; longer ones are split into several.
    """

    name: str
    task: Task
    ranks: Sequence[Rank]
    channels: tuple[Channel, ...]
    chunks: int
    shards: tuple[int, ...] = ()
    root: int | None = None
    groups: tuple[tuple[int, ...], ...] = ()
    in_place: bool = False
    out_of_place: bool = True
    protocol: Protocol = Protocol.SIMPLE
    slots: int | None = 2
    slot_chunks: int = 1

    def instructions(self) -> Iterator[tuple[int, int, int, Instruction]]:
        """Yield each instruction with its rank, the index of its block in the rank, and its own index in the block."""
        for rank, each in enumerate(self.ranks):
            for block, listed in enumerate(each.blocks):
                for place, instruction in enumerate(listed.instructions):
                    yield rank, block, place, instruction
