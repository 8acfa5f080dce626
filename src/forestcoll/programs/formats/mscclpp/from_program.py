"""Converts a program whose ranks access each other's memory into an execution plan of MSCCL++.

Each instruction becomes an operation, with a `nop` before it if the threads of its block must meet. Consecutive
instructions that one operation can do, such as puts of the same number of chunks, become one. A `Loop` of the program
becomes a pipeline; a chunk of the plan then stands for as many chunks of the program as the loop has rounds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, overload

from forestcoll.base.errors import InputError
from forestcoll.programs.formats.letters import LETTERS
from forestcoll.programs.formats.mscclpp import document
from forestcoll.programs.formats.mscclpp.document import (
    ChannelType,
    Chunks,
    ExecutionPlan,
    Gpu,
    Lists,
    Operation,
    OperationName,
    RemoteBuffer,
    SwitchChannel,
)
from forestcoll.programs.formats.mscclpp.operations import matches
from forestcoll.programs.formats.mscclpp.rules import MAX_CHANNELS_OF_OPERATION, TASKS
from forestcoll.programs.model import (
    Block,
    ChannelKind,
    Instruction,
    Message,
    Multicast,
    Place,
    Program,
    Protocol,
    Rank,
    Span,
    Task,
    instruction_count,
    instruction_name,
)

UNIT_BYTES = 2**17
"""The default size of the data that a round of a pipeline moves for each chunk: 128 KiB."""

MAX_PLACE = 2**32 - 1
"""The last byte of a buffer that the executor can address."""

MOST_AT_ONCE = 400_000
"""The ranks of the plan of a program with more instructions are made, and checked, when they are read."""

_Item = TypeVar("_Item")
_TYPES = {ChannelKind.MEMORY: ChannelType.MEMORY, ChannelKind.PORT: ChannelType.PORT}


def from_program(program: Program, *, unit_bytes: int = UNIT_BYTES) -> ExecutionPlan:
    """Return the plan for `program`; rounds of pipelines move `unit_bytes` for each chunk of the plan.

    The rules of the format are not checked here, but by `rules.plan_fault`.

    Raises:
        InputError: the format cannot express the program; the message names rank, block and step.
    """
    _check_expressible(program)
    names = {task: name for name, task in TASKS.items()}
    rounds = _rounds(program)
    tables = _Tables.of(program)
    gpus: Sequence[Gpu] = _Gpus(program, tables, rounds, unit_bytes)
    if instruction_count(program) < MOST_AT_ONCE:
        gpus = tuple(gpus)
    return ExecutionPlan(
        name=program.name,
        collective=names.get(program.task, program.task.value),
        protocol=program.protocol.value,
        in_place=program.in_place and not program.out_of_place,
        gpus=gpus,
        double_scratch=program.protocol is Protocol.LL,
        most_bytes=most_bytes(program),
    )


def most_bytes(program: Program) -> int:
    """Return the greatest size of a message, in bytes: the executor stores offsets within buffers in 32 bits.

    Packets take twice the space, in each half of the scratch buffer.
    """
    rounds = _rounds(program)
    sizes = [_sizes(rank, rounds) for rank in program.ranks]
    chunks = max(map(max, sizes))
    room = (MAX_PLACE + 1) // 4 if program.protocol is Protocol.LL else MAX_PLACE + 1
    message = sizes[0][1 if program.task is Task.ALLGATHER else 0]
    return room // chunks * message


def _check_expressible(program: Program) -> None:
    if len(set(program.shards)) > 1:
        raise InputError(
            f"MSCCL++ has shards of one size only; this {program.task.value} has some of {min(program.shards)} and of "
            f"{max(program.shards)} chunks"
        )
    if program.protocol is Protocol.LL128:
        raise InputError("MSCCL++ has no protocol LL128; use Simple or LL")
    for rank, block, place, instruction in program.instructions():
        if (what := _not_expressible(instruction)) is not None:
            raise InputError(f"{instruction_name(program, rank, block, place)}: MSCCL++ has no {what}")


def _not_expressible(instruction: Instruction) -> str | None:
    """Return what a plan has no operation for, as the end of a message; None if there is an operation for all."""
    if any(isinstance(each, Message) for each in instruction.places):
        return "messages; lower the schedule one-sided"
    return "dependencies between blocks but semaphores and barriers" if instruction.after else None


def _rounds(program: Program) -> int:
    """Return the number of rounds of the loops, which must be the same for all; 1 if there are none."""
    times = {loop.times for rank in program.ranks for block in rank.blocks for loop in block.loops}
    if len(times) > 1:
        raise InputError(f"{program.name}: has loops of {sorted(times)} rounds; in a plan they must be equal")
    return times.pop() if times else 1


@dataclass(frozen=True)
class _Tables:
    """The channels of each rank, numbered as in a plan.

    Attributes:
        peers: for each rank and type, the rank that each channel leads to.
        numbers: for each rank, and each channel of the program that starts or ends there, its number on that rank.
        switches: the channels of all groups. All ranks of a group have its channel, also those that do not use it, and
            in this order, because the loader connects them one after the other.
    """

    peers: dict[tuple[int, ChannelType], list[int]]
    numbers: dict[tuple[int, int], int]
    switches: tuple[SwitchChannel, ...]

    @staticmethod
    def of(program: Program) -> "_Tables":
        """Number the channels; the two channels between two ranks, one in each direction, get one number."""
        pairs: dict[tuple[ChannelKind, int, int, int], list[int]] = {}
        for place, channel in enumerate(program.channels):
            low, high = sorted((channel.source, channel.target))
            pairs.setdefault((channel.kind, low, high, channel.number), []).append(place)
        peers: dict[tuple[int, ChannelType], list[int]] = {}
        numbers: dict[tuple[int, int], int] = {}
        for kind, low, high, number in sorted(pairs, key=lambda key: (key[0].value, *key[1:])):
            for rank, peer in ((low, high), (high, low)):
                listed = peers.setdefault((rank, _TYPES[kind]), [])
                listed.append(peer)
                for place in pairs[kind, low, high, number]:
                    numbers[rank, place] = len(listed) - 1
        return _Tables(peers, numbers, tuple(dict.fromkeys(_switches(program))))


def _switches(program: Program) -> Iterator[SwitchChannel]:
    if not program.groups:
        return
    for *_, instruction in program.instructions():
        for place in instruction.places:
            if isinstance(place, Multicast):
                yield SwitchChannel(LETTERS[place.buffer], program.groups[place.group])


def _sizes(rank: Rank, rounds: int) -> tuple[int, int, int]:
    """Return the sizes of the input, the output and the scratch buffer in chunks of the plan."""
    return rank.input_chunks // rounds, rank.output_chunks // rounds, -(-rank.scratch_chunks // rounds)


@dataclass(frozen=True)
class _Gpus(Sequence[Gpu]):
    """The ranks of a plan, each made when it is read: those of a large program would take gigabytes together."""

    program: Program
    tables: "_Tables"
    rounds: int
    unit_bytes: int

    def __len__(self) -> int:
        return len(self.program.ranks)

    @overload
    def __getitem__(self, number: int) -> Gpu: ...
    @overload
    def __getitem__(self, number: slice) -> tuple[Gpu, ...]: ...
    def __getitem__(self, number: int | slice) -> Gpu | tuple[Gpu, ...]:
        if isinstance(number, slice):
            return tuple(self[each] for each in range(*number.indices(len(self))))
        return _gpu(self.program, range(len(self))[number], self.tables, self.rounds, self.unit_bytes)


def _gpu(program: Program, rank: int, tables: _Tables, rounds: int, unit_bytes: int) -> Gpu:
    each = program.ranks[rank]
    remote: dict[tuple[int, str], set[ChannelType]] = {}
    switches = [each for each in tables.switches if rank in each.ranks]
    blocks = []
    for number, block in enumerate(each.blocks):
        writer = _Writer(program, rank, number, tables, rounds, unit_bytes, remote, switches)
        blocks.append(writer.block(block))
    order = list(remote)
    inputs, outputs, scratch = _sizes(each, rounds)
    return Gpu(
        rank=rank,
        input_chunks=inputs,
        output_chunks=outputs,
        scratch_chunks=scratch,
        memory_peers=tuple(tables.peers.get((rank, ChannelType.MEMORY), ())),
        port_peers=tuple(tables.peers.get((rank, ChannelType.PORT), ())),
        switches=tuple(switches),
        remote_buffers=tuple(RemoteBuffer(*key, tuple(sorted(remote[key]))) for key in order),
        semaphores=each.semaphores,
        blocks=tuple(blocks),
    )


@dataclass
class _Writer:
    """One block while it is being written."""

    program: Program
    rank: int
    number: int
    tables: _Tables
    rounds: int
    unit_bytes: int
    remote: dict[tuple[int, str], set[ChannelType]]
    switches: list[SwitchChannel]
    channels: dict[ChannelType, list[int]] = field(default_factory=dict)
    buffers: dict[ChannelType, list[int]] = field(default_factory=dict)

    def block(self, block: Block) -> document.Block:
        """Return the block for the plan."""
        operations = tuple(_met(self._all(block)))
        return document.Block(self.number, self._lists(self.channels), self._lists(self.buffers), operations)

    def _lists(self, listed: dict[ChannelType, list[int]]) -> Lists:
        memory, port, switch = (
            tuple(listed.get(kind, ())) for kind in (ChannelType.MEMORY, ChannelType.PORT, ChannelType.SWITCH)
        )
        return Lists(memory, port, switch)

    def _all(self, block: Block) -> Iterator[tuple[bool, Operation]]:
        """Yield operations, each with a flag: whether the threads meet before it."""
        place = 0
        for loop in block.loops:
            yield from self._row(block.instructions[place : loop.first], place, self.rounds)
            place = loop.first + loop.length * loop.times
            inner = block.instructions[loop.first : loop.first + loop.length]
            yield False, self._pipeline(inner, loop.first)
        yield from self._row(block.instructions[place:], place, self.rounds)

    def _pipeline(self, instructions: Sequence[Instruction], first: int) -> Operation:
        operations = tuple(_met(self._row(instructions, first, 1), within=True))
        chunks = max(each.count for each in instructions) or 1
        unit = self.unit_bytes * chunks
        return Operation(OperationName.PIPELINE, unit_bytes=unit, pipeline_chunks=chunks, operations=operations)

    def _row(self, instructions: Sequence[Instruction], first: int, cut: int) -> Iterator[tuple[bool, Operation]]:
        """Yield the operations of consecutive instructions, joined if possible; `cut` of their chunks make one."""
        pending: tuple[bool, Operation] | None = None
        for place, instruction in enumerate(instructions, first):
            for meets, operation in self._operations(place, instruction, cut):
                joined = None if pending is None or meets else _joined(pending[1], operation)
                if pending is not None and joined is not None:
                    pending = pending[0], joined
                    continue
                if pending is not None:
                    yield pending
                pending = meets, operation
        if pending is not None:
            yield pending

    def _operations(self, place: int, instruction: Instruction, cut: int) -> Iterator[tuple[bool, Operation]]:
        meets = instruction.meets
        if instruction.barrier is not None:
            barrier = instruction.barrier
            yield meets, Operation(OperationName.BARRIER, barrier=barrier.number, barrier_blocks=barrier.blocks)
            return
        parts: list[Operation] = []
        if instruction.acquires:
            parts.append(Operation(OperationName.ACQUIRE, semaphores=instruction.acquires))
        if instruction.waits:
            name = OperationName.RELAXED_WAIT if instruction.relaxed else OperationName.WAIT
            parts += self._synchronising(name, instruction.waits)
        if parts and instruction.sources:
            yield from self._apart(parts, meets=meets)
            parts, meets = [], True
        signals, flushes = instruction.signals, instruction.flushes
        if instruction.sources:
            name, signals, flushes = self._name(place, instruction)
            yield meets, self._move(place, name, instruction, cut)
            meets = True
        if signals:
            name = OperationName.RELAXED_SIGNAL if instruction.relaxed else OperationName.SIGNAL
            parts += self._synchronising(name, signals)
        if flushes:
            parts += self._flushes(flushes)
        if instruction.releases:
            parts.append(Operation(OperationName.RELEASE, semaphores=instruction.releases))
        if not parts and not instruction.sources and meets:
            parts.append(Operation(OperationName.NOTHING))
        yield from self._apart(parts, meets=meets)

    def _apart(self, operations: list[Operation], *, meets: bool) -> Iterator[tuple[bool, Operation]]:
        for operation in operations:
            yield meets, operation
            meets = False

    def _synchronising(self, name: OperationName, channels: Sequence[int]) -> Iterator[Operation]:
        by_type: dict[ChannelType, list[int]] = {}
        for channel in channels:
            kind = _TYPES[self.program.channels[channel].kind]
            by_type.setdefault(kind, []).append(self._channel(channel))
        for kind, numbers in by_type.items():
            for begin in range(0, len(numbers), MAX_CHANNELS_OF_OPERATION):
                part = tuple(numbers[begin : begin + MAX_CHANNELS_OF_OPERATION])
                yield Operation(name, channel_type=kind, channels=part)

    def _flushes(self, channels: Sequence[int]) -> Iterator[Operation]:
        """Yield flushes with a `dst_buff` for each channel, because the kernel of 0.9 counts channels by `dst_buff`."""
        for operation in self._synchronising(OperationName.FLUSH, channels):
            yield operation._replace(targets=(Chunks(0, 1, buffer="o"),) * len(operation.channels))

    def _channel(self, channel: int) -> int:
        """Return the index of a channel of the program in the block's list; a new channel is added to the list."""
        kind = _TYPES[self.program.channels[channel].kind]
        return _listed(self.channels.setdefault(kind, []), self.tables.numbers[self.rank, channel])

    def _name(self, place: int, instruction: Instruction) -> tuple[OperationName, tuple[int, ...], tuple[int, ...]]:
        """Return the operation of an instruction that moves data, and the channels that it signals and flushes."""
        signals, flushes = instruction.signals, instruction.flushes
        name = _fitting(_letters(self.rank, instruction.sources), _letters(self.rank, instruction.targets))
        if name is None:
            where = instruction_name(self.program, self.rank, self.number, place)
            raise InputError(f"{where}: MSCCL++ has no operation with these sources and targets")
        if name is not OperationName.PUT or not self._by_port(instruction) or signals != self._one(instruction):
            return name, signals, flushes
        if flushes == signals:
            return OperationName.PUT_SIGNAL_FLUSH, (), ()
        return OperationName.PUT_SIGNAL, (), flushes

    def _one(self, instruction: Instruction) -> tuple[int, ...]:
        return () if instruction.channel is None else (instruction.channel,)

    def _by_port(self, instruction: Instruction) -> bool:
        if instruction.channel is None:
            return False
        return self.program.channels[instruction.channel].kind is ChannelKind.PORT

    def _move(self, place: int, name: OperationName, instruction: Instruction, cut: int) -> Operation:
        port = self._by_port(instruction)
        remote = any(isinstance(each, Span) and each.rank != self.rank for each in instruction.places)
        switch = any(isinstance(each, Multicast) for each in instruction.places)
        kind = ChannelType.SWITCH if switch else ChannelType.PORT if port else ChannelType.MEMORY if remote else None
        if kind is ChannelType.MEMORY and instruction.channel is not None:
            self._channel(instruction.channel)  # listed, as in the example plans of the runtime
        return Operation(
            name,
            sources=tuple(self._chunks(place, each, kind, cut) for each in _own_first(self.rank, instruction.sources)),
            targets=tuple(self._chunks(place, each, kind, cut) for each in _own_first(self.rank, instruction.targets)),
            channel_type=kind,
            channels=(self._channel(instruction.channel),) if port and instruction.channel is not None else (),
        )

    def _chunks(self, place: int, each: Place, kind: ChannelType | None, cut: int) -> Chunks:
        if isinstance(each, Message) or each.offset % self.rounds or each.count % cut:
            where = instruction_name(self.program, self.rank, self.number, place)
            raise InputError(f"{where}: its chunks are not whole chunks of a plan, of {self.rounds} each")
        first, size, buffer = each.offset // self.rounds, each.count // cut, LETTERS[each.buffer]
        if isinstance(each, Multicast):
            number = self.switches.index(SwitchChannel(buffer, self.program.groups[each.group]))
            return Chunks(first, size, switch=_listed(self.channels.setdefault(ChannelType.SWITCH, []), number))
        if each.rank == self.rank:
            return Chunks(first, size, buffer=buffer)
        return Chunks(first, size, remote=self._remote(each.rank, buffer, kind or ChannelType.MEMORY))

    def _remote(self, rank: int, buffer: str, kind: ChannelType) -> int:
        """Return the index of a buffer of another rank in the block's list for its type."""
        self.remote.setdefault((rank, buffer), set()).add(kind)
        number = list(self.remote).index((rank, buffer))
        return _listed(self.buffers.setdefault(kind, []), number)


def _listed(items: list[_Item], item: _Item) -> int:
    """Return the index of `item` in `items`; a new item is added."""
    if item not in items:
        items.append(item)
    return items.index(item)


def _own_first(rank: int, places: Sequence[Place]) -> list[Place]:
    """Return `places` ordered as operations require: the rank's own first, and plain data before packets."""
    return sorted(places, key=lambda each: _order(rank, each))


def _order(rank: int, place: Place) -> tuple[bool, bool]:
    own = isinstance(place, Span) and place.rank == rank
    return not own, not isinstance(place, Message) and place.packets


def _met(operations: Iterator[tuple[bool, Operation]], *, within: bool = False) -> Iterator[Operation]:
    """Yield operations, with a `nop` where the threads meet; a block starts with its threads together."""
    meeting = {OperationName.NOTHING, OperationName.BARRIER}
    together = not within
    for meets, operation in operations:
        if meets and not together and operation.name not in meeting:
            yield Operation(OperationName.NOTHING)
        yield operation
        together = operation.name in meeting


_PAIRS = {
    OperationName.PUT,
    OperationName.PUT_SIGNAL,
    OperationName.PUT_SIGNAL_FLUSH,
    OperationName.PUT_PACKETS,
}


def _joined(first: Operation, second: Operation) -> Operation | None:
    """Return one operation that does both, or None."""
    if (first.name, first.channel_type) != (second.name, second.channel_type):
        return None
    if first.name in {
        OperationName.SIGNAL,
        OperationName.WAIT,
        OperationName.RELAXED_SIGNAL,
        OperationName.RELAXED_WAIT,
    }:
        channels = first.channels + second.channels
        fits = len(channels) <= MAX_CHANNELS_OF_OPERATION and len(set(channels)) == len(channels)
        return first._replace(channels=channels) if fits else None
    sources = first.sources + second.sources
    alike = len({(each.size, each.buffer) for each in sources}) == 1
    if first.name in _PAIRS and alike and len(first.targets + second.targets) <= MAX_CHANNELS_OF_OPERATION:
        return first._replace(
            sources=first.sources + second.sources,
            targets=first.targets + second.targets,
            channels=first.channels + second.channels,
        )
    return None


@dataclass(frozen=True, slots=True)
class _Fitting:
    """The sources and targets that an operation that moves data supports.

    Each is a regular expression over letters, in the order of the operation: l plain data of the rank itself, p packets
    of the rank itself, r and q the same of another rank, s a switch, and t packets over a switch.
    """

    name: OperationName
    sources: str
    targets: str


def _fitting(sources: str, targets: str) -> OperationName | None:
    """Return the operation that supports sources and targets with these letters, or None."""
    for each in _NAMES:
        if matches(each.sources, sources) and matches(each.targets, targets):
            return each.name
    return None


def _letters(rank: int, places: Sequence[Place]) -> str:
    letters = []
    for each in _own_first(rank, places):
        if isinstance(each, Multicast):
            letters.append("t" if each.packets else "s")
        elif isinstance(each, Span):
            letters.append(("p" if each.packets else "l") if each.rank == rank else "q" if each.packets else "r")
        else:
            letters.append("m")
    return "".join(letters)


_NAMES = (
    _Fitting(OperationName.COPY, "l", "l"),
    _Fitting(OperationName.PUT, "l", "r"),
    _Fitting(OperationName.GET, "r", "l"),
    _Fitting(OperationName.REDUCE, "ll+", "l"),
    _Fitting(OperationName.REDUCE_SEND, "l+", "lr+"),
    _Fitting(OperationName.READ_REDUCE, "lr+", "l"),
    _Fitting(OperationName.READ_REDUCE_SEND, "lr+", "lr+"),
    _Fitting(OperationName.PUT_PACKETS, "l", "q"),
    _Fitting(OperationName.READ_PUT_PACKETS, "p", "q+"),
    _Fitting(OperationName.COPY_PACKETS, "l", "p"),
    _Fitting(OperationName.UNPACK_PACKETS, "p", "l"),
    _Fitting(OperationName.REDUCE_PACKETS, "lp+", "l"),
    _Fitting(OperationName.REDUCE_SEND_PACKETS, "lp+", "lq+"),
    _Fitting(OperationName.REDUCE_COPY_PACKETS, "lp+", "lp"),
    _Fitting(OperationName.REDUCE_COPY_SEND_PACKETS, "lp+", "lpq+"),
    _Fitting(OperationName.GROUP_REDUCE_STORE, "s", "s"),
    _Fitting(OperationName.GROUP_STORE, "l", "s"),
    _Fitting(OperationName.GROUP_STORE_PACKETS, "p", "t"),
)
