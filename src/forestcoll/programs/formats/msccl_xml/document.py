"""MSCCL XML as a value: the content of a file, attribute by attribute, whether or not a runtime would load it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import NamedTuple

NONE = -1
"""Means no peer, no dependency or no offset."""


class StepType(StrEnum):
    """What a step does; the value is its `type` in the file."""

    __hash__ = str.__hash__  # that of `Enum` is a function of Python, and sets call it for each step

    SEND = "s"
    RECEIVE = "r"
    RECEIVE_COPY_SEND = "rcs"
    RECEIVE_REDUCE_SEND = "rrs"
    RECEIVE_REDUCE_COPY = "rrc"
    RECEIVE_REDUCE_COPY_SEND = "rrcs"
    COPY = "cpy"
    REDUCE = "re"
    NOTHING = "nop"

    @property
    def sends(self) -> bool:
        """Return whether the step sends to the send peer of the block."""
        return self in _SENDING

    @property
    def receives(self) -> bool:
        """Return whether the step receives from the receive peer of the block."""
        return self in _RECEIVING

    @property
    def reads_source(self) -> bool:
        """Return whether `srcbuf` and `srcoff` name data that is read."""
        return self in _READING

    @property
    def writes_target(self) -> bool:
        """Return whether `dstbuf` and `dstoff` name data that is written; a local reduction reads it first."""
        return self in _WRITING


_SENDING = frozenset(
    {
        StepType.SEND,
        StepType.RECEIVE_COPY_SEND,
        StepType.RECEIVE_REDUCE_SEND,
        StepType.RECEIVE_REDUCE_COPY_SEND,
    }
)
_RECEIVING = frozenset(
    {
        StepType.RECEIVE,
        StepType.RECEIVE_COPY_SEND,
        StepType.RECEIVE_REDUCE_SEND,
        StepType.RECEIVE_REDUCE_COPY,
        StepType.RECEIVE_REDUCE_COPY_SEND,
    }
)
_READING = frozenset(
    {
        StepType.SEND,
        StepType.RECEIVE_REDUCE_SEND,
        StepType.RECEIVE_REDUCE_COPY,
        StepType.RECEIVE_REDUCE_COPY_SEND,
        StepType.COPY,
        StepType.REDUCE,
    }
)
_WRITING = frozenset(
    {
        StepType.RECEIVE,
        StepType.RECEIVE_COPY_SEND,
        StepType.RECEIVE_REDUCE_COPY,
        StepType.RECEIVE_REDUCE_COPY_SEND,
        StepType.COPY,
        StepType.REDUCE,
    }
)


class Step(NamedTuple):
    """One step of a thread block.

    Attributes:
        number: `s`, its index in the block.
        type: what it does.
        source_buffer: `srcbuf`: `i`, `o` or `s`.
        source_offset: `srcoff`, in chunks; -1 if it is not used.
        target_buffer: `dstbuf`.
        target_offset: `dstoff`, in chunks; -1 if it is not used.
        chunks: `cnt`, how many chunks.
        awaited_block: `depid`, the block with the step that must be done before; -1 for none.
        awaited_step: `deps`, the number of that step.
        awaited: `hasdep`, whether a step of another block waits for this one.
    """

    number: int
    type: StepType
    source_buffer: str
    source_offset: int
    target_buffer: str
    target_offset: int
    chunks: int
    awaited_block: int
    awaited_step: int
    awaited: bool


class Block(NamedTuple):
    """One thread block: its peers (`send`, `recv`; -1 for none), its channel (`chan`), its steps."""

    number: int
    send_peer: int
    receive_peer: int
    channel: int
    steps: tuple[Step, ...]


class Gpu(NamedTuple):
    """One rank: the sizes of its buffers in chunks, and its thread blocks."""

    rank: int
    input_chunks: int
    output_chunks: int
    scratch_chunks: int
    blocks: tuple[Block, ...]

    def chunks(self, buffer: str) -> int:
        """Return the size of the buffer `i`, `o` or `s` in chunks."""
        return {"i": self.input_chunks, "o": self.output_chunks, "s": self.scratch_chunks}[buffer]


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One file.

    Attributes:
        attributes: the attributes of `<algo>` as written: `name`, `proto`, `coll`, and those that a dialect adds.
        channels: `nchannels`.
        chunks_per_loop: `nchunksperloop`: into how many chunks M, the total data, is cut.
        gpu_count: `ngpus`.
        gpus: the ranks, in the order of the file.
        oddities: XML that a conforming parser accepts and the parsers of the runtimes do not, line by line.
        skipped: the line and the name of elements that the runtimes do not know, and skip.
    """

    attributes: Mapping[str, str]
    channels: int
    chunks_per_loop: int
    gpu_count: int
    gpus: tuple[Gpu, ...]
    oddities: tuple[str, ...] = ()
    skipped: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Return the name of the algorithm."""
        return self.attributes.get("name", "")

    @property
    def collective(self) -> str:
        """Return the name of the collective as the file spells it."""
        return self.attributes.get("coll", "")

    @property
    def in_place(self) -> bool:
        """Return whether input and output are the same memory."""
        return self.attributes.get("inplace", "0") != "0"

    def steps(self) -> Iterator[tuple[Gpu, Block, Step]]:
        """Yield every step with its block and its rank."""
        for gpu in self.gpus:
            for block in gpu.blocks:
                for step in block.steps:
                    yield gpu, block, step


def frozen_attributes(attributes: Mapping[str, str]) -> Mapping[str, str]:
    """Return `attributes` in the form that `Algorithm` stores."""
    return MappingProxyType(dict(attributes))
