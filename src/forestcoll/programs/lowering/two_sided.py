"""Flows as programs over FIFO channels.

Each hop of a chain is a message: the first rank sends, the ranks between receive and forward in one instruction, and
the last rank receives. An instruction waits for other blocks of its rank that write its data, as `hazards` finds.
`chains` proves that there is no deadlock.

**Lanes.** In lanes, several blocks send from one rank to another. A message begins with an overhead, in which it moves
no data. If all lanes began at the same time, they would go on in step, and their link would be idle in all overheads.
So each lane begins one overhead after the one before: it first copies the data that it sends into scratch, as often as
there are lanes before it. A lane that begins with data of other ranks needs no copies.

A rank that sums stores the intermediate sum at the place of its result if it has space there, else in scratch. If it
receives only one message, it adds its own data and forwards the sum without storing it.

The second phase of an allreduce broadcasts over memory that the first phase read and wrote. At the root, instructions
wait for the first phase. At other ranks no instruction has to wait: a rank sends its sum of a chunk only after all its
other work on the chunk in the first phase. The root broadcasts only complete sums, so the result arrives later.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from forestcoll.demand.collective import PhaseOp
from forestcoll.programs.lowering.chains import Chains, IntArray
from forestcoll.programs.lowering.fitting import Excess, excess_of
from forestcoll.programs.lowering.hazards import Hazards
from forestcoll.programs.lowering.layout import DataLayout
from forestcoll.programs.lowering.plans import ChannelPlan, copies
from forestcoll.programs.lowering.rank_trees import RankTree
from forestcoll.programs.model import (
    Block,
    Buffer,
    Channel,
    ChannelKind,
    DeferredRanks,
    Instruction,
    Message,
    Place,
    Program,
    Rank,
    Span,
)
from forestcoll.programs.model.limits import Limits

MOST_AT_ONCE = 500_000
"""The ranks of a program with more instructions are made when they are read; a million take about half a gigabyte."""


def two_sided(
    name: str, layout: DataLayout, plan: ChannelPlan, own: Sequence[RankTree], limits: Limits
) -> Program | Excess:
    """Return the program that executes the chains of `plan`, or the limit that it exceeds.

    Roots copy the data of `own` if buffers are separate. Ranks after the first one that exceeds a limit are not made.
    """
    maker = _Maker(layout, plan, own)
    messages = np.bincount(maker.messages, minlength=len(maker.channels)).tolist()
    keeps = len(plan.chains.ranks) <= MOST_AT_ONCE
    ranks = DeferredRanks(maker.rank, plan.table.counts, messages, maker.instructions, keeps=keeps)
    program = layout.program(name, ranks, maker.channels)
    if (excess := excess_of(program, limits)) is not None:
        return excess
    return replace(program, ranks=tuple(ranks)) if keeps else program


class _Maker:
    """Makes the ranks of a program, each independently of the others."""

    def __init__(self, layout: DataLayout, plan: ChannelPlan, own: Sequence[RankTree]) -> None:
        self._layout, self._plan, self._flows = layout, plan, plan.chains.flows
        self._kept = _kept(own, plan.most) if copies(layout) else {}
        bounds = sorted({bound for flow in (*own, *self._flows) for bound in (flow.offset, flow.offset + flow.count)})
        self._cells = [_range(bounds, flow) for flow in self._flows]
        self.channels, self.messages = _channels(plan.chains)
        self._columns = _visits(plan, self.messages)
        self._continued = _continued(self.channels, plan.stride)
        self._pauses = _pauses(self.channels, plan.stride) if layout.options.lanes else {}
        self._ends = np.cumsum([0, *np.bincount(plan.chains.ranks, minlength=len(plan.table.counts))]).tolist()

    @property
    def instructions(self) -> int | None:
        """Return the number of instructions of all ranks; None if it depends on pauses."""
        return None if self._pauses else len(self._plan.chains.ranks) + sum(map(len, self._kept.values()))

    def rank(self, number: int) -> Rank:
        """Return the rank with a number."""
        emitter = _Emitter(self._layout, number, self._plan.table.counts[number], self._continued, self._pauses)
        emitter.copies(self._kept.get(number, ()), self._plan.table.local)
        here = slice(self._ends[number], self._ends[number + 1])
        for each in zip(*(column[here].tolist() for column in self._columns), strict=True):
            emitter.visit(self._flows[each[0]], self._cells[each[0]], *each[1:])
        return self._layout.rank(number, [Block(tuple(listed)) for listed in emitter.blocks], emitter.scratch)


def _kept(flows: Sequence[RankTree], most: int | None) -> dict[int, list[RankTree]]:
    """Return, for each root, its data in as few parts as possible; none has more than `most` chunks."""
    kept: dict[int, list[RankTree]] = {}
    for flow in sorted(flows, key=lambda flow: flow.offset):
        listed = kept.setdefault(flow.root, [])
        if listed and flow.offset == listed[-1].offset + listed[-1].count:
            listed[-1] = replace(listed[-1], count=listed[-1].count + flow.count)
        else:
            listed.append(flow)
    return {
        root: [part for flow in listed for part in flow.split(1 if most is None else -(-flow.count // most))]
        for root, listed in kept.items()
    }


def _range(bounds: Sequence[int], flow: RankTree) -> range:
    """Return the numbers of the ranges between `bounds` that a flow consists of."""
    return range(bisect_left(bounds, flow.offset), bisect_left(bounds, flow.offset + flow.count))


def _channels(chains: Chains) -> tuple[list[Channel], IntArray]:
    """Return all channels in the order of their first hops, and for each hop the number of its channel."""
    source, target = chains.ranks[chains.hops], chains.ranks[chains.hops + 1]
    number = chains.channel[chains.of_entry[chains.hops]]
    height, width = int(chains.ranks.max(initial=0)) + 1, int(number.max(initial=0)) + 1
    codes = (source * height + target) * width + number
    _, first, place = np.unique(codes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rows = np.stack((source, target, number), axis=1)[first[order]].tolist()
    return [Channel(ChannelKind.FIFO, *row) for row in rows], np.argsort(order)[place]


def _continued(channels: Sequence[Channel], stride: int) -> Mapping[int, int]:
    """Return, for each channel whose block continues the work of another one, the channel of that block."""
    numbers = {(each.source, each.target, each.number): place for place, each in enumerate(channels)} if stride else {}
    return {
        place: numbers[source, target, number - stride]
        for (source, target, number), place in numbers.items()
        if (source, target, number - stride) in numbers
    }


def _pauses(channels: Sequence[Channel], lanes: int) -> Mapping[int, int]:
    """Return, for each channel with the first data of a lane, how many lanes of its pair of ranks begin before it."""
    return {place: each.number for place, each in enumerate(channels) if each.number < lanes}


def _visits(plan: ChannelPlan, messages: IntArray) -> tuple[IntArray, ...]:
    """Return what the blocks of all ranks do, rank by rank in order: flow, block, channels in and out (-1 for none)."""
    chains = plan.chains
    into, out = (np.full(len(chains.ranks), -1, dtype=np.int64) for _ in range(2))
    out[chains.hops], into[chains.hops + 1] = messages, messages
    order = np.argsort(chains.ranks, kind="stable")
    return tuple(column[order] for column in (chains.flow[chains.of_entry], plan.table.entries, into, out))


@dataclass
class _Emitter:
    """The instructions of a rank so far. Nothing that they wait for depends on other ranks."""

    layout: DataLayout
    rank: int
    count: int
    continued: Mapping[int, int]
    """For a channel: the channel on which the block sends whose work the block of the first channel continues."""
    pauses: Mapping[int, int]
    """For a channel: the number of copies with which its block begins if it sends own data first."""
    blocks: list[list[Instruction]] = field(init=False)
    scratch: int = 0
    sums: dict[tuple[int, int], Span] = field(default_factory=dict)
    """For a phase and the first chunk of a flow: the place of the sum of the data that has arrived so far."""

    last: dict[int, tuple[int, int]] = field(default_factory=dict)
    """For a channel: the block and the number of the last instruction that sends on it."""

    def __post_init__(self) -> None:
        self.hazards = Hazards(aliased=self.layout.options.in_place)
        self.blocks = [[] for _ in range(self.count)]

    def copies(self, flows: Sequence[RankTree], local: Mapping[int, int]) -> None:
        """Make the rank copy the data that it broadcasts to its own output.

        No other instruction writes what it reads or reads what it writes, so nothing waits for it.
        """
        for flow in flows:
            own = self._own(flow)
            kept = self.layout.result(self.rank, flow.offset, flow.count)
            block = local[self.rank]
            listed = self.blocks[block]
            self.hazards.step(block, len(listed), [], [])
            listed.append(Instruction(sources=(own,), targets=(kept,)))

    def visit(self, flow: RankTree, cells: range, block: int, into: int, out: int) -> None:
        """Add what the rank does as one entry of the path of a chain: receive, send, or both."""
        received = [Message(into, flow.count)] if into >= 0 else []
        sent = [Message(out, flow.count)] if out >= 0 else []
        if flow.op is PhaseOp.REDUCE:
            self._reduce(flow, cells, block, received, sent)
        else:
            self._broadcast(flow, cells, block, received, sent)

    def _broadcast(
        self, flow: RankTree, cells: range, block: int, received: list[Message], sent: list[Message]
    ) -> None:
        result = self.layout.result(self.rank, flow.offset, flow.count)
        if received:
            if flow.phase:
                self.hazards.forget(self.hazards.cells(result, cells))
            self._add(cells, block, received, [result, *sent])
        else:
            at_input = self.rank == flow.root and not flow.phase
            self._send(cells, block, self._own(flow) if at_input else result, sent, is_own=at_input)

    def _reduce(self, flow: RankTree, cells: range, block: int, received: list[Message], sent: list[Message]) -> None:
        key = flow.phase, flow.offset
        held = self.sums.get(key) or self._own(flow)
        targets: list[Place] = [*sent]
        if not sent:
            self.sums[key] = held if key in self.sums else self._room(flow)
            targets = [self.sums[key]]
        if received:
            self._add(cells, block, [*received, held], targets)
        else:
            self._send(cells, block, held, sent, is_own=key not in self.sums)

    def _send(self, cells: range, block: int, held: Span, sent: list[Message], *, is_own: bool) -> None:
        """Make a block send what the rank holds, after the pauses of its lane if it begins with own data."""
        copies = self.pauses.get(sent[0].channel, 0) if is_own and not self.blocks[block] else 0
        if copies:
            unused = self._in_scratch(held.count)
            for _ in range(copies):
                self._add(range(0), block, [held], [unused])
        self._add(cells, block, [held], sent)

    def _in_scratch(self, count: int) -> Span:
        self.scratch += count
        return Span(self.rank, Buffer.SCRATCH, self.scratch - count, count)

    def _room(self, flow: RankTree) -> Span:
        if self.layout.keeps(self.rank, flow.root):
            return self.layout.result(self.rank, flow.offset, flow.count)
        return self._in_scratch(flow.count)

    def _own(self, flow: RankTree) -> Span:
        return self.layout.own(self.rank, flow.offset, flow.count)

    def _add(self, cells: range, block: int, sources: Sequence[Place], targets: Sequence[Place]) -> None:
        listed = self.blocks[block]
        reads = [cell for each in sources if isinstance(each, Span) for cell in self.hazards.cells(each, cells)]
        writes = [cell for each in targets if isinstance(each, Span) for cell in self.hazards.cells(each, cells)]
        earlier = list(self._earlier(block, targets))
        after = self.hazards.step(block, len(listed), reads, writes, after=earlier)
        listed.append(Instruction(sources=tuple(sources), targets=tuple(targets), after=after))

    def _earlier(self, block: int, targets: Sequence[Place]) -> Iterator[tuple[int, int]]:
        """Yield the last instruction of the block that a block continues if its next one is the first that sends.

        It comes before the next one in the order of the chains.
        """
        if not self.continued:
            return
        for channel in (each.channel for each in targets if isinstance(each, Message)):
            if channel not in self.last and channel in self.continued:
                yield self.last[self.continued[channel]]
            self.last[channel] = block, len(self.blocks[block])
