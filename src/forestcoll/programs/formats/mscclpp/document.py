"""An MSCCL++ plan (schema of 0.9) as a value: the content of a file, whether or not a runtime would load it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class OperationName(StrEnum):
    """What an operation does; the value is its `name` in files."""

    __hash__ = str.__hash__  # that of `Enum` is a function of Python, and dictionaries call it for each operation

    NOTHING = "nop"
    BARRIER = "barrier"
    PUT = "put"
    PUT_SIGNAL = "pws"
    PUT_SIGNAL_FLUSH = "pwsf"
    GET = "get"
    COPY = "copy"
    SIGNAL = "signal"
    WAIT = "wait"
    RELAXED_SIGNAL = "rlxsignal"
    RELAXED_WAIT = "rlxwait"
    FLUSH = "flush"
    REDUCE = "re"
    REDUCE_SEND = "res"
    READ_REDUCE = "rre"
    READ_REDUCE_SEND = "rres"
    PUT_PACKETS = "ppkt"
    READ_PUT_PACKETS = "rppkt"
    COPY_PACKETS = "cpkt"
    UNPACK_PACKETS = "upkt"
    REDUCE_PACKETS = "repkt"
    REDUCE_SEND_PACKETS = "respkt"
    REDUCE_COPY_PACKETS = "recpkt"
    REDUCE_COPY_SEND_PACKETS = "recspkt"
    GROUP_REDUCE_STORE = "glres"
    GROUP_STORE = "gstore"
    GROUP_STORE_PACKETS = "gstorepkt"
    ACQUIRE = "sem_acquire"
    RELEASE = "sem_release"
    PIPELINE = "pipeline"


class ChannelType(StrEnum):
    """How a channel moves data; the value is its name in files."""

    __hash__ = str.__hash__

    MEMORY = "memory"
    PORT = "port"
    SWITCH = "switch"
    NONE = "none"


class Chunks(NamedTuple):
    """Chunks that an operation reads or writes, in exactly one of three places.

    Attributes:
        first: `index`, the first chunk.
        size: the number of chunks.
        buffer: `type`: `i`, `o` or `s` of the rank itself.
        remote: `buffer_id`: an index in the block's list of buffers of other ranks, for the operation's type of
            channel.
        switch: `switch_channel_id`: an index in the block's list of switch channels.
    """

    first: int
    size: int
    buffer: str | None = None
    remote: int | None = None
    switch: int | None = None


class Share(NamedTuple):
    """`tbg_info`: the block does part `part` of `parts` of the operation; other blocks do the rest."""

    part: int
    parts: int


class Operation(NamedTuple):
    """One operation of a block; attributes that its name does not require are empty.

    Attributes:
        name: what it does.
        sources: `src_buff`.
        targets: `dst_buff`.
        channel_type: the type of channel to other ranks, or None.
        channels: `channel_ids`, indices in the block's list of channels of that type.
        share: the part of the operation that the block does; None for all.
        barrier: `barrier_id`.
        barrier_blocks: `num_threadblocks`, how many blocks meet at the barrier.
        semaphores: `semaphore_ids`.
        unit_bytes: of a pipeline, `unit_size`: how many bytes a round moves.
        pipeline_chunks: of a pipeline, `num_chunks`: how many chunks all rounds together move.
        operations: of a pipeline, what each round does.
    """

    name: OperationName
    sources: tuple[Chunks, ...] = ()
    targets: tuple[Chunks, ...] = ()
    channel_type: ChannelType | None = None
    channels: tuple[int, ...] = ()
    share: Share | None = None
    barrier: int = 0
    barrier_blocks: int = 0
    semaphores: tuple[int, ...] = ()
    unit_bytes: int = 0
    pipeline_chunks: int = 0
    operations: "tuple[Operation, ...]" = ()


class Lists(NamedTuple):
    """Numbers for each type of channel: the channels of a block, or the buffers of other ranks that it uses."""

    memory: tuple[int, ...] = ()
    port: tuple[int, ...] = ()
    switch: tuple[int, ...] = ()

    def of(self, kind: ChannelType) -> tuple[int, ...]:
        """Return the numbers for one type."""
        if kind is ChannelType.MEMORY:
            return self.memory
        if kind is ChannelType.PORT:
            return self.port
        return self.switch if kind is ChannelType.SWITCH else ()


class Block(NamedTuple):
    """A thread block: its `channels` and `remote_buffer_refs` by type, and its operations."""

    number: int
    channels: Lists
    remote_buffers: Lists
    operations: tuple[Operation, ...]


class SwitchChannel(NamedTuple):
    """A group of ranks whose buffer `i`, `o` or `s` a switch reaches at once."""

    buffer: str
    ranks: tuple[int, ...]


class RemoteBuffer(NamedTuple):
    """The buffer `i`, `o` or `s` of another rank, and the types of channel that reach it."""

    rank: int
    buffer: str
    access: tuple[ChannelType, ...]


class Gpu(NamedTuple):
    """One rank.

    Attributes:
        rank: its number.
        input_chunks: the number of chunks of its input.
        output_chunks: the number of chunks of its output.
        scratch_chunks: the number of chunks of its scratch buffer.
        memory_peers: the rank that each memory channel leads to, by channel number.
        port_peers: the rank that each port channel leads to, by channel number.
        switches: its switch channels, by number.
        remote_buffers: the buffers of other ranks that it uses.
        semaphores: the initial value of each of its semaphores.
        blocks: its thread blocks.
    """

    rank: int
    input_chunks: int
    output_chunks: int
    scratch_chunks: int
    memory_peers: tuple[int, ...]
    port_peers: tuple[int, ...]
    switches: tuple[SwitchChannel, ...]
    remote_buffers: tuple[RemoteBuffer, ...]
    semaphores: tuple[int, ...]
    blocks: tuple[Block, ...]

    def chunks(self, buffer: str) -> int:
        """Return the size of the buffer `i`, `o` or `s` in chunks."""
        if buffer == "s":
            return self.scratch_chunks
        return self.input_chunks if buffer == "i" else self.output_chunks

    def peers(self, kind: ChannelType) -> tuple[int, ...]:
        """Return the ranks that its channels of one type lead to."""
        return self.memory_peers if kind is ChannelType.MEMORY else self.port_peers


NO_LIMIT = 2**64 - 1
"""A `max_message_size` that means no limit."""


@dataclass(frozen=True, slots=True)
class ExecutionPlan:
    """One file.

    Attributes:
        name: the name of the plan.
        collective: the collective, as MSCCL++ spells it.
        protocol: `Simple` or `LL`.
        in_place: whether input and output are the same memory.
        reuse_resources: whether one scratch buffer is reused for messages of all sizes.
        double_scratch: whether consecutive launches use alternate halves of the scratch buffer.
        threads: threads of a block.
        alignment: `buffer_alignment`, in bytes.
        least_bytes: `min_message_size`.
        most_bytes: `max_message_size`.
        gpus: the ranks, in the order of the file; those of a program are made when they are read.
    """

    name: str
    collective: str
    protocol: str
    in_place: bool
    gpus: Sequence[Gpu]
    reuse_resources: bool = False
    double_scratch: bool = False
    threads: int = 1024
    alignment: int = 16
    least_bytes: int = 0
    most_bytes: int = NO_LIMIT

    def operations(self) -> Iterator[tuple[Gpu, Block, int, Operation]]:
        """Yield every operation, including those in pipelines, with its rank, its block and its number there.

        Operations have the numbers that the executor uses: first a pipeline, then the operations in it, then the next
        one.
        """
        for gpu in self.gpus:
            for block in gpu.blocks:
                for number, operation in numbered(block):
                    yield gpu, block, number, operation


def numbered(block: Block) -> Iterator[tuple[int, Operation]]:
    """Yield the operations of a block with their numbers; those of a pipeline follow it."""
    number = 0
    for operation in block.operations:
        for each in (operation, *operation.operations):
            yield number, each
            number += 1
