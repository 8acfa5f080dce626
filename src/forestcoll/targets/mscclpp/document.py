"""MSCCL++'s execution plan (schema of 0.9) as a value: what a file says, whether or not a runtime would load it."""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class OperationName(StrEnum):
    """What an operation does, by the `name` that files use."""

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
    """How a channel moves data, by the name that files use."""

    MEMORY = "memory"
    PORT = "port"
    SWITCH = "switch"
    NONE = "none"


class Chunks(NamedTuple):
    """Chunks that an operation reads or writes: of exactly one of three places.

    Attributes:
        first: `index`, the first chunk.
        size: how many.
        buffer: `type`: `i`, `o` or `s` of the rank itself.
        remote: `buffer_id`: a place in the block's list of other ranks' buffers for the operation's type of channel.
        switch: `switch_channel_id`: a place in the block's list of switch channels.
    """

    first: int
    size: int
    buffer: str | None = None
    remote: int | None = None
    switch: int | None = None


class Share(NamedTuple):
    """`tbg_info`: the block does part `part` of `parts` of the operation, beside others that do the rest."""

    part: int
    parts: int


class Operation(NamedTuple):
    """One operation of a block; what its name does not ask for is empty.

    Attributes:
        name: what it does.
        sources: `src_buff`.
        targets: `dst_buff`.
        channel_type: how other ranks are reached, or None.
        channels: `channel_ids`, places in the block's list of channels of that type.
        share: what part of it the block does; None for all.
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
    """Numbers for each type of channel: a block's channels, or the other ranks' buffers that it uses."""

    memory: tuple[int, ...] = ()
    port: tuple[int, ...] = ()
    switch: tuple[int, ...] = ()

    def of(self, kind: ChannelType) -> tuple[int, ...]:
        """Return those of one type."""
        return {ChannelType.MEMORY: self.memory, ChannelType.PORT: self.port, ChannelType.SWITCH: self.switch}.get(
            kind, ()
        )


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
    """The buffer `i`, `o` or `s` of another rank, and by which types of channel it is reached."""

    rank: int
    buffer: str
    access: tuple[ChannelType, ...]


class Gpu(NamedTuple):
    """One rank.

    Attributes:
        rank: its number.
        input_chunks: how many chunks its input is cut into.
        output_chunks: and its output.
        scratch_chunks: and its scratch buffer.
        memory_peers: the rank that each memory channel leads to, in the order of their numbers.
        port_peers: likewise of port channels.
        switches: its switch channels, in the order of their numbers.
        remote_buffers: other ranks' buffers that it uses.
        semaphores: what each of its semaphores starts with.
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
        return {"i": self.input_chunks, "o": self.output_chunks, "s": self.scratch_chunks}[buffer]

    def peers(self, kind: ChannelType) -> tuple[int, ...]:
        """Return the ranks that its channels of a type lead to."""
        return self.memory_peers if kind is ChannelType.MEMORY else self.port_peers


NO_LIMIT = 2**64 - 1
"""`max_message_size` that bounds nothing."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One file.

    Attributes:
        name: what the plan is called.
        collective: the collective, as MSCCL++ spells it.
        protocol: `Simple` or `LL`.
        in_place: whether input and output are the same memory.
        reuse_resources: whether the scratch buffer is one for all sizes, used over and over.
        double_scratch: whether every other launch uses the other half of the scratch buffer.
        threads: threads of a block.
        alignment: `buffer_alignment`, in bytes.
        least_bytes: `min_message_size`.
        most_bytes: `max_message_size`.
        gpus: in the order of the file.
    """

    name: str
    collective: str
    protocol: str
    in_place: bool
    gpus: tuple[Gpu, ...]
    reuse_resources: bool = False
    double_scratch: bool = False
    threads: int = 1024
    alignment: int = 16
    least_bytes: int = 0
    most_bytes: int = NO_LIMIT

    def operations(self) -> Iterator[tuple[Gpu, Block, int, Operation]]:
        """Yield every operation, those in pipelines too, with its rank, its block and its number there.

        Operations are numbered as the executor does: a pipeline, then those in it, then the next.
        """
        for gpu in self.gpus:
            for block in gpu.blocks:
                for number, operation in numbered(block):
                    yield gpu, block, number, operation


def numbered(block: Block) -> Iterator[tuple[int, Operation]]:
    """Yield the operations of a block with their numbers, those of a pipeline after it."""
    number = 0
    for operation in block.operations:
        for each in (operation, *operation.operations):
            yield number, each
            number += 1
