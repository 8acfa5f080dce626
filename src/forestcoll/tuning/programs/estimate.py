"""What an export will take, from the size of the schedule alone: instructions, time, memory and files.

Each tree sends data to every other rank, so a program of trees has at least two instructions for each edge of a tree, a
send and a receive. All stages take time and memory in proportion to them.
"""

from dataclasses import dataclass
from math import isqrt

from forestcoll.base import resources
from forestcoll.base.errors import InputError
from forestcoll.base.progress import Progress
from forestcoll.base.resources import Cost, size_text
from forestcoll.programs.formats.exporting import Target, least_instructions
from forestcoll.programs.lowering.options import MOST_INSTRUCTIONS
from forestcoll.schedule.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Price:
    """What an instruction takes, measured by `benchmarks/large_exports.py`.

    Attributes:
        seconds: CPU time for choosing, lowering, writing and checking.
        memory: bytes of memory.
        file: bytes of the files.
    """

    seconds: float
    memory: int
    file: int


PRICES = {
    Target.CHAKRA: Price(25e-6, 400, 75),
    Target.ASTRA_SIM: Price(60e-6, 600, 75),
    Target.GOAL: Price(80e-6, 2000, 85),
    Target.MSCCL_XML: Price(40e-6, 1700, 120),
    Target.MSCCLPP_JSON: Price(65e-6, 900, 85),
}
"""The price of an instruction in each format."""


def announce(schedule: Schedule, target: Target, scale: int, progress: Progress) -> None:
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
    price = PRICES[target]
    work = f"{name}: an export of about {count:,} instructions, in files of {size_text(count * price.file)},"
    resources.announce(work, Cost(count * price.seconds, count * price.memory), progress, "use fewer ranks")
