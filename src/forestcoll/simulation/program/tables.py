"""A program as tables of numbers, for the native simulation."""

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

import numpy as np

from forestcoll.core.events import EventTables, Numbers, Reals, Rows
from forestcoll.program import Buffer, ChannelKind, Instruction, Message, Multicast, Program, Span
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.program.limits import Flow, limits_of
from forestcoll.simulation.program.paths import Paths

_NONE = -1
_COLUMNS = 6
_LISTS = (
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


class _Lists:
    """Lists of numbers, one for each instruction, that become `Rows`. Most of them are empty."""

    def __init__(self) -> None:
        self._rows, self._values = list[int](), list[int]()

    def add(self, row: int, *values: int) -> None:
        """Add values to the end of the list `row`; rows do not fall."""
        self._rows.extend([row] * len(values))
        self._values.extend(values)

    def rows(self, count: int) -> Rows:
        """Return the lists of `count` rows."""
        lengths = np.bincount(np.array(self._rows, dtype=np.int64), minlength=count)
        return np.concatenate(([0], np.cumsum(lengths))).astype(np.int32), _numbers(self._values)


class Encoder:
    """Makes the tables of a program. Blocks, semaphores, barriers and flows are numbered over all ranks.

    Attributes:
        flows: the number of each flow.
    """

    def __init__(self, program: Program, paths: Paths, costs: Costs) -> None:
        """Raises `InputError` if no path connects two ranks between which the program sends."""
        self.flows: dict[Flow, int] = {}
        self._program, self._paths, self._costs = program, paths, costs
        self._ports = {place for place, each in enumerate(program.channels) if each.kind is ChannelKind.PORT}
        self._first_blocks = _sums(len(each.blocks) for each in program.ranks)
        self._first_semaphores = _sums(len(each.semaphores) for each in program.ranks)
        self._barriers: dict[tuple[int, int], int] = {}
        self._cells = _cells(program)
        self._first_cells = dict(zip(self._cells, _sums(self._cells.values()), strict=False))

    def tables(self) -> EventTables:
        """Return the tables."""
        program, lists = self._program, {name: _Lists() for name in _LISTS}
        instructions: list[int] = []
        for number, (rank, block, _, each) in enumerate(program.instructions()):
            instructions += self._columns(rank, each)
            self._add_places(lists, number, each)
            self._add_order(lists, number, rank, each)
            if each.places:
                lists["transfers"].add(number, *map(self._flow, self._flows_of(rank, block, each)))
        rows = {name: each.rows(len(instructions) // _COLUMNS) for name, each in lists.items()}
        blocks = (len(block.instructions) for each in program.ranks for block in each.blocks)
        limits = limits_of(self._paths, list(self.flows), self._costs)
        links = _Lists()
        for flow, multipath in enumerate(limits.multipaths):
            links.add(flow, *multipath.links)
        tables = {
            "ranks": len(program.ranks),
            "barriers": len(self._barriers),
            "cells": sum(self._cells.values()),
            "block_starts": _numbers(_sums(blocks)),
            "instructions": _numbers(instructions),
            "channels": _numbers([value for place in range(len(program.channels)) for value in self._channel(place)]),
            "channel_latencies": self._channel_latencies(),
            "flow_targets": _numbers([flow.target for flow in self.flows]),
            "flow_latencies": np.array(
                [self._latency(flow.source, flow.target) for flow in self.flows], dtype=np.float64
            ),
            "semaphores": _numbers([start for each in program.ranks for start in each.semaphores]),
            "links": links.rows(len(self.flows)),
            "weights": _reals(weight for each in limits.multipaths for weight in each.weights),
            "bandwidths": np.ascontiguousarray(limits.bandwidths, dtype=np.float64),
        }
        return cast("EventTables", tables | rows)

    def _columns(self, rank: int, instruction: Instruction) -> tuple[int, ...]:
        """Return the chunks, those added to others, whether data moves, the helper, the barrier and its blocks."""
        moves = bool(instruction.sources or instruction.targets)
        count = instruction.count if moves else 0
        port = instruction.channel if moves and instruction.channel in self._ports else None
        barrier = instruction.barrier
        return (
            count,
            max(0, len(instruction.sources) - 1) * count,
            int(moves),
            _NONE if port is None else port,
            _NONE if barrier is None else self._barriers.setdefault((rank, barrier.number), len(self._barriers)),
            0 if barrier is None else barrier.blocks,
        )

    def _add_places(self, lists: Mapping[str, _Lists], number: int, instruction: Instruction) -> None:
        """Add the messages and packets that an instruction reads and writes."""
        for place in instruction.sources:
            if isinstance(place, Message):
                lists["received"].add(number, place.channel)
            elif isinstance(place, Span) and place.packets:
                lists["reads"].add(number, *self._packets(place))
        for place in instruction.targets:
            if isinstance(place, Message):
                lists["sent"].add(number, place.channel)
            elif place.packets:
                lists["writes"].add(number, *self._packets(place))

    def _add_order(self, lists: Mapping[str, _Lists], number: int, rank: int, instruction: Instruction) -> None:
        """Add what an instruction waits for, and what waits for it."""
        for dependency in instruction.after:
            lists["after"].add(number, self._first_blocks[rank] + dependency.block, dependency.instruction)
        if instruction.waits:
            lists["waits"].add(number, *instruction.waits)
        if instruction.signals:
            lists["signals"].add(number, *instruction.signals)
        if instruction.flushes:
            lists["flushes"].add(number, *instruction.flushes)
        if instruction.acquires:
            lists["acquires"].add(number, *self._semaphores(rank, instruction.acquires))
        if instruction.releases:
            lists["releases"].add(number, *self._semaphores(rank, instruction.releases))

    def _semaphores(self, rank: int, numbers: Iterable[int]) -> Iterator[int]:
        return (self._first_semaphores[rank] + number for number in numbers)

    def _flow(self, flow: Flow) -> int:
        return self.flows.setdefault(flow, len(self.flows))

    def _flows_of(self, rank: int, block: int, instruction: Instruction) -> list[Flow]:
        """Return the flow of each transfer of an instruction."""
        limited = self._costs.block_gbps is not None and instruction.channel not in self._ports
        pairs = _pairs(self._program, rank, instruction)
        return [Flow(source, target, (rank, block) if limited else None) for source, target in pairs]

    def _channel(self, place: int) -> tuple[int, int, int]:
        """Return whether a channel has a helper, its target and its slots."""
        slots = self._program.slots
        return int(place in self._ports), self._program.channels[place].target, _NONE if slots is None else slots

    def _channel_latencies(self) -> Reals:
        signalled = {channel for _, _, _, each in self._program.instructions() for channel in each.signals}
        return _reals(
            self._latency(each.source, each.target) if place in signalled else 0.0
            for place, each in enumerate(self._program.channels)
        )

    def _latency(self, source: int, target: int) -> float:
        return (self._costs.alpha_us + self._paths.between(source, target).latency_us) * 1e-6

    def _packets(self, place: Span | Multicast) -> Iterator[int]:
        """Yield rank, first cell and number of cells of the packets of a place, for each of its ranks."""
        for rank in _ranks_of(self._program, place):
            yield from (rank, self._first_cells[rank, place.buffer] + place.offset, place.count)


def _cells(program: Program) -> dict[tuple[int, Buffer], int]:
    """Return how many chunks of each buffer packets may be in."""
    cells: dict[tuple[int, Buffer], int] = {}
    for _, _, _, each in program.instructions():
        for place in each.places:
            if not isinstance(place, Message) and place.packets:
                for rank in _ranks_of(program, place):
                    key = rank, place.buffer
                    cells[key] = max(cells.get(key, 0), place.offset + place.count)
    return cells


def _ranks_of(program: Program, place: Span | Multicast) -> tuple[int, ...]:
    return program.groups[place.group] if isinstance(place, Multicast) else (place.rank,)


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
