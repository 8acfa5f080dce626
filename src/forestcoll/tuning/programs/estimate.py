"""What an export will take: instructions, time, memory and files.

Each tree sends data to every other rank, so a program of trees has at least two instructions for each edge of a tree, a
send and a receive. Making, writing and checking a program takes time and memory in proportion to them. What the search
takes is known when its first program is not fast enough: with one root, a search that finds no such program ends when
it has done all of its work (`Candidates.most_work`).
"""

from math import isqrt

from forestcoll.base.errors import InputError
from forestcoll.base.progress import Progress
from forestcoll.base.resources import ResourceEstimate, announce, size_text
from forestcoll.programs.lowering import least_instructions
from forestcoll.programs.lowering.options import MOST_INSTRUCTIONS
from forestcoll.programs.targets.target import Target
from forestcoll.schedule.schedule import Schedule
from forestcoll.tuning.programs.candidates import Candidates

SECONDS_OF_WORK = 0.73e-6
"""The CPU time of a simulated instruction in a search, with all that it takes to make programs (`Candidates.work`)."""


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
        raise InputError(
            f"{name}: the program would have about {count:,} instructions, and at most {MOST_INSTRUCTIONS:,} can be "
            f"checked; use {fewer}, pieces or instances"
        )
    size = size_text(count * target.file_bytes)
    work = f"{name}: an export of about {count:,} instructions, in files of {size},"
    announce(work, target.cost * count, progress, "use fewer ranks")
