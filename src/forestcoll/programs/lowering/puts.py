"""The instructions of a rank for a cell, if ranks write into the memory of other ranks.

- Broadcasting: the rank waits for the signal of its parent, puts the chunks into the outputs of its children, and
  signals them.
- Summing: the rank has space in its scratch buffer for the data of each child. It waits for all children, adds up their
  sums and its own data, puts the sum into its space at the parent, and signals. The root puts the sum where the result
  belongs.
- If a switch reaches several of the children, one store writes to all of them and to the output of the rank itself. If
  the switch adds up their data too (`cells`), this operation reads it from them, and they send none.

With packets there are no signals: data lies in scratch next to flags, and the reader waits for the flags. A sum is also
written to the place of the later result, because operations on packets require a target there.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from forestcoll.programs.lowering.cells import Cell
from forestcoll.programs.lowering.jobs import Job
from forestcoll.programs.lowering.layout import DataLayout
from forestcoll.programs.model import Buffer, ChannelKind, Instruction, Multicast, Protocol, Span, Task

MOST_SUMMANDS = 9
"""The most spans that one instruction adds up."""

CHANNELS_OF_OPERATION = 8
"""The most channels that an operation of MSCCL++ uses."""

SEMAPHORES_OF_OPERATION = 16
"""The most semaphores that an operation of MSCCL++ uses."""

ChannelTo: TypeAlias = Callable[[int, int], int]
"""The index of the channel from a rank to another."""


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The ranks that can access each other's memory: those of the same box."""

    boxes: tuple[Hashable, ...]

    def kind(self, source: int, target: int) -> ChannelKind:
        """Return the kind of the channels between two ranks."""
        return ChannelKind.MEMORY if self.boxes[source] == self.boxes[target] else ChannelKind.PORT

    def port(self, source: int, target: int) -> bool:
        """Return whether a helper must write into the memory of the other rank."""
        return self.kind(source, target) is ChannelKind.PORT


@dataclass(frozen=True)
class Rooms:
    """Space for data that a rank does not keep: in scratch buffers, and in the outputs of roots.

    Attributes:
        spans: for a rank, the first chunk of a cell, the rank that writes there, and whether it writes the result: the
            space for the first round; the space for the other rounds follows it.
        sizes: for each rank, the chunks of scratch that it needs. With packets all have the same size, because the
            executor takes the half of the own scratch buffer as the half of all.
    """

    spans: Mapping[tuple[int, int, int, bool], Span]
    sizes: tuple[int, ...]

    @staticmethod
    def of(cells: Sequence[Cell], layout: DataLayout, boxes: tuple[Hashable, ...]) -> "Rooms":
        """Return the space that `cells` need: for sums; with packets, for all data that moves from rank to rank.

        A root has the data of its first child where the result will be, if its own contribution does not lie there.
        """
        packets = layout.options.protocol is Protocol.LL
        spans: dict[tuple[int, int, int, bool], Span] = {}
        sizes = [0] * len(boxes)
        for cell in cells:
            for rank, writer, result in _writers(cell, boxes, packets=packets):
                key = rank, cell.offset, writer, result
                if rank == cell.root and not packets and not layout.options.in_place and writer == cell.heard(rank)[0]:
                    spans[key] = layout.result(rank, cell.offset, cell.count)
                    continue
                spans[key] = Span(rank, Buffer.SCRATCH, sizes[rank], cell.count, packets)
                sizes[rank] += cell.count * cell.rounds
        if packets:
            sizes = [max(sizes)] * len(sizes)
        return Rooms(MappingProxyType(spans), tuple(sizes))


def _writers(cell: Cell, boxes: tuple[Hashable, ...], *, packets: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield a rank, a rank that writes into its scratch buffer for `cell`, and whether this is the result.

    A rank itself writes there what a helper reads.
    """
    for rank in cell.sums:
        yield from ((rank, other, False) for other in cell.heard(rank))
    if not packets:
        return
    for rank, below in cell.spreads.items():
        yield from ((other, rank, True) for other in below)
    helped = {lower for lower, upper in cell.sums_go_to.items() if boxes[upper] != boxes[lower]}
    if any(boxes[other] != boxes[cell.root] for other in cell.spreads.get(cell.root, ())):
        helped.add(cell.root)
    yield from ((rank, rank, False) for rank in sorted(helped))


@dataclass(frozen=True)
class Puts:
    """Creates the instructions of ranks, for programs of one layout."""

    layout: DataLayout
    neighbours: Neighbours
    rooms: Rooms
    group: Callable[[tuple[int, ...]], int]

    @property
    def packets(self) -> bool:
        """Return whether data moves in packets."""
        return self.layout.options.protocol.value == "LL"

    def part(self, job: Job, channel: ChannelTo) -> list[Instruction]:
        """Return what a job does in the first round of its cell."""
        node = (_PacketNode if self.packets else _Node)(self, job, channel)
        return [*node.sum_up(), *node.spread()]


def _beside(rank: int, fan: Sequence[int]) -> int:
    """Return the rank of `fan` beside `rank`, so that all are divided into pairs; with an odd number, one has two."""
    ranks = sorted((rank, *fan))
    place = ranks.index(rank) ^ 1
    return ranks[place] if place < len(ranks) else ranks[place - 2]


def _above(parents: Mapping[int, int], rank: int) -> tuple[int, ...]:
    return (parents[rank],) if rank in parents else ()


@dataclass(frozen=True)
class _Node:
    """A rank in the trees of a cell, with signals."""

    puts: Puts
    job: Job
    channel: ChannelTo

    @property
    def cell(self) -> Cell:
        """Return the cell of the job."""
        return self.job.cell

    @property
    def rank(self) -> int:
        """Return the rank of the job."""
        return self.job.rank

    def sum_up(self) -> Iterator[Instruction]:
        """Yield the instructions that send the sum of the children's data and its own to the parent or the result."""
        if not self.job.sums:
            return
        fan, below = self.cell.adds.get(self.rank, ()), self.cell.heard(self.rank)
        if below:
            yield Instruction(waits=tuple(self.channel(other, self.rank) for other in below), meets=False)
        rooms = [self._room(self.rank, other) for other in below]
        above = _above(self.cell.sums_go_to, self.rank)
        if not above:
            if rooms or not fan:
                yield from _sum([self._own(), *rooms], (self._own() if fan else self._result(self.rank),), None)
            return
        upper = above[0]
        room, channel = self._room(upper, self.rank), self.channel(self.rank, upper)
        by_port = self.puts.neighbours.port(self.rank, upper)
        held = rooms[0] if rooms else self._own()
        if fan:
            held, pair = self._result(self.rank), (_beside(self.rank, fan),)
            yield Instruction(
                sources=(self._multicast(self._own(), fan),), targets=(self._multicast(held, pair),), meets=False
            )
        if rooms:
            targets = (held,) if by_port else (held, room)
            yield from _sum([self._own(), *rooms], targets, None if by_port else channel)
        if by_port:
            signals = (channel,)
            fresh = bool(rooms or fan)
            yield Instruction(sources=(held,), targets=(room,), channel=channel, signals=signals, meets=fresh)
            return
        if not rooms:
            yield Instruction(sources=(held,), targets=(room,), channel=channel, meets=False)
        yield Instruction(signals=(channel,))

    def spread(self) -> Iterator[Instruction]:
        """Yield the instructions that send the data of the parent, or its own, to the children."""
        if not self.cell.spreads:
            if not self.cell.sums:  # the part of an all-to-all that a rank keeps
                yield Instruction(sources=(self._own(),), targets=(self._result(self.rank),), meets=False)
            return
        if not self.job.spreads:
            return
        source, fresh = self._result(self.rank), True
        if self.job.semaphore is not None:
            yield Instruction(acquires=(self.job.semaphore,), meets=False)
        elif self.rank != self.cell.root:
            upper = self.cell.results_come_from[self.rank]
            yield Instruction(waits=(self.channel(upper, self.rank),), meets=False)
        elif self.rank in self.cell.adds and not self.cell.heard(self.rank):
            fresh = False
        elif not self.cell.sums:
            source, fresh = self._own(), False
            if self.job.first:
                yield from self._copy()
        for begin in range(0, len(self.job.followers), SEMAPHORES_OF_OPERATION):
            yield Instruction(releases=self.job.followers[begin : begin + SEMAPHORES_OF_OPERATION], meets=fresh)
            fresh = False
        yield from self._puts(source, fresh=fresh)

    def _puts(self, source: Span, *, fresh: bool) -> Iterator[Instruction]:
        """Yield puts to the children, other boxes first, and their signals; `fresh` data needs a meeting before."""
        below = self.job.below
        fans = self.cell.stores.get(self.rank, ()) if below else ()
        stored = [other for fan in fans for other in fan]
        added = set(self.cell.adds.get(self.rank, ())) if self.rank == self.cell.root else None
        for fan in fans:
            first = self._multicast(self._own(), fan) if set(fan) == added else source
            yield Instruction(sources=(first,), targets=(self._multicast(self._result(self.rank), fan),), meets=fresh)
            fresh = True
        far = [other for other in below if self.puts.neighbours.port(self.rank, other) and other not in stored]
        ports = self._in_turn(far)
        near = self._in_turn([other for other in below if other not in ports])
        for other in ports + [other for other in near if other not in stored]:
            channel = self.channel(self.rank, other)
            signals = (channel,) if other in ports else ()
            result = (self._result(other),)
            yield Instruction(sources=(source,), targets=result, channel=channel, signals=signals, meets=fresh)
            fresh = False
        if near:
            yield Instruction(signals=tuple(self.channel(self.rank, other) for other in near))

    def _in_turn(self, others: Sequence[int]) -> list[int]:
        """Return ranks in the order of their distance, so that ranks with equal work do not write to one at once.

        Each instance begins with another one of them.
        """
        ranks = len(self.puts.neighbours.boxes)
        listed = sorted(others, key=lambda other: (other - self.rank) % ranks)
        first = self.cell.instance % max(1, len(listed))
        return listed[first:] + listed[:first]

    def _copy(self) -> Iterator[Instruction]:
        """Yield the copy of a root's own data to its output, if the data lies elsewhere."""
        layout = self.puts.layout
        if self.cell.stores.get(self.rank) and not self.puts.packets:
            return
        if layout.task in {Task.ALLGATHER, Task.BROADCAST} and layout.options.out_of_place:
            yield Instruction(sources=(self._own(),), targets=(self._result(self.rank),), meets=False)

    def _multicast(self, span: Span, fan: tuple[int, ...]) -> Multicast:
        """Return the chunks of `span` on the rank and on those of `fan`."""
        return Multicast(self.puts.group(tuple(sorted((self.rank, *fan)))), span.buffer, span.offset, span.count)

    def _own(self) -> Span:
        return self.puts.layout.own(self.rank, self.cell.offset, self.cell.count)

    def _result(self, rank: int) -> Span:
        return self.puts.layout.result(rank, self.cell.offset, self.cell.count)

    def _room(self, rank: int, writer: int, *, result: bool = False) -> Span:
        return self.puts.rooms.spans[rank, self.cell.offset, writer, result]


class _PacketNode(_Node):
    """A rank in the trees of a cell, with packets."""

    def sum_up(self) -> Iterator[Instruction]:
        """Yield the instructions that send the sum of the children's data and its own to the parent or the result."""
        if not self.job.sums:
            return
        rooms = [self._room(self.rank, other) for other in self.cell.sums.get(self.rank, ())]
        kept = self._result(self.rank)
        above = _above(self.cell.sums_go_to, self.rank)
        if not above:
            yield from _sum([self._own(), *rooms], (kept,), None)
            return
        channel, room = self.channel(self.rank, above[0]), self._room(above[0], self.rank)
        by_port = self.puts.neighbours.port(self.rank, above[0])
        first = self._room(self.rank, self.rank) if by_port else room
        way = None if by_port else channel
        if rooms:
            yield from _sum([self._own(), *rooms], (kept, first), way)
        else:
            yield Instruction(sources=(self._own(),), targets=(first,), channel=way, meets=False)
        if by_port:
            yield Instruction(sources=(first,), targets=(room,), channel=channel, meets=False)

    def spread(self) -> Iterator[Instruction]:
        """Yield the instructions that send the data of the parent, or its own, to the children."""
        if not self.job.spreads:
            return
        below = self.job.below
        near = [other for other in below if not self.puts.neighbours.port(self.rank, other)]
        summed = bool(self.cell.sums)
        if self.rank != self.cell.root:
            room = self._room(self.rank, self.cell.results_come_from[self.rank], result=True)
            yield from self._on(room, below)
            yield Instruction(sources=(room,), targets=(self._result(self.rank),), meets=summed)
            return
        source = self._result(self.rank) if summed else self._own()
        if not summed:
            yield from self._copy()
        if len(near) < len(below):
            packed = self._room(self.rank, self.rank)
            yield Instruction(sources=(source,), targets=(packed,), meets=summed)
            yield from self._on(packed, [other for other in below if other not in near])
            summed = False
        for other in near:
            yield self._put(source, other, meets=summed)
            summed = False

    def _on(self, packed: Span, below: Sequence[int]) -> Iterator[Instruction]:
        return (self._put(packed, other, meets=False) for other in below)

    def _put(self, source: Span, other: int, *, meets: bool) -> Instruction:
        target = (self._room(other, self.rank, result=True),)
        return Instruction(sources=(source,), targets=target, channel=self.channel(self.rank, other), meets=meets)


def _sum(summands: Sequence[Span], targets: tuple[Span, ...], channel: int | None) -> Iterator[Instruction]:
    """Yield instructions that add up spans, too many for one instruction; the last one writes all `targets`."""
    rest = list(summands)
    while len(rest) > MOST_SUMMANDS:
        yield Instruction(sources=tuple(rest[:MOST_SUMMANDS]), targets=targets[:1])
        rest = [targets[0], *rest[MOST_SUMMANDS:]]
    yield Instruction(sources=tuple(rest), targets=targets, channel=channel)


def operations(part: Sequence[Instruction]) -> int:
    """Return the most operations of MSCCL++ that a part takes: consecutive puts are one, and each meeting is one."""
    count, row = 0, 0
    for instruction in part:
        puts = len(instruction.sources) == len(instruction.targets) == 1
        row = row + 1 if puts and row and not instruction.meets else int(puts)
        if puts and row % CHANNELS_OF_OPERATION == 1:
            count += 2 if _mixed(part) else 1
        elif not puts:
            count += int(bool(instruction.sources))
        synchronised = (instruction.waits, () if instruction.sources else instruction.signals)
        count += sum(-(-len(channels) // CHANNELS_OF_OPERATION) for channels in synchronised)
        count += bool(instruction.acquires) + bool(instruction.releases) + int(instruction.meets)
    return count


def _mixed(part: Sequence[Instruction]) -> bool:
    """Return whether some puts signal and others do not; such puts are not one operation."""
    signalling = {bool(each.signals) for each in part if each.sources}
    return len(signalling) > 1
