"""Flows as programs over FIFO channels.

Each hop of a chain is a message: the first rank sends, the ranks between receive and forward in one instruction, and
the last rank receives. An instruction waits for other blocks of its rank that write its data, as `hazards` finds.
`chains` proves that there is no deadlock.

A rank that sums stores the intermediate sum at the place of its result if it has space there, else in scratch. If it
receives only one message, it adds its own data and forwards the sum without storing it.

The second phase of an allreduce broadcasts over memory that the first phase read and wrote. At the root, instructions
wait for the first phase. At other ranks no instruction has to wait: a rank sends its sum of a chunk only after all its
other work on the chunk in the first phase. The root broadcasts only complete sums, so the result arrives later.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from forestcoll.collective import PhaseOp
from forestcoll.lowering.blocks import BlockTable, End
from forestcoll.lowering.chains import Chain
from forestcoll.lowering.flows import Flow
from forestcoll.lowering.hazards import Hazards
from forestcoll.lowering.layout import Layout
from forestcoll.lowering.plans import Plan, copies
from forestcoll.program import Block, Buffer, Channel, ChannelKind, Instruction, Message, Place, Program, Span


def two_sided(
    name: str, layout: Layout, flows: Sequence[Flow], plan: Plan, *, own: Sequence[Flow] | None = None
) -> Program:
    """Return the program that executes the chains of `plan`, which are those of `flows`, on its blocks.

    Roots copy their own data if buffers are separate: the data of all `flows` or, if it is given, of `own`.
    """
    emitter = _Emitter(layout, flows, plan.table)
    if copies(layout):
        emitter.copies(flows if own is None else own)
    for chain in plan.chains:
        emitter.chain(chain)
    return emitter.program(name)


@dataclass
class _Emitter:
    """The instructions so far."""

    layout: Layout
    flows: Sequence[Flow]
    table: BlockTable
    blocks: list[list[list[Instruction]]] = field(init=False)
    scratch: list[int] = field(init=False)
    channels: dict[Channel, int] = field(default_factory=dict)
    sums: dict[tuple[int, int, int], Span] = field(default_factory=dict)
    """For a phase, the first chunk of a flow and a rank: the place of the sum of the data that has arrived so far."""

    def __post_init__(self) -> None:
        bounds = {bound for flow in self.flows for bound in (flow.offset, flow.offset + flow.count)}
        self.hazards = Hazards(bounds, self.layout.begins, aliased=self.layout.options.in_place)
        self.blocks = [[[] for _ in range(count)] for count in self.table.counts]
        self.scratch = [0] * len(self.table.counts)

    def program(self, name: str) -> Program:
        blocks = [[Block(tuple(listed)) for listed in rank] for rank in self.blocks]
        return self.layout.program(name, blocks, self.scratch, self.channels)

    def copies(self, flows: Sequence[Flow]) -> None:
        """Make each root copy the data that it broadcasts to its own output.

        No other instruction writes what it reads or reads what it writes, so nothing waits for it.
        """
        for flow in flows:
            own = self.layout.own(flow.root, flow.offset, flow.count)
            kept = self.layout.result(flow.root, flow.offset, flow.count)
            block = self.table.local[flow.root]
            listed = self.blocks[flow.root][block]
            self.hazards.step(flow.root, block, len(listed), [], [])
            listed.append(Instruction(sources=(own,), targets=(kept,)))

    def chain(self, chain: Chain) -> None:
        """Add the instructions along a chain."""
        flow, path = chain.flow, chain.path
        hops = [self._message(chain.channel, source, target, flow.count) for source, target in pairwise(path)]
        reduces = flow.op is PhaseOp.REDUCE
        for place, rank in enumerate(path):
            received, sent = hops[place - 1 : place] if place else [], hops[place : place + 1]
            block = self._block(chain, place)
            if reduces:
                self._reduce(flow, block, rank, received, sent)
            else:
                self._broadcast(flow, block, rank, received, sent)

    def _broadcast(self, flow: Flow, block: int, rank: int, received: list[Message], sent: list[Message]) -> None:
        result = self.layout.result(rank, flow.offset, flow.count)
        if received:
            if flow.phase:
                self.hazards.forget(self.hazards.cells(result, flow.offset))
            self._add(flow, block, rank, received, [result, *sent])
        else:
            at_input = rank == flow.root and not flow.phase
            self._add(flow, block, rank, [self._own(flow, rank) if at_input else result], sent)

    def _reduce(self, flow: Flow, block: int, rank: int, received: list[Message], sent: list[Message]) -> None:
        key = flow.phase, flow.offset, rank
        held = self.sums.get(key) or self._own(flow, rank)
        targets: list[Place] = [*sent]
        if not sent:
            self.sums[key] = held if key in self.sums else self._room(flow, rank)
            targets = [self.sums[key]]
        self._add(flow, block, rank, [*received, held], targets)

    def _room(self, flow: Flow, rank: int) -> Span:
        if self.layout.keeps(rank, flow.root):
            return self.layout.result(rank, flow.offset, flow.count)
        self.scratch[rank] += flow.count
        return Span(rank, Buffer.SCRATCH, self.scratch[rank] - flow.count, flow.count)

    def _own(self, flow: Flow, rank: int) -> Span:
        return self.layout.own(rank, flow.offset, flow.count)

    def _message(self, number: int, source: int, target: int, count: int) -> Message:
        channel = Channel(ChannelKind.FIFO, source, target, number)
        return Message(self.channels.setdefault(channel, len(self.channels)), count)

    def _block(self, chain: Chain, place: int) -> int:
        rank, path = chain.path[place], chain.path
        if place:
            return self.table.numbers[End(rank, chain.channel, path[place - 1], receives=True)]
        return self.table.numbers[End(rank, chain.channel, path[1], receives=False)]

    def _add(self, flow: Flow, block: int, rank: int, sources: Sequence[Place], targets: Sequence[Place]) -> None:
        listed = self.blocks[rank][block]
        reads = [cell for each in sources if isinstance(each, Span) for cell in self.hazards.cells(each, flow.offset)]
        writes = [cell for each in targets if isinstance(each, Span) for cell in self.hazards.cells(each, flow.offset)]
        after = self.hazards.step(rank, block, len(listed), reads, writes)
        listed.append(Instruction(sources=tuple(sources), targets=tuple(targets), after=after))
