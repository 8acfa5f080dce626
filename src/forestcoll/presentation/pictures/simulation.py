"""Pictures of simulations: bandwidth and time by data size, and a Gantt chart of thread blocks."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from forestcoll.base.units import size_name
from forestcoll.presentation.pictures.canvas import label, new_figure, save
from forestcoll.programs.model import Instruction, Message, Multicast, Program, Span
from forestcoll.simulation.costs import Point
from forestcoll.simulation.program.events import Timeline

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_ROWS = 96
"""The maximum number of thread blocks in a Gantt chart. If there are more, the chart shows the first ranks only."""

_COLOURS = {"send": "tab:blue", "receive": "tab:green", "receive and send": "tab:cyan", "local": "tab:orange"}


def plot_points(points: Sequence[Point], title: str, unit: str, limit: float, path: Path) -> None:
    """Draw bandwidth and time against data size into the file at `path`.

    Args:
        points: the simulated sizes.
        title: the title of the picture.
        unit: the unit of bandwidths.
        limit: the algbw of the schedule for large messages, in `unit`.
        path: the file to write.

    Raises:
        InputError: matplotlib is not installed, or the file cannot be written.
    """
    figure = new_figure(8, 8)
    upper, lower = figure.subplots(2, 1, sharex=True)
    sizes = [point.size for point in points]
    upper.plot(sizes, [point.algbw for point in points], marker="o", markersize=3, label="algbw")
    upper.plot(sizes, [point.busbw for point in points], marker="s", markersize=3, label="busbw")
    upper.axhline(limit, color="grey", linestyle="--", linewidth=1, label=f"algbw of the schedule, {limit:.4g}")
    upper.set(ylabel=f"bandwidth ({label(unit)})", title=label(title), ylim=(0, None))
    upper.legend(loc="upper left")
    lower.plot(sizes, [point.seconds * 1e6 for point in points], marker="o", markersize=3, color="tab:red")
    lower.set(xlabel="data M", ylabel="time (µs)", yscale="log")
    lower.set_xscale("log", base=10)
    ticks = [size for size in (10**power for power in range(13)) if sizes[0] <= size <= sizes[-1]]
    if ticks:
        lower.set_xticks(ticks, [size_name(size) for size in ticks], minor=False)
    for axes in (upper, lower):
        axes.grid(visible=True, alpha=0.3)
    save(figure, path)


def draw_gantt(program: Program, timeline: Timeline, title: str, path: Path) -> None:
    """Draw a Gantt chart of `program` into the file at `path`, with one row per thread block.

    Raises:
        InputError: matplotlib is not installed, or the file cannot be written.
    """
    rows = _rows(program)
    figure = new_figure(12, 1.6 + 0.12 * max(len(rows), 12))
    axes = figure.subplots()
    bars: dict[str, tuple[list[float], list[float], list[int]]] = {kind: ([], [], []) for kind in _COLOURS}
    for action in timeline.actions:
        row = rows.get((action.rank, action.block))
        if row is None:
            continue
        instruction = program.ranks[action.rank].blocks[action.block].instructions[action.instruction]
        begins, lengths, places = bars[_kind(action.rank, instruction)]
        begins.append(action.begin * 1e6)
        lengths.append((action.end - action.begin) * 1e6)
        places.append(row)
    for kind, (begins, lengths, places) in bars.items():
        if begins:
            colour = _COLOURS[kind]
            axes.barh(places, lengths, 0.8, begins, color=colour, edgecolor="white", linewidth=0.1, label=kind)
    _label_rows(axes, rows, len(program.ranks))
    axes.set(xlabel="time (µs)", title=label(title), xlim=(0, timeline.seconds * 1e6))
    axes.legend(loc="upper right", fontsize="small")
    save(figure, path)


def _rows(program: Program) -> dict[tuple[int, int], int]:
    """Return the row of each block that is drawn: the blocks of the first ranks, up to `MAX_ROWS` in total."""
    rows: dict[tuple[int, int], int] = {}
    for rank, each in enumerate(program.ranks):
        if rank and len(rows) + len(each.blocks) > MAX_ROWS:
            break
        rows |= {(rank, block): len(rows) + block for block in range(len(each.blocks))}
    return rows


def _label_rows(axes: "Axes", rows: dict[tuple[int, int], int], ranks: int) -> None:
    firsts = {rank: row for (rank, block), row in rows.items() if block == 0}
    counts = {rank: sum(each == rank for each, _ in rows) for rank in firsts}
    axes.set_yticks([row + (counts[rank] - 1) / 2 for rank, row in firsts.items()], [f"rank {each}" for each in firsts])
    for row in firsts.values():
        axes.axhline(row - 0.5, color="grey", linewidth=0.5)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    if len(firsts) < ranks:
        axes.set_ylabel(f"the first {len(firsts)} of {ranks} ranks, one row per block")
    else:
        axes.set_ylabel("one row per block")


def _kind(rank: int, instruction: Instruction) -> str:
    receives = any(_is_far(rank, place) for place in instruction.sources)
    sends = any(_is_far(rank, place) for place in instruction.targets)
    if receives and sends:
        return "receive and send"
    return "receive" if receives else "send" if sends else "local"


def _is_far(rank: int, place: Message | Multicast | Span) -> bool:
    return not isinstance(place, Span) or place.rank != rank
