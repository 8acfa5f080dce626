"""Checks that a program is well formed: each number refers to an existing object, and each instruction is possible.

The interpreter relies on these rules. It checks whether the program computes the correct data.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeAlias

from forestcoll.base.errors import InputError, plural
from forestcoll.programs.model.fault import ProgramFault, block_name, fault_at
from forestcoll.programs.model.program import (
    Block,
    Buffer,
    Channel,
    ChannelKind,
    Dependency,
    Instruction,
    Loop,
    Message,
    Multicast,
    Place,
    Program,
    Rank,
    Span,
)
from forestcoll.programs.model.task import Task

Complaints: TypeAlias = Iterator[tuple[str, str]]
"""Pairs of a rule and a message, without the place."""


def check_well_formed(program: Program, *, where: str = "") -> None:
    """Do nothing if `program` is well formed.

    Raises:
        InputError: it is not; the message begins with `where`.
    """
    if fault := first_malformed(program):
        raise InputError(f"{where}: {fault}" if where else str(fault))


def first_malformed(program: Program) -> ProgramFault | None:
    """Return the first place of `program` that is not well formed, or None."""
    return next(_faults(program), None)


def _faults(program: Program) -> Iterator[ProgramFault]:
    yield from outline_faults(program)
    for number, rank in enumerate(program.ranks):
        yield from buffer_faults(program, number, rank)
        yield from (ProgramFault(*each, rank=number) for each in _of_barriers(rank))
    for number, block, place, instruction in program.instructions():
        for rule, message in _of_instruction(program, number, instruction):
            yield fault_at(rule, message, program, (number, block, place))
    yield from _of_channel_ends(program)
    for number, rank in enumerate(program.ranks):
        for place, block_ in enumerate(rank.blocks):
            if wrong := wrong_loop(block_):
                yield ProgramFault(*wrong, number, block_name(program, number, place))


def outline_faults(program: Program) -> Iterator[ProgramFault]:
    """Yield what is wrong with a program whatever its ranks do: its task, its channels, its groups."""
    return (ProgramFault(*each) for each in _of_program(program))


def buffer_faults(program: Program, number: int, rank: Rank) -> Iterator[ProgramFault]:
    """Yield what is wrong with the buffers and semaphores of rank number `number`."""
    return (ProgramFault(*each, rank=number) for each in _of_buffers(program, number, rank))


def _of_program(program: Program) -> Complaints:
    if not program.ranks:
        yield "ranks-none", "the program has no ranks"
    if program.chunks < 1:
        yield "chunks-none", f"the data has {program.chunks} chunks; it needs 1 or more"
    if not (program.in_place or program.out_of_place):
        yield "placement-none", "the program is for use neither in place nor out of place; it needs one of them"
    if program.slots is not None and program.slots < 1:
        yield "slots-none", f"FIFO channels hold {program.slots} messages; they need 1 or more"
    if program.slot_chunks < 1:
        yield "slots-none", f"a message has room for {program.slot_chunks} chunks; it needs 1 or more"
    yield from _of_task(program)
    for number, channel in enumerate(program.channels):
        yield from _of_channel(program, number, channel)
    if len(set(program.channels)) < len(program.channels):
        yield "channel-twice", "two channels have the same kind, ranks and number; number them differently"
    for number, group in enumerate(program.groups):
        if len(set(group)) < len(group) or not group or not all(0 <= rank < len(program.ranks) for rank in group):
            yield "group-ranks", f"group {number} has ranks {list(group)}; they must be different ranks of the program"


def _of_task(program: Program) -> Complaints:
    task, ranks = program.task, len(program.ranks)
    if task.has_root != (program.root is not None):
        yield "root-wrong", f"{task} {'needs a root' if task.has_root else f'has no root; {program.root} is given'}"
    elif program.root is not None and not 0 <= program.root < ranks:
        yield "root-wrong", f"the root is {program.root}; there are ranks 0 to {ranks - 1}"
    if task.has_shards != bool(program.shards):
        yield "shards-wrong", f"{task} {'needs a shard of each rank' if task.has_shards else 'has no shards'}"
    elif program.shards and (len(program.shards) != ranks or min(program.shards) < 0):
        yield (
            "shards-wrong",
            f"{len(program.shards)} shards are given; each of {ranks} ranks has one of 0 chunks or more",
        )
    elif program.shards and sum(program.shards) != program.chunks:
        yield "shards-wrong", f"the shards have {sum(program.shards)} chunks together; the data has {program.chunks}"
    elif task is Task.ALL_TO_ALL and len(set(program.shards)) != 1:
        yield "shards-wrong", "the shards of an alltoall are not equal"


def _of_channel(program: Program, number: int, channel: Channel) -> Complaints:
    ends, ranks = (channel.source, channel.target), len(program.ranks)
    if not all(0 <= end < ranks for end in ends) or channel.source == channel.target:
        names = f"from rank {channel.source} to rank {channel.target}"
        yield "channel-ends", f"channel {number} leads {names}; it needs two of the ranks 0 to {ranks - 1}"


def _of_buffers(program: Program, number: int, rank: Rank) -> Complaints:
    sizes = (rank.input_chunks, rank.output_chunks, rank.scratch_chunks)
    if min(sizes) < 0:
        yield "buffer-size", f"buffers have {sizes} chunks; they need 0 or more"
    if min(rank.semaphores, default=0) < 0:
        yield "semaphore-start", f"semaphores start with {rank.semaphores}; they need 0 or more"
    needs = data_chunks(program, number)
    for buffer, need in zip((Buffer.INPUT, Buffer.OUTPUT), needs, strict=True):
        have = buffer_chunks(rank, buffer)
        if program.out_of_place and have < need:
            yield "buffer-small", f"the {buffer} buffer has {have} chunks; {program.task} puts {need} there"


def _of_barriers(rank: Rank) -> Complaints:
    meetings: dict[int, set[int]] = {}
    for place, block in enumerate(rank.blocks):
        for barrier in (each.barrier for each in block.instructions if each.barrier is not None):
            meetings.setdefault(barrier.number, set()).add(place)
    for block in rank.blocks:
        for barrier in (each.barrier for each in block.instructions if each.barrier is not None):
            if len(meetings[barrier.number]) != barrier.blocks:
                come = f"{len(meetings[barrier.number])} blocks reach barrier {barrier.number}"
                yield "barrier-blocks", f"{come}; it is for {barrier.blocks}"


def data_chunks(program: Program, rank: int) -> tuple[int, int]:
    """Return the numbers of chunks of the input and of the output of this rank that the task uses."""
    task, whole = program.task, program.chunks
    at_root = whole if rank == program.root else 0
    shard = program.shards[rank] if program.shards else 0
    special = {
        Task.ALLGATHER: (shard, whole),
        Task.REDUCE_SCATTER: (whole, shard),
        Task.BROADCAST: (at_root, whole),
        Task.REDUCE: (whole, at_root),
        Task.CUSTOM: (0, 0),
    }
    return special.get(task, (whole, whole))


def buffer_chunks(rank: Rank, buffer: Buffer) -> int:
    """Return the size of a buffer in chunks, as the program states it."""
    if buffer is Buffer.INPUT:
        return rank.input_chunks
    return rank.output_chunks if buffer is Buffer.OUTPUT else rank.scratch_chunks


def _of_instruction(program: Program, rank: int, instruction: Instruction) -> Complaints:
    for place in instruction.sources:
        yield from _of_place(program, rank, instruction, place, receives=True)
    for place in instruction.targets:
        yield from _of_place(program, rank, instruction, place, receives=False)
    if len({place.count for place in instruction.places}) > 1:
        counts = ", ".join(str(place.count) for place in instruction.places)
        yield "counts-differ", f"its places have {counts} chunks; they must have the same number"
    if bool(instruction.sources) != bool(instruction.targets):
        yield "half-done", "it has sources or targets, but not both"
    for messages in (instruction.sources, instruction.targets):
        if len(messages) > 1 and sum(isinstance(place, Message) for place in messages) > 1:
            yield "messages-two", "it receives or sends two messages at once"
    if instruction.channel is not None:
        yield from _of_port(program, instruction, instruction.channel)
    yield from _of_waiting(program, rank, instruction)
    if instruction.barrier is not None and instruction != Instruction(
        barrier=instruction.barrier, meets=instruction.meets, step=instruction.step
    ):
        yield "barrier-busy", "an instruction with a barrier has other parts"


def _of_place(program: Program, rank: int, instruction: Instruction, place: Place, *, receives: bool) -> Complaints:
    if place.count < 1:
        yield "count-none", f"it moves {place.count} chunks; it needs 1 or more"
    if isinstance(place, Message):
        yield from _of_message(program, rank, place, receives=receives)
    elif isinstance(place, Multicast):
        yield from _of_multicast(program, rank, place)
    else:
        yield from _of_span(program, rank, instruction, place)


def _of_message(program: Program, rank: int, message: Message, *, receives: bool) -> Complaints:
    channel = _channel(program, message.channel)
    if channel is None or channel.kind is not ChannelKind.FIFO:
        yield "channel-unknown", f"it uses channel {message.channel} for a message; that is not a FIFO channel"
    elif (end := channel.target if receives else channel.source) != rank:
        what = "receives from" if receives else "sends to"
        yield "channel-foreign", f"it {what} channel {message.channel}, whose end there is rank {end}"


def _of_multicast(program: Program, rank: int, place: Multicast) -> Complaints:
    if not 0 <= place.group < len(program.groups):
        yield "group-unknown", f"it uses group {place.group}; there are {len(program.groups)}"
    elif rank not in program.groups[place.group]:
        yield "group-foreign", f"it uses group {place.group}, which it does not belong to"
    else:
        for member in program.groups[place.group]:
            yield from _of_range(program, Span(member, place.buffer, place.offset, place.count))


def _of_span(program: Program, rank: int, instruction: Instruction, span: Span) -> Complaints:
    if not 0 <= span.rank < len(program.ranks):
        yield "rank-unknown", f"it uses memory of rank {span.rank}; there are {len(program.ranks)} ranks"
    else:
        yield from _of_range(program, span)
        if span.rank != rank and not _reaches(program, rank, instruction, span):
            yield "span-unreachable", f"it uses memory of rank {span.rank} without a channel that leads there"


def _reaches(program: Program, rank: int, instruction: Instruction, span: Span) -> bool:
    """Return whether the channel of an instruction of `rank` allows it to use the span of another rank."""
    channel = None if instruction.channel is None else _channel(program, instruction.channel)
    leads = channel is not None and channel.kind is not ChannelKind.FIFO
    if channel is not None and leads and (channel.source, channel.target) == (rank, span.rank):
        return True
    return channel is not None and channel.kind is ChannelKind.MEMORY and _by_memory(program, rank, span.rank)


def _by_memory(program: Program, source: int, target: int) -> bool:
    """Return whether a MEMORY channel leads from one rank to another, so that its memory can be reached."""
    return any(
        channel.kind is ChannelKind.MEMORY and (channel.source, channel.target) == (source, target)
        for channel in program.channels
    )


def _of_range(program: Program, span: Span) -> Complaints:
    size = buffer_chunks(program.ranks[span.rank], span.buffer)
    if span.offset < 0 or span.offset + span.count > size:
        chunks = f"chunks {span.offset} to {span.offset + span.count - 1}"
        yield "span-outside", f"it uses {chunks} of the {span.buffer} buffer of rank {span.rank}, which has {size}"


def _of_port(program: Program, instruction: Instruction, number: int) -> Complaints:
    channel = _channel(program, number)
    if channel is None:
        yield "channel-unknown", f"it uses channel {number}; there are {len(program.channels)}"
    if channel is None or channel.kind is not ChannelKind.PORT or not instruction.places:
        return
    source, target = instruction.sources[:1], instruction.targets[:1]
    copies = len(instruction.sources) == len(instruction.targets) == 1
    if not copies or not all(isinstance(place, Span) for place in source + target):
        yield "port-computes", "a PORT channel can only copy one span of chunks to another"
    elif any(isinstance(place, Span) and place.rank != channel.source for place in source):
        yield "port-reads", "it reads the other rank's memory over a PORT channel, which can only write there"


def _of_waiting(program: Program, rank: int, instruction: Instruction) -> Complaints:
    if instruction.waits or instruction.signals or instruction.flushes:
        yield from _of_signals(program, rank, instruction)
    semaphores = len(program.ranks[rank].semaphores)
    for semaphore in instruction.acquires + instruction.releases:
        if not 0 <= semaphore < semaphores:
            yield "semaphore-unknown", f"it uses semaphore {semaphore}; the rank has {semaphores}"
    for dependency in instruction.after:
        yield from _of_dependency(program.ranks[rank], dependency)


def _of_signals(program: Program, rank: int, instruction: Instruction) -> Complaints:
    for number in instruction.waits + instruction.signals + instruction.flushes:
        channel = _channel(program, number)
        if channel is None or channel.kind is ChannelKind.FIFO:
            yield "channel-unknown", f"it uses channel {number} for signals; that is not a MEMORY or PORT channel"
        elif number in instruction.flushes and channel.kind is not ChannelKind.PORT:
            yield "flush-needless", f"it flushes channel {number}, which is not a PORT channel"
        elif any(end != rank for end in _used_ends(instruction, number, channel)):
            path = f"leads from rank {channel.source} to rank {channel.target}"
            yield "channel-foreign", f"it signals, flushes or waits on the wrong end of channel {number}, which {path}"


def _used_ends(instruction: Instruction, number: int, channel: Channel) -> Iterator[int]:
    """Yield the ranks at the ends of channel number `number` where the instruction signals, flushes or waits."""
    if number in instruction.signals + instruction.flushes:
        yield channel.source
    if number in instruction.waits:
        yield channel.target


def _of_dependency(rank: Rank, dependency: Dependency) -> Complaints:
    if not 0 <= dependency.block < len(rank.blocks):
        yield "dependency-unknown", f"it depends on block {dependency.block}; the rank has {len(rank.blocks)}"
    elif not 0 <= dependency.instruction < (steps := len(rank.blocks[dependency.block].instructions)):
        name = f"step {dependency.instruction} of block {dependency.block}"
        yield "dependency-unknown", f"it depends on {name}, which has {plural(steps, 'step')}"


def _channel(program: Program, number: int) -> Channel | None:
    return program.channels[number] if 0 <= number < len(program.channels) else None


def _of_channel_ends(program: Program) -> Iterator[ProgramFault]:
    """Find channels that two blocks use at the same end; the order of the two blocks would be random."""
    users: dict[tuple[int, str], int] = {}
    for rank, block, place, instruction in program.instructions():
        for end in _ends(program, instruction):
            if users.setdefault(end, block) != block:
                other = block_name(program, rank, users[end])
                message = f"it {end[1]} channel {end[0]}, and so does block {other}; only one block may"
                yield fault_at("channel-shared", message, program, (rank, block, place))


def _ends(program: Program, instruction: Instruction) -> Iterator[tuple[int, str]]:
    for place in instruction.sources:
        if isinstance(place, Message):
            yield place.channel, "receives from"
    for place in instruction.targets:
        if isinstance(place, Message):
            yield place.channel, "sends to"
    yield from ((channel, "waits on") for channel in instruction.waits)
    handed = (instruction.channel,) if instruction.channel is not None and instruction.places else ()
    ported = (each for each in handed if program.channels[each].kind is ChannelKind.PORT)
    for channel in (*instruction.signals, *instruction.flushes, *ported):
        yield channel, "hands to" if program.channels[channel].kind is ChannelKind.PORT else "signals over"


def wrong_loop(block: Block) -> tuple[str, str] | None:
    """Return the rule and the message of the first loop that is wrong, or None."""
    end = 0
    for loop in block.loops:
        last = loop.first + loop.length * loop.times
        if loop.first < end or loop.length < 1 or loop.times < 2 or last > len(block.instructions):
            return "loop-range", f"the loop from step {loop.first} does not fit behind step {end} of the block"
        end = last
        for place in range(loop.first + loop.length, last):
            if block.instructions[place] != looped(block, loop, place - loop.first):
                return "loop-differs", f"step {place} differs from the step of the loop from step {loop.first}"
    return None


def looped(block: Block, loop: Loop, place: int) -> Instruction:
    """Return what instruction number `place` of a loop, counted from its first, must be, given its first round."""
    turn, within = divmod(place, loop.length)
    first = block.instructions[loop.first : loop.first + loop.length]
    instruction = first[within]
    begin = sum(len(each.after) for each in first[:within])
    strides = loop.strides[begin : begin + len(instruction.after)]
    after = tuple(
        replace(each, instruction=each.instruction + turn * stride)
        for each, stride in zip(instruction.after, strides, strict=False)
    )
    return replace(instruction.moved(turn), after=after)
