"""The limits of a runtime: a program must stay within them to be loaded."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The limits of a runtime; None where there is no limit.

    Attributes:
        name: the runtime, as messages name it.
        blocks: thread blocks of a rank.
        steps: instructions of a block.
        channels: different numbers of channels between the same two ranks.
        blocks_per_channel: for one rank and one channel number, how many blocks send, and how many receive.
        count: chunks that one instruction moves.
        chunks: chunks of a buffer.
        waits: the most instructions of other blocks that one instruction may depend on. Each further dependency takes
            a step, which `steps` counts.
        steps_of_rank: steps and blocks of a rank together, if the reader of a file limits its elements.
        dependency_block: the highest number of a block that another block may depend on.
        channels_of_block: channels of one kind that a block uses.
    """

    name: str
    blocks: int | None = None
    steps: int | None = None
    channels: int | None = None
    blocks_per_channel: int | None = None
    count: int | None = None
    chunks: int | None = None
    waits: int | None = None
    steps_of_rank: int | None = None
    dependency_block: int | None = None
    channels_of_block: int | None = None
