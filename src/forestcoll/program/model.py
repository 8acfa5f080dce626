"""A program: what every rank, thread block by thread block, does with chunks of its buffers. Frozen values.

One kind of instruction says all that the runtimes' many kinds say. In this order it

1. waits: until its dependencies (`after`) are done, for a signal of each channel in `waits`, for a count of each
   semaphore in `acquires`, for the other blocks at its `barrier`;
2. reads all `sources` and adds them up, chunk by chunk; a single source is copied;
3. writes the sum to all `targets`;
4. signals each channel in `signals`, waits until what it gave each channel in `flushes` is done, and gives a count to
   each semaphore in `releases`.

Each part may be missing; an instruction with none of them does nothing. A source or a target is a *place*: a `Span` of
this rank's own memory, a `Span` of another rank's (*one-sided*: that rank takes no part), a `Message` over a FIFO
channel (*two-sided*: the other end has an instruction for it), or a `Multicast` span of all ranks of a group at once.
So with memory m and messages in, out:

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
| MSCCL++ nop | | | the next instruction has `meets`, all others have not |
| MSCCL++ barrier, sem_acquire, sem_release | | | `barrier`; `acquires`; `releases` |

An operation of a file that moves several pairs of spans becomes several instructions with one `step`. Loops are
unrolled: the chunks of a program are as small as what one round of a loop moves.

**Time.** Blocks run at the same time, each its instructions one after the other; `meets` weakens that. Ranks start at
different times, and a rank ends when its last block does. Nothing else orders anything: no instruction of a block is
before one of another block, unless a chain of dependencies, messages, signals, semaphores, barriers or packets says so.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from forestcoll.program.task import Task


class Buffer(StrEnum):
    """A buffer that every rank has, by its name in messages."""

    INPUT = "input"
    """What the rank contributes. In place it is (a part of) the output buffer, or the other way round: see `Task`."""
    OUTPUT = "output"
    """What the rank is to end with."""
    SCRATCH = "scratch"
    """Room for what is on its way; it holds nothing that may be read before it was written."""


class ChannelKind(StrEnum):
    """How data goes from one rank to another."""

    FIFO = "fifo"
    """Messages, in order. The sender copies each into slots that the receiver empties: see `Program.slots`. Once the
    sending instruction is done, its source may be overwritten. Only `Message` uses such a channel."""
    MEMORY = "memory"
    """The block itself reads and writes the other rank's memory, and is done with it when the instruction is."""
    PORT = "port"
    """A helper of the channel does what instructions hand to it, in order, at any time after: it reads the source,
    writes the target, and passes signals on. An instruction with `flushes` waits for all that was handed over."""


class Protocol(StrEnum):
    """How a runtime moves bytes, by the name that its formats use."""

    SIMPLE = "Simple"
    LL = "LL"
    LL128 = "LL128"


@dataclass(frozen=True, slots=True)
class Span:
    """`count` chunks of a `buffer` of `rank`, from number `offset`.

    Attributes:
        rank: whose memory.
        buffer: which buffer.
        offset: the first chunk.
        count: how many, 1 or more.
        packets: each piece of data lies beside a flag that says that it is there. Who writes it sets the flag, and who
            reads it waits for the flag, so that a reader is ordered after the writer. A packet that nobody writes is
            waited for for ever; one that is written twice makes a reader see either.
    """

    rank: int
    buffer: Buffer
    offset: int
    count: int
    packets: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """The next `count` chunks of a FIFO channel: received where it is a source, sent where it is a target.

    The instruction number i that receives from a channel gets what number i that sends to it sent.
    """

    channel: int
    count: int


@dataclass(frozen=True, slots=True)
class Multicast:
    """The same `count` chunks of the same `buffer` of all ranks of a group, through a switch.

    As a source it is the sum of what all ranks of the group have there; as a target, all of them get the result.
    """

    group: int
    buffer: Buffer
    offset: int
    count: int
    packets: bool = False


Place: TypeAlias = Span | Message | Multicast


@dataclass(frozen=True, slots=True)
class Channel:
    """A one-way connection: data and signals go from rank `source` to rank `target`.

    The n-th wait on a channel ends when n signals came over it, whatever else they belong to. At most one block sends
    or signals over a channel, and at most one receives or waits.

    Attributes:
        kind: how data goes.
        source: the rank whose instructions send, put or signal; of a `get` too, this is the rank that acts.
        target: the rank whose instructions receive or wait.
        number: told apart by it are channels of one kind between the same ranks; MSCCL's `chan`.
    """

    kind: ChannelKind
    source: int
    target: int
    number: int = 0


@dataclass(frozen=True, slots=True)
class Dependency:
    """Instruction number `instruction` of block number `block` of the same rank is done, and all before it."""

    block: int
    instruction: int


@dataclass(frozen=True, slots=True)
class Barrier:
    """A meeting of `blocks` blocks of a rank: none passes before all have come; then it can be used again."""

    number: int
    blocks: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    """One thing that a block does; the module's docstring says in which order its parts take effect.

    Attributes:
        sources: what is read and added up; all places have the same count.
        targets: where the sum goes.
        channel: the MEMORY or PORT channel that reaches the spans of another rank, from this rank to that one; None
            where there are none. Where spans of several other ranks are reached at once, one of their MEMORY channels.
        after: instructions of other blocks of this rank that must be done before.
        waits: channels to this rank, of each of which one signal is waited for.
        signals: channels from this rank, over each of which one signal is given. What this block did before is seen by
            whoever waits for it, and so is what the channel's helper was handed before, where it has one.
        flushes: PORT channels from this rank; all that this block handed them is done at the end.
        acquires: semaphores of this rank, each of which is waited for until it is above 0, and lowered by 1.
        releases: semaphores of this rank, each raised by 1.
        barrier: a meeting; an instruction with one has nothing else but `meets`.
        relaxed: `waits` and `signals` order time, but no memory: only that the other rank has come so far, as it must
            have before this rank writes there at first. What a switch wrote before it is there when this rank ends.
        meets: all threads of the block meet before this instruction, so that all before it is done. Where it is False,
            the threads run through: what this instruction reads and writes may come before what those since the last
            meeting do, and what they waited for binds this one only after the next meeting.
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
        """All sources and targets."""
        return self.sources + self.targets

    @property
    def count(self) -> int:
        """How many chunks it moves; 0 if it moves none."""
        return next((place.count for place in self.places), 0)


@dataclass(frozen=True, slots=True)
class Loop:
    """A remark on a block: some of its instructions are the same ones over again, each time some chunks further.

    Instructions `first` to `first + length * times - 1` are `times` copies of the `length` ones from `first`: in copy
    number i each `Span` and `Multicast` has an offset greater by i times its count, each dependency an instruction
    greater by i times its `stride`, and all else is the same.

    Attributes:
        first: the number of the first instruction.
        length: how many instructions one round has.
        times: how many rounds there are, 2 or more.
        strides: of each dependency of the first round, in order, how many instructions a round of its block has.
    """

    first: int
    length: int
    times: int
    strides: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """A thread block: instructions that one group of threads does in turn.

    Attributes:
        instructions: what it does.
        loops: which of them repeat; in rising order, none within another. A remark only: it changes nothing.
        number: its id in the file that the program was read from; None means its place in `Rank.blocks`.
    """

    instructions: tuple[Instruction, ...]
    loops: tuple[Loop, ...] = ()
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Rank:
    """What one rank does, and how large its buffers are, in chunks.

    In place, a buffer that lies within the other one may have the size 0 here, as some files have it.
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
        name: what the program is called in files.
        task: what it has to do, and with that what buffers hold before and after.
        ranks: what each rank does.
        channels: connections between ranks, which instructions name by their place here.
        chunks: how many chunks the total data M has (see `Task`).
        shards: of each rank, how many chunks its part of the data has, where the task gives each a part; they add up to
            `chunks`. Else empty.
        root: of a broadcast or a reduce, the rank that all data starts from or ends on.
        groups: ranks that a switch reaches at once, which multicasts name by their place here.
        in_place: whether it may be run with the input buffer inside the output buffer, or the other way round.
        out_of_place: whether it may be run with buffers apart.
        protocol: how bytes are moved.
        slots: how many messages a FIFO channel holds before its sender waits for the receiver; None for any number.
        slot_chunks: the most chunks of one message; longer ones go as several.
    """

    name: str
    task: Task
    ranks: tuple[Rank, ...]
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
        """Yield each instruction with its rank, its block's place in the rank, and its own place in the block."""
        for rank, each in enumerate(self.ranks):
            for block, listed in enumerate(each.blocks):
                for place, instruction in enumerate(listed.instructions):
                    yield rank, block, place, instruction
