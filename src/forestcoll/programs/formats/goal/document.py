"""A GOAL schedule as a value: the operations of each rank, what each waits for, and which data it moves.

GOAL (Group Operation Assembly Language) states when a rank sends, receives and computes, but not which data. Comments
of the file, which simulators ignore, add it:

- `// forestcoll {...}` before the ranks is the `Header`, as JSON.
- `// data SOURCES -> TARGETS` before an operation states what it reads and writes. After
  `// data output 4 2 + scratch 0 2 -> output 4 2`, chunks 4 and 5 of the output are the sum of both spans. A send has
  one source and no target, a receive has targets and no source.

A file whose operations all have such comments has a program, which can be run.
"""

from enum import StrEnum
from typing import NamedTuple

from forestcoll.programs.model import Span


class OperationKind(StrEnum):
    """What an operation does; the value is its word in the file."""

    SEND = "send"
    RECEIVE = "recv"
    COMPUTE = "calc"


class Data(NamedTuple):
    """The chunks that an operation reads, adds up and writes, all of its rank."""

    sources: tuple[Span, ...]
    targets: tuple[Span, ...]


class Operation(NamedTuple):
    """One operation of a rank.

    Attributes:
        kind: what it does.
        size: the bytes of a message, or the time of a computation in the unit of the simulator (LogGOPSim: ns).
        peer: the other rank of a message; -1 for a computation.
        tag: a receive gets a message that was sent to it with the same tag.
        after: `requires`: the operations of this rank, by their places, that must be done before.
        after_start: `irequires`: those that must have started before.
        data: which data it moves; None if the file does not say.
    """

    kind: OperationKind
    size: int
    peer: int = -1
    tag: int = 0
    after: tuple[int, ...] = ()
    after_start: tuple[int, ...] = ()
    data: Data | None = None


class Header(NamedTuple):
    """The collective of a file.

    Attributes:
        name: the name of the program.
        collective: the task of the program.
        size: the total data M, in bytes.
        chunks: the number of chunks of M.
        shards: for each rank, its chunks of M, if the collective has shards; else empty.
        root: the root, if the collective has one; else None.
    """

    name: str
    collective: str
    size: int
    chunks: int
    shards: tuple[int, ...] = ()
    root: int | None = None

    def bytes_of(self, chunks: int) -> int:
        """Return the size of a message with this many chunks, in whole bytes; at least 1."""
        return max(1, (2 * chunks * self.size + self.chunks) // (2 * self.chunks))


class Goal(NamedTuple):
    """The operations of each rank, and the header; None if the file has none."""

    ranks: tuple[tuple[Operation, ...], ...]
    header: Header | None = None

    @property
    def states_data(self) -> bool:
        """Return whether the file says which data its operations move."""
        return self.header is not None and all(each.data is not None for rank in self.ranks for each in rank)
