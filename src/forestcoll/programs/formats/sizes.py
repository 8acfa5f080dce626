"""The sizes of calls for which a runtime uses a file, from the source code of the runtimes (docs/runtimes.md).

MSCCL compares the number of elements of M with the chunks of the file: microsoft/msccl `src/graph/tuning.cc`, Azure and
RCCL `src/misc/msccl/msccl_lifecycle.cc`. MSCCL++ requires that a chunk is a multiple of its alignment:
`ExecutionPlan::Impl::checkMessageSize`.
"""

from dataclasses import dataclass

from forestcoll.base.errors import InputError, plural
from forestcoll.programs.model import DeferredRanks, Program

ELEMENT_BYTES = 4
"""The size in bytes of the elements for which sizes are stated; what 4 bytes match, 2 bytes match too."""

ALIGNMENT = 16
"""The size in bytes of which every chunk should be a multiple: GPUs move 16 bytes at once, and MSCCL++ requires it."""

SKIPPED = "the runtime skips the file and runs its own algorithm"
"""What MSCCL does with other sizes."""

THROWN = "Executor.execute throws; the function that -o snippet= writes leaves the call to MSCCL++"
"""What MSCCL++ does with other sizes."""


@dataclass(frozen=True, slots=True)
class Sizes:
    """The sizes of M for which a runtime uses a program.

    Attributes:
        granule: the runtime uses the program for multiples of this size, in bytes, with elements of 2 and 4 bytes.
        most: the greatest size, in bytes; None for no limit.
        otherwise: what the runtime does with other sizes.

    Example:
        >>> sizes = Sizes(granule=2048, most=None, otherwise="")
        >>> [sizes.match(size) for size in (1024, 2048, 3000, 65536)]
        [False, True, False, True]
    """

    granule: int
    most: int | None
    otherwise: str

    @property
    def least(self) -> int:
        """The least size, in bytes."""
        return self.granule

    def match(self, size: int) -> bool:
        """Return whether the runtime uses the program for M of `size` bytes."""
        return size > 0 and size % self.granule == 0 and (self.most is None or size <= self.most)


def require_bytes(program: Program, size: int) -> None:
    """Check that data of `size` bytes has a byte for each chunk of a program.

    Raises:
        InputError: it has fewer bytes.
    """
    if size < program.chunks:
        raise InputError(
            f"{program.name}: {plural(size, 'byte')} of data, and the program has {plural(program.chunks, 'chunk')} of "
            f"a byte or more; use bytes={program.chunks} or more, or fewer chunks or pieces"
        )


def chunks_of_file(program: Program) -> int:
    """Return the number of chunks in the file of a program; the rounds of a loop are not counted there."""
    if isinstance(program.ranks, DeferredRanks):
        return program.chunks  # only programs with messages are so large, and those have no loops
    loops = {loop.times for rank in program.ranks for block in rank.blocks for loop in block.loops}
    return program.chunks // max(loops, default=1)
