"""Flows as programs whose blocks write into the memory of other ranks and signal, as in MSCCL++.

Each cell (`cells`) has a block number. Block b of every rank does the part of that rank in the cells of number b, in
one order, as `puts` describes. Blocks n of two ranks are joined by a channel of number n in each direction.

**Why it is correct.** A rank reads only data that the same block of the rank wrote, or that another rank wrote whose
signal it waited for. No rank uses memory before a rank writes there: space for sums has one writer, and the chunks of a
cell in an output are written once, by one rank. (In an allreduce the root has all sums before the output is written, so
all ranks have read their contributions, which may lie there.) A rank starts to write into the memory of another only
after that one has signalled that it has started, at the start of each block. Before a rank ends, it has waited for all
data that comes to it, and for the helpers of PORT channels to do the work that it gave them.

A block first does all parts that wait for nothing (the sends of leaves, and of roots that have nothing to sum), then
the parts between, in the order of the cells, and last the parts that only wait for the end of a cell. If signals
between two ranks would then be sent and awaited in different orders, the blocks of this number do all parts cell by
cell.

**Why it terminates.** Sending a signal never waits, so the first parts of all blocks are done. Consider the first cell,
in the order, whose parts between are not done. All blocks on its trees have done those of all earlier cells. So no
block on the paths from its leaves to the root and back has to wait for another cell. No rank waits for the last parts.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from forestcoll.errors import NoSolutionError
from forestcoll.lowering.cells import Cell, cells_of
from forestcoll.lowering.chains import IntArray
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
    Program,
    Protocol,
    Span,
    Task,
)
from forestcoll.program.limits import Limits

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


def one_sided(
    name: str, layout: Layout, flows: Sequence[Flow], limits: Limits, boxes: Sequence[Hashable]
) -> Program | Excess:
    """Return the program that does `flows`, or the limit that it exceeds.

    Args:
        name: the name of the program.
        layout: where the data lies; its pieces are the rounds of loops.
        flows: the flows, each with exactly the pieces of the layout.
        limits: the limits of the target; `steps` counts operations, and `nop` is one.
        boxes: the box of each rank: MEMORY channels join ranks of the same box, PORT channels the others.

    Raises:
        NoSolutionError: packets are requested in loops, or for a collective whose ranks have no space for sums.
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
    keep_order = _Known(_trees_of_all, partial(_signals_keep_order, puts), placed)
    listed = [_Cells(cells, by_turns=keep_order(cells)) for cells in placed]
    blocks = [
        [_block(puts, rank, number, each, channels) for number, each in enumerate(listed)] for rank in range(len(boxes))
    ]
    ranks = tuple(layout.rank(rank, each, puts.rooms.sizes[rank]) for rank, each in enumerate(blocks))
    program = layout.program(name, ranks, channels)
    return replace(program, slots=None, groups=tuple(groups))


def _check_packets(layout: Layout, *, packets: bool) -> None:
    if packets and layout.task in {Task.REDUCE, Task.REDUCE_SCATTER}:
        raise NoSolutionError(f"packets (LL) leave no room for the sums of a {layout.task.value}; use Simple")
    if packets and layout.options.pieces > 1:
        raise NoSolutionError("packets (LL) cannot go in pieces; use 1")


def _placed(puts: Puts, cells: Sequence[Cell], limits: Limits) -> list[list[Cell]] | Excess:
    """Distribute the cells over blocks.

    A rank that has children in two cells of a block would do one after the other, so such cells get different blocks.
    If there are no more blocks, they share one. With `Options.blocks`, cells get different blocks as long as there are
    some: the sends of a rank to the roots of several cells would also be done one after the other.
    """
    wanted = puts.layout.options.blocks
    most = limits.blocks if wanted is None else min(wanted, limits.blocks or wanted)
    comfortable = min(wanted or COMFORTABLE_BLOCKS, most or COMFORTABLE_BLOCKS)
    rooms: list[_Number] = []
    needs_of = _Known(_trees_of, partial(_needs, puts), cells)
    ranks = len(puts.layout.parts)
    for cell in cells:
        needs = needs_of(cell)
        free = [each for each in rooms if not each.inner & cell.inner]
        full = len(rooms) >= comfortable
        order = [] if wanted and not full else [*free, *(sorted(rooms, key=_Number.size) if full else ())]
        chosen = next((each for each in order if not each.is_full(needs) and each.excess(needs) is None), None)
        if chosen is None:
            chosen = _Number(limits, np.zeros(ranks, dtype=np.int64))
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

_NO_PEERS: frozenset[Peer] = frozenset()
_NO_BUFFERS: frozenset[Reached] = frozenset()


@dataclass(frozen=True, slots=True)
class _Needs:
    """The resources that a cell needs from its blocks, for each rank.

    Attributes:
        operations: the number of operations.
        peers: the ranks that it writes to or that write to it.
        buffers: the buffers of other ranks that it writes.
        row: the number of operations of every rank, also of those that do nothing.
    """

    operations: dict[int, int]
    peers: dict[int, frozenset[Peer]]
    buffers: dict[int, frozenset[Reached]]
    row: IntArray


_Trees: TypeAlias = tuple[int, ...]


def _trees_of(cell: Cell) -> _Trees:
    """Return a key that is equal for cells with the same trees: the cells of instances, and of parts of a tree."""
    return cell.root, cell.rounds, *map(id, (cell.sums, cell.spreads, cell.stores, cell.adds))


def _trees_of_all(cells: Sequence[Cell]) -> tuple[_Trees, ...]:
    return tuple(map(_trees_of, cells))


class _Known(Generic[_Item, _Result]):
    """A function of cells that depends only on their trees: computed once for equal ones, and kept until the last."""

    def __init__(
        self, key: Callable[[_Item], Hashable], compute: Callable[[_Item], _Result], items: Iterable[_Item]
    ) -> None:
        """Start for calls with each of `items` once."""
        self._key, self._compute = key, compute
        self._left = Counter(map(key, items))
        self._results: dict[Hashable, _Result] = {}

    def __call__(self, item: _Item) -> _Result:
        key = self._key(item)
        result = self._results.pop(key) if key in self._results else self._compute(item)
        self._left[key] -= 1
        if self._left[key] > 0:
            self._results[key] = result
        return result


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
    row = np.zeros(len(puts.layout.parts), dtype=np.int64)
    row[list(numbers)] = list(numbers.values())
    return _Needs(numbers, peers, buffers, row)


@dataclass
class _Number:
    """A block number, its cells, the ranks with children in them, and the resources that they need from its blocks."""

    limits: Limits
    operations: IntArray
    cells: list[Cell] = field(default_factory=list)
    inner: set[int] = field(default_factory=set)
    peers: dict[int, frozenset[Peer]] = field(default_factory=dict)
    buffers: dict[int, frozenset[Reached]] = field(default_factory=dict)

    def size(self) -> int:
        """Return the number of cells."""
        return len(self.cells)

    def is_full(self, needs: _Needs) -> bool:
        """Return whether a cell with these needs has too many operations, even without those at the ends of blocks."""
        return self.limits.steps is not None and bool((self.operations + needs.row > self.limits.steps).any())

    def excess(self, needs: _Needs) -> Excess | None:
        """Return the limit that would be exceeded if a cell with these needs were added, or None."""
        for rank, more in needs.operations.items():
            peers = self.peers.get(rank, _NO_PEERS) | needs.peers[rank]
            buffers = self.buffers.get(rank, _NO_BUFFERS) | needs.buffers[rank]
            for what, used in (("channels", peers), ("buffers of other ranks", buffers)):
                if self.limits.channels_of_block is None or len(used) <= self.limits.channels_of_block:
                    continue
                for kind, count in Counter(each[0] for each in used).items():
                    if count > self.limits.channels_of_block:
                        name = f"{kind.value} {what} of a block"
                        most = self.limits.channels_of_block
                        fits = f"fewer boxes, or the schedule of generate --max-peers {most}"
                        return Excess(name, count, most, f"rank {rank}", "" if kind is not ChannelKind.PORT else fits)
            taken = int(self.operations[rank]) + more + _operations_at_ends(len(peers))
            if self.limits.steps is not None and taken > self.limits.steps:
                return Excess("steps of a block", taken, self.limits.steps, f"rank {rank}")
        return None

    def add(self, cell: Cell, needs: _Needs) -> None:
        """Add a cell."""
        self.cells.append(cell)
        self.inner |= cell.inner
        self.operations += needs.row
        for rank in needs.operations:
            self.peers[rank] = self.peers.get(rank, _NO_PEERS) | needs.peers[rank]
            self.buffers[rank] = self.buffers.get(rank, _NO_BUFFERS) | needs.buffers[rank]


def _operations_at_ends(peers: int) -> int:
    """Return the most operations at the start and the end of a block: signals, waits, flushes, meetings."""
    return 4 * -(-peers // 8) + 3


@dataclass(frozen=True)
class _Cells:
    """The cells of a block number, and the order in which its blocks do their parts.

    Attributes:
        cells: the cells.
        by_turns: whether a block first does what waits for nothing; otherwise it does the parts cell by cell.
    """

    cells: Sequence[Cell]
    by_turns: bool = True

    def parts(self, puts: Puts, rank: int, channel: Callable[[int, int], int]) -> list[tuple[int, list[Instruction]]]:
        """Return the parts of a rank in their order, each with the place of its cell."""
        found = [
            (place, part)
            for place, cell in enumerate(self.cells)
            if rank in cell.ranks
            for part in puts.parts(cell, rank, channel)
        ]
        ranks = len(puts.layout.parts)
        return sorted(found, key=lambda each: _turn(each[1], rank, ranks)) if self.by_turns else found


def _signals_keep_order(puts: Puts, cells: Sequence[Cell]) -> bool:
    """Return whether blocks can do these cells by turns: each rank waits for signals in the order of their sender.

    A channel counts signals and does not name them. In another order, a rank would take one signal for another.
    """
    ranks = len(puts.layout.parts)
    sent: defaultdict[int, list[int]] = defaultdict(list)
    awaited: defaultdict[int, list[int]] = defaultdict(list)
    for rank in range(ranks):
        for place, part in _Cells(cells).parts(puts, rank, lambda source, target: source * ranks + target):
            for instruction in part:
                for each in instruction.signals:
                    sent[each].append(place)
                for each in instruction.waits:
                    awaited[each].append(place)
    return sent == awaited


def _block(puts: Puts, rank: int, number: int, cells: _Cells, channels: dict[Channel, int]) -> Block:
    """Return block `number` of a rank, and add the channels that it uses to `channels`."""

    def channel(source: int, target: int) -> int:
        kind = puts.neighbours.kind(source, target)
        return channels.setdefault(Channel(kind, source, target, number), len(channels))

    mine = [cell for cell in cells.cells if rank in cell.ranks]
    listed = [] if puts.packets else list(_greeting(puts, rank, mine, channel))
    loops: list[Loop] = []
    for place, part in cells.parts(puts, rank, channel):
        rounds = cells.cells[place].rounds
        if rounds > 1:
            loops.append(Loop(len(listed), len(part), rounds))
        for turn in range(rounds):
            listed += [_in_round(each, turn) for each in part]
    ports = sorted(
        channel(rank, other)
        for other in {other for cell in mine for other in puts.written_by(cell, rank)}
        if puts.neighbours.kind(rank, other) is ChannelKind.PORT
    )
    if ports:
        listed.append(Instruction(flushes=tuple(ports)))
    return Block(tuple(listed), tuple(loops))


def _turn(part: Sequence[Instruction], rank: int, ranks: int) -> tuple[int, int]:
    """Return when a block does a part: first what waits for nothing, by the distance of targets, last what only waits.

    Parts of one kind with the same distance keep their order.
    """
    sources = [place for each in part for place in each.sources]
    if not any(each.waits for each in part) and not any(
        not isinstance(each, Message) and each.packets for each in sources
    ):
        others = [each.rank for instruction in part for each in instruction.targets if isinstance(each, Span)]
        return 0, min(((other - rank) % ranks for other in others if other != rank), default=0)
    targets = [place for each in part for place in each.targets]
    gives = any(each.signals for each in part) or any(
        not isinstance(each, Span) or each.rank != rank for each in targets
    )
    return (1 if gives else 2), 0


def _greeting(
    puts: Puts, rank: int, cells: Sequence[Cell], channel: Callable[[int, int], int]
) -> Iterator[Instruction]:
    """Yield the start of a block: signal to all ranks that write here, then wait for all that it writes to."""
    writing = sorted({other for cell in cells for other in puts.writing_to(cell, rank)})
    written = sorted({other for cell in cells for other in puts.written_by(cell, rank)})
    if writing:
        yield Instruction(signals=tuple(channel(rank, other) for other in writing), relaxed=True, meets=False)
    if written:
        yield Instruction(waits=tuple(channel(other, rank) for other in written), relaxed=True, meets=False)
    yield Instruction()


def _in_round(instruction: Instruction, turn: int) -> Instruction:
    """Return the instruction of round number `turn`, given the instruction of the first round."""
    return instruction.moved(turn) if turn and instruction.sources else instruction
