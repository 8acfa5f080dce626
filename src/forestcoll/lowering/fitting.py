"""Whether a program stays within the figures of its target."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from forestcoll.program import ChannelKind, Message, Program
from forestcoll.program.limits import Limits


@dataclass(frozen=True, slots=True)
class Excess:
    """What of a program does not fit.

    Attributes:
        what: the figure, in words.
        needed: what the program needs.
        allowed: what the target takes.
        where: the rank, and the block if it is about one; may be empty.
    """

    what: str
    needed: int
    allowed: int
    where: str = ""

    def __str__(self) -> str:
        place = f" on {self.where}" if self.where else ""
        return f"it needs {self.needed} {self.what}{place}, and {self.allowed} is the most"


def excess_of(program: Program, limits: Limits) -> Excess | None:
    """Return the first figure of `limits` that `program` goes beyond, or None."""
    return next(_excesses(program, limits), None)


def _excesses(program: Program, limits: Limits) -> Iterator[Excess]:
    yield from _more("chunks of the data", program.chunks, limits.chunks)
    yield from _of_channels(program, limits)
    for number, rank in enumerate(program.ranks):
        where = f"rank {number}"
        yield from _more("thread blocks", len(rank.blocks), limits.blocks, where)
        steps = [_steps(program, number, block, limits) for block in range(len(rank.blocks))]
        longest = max(range(len(steps)), key=steps.__getitem__, default=0)
        if steps:
            yield from _more("steps", steps[longest], limits.steps, f"{where}, block {longest}")
        yield from _more("steps and blocks", sum(steps) + len(steps), limits.steps_of_rank, where)
        yield from _of_peers(program, number, limits)
        counts = [each.count for block in rank.blocks for each in block.instructions]
        yield from _more("chunks in one instruction", max(counts, default=0), limits.count, where)


def _of_peers(program: Program, rank: int, limits: Limits) -> Iterator[Excess]:
    if limits.channels_of_block is None:
        return
    for number, block in enumerate(program.ranks[rank].blocks):
        used: set[tuple[ChannelKind, int, int]] = set()
        for each in block.instructions:
            handed = () if each.channel is None else (each.channel,)
            for channel in (program.channels[place] for place in (*each.waits, *each.signals, *each.flushes, *handed)):
                peer = channel.target if channel.source == rank else channel.source
                used.add((channel.kind, peer, channel.number))
        counts = Counter(kind for kind, *_ in used)
        for kind, count in counts.items():
            where = f"rank {rank}, block {number}"
            yield from _more(f"{kind} channels", count, limits.channels_of_block, where)


def _more(what: str, needed: int, allowed: int | None, where: str = "") -> Iterator[Excess]:
    if allowed is not None and needed > allowed:
        yield Excess(what, needed, allowed, where)


def _steps(program: Program, rank: int, block: int, limits: Limits) -> int:
    """Return how many steps a block has: a loop's once, with those that only wait for one more dependency.

    Where threads need a step of their own to meet, as `limits.meetings` says, that is one too.
    """
    listed = program.ranks[rank].blocks[block].instructions
    for loop in reversed(program.ranks[rank].blocks[block].loops):
        listed = listed[: loop.first + loop.length] + listed[loop.first + loop.length * loop.times :]
    more = 0 if limits.waits is None else sum(max(0, len(each.after) - limits.waits) for each in listed)
    meetings = sum(each.meets for each in listed) if limits.meetings else 0
    return len(listed) + more + meetings + len(program.ranks[rank].blocks[block].loops)


def _of_channels(program: Program, limits: Limits) -> Iterator[Excess]:
    numbers = {channel.number for channel in program.channels}
    yield from _more("channel numbers", len(numbers), limits.channels)
    senders: dict[tuple[int, int, bool], set[int]] = {}
    for rank, block, _, instruction in program.instructions():
        for sends, places in ((False, instruction.sources), (True, instruction.targets)):
            for place in places:
                if isinstance(place, Message):
                    number = program.channels[place.channel].number
                    senders.setdefault((rank, number, sends), set()).add(block)
    for (rank, number, sends), blocks in senders.items():
        what = f"blocks that {'send' if sends else 'receive'} on channel number {number}"
        yield from _more(what, len(blocks), limits.blocks_per_channel, f"rank {rank}")
