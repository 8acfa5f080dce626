"""The options of the lowering, as one frozen value."""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from forestcoll.base.errors import InputError, member_named, shown
from forestcoll.demand.collective import Collective
from forestcoll.programs.model import Protocol


class Style(StrEnum):
    """The style of data exchange between ranks."""

    TWO_SIDED = "two-sided"
    """Messages over FIFO channels, as in MSCCL XML: one block sends, another receives."""
    ONE_SIDED = "one-sided"
    """Blocks write into the memory of other ranks and signal, as in plans of MSCCL++."""


class Placement(StrEnum):
    """The placement of input and output buffers: one inside the other, or separate."""

    IN_PLACE = "in-place"
    OUT_OF_PLACE = "out-of-place"
    BOTH = "both"


_OF_ONE_TENSOR = frozenset({Collective.ALLREDUCE, Collective.BROADCAST, Collective.REDUCE})


def usual_placement(collective: Collective) -> Placement:
    """Return the placement in which frameworks call a collective, for a program that can have only one.

    `all_reduce`, `broadcast` and `reduce` of PyTorch take one tensor, so NCCL is called in place. The other collectives
    take an input and an output.
    """
    return Placement.IN_PLACE if collective in _OF_ONE_TENSOR else Placement.OUT_OF_PLACE


MOST = 2**31 - 1
"""The greatest value of an option; more than any program can have."""

MOST_INSTRUCTIONS = 20_000_000
"""The most instructions of a program; to lower, write and check them takes some minutes."""


_NUMBERS = (
    "chunks",
    "pieces",
    "channels",
    "levels",
    "lanes",
    "instances",
    "strands",
    "blocks",
    "children",
    "round_bytes",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options of the lowering.

    Attributes:
        style: how ranks exchange data.
        placement: the placement of buffers; `BOTH` needs a copy that an in-place program does not need.
        chunks: the number of equal chunks of the data M before `instances` and `pieces`; None for the least number
            that makes all shares whole. With fewer chunks, shares are rounded, and the loss is reported.
        pieces: the number of pieces of the data of each tree; they follow each other through the tree. MSCCL cuts
            data into slices by itself.
        step_chunks: the most chunks that one instruction moves, before `pieces`; None for as many as the target allows.
            The data of a tree is cut into parts of at most so many chunks. In programs of messages, they follow each
            other; a fraction is their mean, and some parts have one chunk more than others. In one-sided programs, they
            move at the same time, in blocks of their own, and this is the mean size of the parts at most; those of 32
            chunks or more differ. By default, each instance is one part.
        channels: the number of channels for the trees of a root in each phase; None for as many as fit.
        levels: for programs of messages made of trees, the number of channels over which the hops of a tree are
            distributed by their depth; 0 to receive and send on in one instruction where possible. None for as many as
            fit.
        lanes: for programs of messages made of trees, the number of blocks that send from one rank to another at the
            same time, in the order of a timetable; more on fast links, and in proportion to their data for pairs of
            ranks that share a link. None for blocks by the depth in trees.
        lane_overhead: the overhead for which the timetable of lanes is made, as a part of the time that the busiest
            link takes. The default is that of 1 GB on a box of 2022: 1 of 3,000 us.
        instances: the number of parallel copies of the program, each on its part of the data.
        strands: for programs of messages made of trees, the number of parts of the data of a tree in an instance that
            move at the same time, in blocks of their own. Unlike instances, strands share the chunks that there are,
            so their number need not divide that of the chunks.
        blocks: the most thread blocks of a rank; None for at most `COMFORTABLE_BLOCKS` if the program fits them,
            else as many as the target allows. One-sided programs use all blocks, if they have as many jobs.
        children: for one-sided programs, the most children of a rank in a tree to which one block sends; None for all.
        protocol: how the runtime moves bytes.
        round_bytes: the bytes of a chunk that one round of a loop moves, in plans of MSCCL++.
    """

    style: Style = Style.TWO_SIDED
    placement: Placement = Placement.BOTH
    chunks: int | None = None
    pieces: int = 1
    step_chunks: int | Fraction | None = None
    channels: int | None = None
    levels: int | None = None
    lanes: int | None = None
    lane_overhead: float = 1 / 3000
    instances: int = 1
    strands: int = 1
    blocks: int | None = None
    children: int | None = None
    protocol: Protocol = Protocol.SIMPLE
    round_bytes: int = 2**17

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "style", member_named(Style, self.style, f"style is {shown(self.style)}", "it must be one of")
        )
        object.__setattr__(
            self,
            "placement",
            member_named(Placement, self.placement, f"placement is {shown(self.placement)}", "it must be one of"),
        )
        object.__setattr__(
            self,
            "protocol",
            member_named(Protocol, self.protocol, f"protocol is {shown(self.protocol)}", "it must be one of"),
        )
        for name in _NUMBERS:
            value, least = getattr(self, name), 0 if name == "levels" else 1
            if value is not None and (type(value) is not int or not least <= value <= MOST):
                raise InputError(f"{name} is {shown(value)}; it must be an integer from {least} to {MOST:,}")

        step = self.step_chunks
        if step is not None and (type(step) not in {int, Fraction} or not 1 <= step <= MOST):
            raise InputError(f"step_chunks is {shown(step)}; it must be an integer or a fraction from 1 to {MOST:,}")
        if type(self.lane_overhead) not in {int, float} or not 0 < self.lane_overhead <= 1:
            raise InputError(f"lane_overhead is {shown(self.lane_overhead)}; it must be a number above 0, at most 1")

    @property
    def scale(self) -> int:
        """Return the number of chunks of the program for one chunk of the grid."""
        return self.instances * self.pieces

    @property
    def parallel(self) -> int:
        """Return the number of parts of a tree that move at the same time in a program of messages."""
        return self.instances * self.strands

    @property
    def in_place(self) -> bool:
        """Return whether the program may be run in place."""
        return self.placement != Placement.OUT_OF_PLACE

    @property
    def out_of_place(self) -> bool:
        """Return whether the program may be run out of place."""
        return self.placement != Placement.IN_PLACE


COMFORTABLE_BLOCKS = 32
"""Thread blocks of a rank by default: NCCL uses as many; the others are left for computation."""
