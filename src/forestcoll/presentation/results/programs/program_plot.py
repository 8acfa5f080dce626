"""A Gantt chart of the thread blocks of a program in a simulated run."""

from pathlib import Path

from forestcoll.presentation.pictures.charts.gantt import Bar, gantt_chart
from forestcoll.presentation.pictures.charts.parts import headed
from forestcoll.presentation.pictures.raster import write_picture
from forestcoll.presentation.pictures.svg import text
from forestcoll.programs.model import Instruction, Message, Multicast, Program, Span
from forestcoll.simulation.program.events import Timeline

MAX_ROWS = 96
"""The maximum number of thread blocks in the chart. If there are more, the chart shows the first ranks only."""

_KINDS = ("send", "receive", "receive and send", "local")


def draw_gantt(program: Program, timeline: Timeline, title: str, path: Path) -> None:
    """Draw a Gantt chart of `program` into the file at `path`, with one row per thread block.

    Raises:
        InputError: the file cannot be written.
    """
    rows = _rows(program)
    bars = []
    for action in timeline.actions:
        row = rows.get((action.rank, action.block))
        if row is not None:
            instruction = program.ranks[action.rank].blocks[action.block].instructions[action.instruction]
            bars.append(Bar(row, action.begin * 1e6, action.end * 1e6, _kind(action.rank, instruction)))
    shown = sorted({rank for rank, _ in rows})
    names = [(f"rank {rank}", len(program.ranks[rank].blocks)) for rank in shown]
    count = len(program.ranks)
    note = f"the first {len(shown)} of {count} ranks, one row per block" if len(shown) < count else "one row per block"
    chart = gantt_chart(
        "Bars: the instructions of each block", ("time (µs)", timeline.seconds * 1e6), names, bars, _KINDS
    )
    write_picture(text(headed((title, note), chart)), path)


def _rows(program: Program) -> dict[tuple[int, int], int]:
    """Return the row of each block that is drawn: the blocks of the first ranks, up to `MAX_ROWS` in total."""
    rows: dict[tuple[int, int], int] = {}
    for rank, each in enumerate(program.ranks):
        if rank and len(rows) + len(each.blocks) > MAX_ROWS:
            break
        rows |= {(rank, block): len(rows) + block for block in range(len(each.blocks))}
    return rows


def _kind(rank: int, instruction: Instruction) -> int:
    """Return the number of the kind in `_KINDS`."""
    receives = any(_is_far(rank, place) for place in instruction.sources)
    sends = any(_is_far(rank, place) for place in instruction.targets)
    if receives and sends:
        return 2
    return 1 if receives else 0 if sends else 3


def _is_far(rank: int, place: Message | Multicast | Span) -> bool:
    return not isinstance(place, Span) or place.rank != rank
