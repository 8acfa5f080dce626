"""Flows as programs whose blocks write into each other's memory and signal, as MSCCL++ has them.

Each cell (`cells`) has one block number; block b of every rank does that rank's part of the cells of number b, in one
order, as `puts` says. Blocks n of two ranks are joined by a channel of number n each way.

**Why it is right.** What a rank reads was written by itself in the same block, or by another one whose signal it waited
for. What it writes elsewhere nobody uses before: room for sums has one writer; of an output, the chunks of a cell are
written by one rank, once (in an allreduce, after the root has all sums, and so after all ranks have read what they
contribute, which may lie there). A rank begins to write into another's memory only after that one has said that it has
begun, at the start of each block; and before it ends, it has waited for all that comes to it, and for the helpers of
PORT channels to be done with what it handed them.

**Why it ends.** Signals wait for nobody. Of all cells that are not done, take the first in the order: every block on
its trees has done all that comes before, so from its leaves to the root and back nothing keeps it from going on.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from forestcoll.errors import NoSolutionError
from forestcoll.lowering.cells import Cell, cells_of
from forestcoll.lowering.fitting import Excess
from forestcoll.lowering.flows import Flow
from forestcoll.lowering.layout import Layout
from forestcoll.lowering.options import COMFORTABLE_BLOCKS
from forestcoll.lowering.puts import Neighbours, Puts, Rooms, operations
from forestcoll.program import (
    Block,
    Buffer,
    Channel,
    ChannelKind,
    Instruction,
    Loop,
    Message,
    Place,
    Program,
    Protocol,
    Span,
    Task,
)
from forestcoll.program.limits import Limits


def one_sided(
    name: str, layout: Layout, flows: Sequence[Flow], limits: Limits, boxes: Sequence[Hashable]
) -> Program | Excess:
    """Return the program that does `flows`, or what of it does not fit.

    Args:
        name: what the program is called.
        layout: where the data lies; its pieces are the rounds of loops.
        flows: what goes where, each in as many pieces as the layout has and no other parts.
        limits: figures of the target; `steps` counts operations, where `nop` is one.
        boxes: of each rank, the box that it is in: MEMORY channels lead to ranks of the same, PORT channels to others.

    Raises:
        NoSolutionError: packets are asked for in loops, or of a collective whose ranks have no room for sums.
    """
    packets = layout.options.protocol is Protocol.LL
    _check_packets(layout, packets=packets)
    cells = cells_of(flows, layout.options.pieces)
    groups: dict[tuple[int, ...], int] = {}
    rooms = Rooms.of(cells, len(boxes), tuple(boxes), packets=packets)
    puts = Puts(layout, Neighbours(tuple(boxes)), rooms, lambda ranks: groups.setdefault(ranks, len(groups)))
    placed = _placed(puts, cells, limits)
    if isinstance(placed, Excess):
        return placed
    channels: dict[Channel, int] = {}
    blocks = [
        [_block(puts, rank, number, listed, channels) for number, listed in enumerate(placed)]
        for rank in range(len(boxes))
    ]
    program = layout.program(name, blocks, puts.rooms.sizes, channels)
    return replace(program, slots=None, groups=tuple(groups))


def _check_packets(layout: Layout, *, packets: bool) -> None:
    if packets and layout.task in {Task.REDUCE, Task.REDUCE_SCATTER}:
        raise NoSolutionError(f"packets (LL) leave no room for the sums of a {layout.task.value}; use Simple")
    if packets and layout.options.pieces > 1:
        raise NoSolutionError("packets (LL) cannot go in pieces; use 1")


def _placed(puts: Puts, cells: Sequence[Cell], limits: Limits) -> list[list[Cell]] | Excess:
    """Share the cells out among blocks: in turn, each to the next block that has room for it on every rank."""
    most = puts.layout.options.blocks or limits.blocks
    count = min(len(cells), COMFORTABLE_BLOCKS if most is None else min(most, COMFORTABLE_BLOCKS))
    rooms = [_Number(limits) for _ in range(count)]
    for place, cell in enumerate(cells):
        needs = _needs(puts, cell)
        turn = place % count
        order = (*rooms[turn:count], *rooms[:turn], *rooms[count:])
        chosen = next((each for each in order if each.excess(needs) is None), None)
        if chosen is None:
            chosen = _Number(limits)
            if (excess := chosen.excess(needs)) is not None:
                return excess
            rooms.append(chosen)
        chosen.add(cell, needs)
    if most is not None and len(rooms) > most:
        return Excess("thread blocks", len(rooms), most)
    return [each.cells for each in rooms]


Peer: TypeAlias = tuple[ChannelKind, int]
"""Another rank, and the kind of the channels to it."""
Reached: TypeAlias = tuple[ChannelKind, int, Buffer]
"""A buffer of another rank, and the kind of the channels to it."""


@dataclass(frozen=True, slots=True)
class _Needs:
    """What a cell takes of its blocks, rank by rank.

    Attributes:
        operations: how many operations.
        peers: the ranks that it reaches or that reach it.
        buffers: the buffers of other ranks that it writes.
    """

    operations: dict[int, int]
    peers: dict[int, frozenset[Peer]]
    buffers: dict[int, frozenset[Reached]]


def _needs(puts: Puts, cell: Cell) -> _Needs:
    numbers: dict[int, int] = {}
    peers: dict[int, frozenset[Peer]] = {}
    buffers: dict[int, frozenset[Reached]] = {}
    for rank in sorted(cell.ranks):
        parts = puts.parts(cell, rank, lambda _source, _target: 0)
        numbers[rank] = sum(operations(part) + (cell.rounds > 1) for part in parts)
        others = {*puts.written_by(cell, rank), *puts.writing_to(cell, rank)}
        peers[rank] = frozenset((puts.neighbours.kind(rank, other), other) for other in others)
        targets = [each for part in parts for instruction in part for each in instruction.targets]
        buffers[rank] = frozenset(
            (puts.neighbours.kind(rank, each.rank), each.rank, each.buffer)
            for each in targets
            if isinstance(each, Span) and each.rank != rank
        )
    return _Needs(numbers, peers, buffers)


@dataclass
class _Number:
    """A block number, the cells that it has, and what these take of its blocks."""

    limits: Limits
    cells: list[Cell] = field(default_factory=list)
    operations: dict[int, int] = field(default_factory=dict)
    peers: dict[int, frozenset[Peer]] = field(default_factory=dict)
    buffers: dict[int, frozenset[Reached]] = field(default_factory=dict)

    def excess(self, needs: _Needs) -> Excess | None:
        """Return what would not fit if a cell with these needs came here."""
        for rank, more in needs.operations.items():
            peers = self.peers.get(rank, frozenset()) | needs.peers[rank]
            buffers = self.buffers.get(rank, frozenset()) | needs.buffers[rank]
            for what, used in (("channels", peers), ("buffers of other ranks", buffers)):
                for kind, count in Counter(each[0] for each in used).items():
                    if self.limits.channels_of_block is not None and count > self.limits.channels_of_block:
                        name = f"{kind.value} {what} of a block"
                        return Excess(name, count, self.limits.channels_of_block, f"rank {rank}")
            taken = self.operations.get(rank, 0) + more + _around(len(peers))
            if self.limits.steps is not None and taken > self.limits.steps:
                return Excess("steps of a block", taken, self.limits.steps, f"rank {rank}")
        return None

    def add(self, cell: Cell, needs: _Needs) -> None:
        """Let a cell come here."""
        self.cells.append(cell)
        for rank, more in needs.operations.items():
            self.operations[rank] = self.operations.get(rank, 0) + more
            self.peers[rank] = self.peers.get(rank, frozenset()) | needs.peers[rank]
            self.buffers[rank] = self.buffers.get(rank, frozenset()) | needs.buffers[rank]


def _around(peers: int) -> int:
    """Return how many operations the start and the end of a block take at most: signals, waits, flushes, meetings."""
    return 4 * -(-peers // 8) + 3


def _block(puts: Puts, rank: int, number: int, cells: Sequence[Cell], channels: dict[Channel, int]) -> Block:
    """Return block `number` of a rank, and put the channels that it uses among `channels`."""

    def channel(source: int, target: int) -> int:
        kind = puts.neighbours.kind(source, target)
        return channels.setdefault(Channel(kind, source, target, number), len(channels))

    mine = [cell for cell in cells if rank in cell.ranks]
    listed = [] if puts.packets else list(_greeting(puts, rank, mine, channel))
    loops: list[Loop] = []
    for cell in mine:
        for part in puts.parts(cell, rank, channel):
            if cell.rounds > 1:
                loops.append(Loop(len(listed), len(part), cell.rounds))
            for turn in range(cell.rounds):
                listed += [_moved(each, turn) for each in part]
    ports = sorted(
        channel(rank, other)
        for other in {other for cell in mine for other in puts.written_by(cell, rank)}
        if puts.neighbours.kind(rank, other) is ChannelKind.PORT
    )
    if ports:
        listed.append(Instruction(flushes=tuple(ports)))
    return Block(tuple(listed), tuple(loops))


def _greeting(
    puts: Puts, rank: int, cells: Sequence[Cell], channel: Callable[[int, int], int]
) -> Iterator[Instruction]:
    """Yield what a block begins with: tell all that write here that they may, and hear it of all that it writes to."""
    writing = sorted({other for cell in cells for other in puts.writing_to(cell, rank)})
    written = sorted({other for cell in cells for other in puts.written_by(cell, rank)})
    if writing:
        yield Instruction(signals=tuple(channel(rank, other) for other in writing), relaxed=True, meets=False)
    if written:
        yield Instruction(waits=tuple(channel(other, rank) for other in written), relaxed=True, meets=False)
    yield Instruction()


def _moved(instruction: Instruction, turn: int) -> Instruction:
    """Return an instruction of round number `turn` by that of the first one."""
    return replace(
        instruction,
        sources=tuple(_further(each, turn) for each in instruction.sources),
        targets=tuple(_further(each, turn) for each in instruction.targets),
    )


def _further(place: Place, turn: int) -> Place:
    return place if isinstance(place, Message) else replace(place, offset=place.offset + turn * place.count)
