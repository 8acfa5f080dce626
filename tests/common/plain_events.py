"""A plain simulation of the events of a program, which tests compare the native one with.

Each thread block is a process, and so is the helper of each PORT channel and each transfer.

Each block executes its instructions in order. An instruction starts when everything that it waits for has happened,
and first takes the overhead. Then its data is transferred to the other rank over the links between them; all active
transfers share the links fairly. The block continues when the last byte has left, and the data arrives one latency
later. On a PORT channel, a helper sends instead of the block, one request after the other. A message occupies a slot of
its channel until it is received. Data that stays on a rank takes only the overhead, because memory is assumed to be
fast, unless the costs say how fast a block receives or copies; an instruction that adds up data also takes the time of
the reduction. A block that reads the memory of other ranks waits for two latencies more: that of its request, and that
of the data.
"""

from collections import Counter, deque
from dataclasses import dataclass
from functools import partial

import numpy as np

from forestcoll.programs.model import ChannelKind, Instruction, Message, Multicast, Program, Span
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.loads import bytes_per_second
from forestcoll.simulation.program.events import Action
from forestcoll.simulation.program.limits import RouteShare, Work, limits_of
from forestcoll.simulation.program.paths import Paths
from plain_transfers import Clock, Process, Sharing


@dataclass(frozen=True, slots=True)
class PlainTimeline:
    """As `forestcoll.simulation.program.events.Timeline`."""

    seconds: float
    actions: tuple[Action, ...]
    link_seconds: tuple[float, ...]


def run_plainly(program: Program, paths: Paths, size: int, costs: Costs) -> PlainTimeline:
    """Simulate a program without faults and barriers on `size` bytes of data M."""
    return _Run(program, paths, size, costs).timeline()


class _Run:
    """The state of a simulation."""

    def __init__(self, program: Program, paths: Paths, size: int, costs: Costs) -> None:
        self.program, self.paths, self.costs = program, paths, costs
        self.chunk_bytes = size / program.chunks
        ranks = range(len(program.ranks))
        self.done = {(rank, number): 0 for rank in ranks for number in range(len(program.ranks[rank].blocks))}
        self.requests: dict[int, deque[Process]] = {
            number: deque() for number, each in enumerate(program.channels) if each.kind is ChannelKind.PORT
        }
        self.arrived, self.signals, self.used = Counter[int](), Counter[int](), Counter[int]()
        self.semaphores = {(rank, each): n for rank in ranks for each, n in enumerate(program.ranks[rank].semaphores)}
        self.packets: set[tuple[int, object, int]] = set()
        self.actions: list[Action] = []
        flows = [
            flow for rank, number, _, each in program.instructions() for flow in self._flows_of(rank, number, each)
        ]
        self.flows = {flow: place for place, flow in enumerate(dict.fromkeys(flows))}
        limits = limits_of(paths, list(self.flows), costs)
        self.sent = np.zeros(len(self.flows))
        sharing = Sharing(limits.multipaths, limits.bandwidths)
        self.clock = Clock(sharing, len(self.flows), now=costs.launch_us * 1e-6)
        for place in self.done:
            self.clock.start(self._block(*place))
        for channel in self.requests:
            self.clock.start(self._helper(channel))

    def timeline(self) -> PlainTimeline:
        """Simulate all events, and return the result."""
        self.clock.run()
        blocks = {place: len(self.program.ranks[place[0]].blocks[place[1]].instructions) for place in self.done}
        assert self.done == blocks
        bandwidths = bytes_per_second(self.paths.topology)
        carried = np.zeros(len(bandwidths))
        for flow, place in self.flows.items():
            path = flow.path(self.paths)
            np.add.at(carried, list(path.links), self.sent[place] * np.array(path.weights))
        return PlainTimeline(self.clock.now, tuple(self.actions), tuple((carried / bandwidths).tolist()))

    def _block(self, rank: int, number: int) -> Process:
        for place, each in enumerate(self.program.ranks[rank].blocks[number].instructions):
            for other in each.after:
                yield partial(self._is_past, (rank, other.block), other.instruction)
            yield partial(self._may_start, rank, each)
            self._consume(rank, each)
            begin = self.clock.now
            if each.places:
                added = max(0, len(each.sources) - 1) * each.count * self.chunk_bytes
                yield begin + self.costs.overhead_us * 1e-6 + self.costs.reduction_us_per_mb * 1e-12 * added
            if each.places and each.channel in self.requests:
                self.requests[each.channel].append(self._transfers(rank, number, each))
            else:
                yield from self._transfers(rank, number, each)
            self.used.subtract(source.channel for source in each.sources if isinstance(source, Message))
            for channel in each.signals:
                self._signal(channel)
            yield lambda each=each: not any(self.requests[channel] for channel in each.flushes)  # type: ignore[misc]
            for semaphore in each.releases:
                self.semaphores[rank, semaphore] += 1
            if each.places:
                self.actions.append(Action(rank, number, place, begin, self.clock.now))
            self.done[rank, number] += 1

    def _is_past(self, block: tuple[int, int], instruction: int) -> bool:
        return self.done[block] > instruction

    def _may_start(self, rank: int, instruction: Instruction) -> bool:
        """Return whether everything that the instruction waits for, except other instructions, has happened."""
        return (
            all(map(self._has_arrived, instruction.sources))
            and all(map(self._has_slot, instruction.targets))
            and all(self.signals[channel] for channel in instruction.waits)
            and all(self.semaphores[rank, semaphore] for semaphore in instruction.acquires)
        )

    def _has_arrived(self, place: Message | Span | Multicast) -> bool:
        if isinstance(place, Message):
            return self.arrived[place.channel] > 0
        return not (isinstance(place, Span) and place.packets) or self.packets.issuperset(_cells(place, place.rank))

    def _has_slot(self, place: Message | Span | Multicast) -> bool:
        slots = self.program.slots
        return slots is None or not isinstance(place, Message) or self.used[place.channel] < slots

    def _consume(self, rank: int, instruction: Instruction) -> None:
        """Consume the signals, semaphores, messages and slots that the instruction waited for."""
        self.signals.subtract(instruction.waits)
        for semaphore in instruction.acquires:
            self.semaphores[rank, semaphore] -= 1
        self.arrived.subtract(place.channel for place in instruction.sources if isinstance(place, Message))
        self.used.update(place.channel for place in instruction.targets if isinstance(place, Message))

    def _helper(self, channel: int) -> Process:
        """Send one request after the other; a request is in the list until it is done."""
        waiting = self.requests[channel]
        while True:
            yield lambda: bool(waiting)
            yield from waiting[0]
            waiting.popleft()

    def _transfers(self, rank: int, number: int, instruction: Instruction) -> Process:
        """Send the data of an instruction, until the last byte has left, or has arrived if the block reads it."""
        flows, finished = self._flows_of(rank, number, instruction), Counter[None]()
        if not flows:
            self._write_packets(instruction, rank)
        for flow in flows:
            self.clock.start(self._transfer(flow, instruction, finished))
        yield lambda: finished.total() == len(flows)

    def _transfer(self, flow: RouteShare, instruction: Instruction, finished: Counter[None]) -> Process:
        place, size = self.flows[flow], instruction.count * self.chunk_bytes
        self.sent[place] += size
        yield from self.clock.transfer(place, size)
        ends = [(source, target) for source in flow.sources for target in flow.targets]
        latency = max(self._latency(*each) for each in ends)
        for target in flow.targets:
            self.clock.start(self._arrival(self.clock.now + latency, instruction, target))
        if flow.is_read:
            yield self.clock.now + 2 * latency
        finished[None] += 1

    def _arrival(self, time: float, instruction: Instruction, target: int) -> Process:
        yield time
        for place in instruction.targets:
            if isinstance(place, Message) and self.program.channels[place.channel].target == target:
                self.arrived[place.channel] += 1
        self._write_packets(instruction, target)

    def _write_packets(self, instruction: Instruction, rank: int) -> None:
        for place in instruction.targets:
            if (
                not isinstance(place, Message)
                and place.packets
                and (isinstance(place, Multicast) or place.rank == rank)
            ):
                self.packets.update(_cells(place, rank))

    def _signal(self, channel: int) -> None:
        """Send a signal; on a PORT channel, the helper sends it after the requests before it."""
        if channel in self.requests:
            self.requests[channel].append(self._sent_signal(channel))
        else:
            self.clock.start(self._sent_signal(channel))

    def _sent_signal(self, channel: int) -> Process:
        self.clock.start(self._signal_arrival(channel))
        yield self.clock.now

    def _signal_arrival(self, channel: int) -> Process:
        each = self.program.channels[channel]
        yield self.clock.now + self._latency(each.source, each.target)
        self.signals[channel] += 1

    def _latency(self, source: int, target: int) -> float:
        if source == target:
            return 0.0
        return (self.costs.alpha_us + self.paths.between(source, target).latency_us) * 1e-6

    def _flows_of(self, rank: int, block: int, instruction: Instruction) -> list[RouteShare]:
        """Return the flow of each transfer of an instruction, or that of its own block if data stays on the rank."""
        moves_itself = instruction.channel not in self.requests
        limited = self.costs.block_gbps is not None and moves_itself
        elsewhere = any(self._others(rank, place) for place in (*instruction.sources, *instruction.targets))
        if instruction.targets and not elsewhere and moves_itself:
            receives = any(isinstance(place, Message) for place in instruction.sources)
            known = self.costs.receive_gbps if receives else self.costs.copy_gbps
            work = Work.RECEIVE if receives else Work.COPY
            return [] if known is None else [RouteShare((rank,), (rank,), (rank, block), work=work)]
        owner = (rank, block) if limited else None
        read = [others for place in instruction.sources if (others := self._others(rank, place))]
        flows = [RouteShare(others, (rank,), owner, is_read=True) for others in read]
        for place in instruction.targets:
            others = self._others(rank, place)
            apart = not isinstance(place, Message) and place.packets
            ends = [(other,) for other in others] if apart else [others] * bool(others)
            flows += [RouteShare((rank,), targets, owner) for targets in ends]
        return flows

    def _others(self, rank: int, place: Message | Span | Multicast) -> tuple[int, ...]:
        """Return the other ranks whose memory a place is in; that of a message is in that of its receiver."""
        if isinstance(place, Multicast):
            ranks = list(self.program.groups[place.group])
        else:
            ranks = [self.program.channels[place.channel].target if isinstance(place, Message) else place.rank]
        return tuple(other for other in ranks if other != rank)


def _cells(place: Span | Multicast, rank: int) -> set[tuple[int, object, int]]:
    return {(rank, place.buffer, chunk) for chunk in range(place.offset, place.offset + place.count)}
