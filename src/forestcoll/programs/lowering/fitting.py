"""Checks that a program stays within the limits of its target."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from forestcoll.programs.model import Message, Program
from forestcoll.programs.model.limits import Limits
from forestcoll.schedule.trees.value import TreeSchedule

_FEWER_PEERS = "fewer boxes, or a schedule in which a rank has fewer peers (generate --max-peers)"


@dataclass(frozen=True, slots=True)
class Excess:
    """A limit of the target that a program exceeds.

    Attributes:
        what: the name of the limit, in words.
        needed: what the program needs.
        allowed: the most that the target allows.
        where: the rank, and the block if it concerns one; may be empty.
        fits: what would fit, as the end of a sentence; may be empty.
    """

    what: str
    needed: int
    allowed: int
    where: str = ""
    fits: str = ""

    def __str__(self) -> str:
        place = f" on {self.where}" if self.where else ""
        fits = f"; what fits is {self.fits}" if self.fits else ""
        return f"it needs {self.needed} {self.what}{place}, and {self.allowed} is the most{fits}"


def too_many_ports(needed: int, most: int, rank: int) -> Excess:
    """Return the limit that a block exceeds which exchanges data with ranks of other boxes."""
    fits = f"fewer boxes, or the schedule of generate --max-peers {most}"
    return Excess("port channels of a block", needed, most, f"rank {rank}", fits)


def excess_of_trees(schedule: TreeSchedule, limits: Limits) -> Excess | None:
    """Return the limit that every one-sided program of a schedule exceeds, or None if its trees do not say so.

    One block exchanges the data of a tree with all ranks of other boxes that a rank has as children or, in a reduce, as
    parents of data. So no program fits if some rank has too many in each tree of a root.
    """
    nodes, most = schedule.topology.nodes, limits.channels_of_block
    ends = [(route[0], route[-1]) for route in schedule.routes]
    if most is None or not all(nodes[start].is_compute and nodes[end].is_compute for start, end in ends):
        return None
    boxes = [str(node.attributes.get("box")) for node in nodes]
    for phase in schedule.phases:
        least: dict[int, tuple[int, int]] = {}
        for tree in phase:
            far = [ends[route] for route in tree.routes if boxes[ends[route][0]] != boxes[ends[route][1]]]
            fans = Counter(start for start, _ in far) | Counter(end for _, end in far)
            node, fan = max(fans.items(), key=lambda each: (each[1], -each[0]), default=(tree.root, 0))
            least[tree.root] = min((fan, node), least.get(tree.root, (fan, node)))
        fan, node = max(least.values(), key=lambda each: (each[0], -each[1]), default=(0, 0))
        if fan > most:
            return too_many_ports(fan, most, schedule.members.index(node))
    return None


def lesser(one: Excess | None, other: Excess) -> Excess:
    """Return the one of the two that exceeds its limit by less."""
    return other if one is None or other.needed * one.allowed < one.needed * other.allowed else one


def excess_of(program: Program, limits: Limits) -> Excess | None:
    """Return the first limit of `limits` that `program` exceeds, or None."""
    return next(_excesses(program, limits), None)


def _excesses(program: Program, limits: Limits) -> Iterator[Excess]:
    if limits == Limits(name=limits.name):
        return
    yield from _more("chunks of the data", program.chunks, limits.chunks)
    for number, rank in enumerate(program.ranks):
        where = f"rank {number}"
        yield from _more("thread blocks", len(rank.blocks), limits.blocks, where)
        steps = [_steps(program, number, block, limits) for block in range(len(rank.blocks))]
        longest = max(range(len(steps)), key=steps.__getitem__, default=0)
        if steps:
            yield from _more("steps", steps[longest], limits.steps, f"{where}, block {longest}")
        yield from _more("steps and blocks", sum(steps) + len(steps), limits.steps_of_rank, where)
        counts = [each.count for block in rank.blocks for each in block.instructions]
        yield from _more("chunks in one instruction", max(counts, default=0), limits.count, where)
        if limits.dependency_block is not None:
            awaited = (each.block for block in rank.blocks for one in block.instructions for each in one.after)
            needed = 1 + max(awaited, default=0)
            yield from _more("blocks that others wait for", needed, limits.dependency_block + 1, where, _FEWER_PEERS)
    yield from _of_channels(program, limits)


def _more(what: str, needed: int, allowed: int | None, where: str = "", fits: str = "") -> Iterator[Excess]:
    if allowed is not None and needed > allowed:
        yield Excess(what, needed, allowed, where, fits)


def _steps(program: Program, rank: int, block: int, limits: Limits) -> int:
    """Return the number of steps of a block, including the steps that only wait for one more dependency."""
    listed = program.ranks[rank].blocks[block].instructions
    waits = len(listed) if limits.waits is None else limits.waits
    return len(listed) + sum(max(0, len(each.after) - waits) for each in listed)


def _of_channels(program: Program, limits: Limits) -> Iterator[Excess]:
    numbers = 1 + max((channel.number for channel in program.channels), default=-1)
    yield from _more("channel numbers", numbers, limits.channels)
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
