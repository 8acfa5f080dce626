"""Programs of those that take part: a runtime's communicator has no others, and counts them from 0."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from forestcoll.errors import NoSolutionError
from forestcoll.program import Block, Channel, Instruction, Message, Multicast, Place, Program, Rank


def of_members(program: Program, members: Sequence[int]) -> Program:
    """Return `program` with the ranks `members` only, renumbered in their order.

    Raises:
        NoSolutionError: another rank has something to do: it relays data, which no communicator of the members can.
    """
    for rank, block, _, instruction in program.instructions():
        if rank not in members and _does_something(instruction):
            what = f"rank {rank} of the network takes no part, but relays data (block {block})"
            raise NoSolutionError(f"{program.name}: {what}; programs cannot, so generate it with --no-relays")
    numbers = {rank: number for number, rank in enumerate(members)}
    kept = [i for i, each in enumerate(program.channels) if each.source in numbers and each.target in numbers]
    channels = {old: new for new, old in enumerate(kept)}
    return replace(
        program,
        ranks=tuple(_rank(program.ranks[rank], numbers, channels) for rank in members),
        channels=tuple(_channel(program.channels[old], numbers) for old in kept),
        shards=tuple(program.shards[rank] for rank in members) if program.shards else (),
        root=None if program.root is None else numbers[program.root],
        groups=tuple(tuple(numbers[rank] for rank in group) for group in program.groups),
    )


def _does_something(instruction: Instruction) -> bool:
    return bool(instruction.places or instruction.waits or instruction.signals)


def _channel(channel: Channel, numbers: Mapping[int, int]) -> Channel:
    return replace(channel, source=numbers[channel.source], target=numbers[channel.target])


def _rank(rank: Rank, numbers: Mapping[int, int], channels: Mapping[int, int]) -> Rank:
    blocks = tuple(
        replace(block, instructions=tuple(_instruction(each, numbers, channels) for each in block.instructions))
        for block in rank.blocks
    )
    return replace(rank, blocks=_alive(blocks))


def _alive(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return blocks if any(block.instructions for block in blocks) else ()


def _instruction(each: Instruction, numbers: Mapping[int, int], channels: Mapping[int, int]) -> Instruction:
    return replace(
        each,
        sources=tuple(_place(place, numbers, channels) for place in each.sources),
        targets=tuple(_place(place, numbers, channels) for place in each.targets),
        channel=None if each.channel is None else channels[each.channel],
        waits=tuple(channels[channel] for channel in each.waits),
        signals=tuple(channels[channel] for channel in each.signals),
        flushes=tuple(channels[channel] for channel in each.flushes),
    )


def _place(place: Place, numbers: Mapping[int, int], channels: Mapping[int, int]) -> Place:
    if isinstance(place, Message):
        return replace(place, channel=channels[place.channel])
    return place if isinstance(place, Multicast) else replace(place, rank=numbers[place.rank])
