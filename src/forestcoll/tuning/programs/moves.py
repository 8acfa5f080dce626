"""The moves of the search for a program: each changes its options along one axis.

The axes are the chunks of the data, the parallel parts of a tree (instances; in plans, parts), the messages (pieces and
step chunks; in plans, bytes of a round), and, for programs of messages, the connections per peer (lanes, strands). A
move is a frozen value with one method, `of`, which returns the changed options, or None if it does not apply. It
changes with an option what has to change with it. `moves_for` lists the moves for a schedule and a format, in the order
in which they are tried.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import ClassVar

from forestcoll.programs.formats.msccl_xml.dialects import joined_bytes
from forestcoll.programs.formats.sizes import ALIGNMENT
from forestcoll.programs.lowering import Options
from forestcoll.programs.lowering.options import MOST
from forestcoll.tuning.programs.candidates import SLOT, Candidates, ProgramCandidate, greatest_share
from forestcoll.tuning.programs.parts import in_messages, in_parts, message_of, parts_of

MOST_INSTANCES = 16
"""The most instances that are tried."""

LEAST_MORE = Fraction(4, 3)
"""More parts are tried if ranks have so many times as many blocks, so that not many parts take turns in a block."""


@dataclass(frozen=True)
class Move(ABC):
    """A change of the options of a program.

    Attributes:
        changes: the options that a target may give and that it changes; it does not apply if one of them is given.
    """

    changes: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def of(self, best: ProgramCandidate, space: Candidates) -> Options | None:
        """Return the options after the move from the best program so far, or None if there are none."""


@dataclass(frozen=True)
class Chunks(Move):
    """Another number of chunks: with fewer, shares are rounded more, and messages are more alike."""

    changes = frozenset({"chunks"})
    fewer: bool

    def of(self, best: ProgramCandidate, space: Candidates) -> Options | None:
        options = best.options
        now = options.chunks or 0
        others = [each for each in space.numbers if (each < now if self.fewer else each > now)]
        if not others:
            return None
        chunks = max(others) if self.fewer else min(others)
        changed = replace(options, chunks=chunks)
        if space.share is not None:
            parts, message = parts_of(options, space.share), message_of(options, space.share)
            changed = in_parts(changed, space.share, parts, space.finest)
            return in_messages(changed, space.share, message)
        if options.step_chunks is None or space.in_plans:
            return changed
        return replace(changed, step_chunks=min(MOST, ceil(options.step_chunks * Fraction(chunks, now))))


@dataclass(frozen=True)
class Parts(Move):
    """Twice as many parts of trees in a plan, in messages of half the size.

    Blocks together move more, and overheads of one hide behind data of others.
    """

    changes = frozenset({"instances"})

    def of(self, best: ProgramCandidate, space: Candidates) -> Options | None:
        options = best.options
        if space.share is None or LEAST_MORE * best.most_blocks > space.most_blocks:
            return None
        parts, message = parts_of(options, space.share), message_of(options, space.share)
        return in_messages(in_parts(options, space.share, 2 * parts, space.finest), space.share, message // 2)


@dataclass(frozen=True)
class Message(Move):
    """Other messages in a plan: smaller ones fill high trees in less time, larger ones have fewer overheads."""

    factor: Fraction

    def of(self, best: ProgramCandidate, space: Candidates) -> Options | None:
        options = best.options
        if space.share is not None:
            return in_messages(options, space.share, int(self.factor * message_of(options, space.share)))
        size = int(self.factor * options.round_bytes)
        return replace(options, round_bytes=size) if ALIGNMENT <= size <= MOST else None


@dataclass(frozen=True)
class Instances(Move):
    """Twice as many parallel copies of the program."""

    changes = frozenset({"instances"})

    def of(self, best: ProgramCandidate, space: Candidates) -> Options | None:  # noqa: ARG002 (as all moves)
        options = best.options
        more = 2 * options.instances
        is_parallel = options.lanes is not None or options.strands > 1
        return None if more > MOST_INSTANCES or is_parallel else replace(options, instances=more)


@dataclass(frozen=True)
class Steps(Move):
    """Two or more instances with steps of a few chunks, and pieces so small that a step is a part of a message.

    The first messages of an instance can then be smaller, and instances that share a link wait less for each other.
    """

    changes = frozenset({"instances"})
    chunks: int
    parts: int

    def of(self, best: ProgramCandidate, space: Candidates) -> Options | None:
        options = best.options
        if not space.counts or options.lanes is not None or options.strands > 1:
            return None
        wide = replace(options, instances=max(2, options.instances), step_chunks=self.chunks)
        return replace(wide, pieces=max(wide.pieces, min(MOST, self.parts * whole_pieces(wide, space))))


@dataclass(frozen=True)
class Pieces(Move):
    """Pieces as large as messages, or a part of them; they go through a tree in one round instead of many."""

    parts: int

    def of(self, best: ProgramCandidate, space: Candidates) -> Options | None:
        options = best.options
        if options.lanes is not None or options.strands > 1:
            return None
        pieces = self.parts * whole_pieces(options, space) if space.counts else 2
        return replace(options, pieces=pieces) if options.pieces < pieces <= MOST else None


@dataclass(frozen=True)
class Lanes(Move):
    """Two connections to each peer, in the order of a timetable: for high trees, whose data often waits.

    They need small messages, in one round, because blocks continue the work of others within a round. If a step has to
    move all data of a tree, rounds cut it, and there are no pieces.
    """

    def of(self, best: ProgramCandidate, space: Candidates) -> Options | None:
        options = best.options
        if options.lanes is not None or not space.has_high_trees or space.schedule.collective.has_root:
            return None
        if not space.counts or space.given.get("instances", 1) != 1:
            return None
        chunks = space.counts[-1].chunks
        pieces = max(1, space.finest // chunks)
        step = space.chunks_of_message(chunks * pieces)
        if step >= pieces * chunks * greatest_share(space.schedule):
            pieces, step = 1, space.chunks_of_message(chunks)
        return replace(options, lanes=2, chunks=chunks, step_chunks=step, instances=1, pieces=pieces, levels=None)


@dataclass(frozen=True)
class Strands(Move):
    """One more parallel slice of each tree of one root, with as many chunks as there may be, in small messages."""

    changes = frozenset({"instances"})

    def of(self, best: ProgramCandidate, space: Candidates) -> Options | None:
        options = best.options
        if not space.counts or not space.schedule.collective.has_root:
            return None
        step = max(1, min(MOST, 3 * SLOT * space.finest // (8 * space.size)))
        pieces = max(1, space.finest // (options.chunks or 1))
        return replace(options, strands=options.strands + 1, instances=1, pieces=pieces, step_chunks=step)


@dataclass(frozen=True)
class Longer(Move):
    """Steps of more chunks, or of fewer on average."""

    factor: Fraction

    def of(self, best: ProgramCandidate, space: Candidates) -> Options | None:
        options = best.options
        if options.step_chunks is None or space.in_plans:
            return None
        step = self.factor * Fraction(options.step_chunks)
        changed = step if options.strands > 1 else int(step)
        return replace(options, step_chunks=changed) if 1 <= changed <= MOST else None


@dataclass(frozen=True)
class OneLevel(Move):
    """One channel for all depths of trees: blocks alternate between the data of their rank and data to send on."""

    def of(self, best: ProgramCandidate, space: Candidates) -> Options | None:
        options = best.options
        return replace(options, levels=1) if space.counts and options.lanes is None else None


def whole_pieces(options: Options, space: Candidates) -> int:
    """Return the least power of two of pieces with which a step is one message."""
    chunks = (options.chunks or 1) * options.instances
    joined = joined_bytes(options.protocol.value, has_root=space.schedule.collective.has_root)
    greatest = ceil(space.size * Fraction(options.step_chunks or 1) / (chunks * joined))
    return int(min(MOST, 1 << (max(1, greatest) - 1).bit_length()))


OF_TREES = (
    Parts(),
    Message(Fraction(1, 2)),
    Chunks(fewer=True),
    Message(Fraction(2)),
    Chunks(fewer=False),
    Message(Fraction(3, 4)),
)
"""The moves for plans of trees."""

OF_OTHER_PLANS = (Instances(), Message(Fraction(1, 4)), Message(Fraction(4)), Chunks(fewer=True), Chunks(fewer=False))
"""The moves for plans of flows, and of trees whose data moves in packets."""

OF_MESSAGES = (
    Lanes(),
    Strands(),
    Chunks(fewer=True),
    Instances(),
    Steps(2, 1),
    Steps(3, 1),
    OneLevel(),
    Steps(1, 1),
    Steps(2, 2),
    Steps(3, 2),
    Pieces(1),
    Chunks(fewer=False),
    Longer(Fraction(5, 6)),
)
"""The moves for programs of messages."""


def moves_for(space: Candidates) -> Sequence[Move]:
    """Return the moves for the programs of a schedule, without those that change what is given."""
    if not space.in_plans:
        moves: tuple[Move, ...] = OF_MESSAGES
    else:
        moves = OF_OTHER_PLANS if space.share is None else OF_TREES
    return [each for each in moves if not each.changes & space.given.keys()]
