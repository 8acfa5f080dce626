"""How long a schedule takes by size of message, as a table, as JSON, and as the titles of pictures."""

from collections.abc import Sequence
from pathlib import Path

from forestcoll.pictures.simulation import plot_points
from forestcoll.presentation.tables import Column, Page, Table
from forestcoll.presentation.text import duration, printable
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation import Point
from forestcoll.simulation.loads import Loads
from forestcoll.units import size_name

_MOST_LINKS = 6
_SAME_TIME = 1 - 1e-9
"""Links whose utilisations differ by less than this factor are equally busy: they are floats."""


def schedule_title(schedule: Schedule) -> str:
    """Return what a schedule is, in one line."""
    return f"{printable(schedule.topology.name)}: {schedule.collective} over {len(schedule.members)} compute nodes"


def run_title(schedule: Schedule, size: int, pieces: int) -> str:
    """Return the title of a picture of one run."""
    return f"{schedule_title(schedule)}, {size_name(size)} in {pieces} piece{'s' * (pieces > 1)}"


def plot_of(schedule: Schedule, points: Sequence[Point], algbw: float, path: Path) -> None:
    """Draw bandwidth and time by size; `algbw` is what large messages approach.

    Raises:
        InputError: matplotlib is not installed, or the file cannot be written.
    """
    plot_points(points, schedule_title(schedule), schedule.topology.bandwidth_unit, algbw, path)


def points_document(points: Sequence[Point]) -> list[dict[str, object]]:
    """Return the JSON list of the times of all sizes."""
    return _points(points).documents()


def simulation_page(schedule: Schedule, points: Sequence[Point], loads: Loads, algbw: float) -> Page:
    """Return what a person reads of the times of a schedule.

    Args:
        schedule: the schedule that was simulated.
        points: its time for each size; the last one is that of which links are named.
        loads: how much crosses each link.
        algbw: what large messages approach, in the unit of the network.
    """
    unit = printable(schedule.topology.bandwidth_unit)
    note = f"Bandwidths in {unit}; the schedule's algbw, for large messages, is {algbw:.6g}."
    return Page(schedule_title(schedule), (_points(points, note), _busiest(points[-1], loads)))


def _points(points: Sequence[Point], *notes: str) -> Table:
    columns = (
        Column("size", size_name, right=True, key="size"),
        Column("time", duration, right=True, key="time_us"),
        Column("algbw", "{:.4g}".format, right=True, key="algbw"),
        Column("busbw", "{:.4g}".format, right=True, key="busbw"),
        Column("pieces", right=True, key="pieces"),
        Column("chunk", _chunk, right=True, key="chunk_bytes"),
    )
    rows = (
        (point.size, point.seconds * 1e6, point.algbw, point.busbw, point.pieces, point.chunk_bytes) for point in points
    )
    return Table(columns, tuple(rows), notes=notes)


def _chunk(size: float) -> str:
    return size_name(max(1, round(size)))


def _busiest(point: Point, loads: Loads) -> Table:
    """Return the links that are busy the longest, and how long."""
    topology, used = loads.topology, loads.utilisation(point.size, point.seconds).tolist()
    order = sorted(range(len(used)), key=lambda link: (-round(used[link], 9), link))
    rows = []
    for place in order[:_MOST_LINKS]:
        ends = topology.ids([topology.links[place].source, topology.links[place].target])
        rows.append((" -> ".join(map(str, ends)), used[place]))
    as_busy = sum(used[link] >= used[order[0]] * _SAME_TIME for link in order)
    title = f"Busiest links at {size_name(point.size)}; {as_busy} of {len(used)} are as busy as the first:"
    return Table((Column(), Column(show="{:.1%}".format, right=True)), tuple(rows), title)
