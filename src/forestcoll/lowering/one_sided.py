"""Flows as programs in which blocks write into the memory of other ranks and signal.

Every rank has as many blocks as there are *lanes*, and block number b of each rank does its part of the flows in lane
b, all in one order. Who holds chunks that others wait for puts them where they belong and signals; who gets them waits
for the signal and puts them further. Sums are put into scratch, a place for each child, and added up by the parent.

The flows of a root that share chunks, as the two phases of an allreduce do, are in one lane: so a block finds there
what it made itself, and waits for other ranks only. No program deadlocks: of all parts of flows that are not done, the
first one, in the order that all blocks keep, waits only for what comes before it.

Before anything is put, each block tells those that will put something to its rank that the rank has started: its
buffers are its own now. What goes over PORT channels is flushed at the end, as its sources may be used again then.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from forestcoll.lowering.flows import Flow
from forestcoll.lowering.lanes import lanes_of
from forestcoll.lowering.layout import Layout
from forestcoll.lowering.plans import copies
from forestcoll.program import Block, Buffer, Channel, ChannelKind, Instruction, Loop, Program, Span
from forestcoll.schedule import PhaseOp

MOST_ADDED = 8
"""How many chunks of other ranks one instruction adds to a rank's own: MSCCL++ has room for ten sources."""


def one_sided(name: str, layout: Layout, flows: Sequence[Flow], lanes: int, boxes: Sequence[object]) -> Program:
    """Return the program that does `flows` in `lanes` lanes.

    Args:
        name: what the program is called.
        layout: where data lies.
        flows: what goes where.
        lanes: how many blocks each rank has at most.
        boxes: of each rank, where it is; ranks in different boxes reach each other by PORT channels.
    """
    emitter = _Emitter(layout, boxes)
    blocks: list[list[Block]] = [[] for _ in layout.parts]
    for number, lane in enumerate(lanes_of(flows, lanes)):
        written = _Lane(emitter, number)
        written.flows(lane)
        for rank, block in enumerate(written.blocks(lane)):
            blocks[rank].append(block)
    return layout.program(name, blocks, emitter.scratch, emitter.channels)


@dataclass
class _Emitter:
    """What all lanes share."""

    layout: Layout
    boxes: Sequence[object]
    channels: dict[Channel, int] = field(default_factory=dict)
    slots: dict[tuple[int, ...], int] = field(default_factory=dict)
    """Of a flow's phase, root, instance and turn and of a child: where its parent's scratch has room for it."""

    def __post_init__(self) -> None:
        self.scratch = [0] * len(self.layout.parts)

    def channel(self, source: int, target: int, number: int) -> int:
        """Return the place of a channel, a new one if it is not there."""
        kind = ChannelKind.MEMORY if self.boxes[source] == self.boxes[target] else ChannelKind.PORT
        return self.channels.setdefault(Channel(kind, source, target, number), len(self.channels))


@dataclass
class _Lane:
    """The instructions of one lane, rank by rank."""

    emitter: _Emitter
    number: int
    listed: dict[int, list[Instruction]] = field(default_factory=dict)

    def flows(self, flows: Sequence[Flow]) -> None:
        """Add what all ranks do for `flows`, in their order."""
        for flow in flows:
            parents = {child: rank for rank, children in flow.children.items() for child in children}
            for rank in range(len(self.emitter.layout.parts)):
                if flow.op is PhaseOp.BROADCAST:
                    self._broadcast(flow, rank, parents.get(rank))
                else:
                    self._reduce(flow, rank, parents.get(rank))

    def _broadcast(self, flow: Flow, rank: int, parent: int | None) -> None:
        layout = self.emitter.layout
        if parent is not None:
            self._add(rank, Instruction(waits=(self._channel(parent, rank),), meets=False))
        kept = layout.result(rank, flow.offset, flow.count)
        held = kept if parent is not None or flow.phase else layout.own(rank, flow.offset, flow.count)
        targets = {child: layout.result(child, flow.offset, flow.count) for child in flow.children.get(rank, ())}
        self._put(rank, held, targets)
        if parent is None and held != kept and copies(layout):
            self._add(rank, Instruction(sources=(held,), targets=(kept,), meets=False))

    def _reduce(self, flow: Flow, rank: int, parent: int | None) -> None:
        layout = self.emitter.layout
        children = flow.children.get(rank, ())
        held = layout.own(rank, flow.offset, flow.count)
        slots = [self._slot(flow, child, rank) for child in children]
        if children:
            waits = tuple(self._channel(child, rank) for child in children)
            self._add(rank, Instruction(waits=waits, meets=False))
        goal = layout.result(rank, flow.offset, flow.count) if parent is None else None
        target = None if parent is None else self._slot(flow, rank, parent)
        if parent is not None and target is not None and (not slots or self._ports(rank, parent)):
            self._put(rank, self._sum(rank, held, slots, slots[0]) if slots else held, {parent: target})
            return
        self._sum(rank, held, slots, goal or slots[0], target)
        if parent is not None:
            self._add(rank, Instruction(signals=(self._channel(rank, parent),)))

    def _sum(self, rank: int, held: Span, slots: Sequence[Span], goal: Span, target: Span | None = None) -> Span:
        """Add `slots` to what is `held` into `goal` and, with the last of them, into `target` on another rank too."""
        for begin in range(0, len(slots), MOST_ADDED):
            part = tuple(slots[begin : begin + MOST_ADDED])
            last = begin + MOST_ADDED >= len(slots)
            goes_on = (target,) if last and target is not None else ()
            channel = self._channel(rank, goes_on[0].rank) if goes_on else None
            self._add(rank, Instruction(sources=(held, *part), targets=(goal, *goes_on), channel=channel))
            held = goal
        return goal

    def _put(self, rank: int, held: Span, targets: Mapping[int, Span]) -> None:
        """Put what is `held` to other ranks, and signal each of them."""
        memory = tuple(self._channel(rank, peer) for peer in targets if not self._ports(rank, peer))
        for place, peer in enumerate(sorted(targets, key=lambda each: (self._ports(rank, each), each))):
            channel = self._channel(rank, peer)
            signals = () if channel in memory else (channel,)
            target = (targets[peer],)
            self._add(
                rank, Instruction(sources=(held,), targets=target, channel=channel, signals=signals, meets=place == 0)
            )
        if memory:
            self._add(rank, Instruction(signals=memory))

    def _slot(self, flow: Flow, child: int, parent: int) -> Span:
        key = flow.phase, flow.root, flow.instance, flow.turn, child
        if key not in self.emitter.slots:
            self.emitter.slots[key] = self.emitter.scratch[parent]
            self.emitter.scratch[parent] += flow.whole
        return Span(parent, Buffer.SCRATCH, self.emitter.slots[key] + flow.offset - flow.begin, flow.count)

    def _ports(self, source: int, target: int) -> bool:
        return self.emitter.boxes[source] != self.emitter.boxes[target]

    def _channel(self, source: int, target: int) -> int:
        return self.emitter.channel(source, target, self.number)

    def _add(self, rank: int, instruction: Instruction) -> None:
        self.listed.setdefault(rank, []).append(instruction)

    def blocks(self, flows: Sequence[Flow]) -> Iterator[Block]:
        """Yield the block of each rank, with what comes before and after the flows."""
        outward: dict[int, set[int]] = {}
        for flow in flows:
            for rank, children in flow.children.items():
                for child in children:
                    source, target = (rank, child) if flow.op is PhaseOp.BROADCAST else (child, rank)
                    outward.setdefault(source, set()).add(target)
        inward: dict[int, set[int]] = {}
        for source, targets in outward.items():
            for target in targets:
                inward.setdefault(target, set()).add(source)
        for rank in range(len(self.emitter.layout.parts)):
            yield self._block(rank, sorted(inward.get(rank, ())), sorted(outward.get(rank, ())), flows)

    def _block(self, rank: int, inward: Sequence[int], outward: Sequence[int], flows: Sequence[Flow]) -> Block:
        before = [*self._greetings(rank, inward, outward)]
        listed = self.listed.get(rank, [])
        ports = tuple(self._channel(rank, peer) for peer in outward if self._ports(rank, peer))
        after = [Instruction(flushes=ports)] if ports else []
        return Block((*before, *listed, *after), loops=self._loops(len(before), listed, flows))

    def _greetings(self, rank: int, inward: Sequence[int], outward: Sequence[int]) -> Iterator[Instruction]:
        """Tell those that will put something here that this rank has started, and wait for the same."""
        for ports in (False, True):
            told = tuple(self._channel(rank, peer) for peer in inward if self._ports(rank, peer) == ports)
            if told:
                yield Instruction(signals=told, relaxed=not ports, meets=False)
        for ports in (False, True):
            heard = tuple(self._channel(peer, rank) for peer in outward if self._ports(rank, peer) == ports)
            if heard:
                yield Instruction(waits=heard, relaxed=not ports, meets=False)

    def _loops(self, first: int, listed: Sequence[Instruction], flows: Sequence[Flow]) -> tuple[Loop, ...]:
        """Return the loop over the pieces, if there are several and all move as many chunks."""
        pieces = self.emitter.layout.options.pieces
        if pieces == 1 or not listed or len({flow.count for flow in flows}) > 1:
            return ()
        return (Loop(first, len(listed) // pieces, pieces),)
