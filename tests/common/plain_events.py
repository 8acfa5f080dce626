"""A plain simulation of the events of a program, which tests compare the native one with.

Each block executes its instructions in order. An instruction starts when everything that it waits for has happened,
and first takes the overhead. Then its data is transferred to the other rank over the links between them; all active
transfers share the links fairly. The block continues when the last byte has left, and the data arrives one latency
later. On a PORT channel, a helper sends instead of the block, one request after the other. A message occupies a slot of
its channel until it is received. Data that stays on a rank takes only the overhead, because memory is assumed to be
fast; an instruction that adds up data also takes the time of the reduction. A block that reads the
memory of other ranks waits for two latencies more: that of its request, and that of the data.
"""

import heapq
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from forestcoll.programs.model import ChannelKind, Instruction, Message, Multicast, Program, Span
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.loads import bytes_per_second
from forestcoll.simulation.program.events import Action
from forestcoll.simulation.program.limits import RouteShare, limits_of
from forestcoll.simulation.program.paths import Paths
from plain_transfers import Sharing, Transfers

_NEVER = float("inf")


@dataclass(frozen=True, slots=True)
class PlainTimeline:
    """As `forestcoll.simulation.program.events.Timeline`."""

    seconds: float
    actions: tuple[Action, ...]
    link_seconds: tuple[float, ...]


def run_plainly(program: Program, paths: Paths, size: int, costs: Costs) -> PlainTimeline:
    """Simulate a program without faults and barriers on `size` bytes of data M."""
    run = _Run(program, paths, size, costs)
    run.until_done()
    return run.timeline()


@dataclass(slots=True)
class _Block:
    """The state of a block: its next instruction, whether that has begun, and how many of its parts are not done."""

    rank: int
    number: int
    instructions: Sequence[Instruction]
    place: int = 0
    busy: bool = False
    parts: int = 0
    begin: float = 0.0


@dataclass(slots=True)
class _Port:
    """The queue of requests to the helper of a channel; each request calls its argument when it is done."""

    waiting: deque[Callable[[Callable[[float], None]], None]] = field(default_factory=deque)
    busy: bool = False
    flushing: list[Callable[[float], None]] = field(default_factory=list)


class _Run:
    """The state of a simulation."""

    def __init__(self, program: Program, paths: Paths, size: int, costs: Costs) -> None:
        self.program, self.paths, self.costs = program, paths, costs
        self.chunk_bytes = size / program.chunks
        self.now = costs.launch_us * 1e-6
        self.events: list[tuple[float, int, Callable[[], None]]] = []
        self.count = 0
        self.blocks = [
            _Block(rank, number, block.instructions)
            for rank, each in enumerate(program.ranks)
            for number, block in enumerate(each.blocks)
        ]
        self.block_of = {(block.rank, block.number): block for block in self.blocks}
        self.ready = deque(self.blocks)
        self.waiting_blocks: dict[object, list[_Block]] = {}
        self.arrived = [0] * len(program.channels)
        self.signals = [0] * len(program.channels)
        self.slots = [program.slots] * len(program.channels)
        self.ports = {place: _Port() for place, each in enumerate(program.channels) if each.kind is ChannelKind.PORT}
        self.semaphores = {
            (rank, number): start
            for rank, each in enumerate(program.ranks)
            for number, start in enumerate(each.semaphores)
        }
        self.packets: dict[tuple[int, object, int], int] = {}
        self.flows: dict[RouteShare, int] = {}
        self.actions: list[Action] = []
        self._prepare()

    def _prepare(self) -> None:
        for rank, block, _, instruction in self.program.instructions():
            for flow in self._flows_of(rank, block, instruction):
                self.flows.setdefault(flow, len(self.flows))
        self.multipaths = [self.paths.between(flow.source, flow.target) for flow in self.flows]
        limits = limits_of(self.paths, list(self.flows), self.costs)
        self.transfers = Transfers(Sharing(limits.multipaths, limits.bandwidths), len(self.flows))
        self.sent = np.zeros(len(self.multipaths))

    def _flows_of(self, rank: int, block: int, instruction: Instruction) -> list[RouteShare]:
        """Return the flow of each transfer of an instruction."""
        limited = self.costs.block_gbps is not None and instruction.channel not in self.ports
        pairs = _pairs(self.program, rank, instruction)
        owner = (rank, block) if limited else None
        return [RouteShare(source, target, owner, is_read=source != rank) for source, target in pairs]

    def until_done(self) -> None:
        """Process events until there are none left."""
        while True:
            while self.ready:
                self._advance(self.ready.popleft())
            if not self.events and not self.transfers:
                break
            self._next()
        assert all(block.place == len(block.instructions) for block in self.blocks)

    def _next(self) -> None:
        """Process the next event: a timed one, or the end of a transfer."""
        due = self.events[0][0] if self.events else _NEVER
        end = self.transfers.next_end()
        passed = min(due - self.now, end)
        finished = self.transfers.advance(passed)
        self.now = due if passed == due - self.now else self.now + passed
        for done in finished:
            done(self.now)
        while self.events and self.events[0][0] <= self.now:
            heapq.heappop(self.events)[2]()

    def _add_event(self, time: float, callback: Callable[[], None]) -> None:
        self.count += 1
        heapq.heappush(self.events, (time, self.count, callback))

    def _wake(self, what: object) -> None:
        self.ready.extend(self.waiting_blocks.pop(what, ()))

    def _advance(self, block: _Block) -> None:
        """Start the next instruction of a block, if everything that it waits for has happened."""
        if block.busy or block.place == len(block.instructions):
            return
        instruction = block.instructions[block.place]
        awaited = self._awaited(block, instruction)
        if awaited is not None:
            self.waiting_blocks.setdefault(awaited, []).append(block)
            return
        self._consume(block, instruction)
        block.busy, block.begin = True, self.now
        overhead = self.costs.overhead_us * 1e-6 if instruction.places else 0.0
        if len(instruction.sources) > 1:
            added = (len(instruction.sources) - 1) * instruction.count * self.chunk_bytes
            overhead += self.costs.reduction_us_per_mb * 1e-12 * added
        if overhead:
            self._add_event(self.now + overhead, lambda: self._send(block, instruction))
        else:
            self._send(block, instruction)

    def _awaited(self, block: _Block, instruction: Instruction) -> object:
        """Return the key of an event that the instruction waits for, or None."""
        for each in instruction.after:
            if self.block_of[block.rank, each.block].place <= each.instruction:
                return "step", block.rank, each.block
        for channel in instruction.waits:
            if not self.signals[channel]:
                return "signal", channel
        for semaphore in instruction.acquires:
            if not self.semaphores[block.rank, semaphore]:
                return "semaphore", block.rank, semaphore
        return self._awaited_data(instruction)

    def _awaited_data(self, instruction: Instruction) -> object:
        for place in instruction.sources:
            if isinstance(place, Message) and not self.arrived[place.channel]:
                return "message", place.channel
            if isinstance(place, Span) and place.packets and not self._has_packets(place):
                return "packets", place.rank
        for place in instruction.targets:
            if isinstance(place, Message) and self.slots[place.channel] == 0:
                return "slot", place.channel
        return None

    def _has_packets(self, span: Span) -> bool:
        chunks = range(span.offset, span.offset + span.count)
        return all((span.rank, span.buffer, chunk) in self.packets for chunk in chunks)

    def _consume(self, block: _Block, instruction: Instruction) -> None:
        """Consume the signals, semaphores, messages and slots that the instruction waited for."""
        for channel in instruction.waits:
            self.signals[channel] -= 1
        for semaphore in instruction.acquires:
            self.semaphores[block.rank, semaphore] -= 1
        for place in instruction.sources:
            if isinstance(place, Message):
                self.arrived[place.channel] -= 1
        for place in instruction.targets:
            if isinstance(place, Message) and (slots := self.slots[place.channel]) is not None:
                self.slots[place.channel] = slots - 1

    def _send(self, block: _Block, instruction: Instruction) -> None:
        """Start the transfers of an instruction; it is done when the last of them is done."""
        port = self.ports.get(instruction.channel) if instruction.channel is not None else None
        if port is not None and instruction.places:
            port.waiting.append(lambda done: self._transfer(block, instruction, done))
            self._port(instruction.channel or 0)
            self._finish(block, instruction)
        else:
            self._transfer(block, instruction, lambda _: self._finish(block, instruction))

    def _transfer(self, block: _Block, instruction: Instruction, done: Callable[[float], None]) -> None:
        """Start the transfers of an instruction, and call `done` when the last byte has left."""
        flows = self._flows_of(block.rank, block.number, instruction)
        left = len(flows)

        def part_done(now: float) -> None:
            nonlocal left
            left -= 1
            if not left:
                done(now)

        def transfer_done(flow: RouteShare) -> Callable[[float], None]:
            def is_done(now: float) -> None:
                latency = (self.costs.alpha_us + self.multipaths[self.flows[flow]].latency_us) * 1e-6
                self._add_event(now + latency, lambda: self._arrive(instruction, flow.target))
                if flow.is_read and latency:
                    self._add_event(now + 2 * latency, lambda: part_done(now + 2 * latency))
                else:
                    part_done(now)

            return is_done

        size = instruction.count * self.chunk_bytes
        for flow in flows:
            self.sent[self.flows[flow]] += size
            self.transfers.start(self.flows[flow], size, transfer_done(flow))
        if not flows:
            self._packets(instruction, block.rank)
            done(self.now)

    def _arrive(self, instruction: Instruction, target: int) -> None:
        for place in instruction.targets:
            if isinstance(place, Message) and self.program.channels[place.channel].target == target:
                self.arrived[place.channel] += 1
                self._wake(("message", place.channel))
        self._packets(instruction, target)

    def _packets(self, instruction: Instruction, rank: int) -> None:
        for place in instruction.targets:
            if isinstance(place, Message) or not place.packets:
                continue
            if isinstance(place, Multicast) or place.rank == rank:
                for chunk in range(place.offset, place.offset + place.count):
                    self.packets[rank, place.buffer, chunk] = 1
                self._wake(("packets", rank))

    def _finish(self, block: _Block, instruction: Instruction) -> None:
        for place in instruction.sources:
            if isinstance(place, Message) and (slots := self.slots[place.channel]) is not None:
                self.slots[place.channel] = slots + 1
                self._wake(("slot", place.channel))
        for channel in instruction.signals:
            self._signal(channel)
        waiting = [self.ports[channel] for channel in instruction.flushes if self._has_work(channel)]
        block.parts = len(waiting) + 1
        for port in waiting:
            port.flushing.append(lambda _: self._count_down(block, instruction))
        self._count_down(block, instruction)

    def _has_work(self, channel: int) -> bool:
        return self.ports[channel].busy or bool(self.ports[channel].waiting)

    def _count_down(self, block: _Block, instruction: Instruction) -> None:
        block.parts -= 1
        if block.parts:
            return
        for semaphore in instruction.releases:
            self.semaphores[block.rank, semaphore] += 1
            self._wake(("semaphore", block.rank, semaphore))
        if instruction.places:
            self.actions.append(Action(block.rank, block.number, block.place, block.begin, self.now))
        block.busy = False
        block.place += 1
        self._wake(("step", block.rank, block.number))
        self.ready.append(block)

    def _signal(self, channel: int) -> None:
        each = self.program.channels[channel]
        multipath = self.paths.between(each.source, each.target)
        latency = (self.costs.alpha_us + multipath.latency_us) * 1e-6

        def send(now: float) -> None:
            self._add_event(now + latency, arrive)

        def arrive() -> None:
            self.signals[channel] += 1
            self._wake(("signal", channel))

        if channel in self.ports:

            def request(done: Callable[[float], None]) -> None:
                send(self.now)
                done(self.now)

            self.ports[channel].waiting.append(request)
            self._port(channel)
        else:
            send(self.now)

    def _port(self, channel: int) -> None:
        """Start the next request of the helper of a channel, if the helper is idle."""
        port = self.ports[channel]
        if port.busy:
            return
        if not port.waiting:
            flushing, port.flushing = port.flushing, []
            for done in flushing:
                done(self.now)
            return

        def request_done(_: float) -> None:
            port.busy = False
            self._port(channel)

        port.busy = True
        port.waiting.popleft()(request_done)

    def timeline(self) -> PlainTimeline:
        """Return the result."""
        bandwidths = bytes_per_second(self.paths.topology)
        carried = np.zeros(len(bandwidths))
        for multipath, sent in zip(self.multipaths, self.sent.tolist(), strict=True):
            for link, weight in zip(multipath.links, multipath.weights, strict=True):
                carried[link] += sent * weight
        return PlainTimeline(self.now, tuple(self.actions), tuple((carried / bandwidths).tolist()))


def _pairs(program: Program, rank: int, instruction: Instruction) -> list[tuple[int, int]]:
    """Return the source and the target rank of each transfer of an instruction."""
    pairs = []
    for place in instruction.sources:
        if isinstance(place, Span) and place.rank != rank:
            pairs.append((place.rank, rank))
        elif isinstance(place, Multicast):
            pairs += [(other, rank) for other in program.groups[place.group] if other != rank]
    for place in instruction.targets:
        if isinstance(place, Message):
            pairs.append((rank, program.channels[place.channel].target))
        elif isinstance(place, Span) and place.rank != rank:
            pairs.append((rank, place.rank))
        elif isinstance(place, Multicast):
            pairs += [(rank, other) for other in program.groups[place.group] if other != rank]
    return pairs
