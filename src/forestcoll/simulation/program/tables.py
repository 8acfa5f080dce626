"""A program as tables of numbers, for the native simulation."""

from collections.abc import Iterable, Sequence
from typing import Final, cast

import numpy as np

from forestcoll.kernels.events import EventTables, Numbers, Reals, Rows
from forestcoll.programs.model import Buffer, ChannelKind, Instruction, Message, Multicast, Program, Span, block_counts
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.program.limits import RouteShare, Work, limits_of, work_on_rank
from forestcoll.simulation.program.paths import Multipath, Paths

_NONE = -1
COLUMNS = 6
"""The number of columns of the table of instructions."""

LISTS: Final = (
    "after",
    "waits",
    "signals",
    "flushes",
    "acquires",
    "releases",
    "received",
    "sent",
    "reads",
    "writes",
    "transfers",
)
"""The tables that have a list for each instruction."""


class _Lists:
    """Lists of numbers, one for each instruction, that become `Rows`. Most of them are empty."""

    def __init__(self) -> None:
        self._rows, self._values = list[int](), list[int]()

    def add(self, row: int, value: int) -> None:
        """Add a value to the end of the list `row`; rows do not fall."""
        self._rows.append(row)
        self._values.append(value)

    def extend(self, row: int, values: Iterable[int]) -> None:
        """Add values to the end of the list `row`."""
        for value in values:
            self.add(row, value)

    @property
    def count(self) -> int:
        """The number of values of all lists."""
        return len(self._values)

    def rows(self, count: int) -> Rows:
        """Return the lists of `count` rows."""
        lengths = np.bincount(np.array(self._rows, dtype=np.int64), minlength=count)
        return np.concatenate(([0], np.cumsum(lengths))).astype(np.int32), _numbers(self._values)


class Encoder:
    """Makes the tables of a program. Blocks, semaphores, barriers and flows are numbered over all ranks.

    It reads each rank once, because ranks of large programs are made when they are read.

    Attributes:
        flows: the number of each flow.
    """

    def __init__(self, program: Program, paths: Paths, costs: Costs) -> None:
        """Raises `InputError` if no path connects two ranks between which the program sends."""
        self.flows: dict[RouteShare, int] = {}
        self._program, self._paths, self._costs = program, paths, costs
        self._ports = {place for place, each in enumerate(program.channels) if each.kind is ChannelKind.PORT}
        self._first_blocks = _sums(block_counts(program))
        self._semaphores: list[int] = []
        self._signalled: set[int] = set()
        self._barriers: dict[tuple[int, int], int] = {}
        self._lists = {name: _Lists() for name in LISTS}
        self._packets: list[tuple[str, int, Span | Multicast]] = []
        self._timed = {work for work in (Work.RECEIVE, Work.COPY) if work.gbps(costs) is not None}

    def tables(self) -> EventTables:
        """Return the tables."""
        program, lists = self._program, self._lists
        instructions: list[int] = []
        block_starts = [0]
        for rank, each in enumerate(program.ranks):
            for block, listed in enumerate(each.blocks):
                for number, instruction in enumerate(listed.instructions, start=block_starts[-1]):
                    instructions += self._columns(rank, instruction)
                    if instruction.targets:
                        self._add_places(number, rank, block, instruction)
                    self._add_order(number, rank, instruction)
                block_starts.append(block_starts[-1] + len(listed.instructions))
            self._semaphores += each.semaphores
        cells = self._add_packets()
        rows = {name: each.rows(block_starts[-1]) for name, each in lists.items()}
        limits = limits_of(self._paths, list(self.flows), self._costs)
        links = _Lists()
        for flow, multipath in enumerate(limits.multipaths):
            links.extend(flow, multipath.links)
        latencies = _reals(
            0.0 if flow.stays else self._latency(path) for flow, path in zip(self.flows, limits.multipaths, strict=True)
        )
        tables = {
            "ranks": len(program.ranks),
            "barriers": len(self._barriers),
            "cells": cells,
            "block_starts": _numbers(block_starts),
            "loops": _Lists().rows(len(block_starts) - 1),
            "instructions": _numbers(instructions),
            "channels": _numbers([value for place in range(len(program.channels)) for value in self._channel(place)]),
            "channel_latencies": self._channel_latencies(),
            "flow_targets": _numbers([flow.targets[0] for flow in self.flows]),
            "flow_latencies": latencies,
            "flow_delays": latencies * [2.0 * flow.is_read for flow in self.flows],
            "semaphores": _numbers(self._semaphores),
            "links": links.rows(len(self.flows)),
            "weights": _reals(weight for each in limits.multipaths for weight in each.weights),
            "bandwidths": np.ascontiguousarray(limits.bandwidths, dtype=np.float64),
        }
        return cast("EventTables", tables | rows)

    def _columns(self, rank: int, instruction: Instruction) -> tuple[int, ...]:
        """Return the chunks, those added to others, whether data moves, the helper, the barrier and its blocks."""
        summands = len(instruction.sources)
        count = instruction.count
        port = instruction.channel if instruction.targets and instruction.channel in self._ports else None
        barrier = instruction.barrier
        return (
            count,
            (summands - 1) * count if summands > 1 else 0,
            int(bool(instruction.targets)),
            _NONE if port is None else port,
            _NONE if barrier is None else self._barriers.setdefault((rank, barrier.number), len(self._barriers)),
            0 if barrier is None else barrier.blocks,
        )

    def _add_places(self, number: int, rank: int, block: int, instruction: Instruction) -> None:
        """Add the messages and packets that an instruction reads and writes, and the flow of each transfer."""
        moves_itself = instruction.channel not in self._ports
        owner = (rank, block) if moves_itself and self._costs.block_gbps is not None else None
        received, sent, transfers = (self._lists[name] for name in ("received", "sent", "transfers"))
        before = transfers.count
        for place in instruction.sources:
            if isinstance(place, Message):
                received.add(number, place.channel)
                continue
            if others := self._others(rank, place):
                transfers.add(number, self._flow(RouteShare(others, (rank,), owner, is_read=True)))
            if place.packets and isinstance(place, Span):
                self._packets.append(("reads", number, place))
        for place in instruction.targets:
            if isinstance(place, Message):
                sent.add(number, place.channel)
                target = self._program.channels[place.channel].target
                transfers.add(number, self._flow(RouteShare((rank,), (target,), owner)))
                continue
            for targets in self._arrivals(rank, place):
                transfers.add(number, self._flow(RouteShare((rank,), targets, owner)))
            if place.packets:
                self._packets.append(("writes", number, place))
        if moves_itself and transfers.count == before and (work := work_on_rank(instruction)) in self._timed:
            transfers.add(number, self._flow(RouteShare((rank,), (rank,), (rank, block), work=work)))

    def _others(self, rank: int, place: Span | Multicast) -> tuple[int, ...]:
        """Return the other ranks that a place belongs to."""
        return tuple(other for other in _ranks_of(self._program, place) if other != rank)

    def _arrivals(self, rank: int, place: Span | Multicast) -> Sequence[tuple[int, ...]]:
        """Return the other ranks that data goes to, those together that it reaches at once.

        Packets arrive at each rank by itself, because their readers wait for them.
        """
        others = self._others(rank, place)
        return [(other,) for other in others] if place.packets else [others] * bool(others)

    def _add_order(self, number: int, rank: int, instruction: Instruction) -> None:
        """Add what an instruction waits for, and what waits for it."""
        lists, first = self._lists, len(self._semaphores)
        for dependency in instruction.after:
            lists["after"].add(number, self._first_blocks[rank] + dependency.block)
            lists["after"].add(number, dependency.instruction)
        if instruction.waits:
            lists["waits"].extend(number, instruction.waits)
        if instruction.signals:
            lists["signals"].extend(number, instruction.signals)
            self._signalled.update(instruction.signals)
        if instruction.flushes:
            lists["flushes"].extend(number, instruction.flushes)
        if instruction.acquires:
            lists["acquires"].extend(number, (first + each for each in instruction.acquires))
        if instruction.releases:
            lists["releases"].extend(number, (first + each for each in instruction.releases))

    def _add_packets(self) -> int:
        """Add the cells of all packets, and return the number of cells: the parts of buffers where packets may be."""
        sizes: dict[tuple[int, Buffer], int] = {}
        for _, _, place in self._packets:
            for rank in _ranks_of(self._program, place):
                key = rank, place.buffer
                sizes[key] = max(sizes.get(key, 0), place.offset + place.count)
        begins = dict(zip(sizes, _sums(sizes.values()), strict=False))
        for name, number, place in self._packets:
            for rank in _ranks_of(self._program, place):
                self._lists[name].extend(number, (rank, begins[rank, place.buffer] + place.offset, place.count))
        return sum(sizes.values())

    def _flow(self, flow: RouteShare) -> int:
        return self.flows.setdefault(flow, len(self.flows))

    def _channel(self, place: int) -> tuple[int, int, int]:
        """Return whether a channel has a helper, its target and its slots."""
        slots = self._program.slots
        return int(place in self._ports), self._program.channels[place].target, _NONE if slots is None else slots

    def _channel_latencies(self) -> Reals:
        return _reals(
            self._latency(self._paths.between(each.source, each.target)) if place in self._signalled else 0.0
            for place, each in enumerate(self._program.channels)
        )

    def _latency(self, path: Multipath) -> float:
        return (self._costs.alpha_us + path.latency_us) * 1e-6


def _ranks_of(program: Program, place: Span | Multicast) -> tuple[int, ...]:
    return program.groups[place.group] if isinstance(place, Multicast) else (place.rank,)


def _sums(counts: Iterable[int]) -> list[int]:
    """Return 0 and the sums of the first counts."""
    sums = [0]
    for count in counts:
        sums.append(sums[-1] + count)
    return sums


def _numbers(values: list[int]) -> Numbers:
    return np.array(values, dtype=np.int32)


def _reals(values: Iterable[float]) -> Reals:
    return np.array(list(values), dtype=np.float64)
