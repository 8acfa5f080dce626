"""A schedule of trees as time slots of sends and receives: what one rank sends, receives and adds up in each slot.

Each part of the data is cut into S contiguous chunks, and each chunk into the flows of the part. So flows that share a
hop lie one after the other, and are one message. A hop at depth d of a tree that copies moves chunk j in slot j + d.
Sums go up as late as possible: all children of a rank send in the same slot, and memory for what came is needed for
that slot only. A program has S + D - 1 slots. In the steady state, each has 1/S of the load of every link, because the
schedule itself is balanced.

Both ends of a message compute the same sorted list, so messages of a pair of ranks match by their order. Sums are in
the order of that list: they have the same bits on all ranks and in each run.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from fractions import Fraction
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.runtime import Plan

MOST_OPERATIONS = 128
"""The most sends and receives of a rank in one group of NCCL.

A larger group can be split differently on two ranks, and hang: issues 174288 and 174942 of PyTorch.
"""

_SCATTERED = frozenset({Collective.REDUCE_SCATTER, Collective.REDUCE})
"""Collectives that only read their input, so sums are in memory of their own."""


class Memory(IntEnum):
    """Where a range lies: the result, the input that is only read, or memory for what came.

    In a reduce-scatter, positions in the result count from the beginning of the rank's shard.
    """

    DATA = 0
    SOURCE = 1
    SCRATCH = 2


class Range(NamedTuple):
    """Elements from `low` to before `high`."""

    memory: Memory
    low: int
    high: int


class Message(NamedTuple):
    """A send to, or a receive from, a rank."""

    peer: int
    where: Range


class Sum(NamedTuple):
    """Adds the elements of `what` to those of `into`."""

    into: Range
    what: Range


@dataclass(slots=True)
class Slot:
    """What a rank does in a slot: messages all together, then sums, round by round."""

    sends: list[Message] = field(default_factory=list)
    receives: list[Message] = field(default_factory=list)
    rounds: list[list[Sum]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Program:
    """The slots of a rank, and the elements of memory that they need for what came."""

    slots: list[Slot]
    scratch: int


class TimedHop(NamedTuple):
    """A hop of a flow, and the slot in which it moves the first chunk."""

    flow: int
    op: PhaseOp
    source: int
    target: int
    slot: int


@dataclass(frozen=True)
class Timetable:
    """The hops of a plan in time, for data of any size."""

    plan: Plan

    @cached_property
    def hops(self) -> tuple[TimedHop, ...]:
        """All hops, in the order of the flows."""
        return tuple(_timed(self.plan))

    @cached_property
    def depth(self) -> int:
        """D: a program of S chunks has S + D - 1 slots."""
        return 1 + max((hop.slot for hop in self.hops), default=0)

    @cached_property
    def of_rank(self) -> Mapping[int, Sequence[TimedHop]]:
        """The hops that each rank sends or receives by."""
        found: dict[int, list[TimedHop]] = defaultdict(list)
        for hop in self.hops:
            found[hop.source].append(hop)
            found[hop.target].append(hop)
        return found

    @cached_property
    def summed(self) -> frozenset[tuple[int, int]]:
        """Flows with the ranks that add up what came and are not their roots."""
        return frozenset((hop.flow, hop.target) for hop in self.hops if hop.op is PhaseOp.REDUCE)

    def is_loose(self, hop: TimedHop) -> bool:
        """Return whether it sends a sum from where that lies: it does not lie next to others."""
        return hop.op is PhaseOp.REDUCE and self.plan.collective in _SCATTERED and (hop.flow, hop.source) in self.summed

    def most_operations(self, boxes: Iterable[Sequence[int]]) -> int:
        """Return the most sends and receives of a rank in a slot, in its box or out of it; the size does not matter."""
        box_of = {rank: number for number, box in enumerate(boxes) for rank in box}
        counts: Counter[tuple[int, bool]] = Counter()
        ends: dict[tuple[object, ...], tuple[int, Fraction]] = {}
        for hop in self.hops:
            flow, loose = self.plan.flows[hop.flow], self.is_loose(hop)
            sent = hop.op, hop.source, hop.target, hop.slot, loose
            if loose or ends.get(sent) != (flow.part, flow.low):  # else it is joined to the one before
                near = box_of.get(hop.source, -1) == box_of.get(hop.target, -2)
                counts.update([(hop.source, near), (hop.target, near)])
            ends[sent] = flow.part, flow.high
        return max(counts.values(), default=0)


def _timed(plan: Plan) -> Iterator[TimedHop]:
    for number, flow in enumerate(plan.flows):
        depth, height = {flow.root: 0}, 0
        for hop in reversed(flow.reduce):
            depth[hop.source] = depth[hop.target] + 1
            height = max(height, depth[hop.source])
        for hop in flow.reduce:
            yield TimedHop(number, PhaseOp.REDUCE, hop.source, hop.target, height - depth[hop.source])
        place = {flow.root: height}
        for hop in flow.broadcast:
            yield TimedHop(number, PhaseOp.BROADCAST, hop.source, hop.target, place[hop.source])
            place[hop.target] = place[hop.source] + 1


@dataclass(frozen=True, slots=True)
class Size:
    """Data of one size, and how they are cut.

    Attributes:
        count: the elements of all data.
        counts: of each rank the elements of its shard, if they differ.
        chunks: S.
        grain: parts begin at multiples of so many elements, counted from where the part of the data begins.
    """

    count: int
    counts: tuple[int, ...] | None
    chunks: int
    grain: int

    def parts(self, plan: Plan) -> dict[int, tuple[int, int]]:
        """Return of each part of the data where it begins and ends."""
        if plan.collective.has_shards:
            lengths = self.counts or (self.count // plan.size,) * plan.size
            ends = list(accumulate(lengths))
        else:
            ends = [int(share * self.count) for share in accumulate(plan.parts.values())]
        keys = range(plan.size) if plan.collective.has_shards else plan.parts
        return dict(zip(keys, zip([0, *ends], ends, strict=False), strict=True))


class _Piece(NamedTuple):
    """A flow of a chunk."""

    low: int
    high: int
    flow: int
    chunk: int


class _Sent(NamedTuple):
    """A message between two ranks: pieces that lie one after the other."""

    op: PhaseOp
    source: int
    target: int
    is_loose: bool
    pieces: list[_Piece]


def _sent_of(timetable: Timetable, rank: int, size: Size) -> dict[int, list[_Sent]]:
    """Return the messages of `rank` in each slot, in the order that both ends have."""
    plan, parts = timetable.plan, size.parts(timetable.plan)
    slots: dict[int, list[_Sent]] = defaultdict(list)
    for hop in timetable.of_rank.get(rank, ()):
        flow = plan.flows[hop.flow]
        begin, end = parts[flow.part]
        loose = timetable.is_loose(hop)
        for chunk in range(size.chunks):
            cuts = [begin + _cut(end - begin, Fraction(each, size.chunks), size.grain) for each in (chunk, chunk + 1)]
            low, high = (cuts[0] + _cut(cuts[1] - cuts[0], each, size.grain) for each in (flow.low, flow.high))
            if low < high:
                piece = _Piece(low, high, hop.flow, chunk)
                slots[hop.slot + chunk].append(_Sent(hop.op, hop.source, hop.target, loose, [piece]))
    return {slot: _joined_messages(sorted(listed)) for slot, listed in slots.items()}


def _joined_messages(listed: Iterable[_Sent]) -> list[_Sent]:
    found: list[_Sent] = []
    for each in listed:
        last = found[-1] if found else None
        follows = last is not None and last[:4] == each[:4] and last.pieces[-1].high == each.pieces[0].low
        if last is not None and follows and not each.is_loose:
            last.pieces.extend(each.pieces)
        else:
            found.append(each)
    return found


def _cut(length: int, fraction: Fraction, grain: int) -> int:
    """Return a fraction of a length, as a multiple of the grain unless it is all."""
    return length if fraction == 1 else int(length * fraction) // grain * grain


class _Arena:
    """Memory for what came: ranges that live from one slot to another, placed by first fit."""

    def __init__(self, grain: int) -> None:
        self._live: list[tuple[int, int, int]] = []
        self._grain, self.size = grain, 0

    def take(self, length: int, slot: int, last: int) -> int:
        """Return where memory for `length` elements begins that is in use from `slot` to `last`."""
        length = -(-length // self._grain) * self._grain
        self._live = sorted(each for each in self._live if each[2] >= slot)
        place = 0
        for low, high, _ in self._live:
            if place + length <= low:
                break
            place = max(place, high)
        self._live.append((place, place + length, last))
        self.size = max(self.size, place + length)
        return place


def program_of(timetable: Timetable, rank: int, size: Size) -> Program:
    """Return the slots of `rank`.

    Args:
        timetable: of the schedule.
        rank: this rank.
        size: of the data.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.runtime import plan_of
        >>> timetable = Timetable(plan_of(generate("ring:nodes=4")))
        >>> program_of(timetable, 0, Size(8, None, 1, 1)).slots[0].sends[0]
        Message(peer=1, where=Range(memory=<Memory.DATA: 0>, low=0, high=2))
    """
    writer = _Writer(timetable, rank, size)
    slots = [writer.slot(number) for number in range(size.chunks + timetable.depth - 1)]
    return Program(slots, writer.arena.size)


class _Writer:
    """Writes the slots of a rank, one after the other."""

    def __init__(self, timetable: Timetable, rank: int, size: Size) -> None:
        plan = timetable.plan
        self._rank, self._is_scattered = rank, plan.collective in _SCATTERED
        self._roots = [flow.root for flow in plan.flows]
        self._sent = _sent_of(timetable, rank, size)
        self._offset = size.parts(plan)[rank][0] if plan.collective is Collective.REDUCE_SCATTER else 0
        self._needed = {
            piece[2:]: slot
            for slot, listed in self._sent.items()
            for sent in listed
            if sent.op is PhaseOp.REDUCE and sent.source == rank
            for piece in sent.pieces
        }
        self._sums: dict[tuple[int, int], int] = {}  # where the sum of a piece begins, in the memory for what came
        self.arena = _Arena(size.grain)

    def slot(self, number: int) -> Slot:
        """Return a slot; all before it were asked for."""
        slot, sums = Slot(), list[tuple[int, Sum]]()
        for sent in self._sent.get(number, ()):
            low, high = sent.pieces[0].low, sent.pieces[-1].high
            if sent.source == self._rank:
                slot.sends.append(Message(sent.target, self._origin(sent, low, high)))
            elif sent.op is PhaseOp.BROADCAST:
                slot.receives.append(Message(sent.source, Range(Memory.DATA, low, high)))
            else:
                slot.receives.append(Message(sent.source, self._received(sent.pieces, number, sums)))
        rounds: dict[int, list[Sum]] = defaultdict(list)
        for turn, each in sums:
            rounds[turn].append(each)
        slot.rounds = [_joined_sums(rounds[turn]) for turn in sorted(rounds)]
        return slot

    def _origin(self, sent: _Sent, low: int, high: int) -> Range:
        """Return where the rank has what it sends."""
        begin = self._sums.get(sent.pieces[0][2:]) if sent.op is PhaseOp.REDUCE else None
        if begin is not None:
            return Range(Memory.SCRATCH, begin, begin + high - low)
        return Range(Memory.SOURCE if self._is_scattered else Memory.DATA, low, high)

    def _received(self, pieces: list[_Piece], number: int, sums: list[tuple[int, Sum]]) -> Range:
        """Return where pieces come to that are added up, and add their sums to those of the slot."""
        low, length = pieces[0].low, pieces[-1].high - pieces[0].low
        new = [piece for piece in pieces if self._is_new(piece)]
        last = max((self._needed[piece[2:]] for piece in new), default=number)
        place = self.arena.take(length, number, last)
        for piece in pieces:
            came = Range(Memory.SCRATCH, place + piece.low - low, place + piece.high - low)
            key, size = piece[2:], piece.high - piece.low
            if not self._is_scattered or self._roots[piece.flow] == self._rank:
                begin = piece.low - self._offset
                each = Sum(Range(Memory.DATA, begin, begin + size), came)
            elif piece in new:  # what came first becomes the sum, and the own input is added to it
                self._sums[key] = came.low
                each = Sum(came, Range(Memory.SOURCE, piece.low, piece.high))
            else:
                begin = self._sums[key]
                each = Sum(Range(Memory.SCRATCH, begin, begin + size), came)
            turn = sum(1 for _, other in sums if other.into == each.into)
            sums.append((turn, each))
        return Range(Memory.SCRATCH, place, place + length)

    def _is_new(self, piece: _Piece) -> bool:
        """Return whether the piece is the first of a sum that has memory of its own."""
        has_own = self._is_scattered and self._roots[piece.flow] != self._rank
        return has_own and piece[2:] not in self._sums


def _joined_sums(sums: Iterable[Sum]) -> list[Sum]:
    """Join sums that lie one after the other on both sides."""
    found: list[Sum] = []
    for each in sorted(sums):
        last = found[-1] if found else None
        follows = last is not None and all(
            one.memory == other.memory and one.high == other.low for one, other in zip(last, each, strict=True)
        )
        if last is not None and follows:
            found[-1] = Sum(last.into._replace(high=each.into.high), last.what._replace(high=each.what.high))
        else:
            found.append(each)
    return found
