"""What an export will take: instructions, time, memory and files.

Each tree sends data to every other rank, so a program of trees has at least two instructions for each edge of a tree, a
send and a receive. Making, writing and checking a program takes time and memory in proportion to them. What the search
takes is known when its first program is not fast enough: with one root, a search that finds no such program ends when
it has done all of its work (`Candidates.most_work`).
"""

from math import isqrt, prod

from forestcoll.base.errors import InputError
from forestcoll.base.progress import Progress
from forestcoll.base.resources import ResourceEstimate, announce, size_text
from forestcoll.base.units import size_name
from forestcoll.demand.collective import Collective
from forestcoll.programs.formats.sizes import ALIGNMENT
from forestcoll.programs.lowering import Style, least_instructions
from forestcoll.programs.lowering.options import MOST_INSTRUCTIONS
from forestcoll.programs.targets.target import RuntimeTarget, Target
from forestcoll.schedule.schedule import Schedule
from forestcoll.tuning.programs.candidates import Candidates
from forestcoll.tuning.programs.divisible import LEAST_BYTES

SECONDS_OF_WORK = 0.73e-6
"""The CPU time of a simulated instruction in a search, with all that it takes to make programs (`Candidates.work`)."""


def check_given(schedule: Schedule, target: RuntimeTarget, least_bytes: int = LEAST_BYTES) -> None:
    """Check that numbers which are given do not exceed what any program of a format has.

    A search would find this out after a long time.

    Args:
        schedule: the schedule.
        target: the format.
        least_bytes: the least size of M for which the runtime can use the program.

    Raises:
        InputError: they do.
    """
    given, limits = target.given, target.limits(len(schedule.topology.compute))
    name, chunks = schedule.topology.name, _least_chunks(schedule)
    in_plans = target.style is Style.ONE_SIDED
    names = [each for each in (("instances",) if in_plans else ("instances", "pieces")) if each in given]
    parts, text = prod(given[each] for each in names), ",".join(f"{each}={given[each]}" for each in names)
    most = least_bytes // ALIGNMENT // chunks
    if "chunks" not in given and most and parts > most:
        raise InputError(
            f"{name}: {text} makes {chunks * parts:,} chunks or more, and {size_name(least_bytes)}, for which programs "
            f"are made, have {least_bytes // ALIGNMENT:,} of {ALIGNMENT} bytes; "
            f"use at most {most}, or give chunks for larger data, as in chunks={chunks}"
        )
    if in_plans and limits.steps is not None and limits.blocks is not None:
        room, instances = limits.steps * limits.blocks, given.get("instances", 1)
        if instances > 1 and chunks * instances > room:
            raise InputError(
                f"{name}: instances={instances} needs {chunks * instances:,} operations of a rank or more, and "
                f"{limits.name} has {room:,}; use at most {room // chunks}"
            )
    if limits.channels is not None and (channels := given.get("channels", 1)) > limits.channels:
        raise InputError(f"{name}: channels={channels}, and {limits.name} has {limits.channels}; use at most so many")


def _least_chunks(schedule: Schedule) -> int:
    """Return the least number of chunks of a program: one for each rank that has a shard or a buffer of its own."""
    has_parts = schedule.collective.has_shards or schedule.collective is Collective.ALL_TO_ALL
    return len(schedule.members) if has_parts and schedule.shards is None else 1


def announce_search(space: Candidates) -> None:
    """Report what the rest of a search takes, unless it finds a program that is fast enough.

    Other searches than those for messages of one root end after a few moves, in less than half of their work.
    """
    if space.in_plans or not space.schedule.collective.has_root:
        return
    seconds = SECONDS_OF_WORK * (space.most_work - space.work)
    memory = space.target.cost.memory * space.most_instructions
    work = f"{space.schedule.topology.name}: the search for a faster program, unless it finds one that is fast enough,"
    announce(work, ResourceEstimate(seconds, memory), space.progress, "use fewer ranks")


def announce_export(schedule: Schedule, target: Target, scale: int, progress: Progress) -> None:
    """Report what an export of a large schedule will take without the search for a better program.

    Args:
        schedule: the schedule.
        target: the format.
        scale: the number of pieces times the number of instances.
        progress: receives the remark.

    Raises:
        InputError: the program would have more than `MOST_INSTRUCTIONS` instructions.
    """
    count, name = least_instructions(schedule) * scale, schedule.topology.name
    if count > MOST_INSTRUCTIONS:
        ranks = len(schedule.members)
        fits = isqrt(MOST_INSTRUCTIONS * ranks * ranks // count)
        fewer = f"at most about {fits} ranks, or fewer trees" if fits > 1 else "fewer trees"
        if scale > 1:
            parts = MOST_INSTRUCTIONS * scale // count
            fewer = f"at most about {parts} pieces and instances together" if parts else f"{fewer}, pieces or instances"
        raise InputError(
            f"{name}: the program would have about {count:,} instructions, and at most {MOST_INSTRUCTIONS:,} can be "
            f"checked; use {fewer}"
        )
    size = size_text(count * target.file_bytes)
    work = f"{name}: an export of about {count:,} instructions, in files of {size},"
    announce(work, target.cost * count, progress, "use fewer ranks")
