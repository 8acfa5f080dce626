"""What an export will take, from the size of the schedule alone: instructions, time, memory and files.

Each tree sends data to every other rank, so a program of trees has at least two instructions for each edge of a tree, a
send and a receive. All stages take time and memory in proportion to them.
"""

from math import isqrt

from forestcoll.base.errors import InputError
from forestcoll.base.progress import Progress
from forestcoll.base.resources import Cost, announce, size_text
from forestcoll.programs.formats.exporting import Target, least_instructions
from forestcoll.programs.lowering.options import MOST_INSTRUCTIONS
from forestcoll.schedule.schedule import Schedule

COSTS = {
    Target.CHAKRA: Cost(25e-6, 400),
    Target.ASTRA_SIM: Cost(25e-6, 400),
    Target.GOAL: Cost(80e-6, 2000),
    Target.MSCCL_XML: Cost(40e-6, 1700),
    Target.MSCCLPP_JSON: Cost(65e-6, 900),
}
"""What choosing, lowering, writing and checking an instruction takes (`benchmarks/large_exports.py`)."""

FILE_BYTES = {
    Target.CHAKRA: 75,
    Target.ASTRA_SIM: 75,
    Target.GOAL: 85,
    Target.MSCCL_XML: 120,
    Target.MSCCLPP_JSON: 85,
}
"""The bytes of an instruction in the files of each format."""


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
    size = size_text(count * FILE_BYTES[target])
    work = f"{name}: an export of about {count:,} instructions, in files of {size},"
    announce(work, COSTS[target] * count, progress, "use fewer ranks")
