"""Converts an execution plan into a program that can be run.

A chunk of the file is cut into smaller ones, so that each round of a pipeline and each part of a thread-block group has
its own chunks: `_Scale`. The number of rounds of a pipeline depends on the size of the message. So the program has a
number of rounds that shows every possible interaction of rounds: `ROUNDS` for the shortest pipeline or, if the scratch
buffer is reused, enough rounds to reach its start again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, lcm
from types import MappingProxyType
from typing import NamedTuple

from forestcoll.base.errors import InputError
from forestcoll.programs.formats.letters import BUFFERS
from forestcoll.programs.formats.mscclpp import document
from forestcoll.programs.formats.mscclpp.document import (
    ChannelType,
    Chunks,
    ExecutionPlan,
    Gpu,
    Operation,
    OperationName,
)
from forestcoll.programs.formats.mscclpp.operations import REQUIREMENTS
from forestcoll.programs.formats.mscclpp.rules import TASKS, whereabouts
from forestcoll.programs.formats.roots import with_root
from forestcoll.programs.model import DeferredRanks, Task
from forestcoll.programs.model import program as model
from forestcoll.programs.model.construction import made_fast

ROUNDS = 2
"""The least number of rounds of a pipeline that are run: a round can affect only the rounds next to it."""

SCRATCH_BYTES = 2**26
"""The size in bytes of the scratch buffer of plans that reuse it (64 MiB)."""

_MOST_SCRATCH_ROUNDS = 64
"""The most rounds that are run until scratch is reused."""

_MOST_ROUNDS = 256
"""The most rounds of a pipeline that are run."""

MOST_AT_ONCE = 200_000
"""The ranks of a program of a plan with more operations are made when they are read."""

_KINDS = {ChannelType.MEMORY: model.ChannelKind.MEMORY, ChannelType.PORT: model.ChannelKind.PORT}
_Key = tuple[model.ChannelKind, int, int, int]


def to_program(plan: ExecutionPlan, *, root: int | None = None) -> model.Program:
    """Return the program of `plan`, which must keep the rules of `rules.RULES`.

    A step of the program is an operation of the file, with its number there, which also counts those of pipelines. The
    format names no root. Without `root`, the root is the only rank that receives nothing in a broadcast, or sends
    nothing in a reduce.

    Raises:
        InputError: there is no such root, or it cannot be determined.
    """
    return with_root(_Reading(plan).program(), root)


@dataclass(frozen=True, slots=True)
class _Scale:
    """The number of chunks of the program for one chunk of the file.

    Attributes:
        rounds: the rounds of the pipeline with the smallest rounds.
        parts: the number of parts into which thread-block groups divide a chunk, or the part of it that a round moves.
        scratch_rounds: the number of these rounds that have separate places in a scratch chunk.
        shortest: the unit of the lengths of pipelines: the chunks per byte that give `rounds`.
    """

    rounds: int
    parts: int
    scratch_rounds: int
    shortest: Fraction = Fraction(1)

    def turns(self, pipeline: Operation) -> int:
        """Return the number of rounds of a pipeline."""
        return int(self.rounds * Fraction(pipeline.pipeline_chunks, pipeline.unit_bytes) / self.shortest)

    def of(self, buffer: str) -> int:
        """Return the number of chunks of the program for one chunk of a buffer."""
        return self.parts * (self.scratch_rounds if buffer == "s" else self.rounds)


def _scale(plan: ExecutionPlan) -> _Scale:
    """Return the scale of a plan; the ratios of the rounds of its pipelines are those of any message.

    Raises:
        InputError: pipelines are too different for that.
    """
    parts = lcm(*(operation.share.parts for *_, operation in plan.operations() if operation.share is not None))
    pipelines = {each for *_, each in plan.operations() if each.name is OperationName.PIPELINE}
    if not pipelines:
        return _Scale(1, parts, 1)
    lengths = {Fraction(each.pipeline_chunks, each.unit_bytes) for each in pipelines}
    rounds, longest = _common_rounds(lengths)
    if rounds > _MOST_ROUNDS:
        raise InputError(f"{plan.name}: pipelines with too different numbers of rounds to be run; make unit_size alike")
    scratch = max((gpu.scratch_chunks for gpu in plan.gpus), default=0)
    units = {each.unit_bytes for each in pipelines}
    if plan.reuse_resources and scratch and len(lengths) == 1:
        again = SCRATCH_BYTES // (2 if plan.double_scratch else 1) // scratch // min(units)
        if 1 <= again <= _MOST_SCRATCH_ROUNDS:
            return _Scale(again + 1, parts, again, longest)
    return _Scale(rounds, parts, rounds, longest)


def _common_rounds(lengths: set[Fraction]) -> tuple[int, Fraction]:
    """Return the number of rounds of a chunk, and the length of the pipeline that has this number of rounds.

    `lengths` are the lengths of pipelines, in chunks per byte of a round; numbers of rounds are proportional to them.
    All numbers are integers that divide the result, and the least one is at least `ROUNDS`.
    """
    denominator = lcm(*(length.denominator for length in lengths))
    whole = [int(length * denominator) for length in lengths]
    common = lcm(*whole)
    return ROUNDS * common // gcd(*whole), Fraction(common, denominator)


class _Reading:
    """Converts one plan into a program: the tables of its channels and groups, and each operation."""

    def __init__(self, plan: ExecutionPlan) -> None:
        self._plan = plan
        self._scale = _scale(plan)
        self._channels = _channel_numbers(plan)
        self.numbers = {
            (gpu.rank, kind): _numbers_to_peers(gpu.peers(kind))
            for gpu in plan.gpus
            for kind in (ChannelType.MEMORY, ChannelType.PORT)
        }
        groups = sorted({tuple(sorted(switch.ranks)) for gpu in plan.gpus for switch in gpu.switches})
        self._groups = {group: number for number, group in enumerate(groups)}

    def program(self) -> model.Program:
        plan = self._plan
        task = TASKS.get(plan.collective, Task.CUSTOM)
        chunks = max(max(gpu.input_chunks, gpu.output_chunks) for gpu in plan.gpus) * self._scale.of("i")
        ranks = len(plan.gpus)
        return model.Program(
            name=plan.name,
            task=task,
            ranks=self._ranks(),
            channels=tuple(model.Channel(*key) for key in self._channels),
            chunks=chunks,
            shards=(chunks // ranks,) * ranks if task.has_shards else (),
            groups=tuple(self._groups),
            in_place=plan.in_place,
            out_of_place=not plan.in_place,
            protocol=model.Protocol(plan.protocol),
            slots=None,
        )

    def _ranks(self) -> Sequence[model.Rank]:
        """Return the ranks; those of a large plan are made when they are read."""
        gpus = self._plan.gpus
        if sum(len(block.operations) for gpu in gpus for block in gpu.blocks) < MOST_AT_ONCE:
            return tuple(map(self._rank, gpus))
        return DeferredRanks(lambda number: self._rank(gpus[number]), [len(gpu.blocks) for gpu in gpus])

    def _rank(self, gpu: Gpu) -> model.Rank:
        whole = max(gpu.input_chunks, gpu.output_chunks) if self._plan.in_place else 0
        return model.Rank(
            blocks=tuple(model.Block(tuple(self._block(gpu, block))) for block in gpu.blocks),
            input_chunks=(gpu.input_chunks or whole) * self._scale.of("i"),
            output_chunks=(gpu.output_chunks or whole) * self._scale.of("o"),
            scratch_chunks=gpu.scratch_chunks * self._scale.of("s"),
            semaphores=gpu.semaphores,
        )

    def _block(self, gpu: Gpu, block: document.Block) -> Iterator[model.Instruction]:
        """Yield what a block does; its threads are together at its start, and after each `nop` and barrier."""
        together = True
        for number, operation, turn in _unrolled(block, self._scale):
            if operation.name is OperationName.NOTHING:
                together = True
                continue
            if operation.name is OperationName.BARRIER:
                barrier = model.Barrier(operation.barrier, operation.barrier_blocks)
                yield model.Instruction(barrier=barrier, step=number)
                together = True
                continue
            yield from _OperationReader(self, gpu, block, operation, turn, number, together).instructions()
            together = False

    @property
    def plan(self) -> ExecutionPlan:
        return self._plan

    @property
    def scale(self) -> _Scale:
        return self._scale

    def channel(self, kind: ChannelType, source: int, target: int, number: int) -> int:
        """Return the index of a channel in the program."""
        return self._channels[_KINDS[kind], source, target, number]

    def any_channel(self, kind: ChannelType, source: int, target: int) -> int | None:
        """Return the index of the first channel of a type between two ranks; None if there is none."""
        return self._channels.get((_KINDS[kind], source, target, 0))

    def group(self, ranks: tuple[int, ...]) -> int:
        """Return the index of a group in the program."""
        return self._groups[tuple(sorted(ranks))]


class _Round(NamedTuple):
    """A round of a pipeline with several rounds."""

    number: int
    of: int


def _unrolled(block: document.Block, scale: _Scale) -> Iterator[tuple[int, Operation, _Round | None]]:
    """Yield operations with their numbers in the order in which the block does them, and the round in a pipeline."""
    number = 0
    for operation in block.operations:
        if operation.name is not OperationName.PIPELINE:
            yield number, operation, None
            number += 1
            continue
        turns = scale.turns(operation)
        for turn in range(turns):
            for place, each in enumerate(operation.operations):
                yield number + 1 + place, each, _Round(turn, turns)
        number += 1 + len(operation.operations)


def _channel_numbers(plan: ExecutionPlan) -> Mapping[_Key, int]:
    """Return the index of each one-way channel; channels are numbered by type and pair of ranks.

    The executor joins channel number i from rank a to b with number i from b to a. If one rank has fewer, the executor
    creates channels that are not used.
    """
    counts: dict[tuple[model.ChannelKind, int, int], int] = {}
    for gpu in plan.gpus:
        for kind in (ChannelType.MEMORY, ChannelType.PORT):
            for peer in gpu.peers(kind):
                key = _KINDS[kind], gpu.rank, peer
                counts[key] = counts.get(key, 0) + 1
        for remote in gpu.remote_buffers:  # memory that is accessed without a channel for signals
            if ChannelType.MEMORY in remote.access:
                counts.setdefault((model.ChannelKind.MEMORY, gpu.rank, remote.rank), 1)
    both = {
        (kind, *pair): max(count, counts.get((kind, target, source), 0))
        for (kind, source, target), count in counts.items()
        for pair in ((source, target), (target, source))
    }
    keys = [(*key, number) for key, count in both.items() for number in range(count)]
    return MappingProxyType(
        {key: place for place, key in enumerate(sorted(keys, key=lambda key: (key[0].value, *key[1:])))}
    )


def _numbers_to_peers(peers: tuple[int, ...]) -> list[int]:
    """Return, for each channel, its number among those that lead to the same rank."""
    seen: dict[int, int] = {}
    numbers = []
    for peer in peers:
        numbers.append(seen.get(peer, 0))
        seen[peer] = numbers[-1] + 1
    return numbers


@made_fast
@dataclass(frozen=True, slots=True)
class _OperationReader:
    """One operation of a block, in one round of a pipeline or in none.

    Its instructions have its `number`. If the threads are `together` before it, they are before its first instruction.
    """

    reading: _Reading
    gpu: Gpu
    block: document.Block
    operation: Operation
    turn: _Round | None
    number: int
    together: bool

    def instructions(self) -> Iterator[model.Instruction]:
        """Yield what the operation does."""
        operation = self.operation
        if operation.name is OperationName.ACQUIRE:
            yield model.Instruction(acquires=operation.semaphores, meets=self.together, step=self.number)
        elif operation.name is OperationName.RELEASE:
            yield model.Instruction(releases=operation.semaphores, meets=self.together, step=self.number)
        elif operation.sources:
            yield from self._moves()
        else:
            yield self._signal()

    def _signal(self) -> model.Instruction:
        name = self.operation.name
        relaxed = name in {OperationName.RELAXED_SIGNAL, OperationName.RELAXED_WAIT}
        if name in {OperationName.WAIT, OperationName.RELAXED_WAIT}:
            waits = tuple(self._channels(back=True))
            return model.Instruction(waits=waits, relaxed=relaxed, meets=self.together, step=self.number)
        channels = tuple(self._channels(back=False))
        if name is OperationName.FLUSH:
            return model.Instruction(flushes=channels, meets=self.together, step=self.number)
        return model.Instruction(signals=channels, relaxed=relaxed, meets=self.together, step=self.number)

    def _channels(self, *, back: bool) -> Iterator[int]:
        """Yield the channels of the program for `channel_ids`: those from this rank or, with `back`, those to it."""
        kind = self.operation.channel_type
        if kind is None:
            return
        peers = self.gpu.peers(kind)
        numbers = self.reading.numbers[self.gpu.rank, kind]
        for each in self.operation.channels:
            place = self.block.channels.of(kind)[each]
            pair = (peers[place], self.gpu.rank) if back else (self.gpu.rank, peers[place])
            yield self.reading.channel(kind, *pair, numbers[place])

    def _moves(self) -> Iterator[model.Instruction]:
        shape = REQUIREMENTS[self.operation.name]
        sources = [self._place(each, i, shape.packet_sources) for i, each in enumerate(self.operation.sources)]
        targets = [self._place(each, i, shape.packet_targets) for i, each in enumerate(self.operation.targets)]
        channels = list(self._channels(back=False)) if self.operation.channel_type is ChannelType.PORT else []
        if shape.paired:
            for i, (source, target) in enumerate(zip(sources, targets, strict=True)):
                yield self._move(i, (source,), (target,), channels[i] if channels else None)
        elif channels:
            for i, (channel, target) in enumerate(zip(channels, targets, strict=True)):
                yield self._move(i, tuple(sources), (target,), channel)
        else:
            yield self._move(0, tuple(sources), tuple(targets), None)

    def _move(
        self, turn: int, sources: tuple[model.Place, ...], targets: tuple[model.Place, ...], port: int | None
    ) -> model.Instruction:
        channel = self._memory_channel(sources + targets) if port is None else port
        name = self.operation.name
        signals = name in {OperationName.PUT_SIGNAL, OperationName.PUT_SIGNAL_FLUSH} and port is not None
        flushes = name is OperationName.PUT_SIGNAL_FLUSH and port is not None
        return model.Instruction(
            sources=sources,
            targets=targets,
            channel=channel,
            signals=(port,) if signals and port is not None else (),
            flushes=(port,) if flushes and port is not None else (),
            meets=self.together and not turn,
            step=self.number,
        )

    def _memory_channel(self, places: tuple[model.Place, ...]) -> int | None:
        """Return a memory channel to the first of `places` that belongs to another rank; None if none does."""
        for place in places:
            if isinstance(place, model.Span) and place.rank != self.gpu.rank:
                return self.reading.any_channel(ChannelType.MEMORY, self.gpu.rank, place.rank)
        return None

    def _place(self, chunks: Chunks, number: int, first_packet: int | None) -> model.Place:
        where = whereabouts(self.gpu, self.block, self.operation, chunks)
        rank, buffer = where if where is not None else (self.gpu.rank, "s")  # the rules guarantee that it is listed
        packets = first_packet is not None and number >= first_packet
        offset, count = self._range(chunks, buffer)
        if chunks.switch is None:
            return model.Span(rank, BUFFERS[buffer], offset, count, packets)
        switch = self.gpu.switches[self.block.channels.switch[chunks.switch]]
        return model.Multicast(self.reading.group(switch.ranks), BUFFERS[buffer], offset, count, packets)

    def _range(self, chunks: Chunks, buffer: str) -> tuple[int, int]:
        """Return the first chunk of the program and the number of chunks: all, those of a round, or a block's share."""
        scale = self.reading.scale
        begin, count = chunks.first * scale.of(buffer), chunks.size * scale.of(buffer)
        if self.turn is not None:
            count = chunks.size * scale.parts * scale.rounds // self.turn.of
            again = self.turn.of * scale.scratch_rounds // scale.rounds if buffer == "s" else self.turn.of
            begin += count * (self.turn.number % again)
        share = self.operation.share
        if share is not None:
            count //= share.parts
            begin += count * share.part
        return begin, count
