"""What an export will take, from the size of the schedule alone: instructions, time, memory and files.

Each tree sends data to every other rank, so a program of trees has at least two instructions for each edge of a tree, a
send and a receive. All stages take time and memory in proportion to them.
"""

from math import isqrt

from forestcoll.base.errors import InputError
from forestcoll.base.progress import Progress
from forestcoll.base.resources import announce, size_text
from forestcoll.programs.lowering import least_instructions
from forestcoll.programs.lowering.options import MOST_INSTRUCTIONS
from forestcoll.programs.targets.target import Target
from forestcoll.schedule.schedule import Schedule


def announce_export(schedule: Schedule, target: Target, scale: int, progress: Progress) -> None:
    """Report what an export of a large schedule will take.

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
