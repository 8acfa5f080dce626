"""The simulated times of a schedule by message size as a page, as JSON and as pictures."""

from collections.abc import Sequence
from pathlib import Path

from forestcoll.algorithms.best_schedule import BestSchedule
from forestcoll.base.units import size_name
from forestcoll.presentation.pictures.charts.lines import Axes, Line, line_chart
from forestcoll.presentation.pictures.charts.parts import headed
from forestcoll.presentation.pictures.charts.scales import round_ticks, size_ticks
from forestcoll.presentation.pictures.raster import write_picture
from forestcoll.presentation.pictures.svg import text
from forestcoll.presentation.results.schedules.bundle import title_of
from forestcoll.presentation.tables import Column, Page, Table
from forestcoll.presentation.text import duration
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation import Point
from forestcoll.simulation.loads import Loads

_MOST_LINKS = 6
_SAME_TIME = 1 - 1e-9
"""Links whose utilisations, which are floats, differ by less than this factor count as equally busy."""


def schedule_title(schedule: Schedule) -> str:
    """Return one line that names a schedule."""
    if isinstance(schedule, BundleSchedule):
        return title_of(schedule.topology, schedule.groups)
    return f"{schedule.topology.name}: {schedule.operation} over {len(schedule.members)} compute nodes"


def run_title(schedule: Schedule, size: int, pieces: int) -> str:
    """Return the title of a picture of one run."""
    return f"{schedule_title(schedule)}, {size_name(size)} in {pieces} piece{'s' * (pieces > 1)}"


def plot_of(schedule: Schedule, points: Sequence[Point], algbw: float, path: Path) -> None:
    """Draw bandwidth and time by message size.

    Args:
        schedule: the schedule that was simulated.
        points: the result for each size.
        algbw: the algbw for large messages, in the unit of the network.
        path: the file to write.

    Raises:
        InputError: the file cannot be written.
    """
    ordered = sorted(points, key=lambda point: point.size)
    ticks = size_ticks([point.size for point in ordered])
    rates = [_line("algbw", 0, ordered), _line("busbw", 1, ordered)]
    highest = max(algbw, *(rate for line in rates for _, rate in line.values))
    rate_ticks = [(value, f"{value:g}") for value in round_ticks(highest)]
    unit, limit = schedule.topology.bandwidth_unit, (algbw, f"algbw of the schedule, {algbw:.4g}")
    upper = line_chart(
        "Lines: algbw and busbw over the size of M", Axes("", f"bandwidth ({unit})", ticks, rate_ticks), rates, limit
    )
    times = Line("time", tuple((float(point.size), point.seconds * 1e6) for point in ordered), rates[0].marks, 0)
    lower = line_chart("Line: the time over the size of M", Axes("size of M", "time (µs)", ticks), [times])
    write_picture(text(headed([schedule_title(schedule)], upper, lower)), path)


def _line(name: str, place: int, points: Sequence[Point]) -> Line:
    values = tuple((float(point.size), float(getattr(point, name))) for point in points)
    return Line(name, values, tuple(size for size, _ in values), place)


def points_document(points: Sequence[Point], best: Sequence[BestSchedule] = ()) -> list[dict[str, object]]:
    """Return the JSON list of the results for all sizes; `best` has the schedules if each size has its own."""
    return _points(points, best).documents()


def simulation_page(
    schedule: Schedule, points: Sequence[Point], loads: Loads, algbw: float, best: Sequence[BestSchedule] = ()
) -> Page:
    """Return the page of a simulation.

    Args:
        schedule: the schedule that was simulated.
        points: the result for each size. The busiest links are listed for the last one.
        loads: the data that crosses each link.
        algbw: the algbw for large messages, in the unit of the network.
        best: the schedule of each size, if each has its own; `schedule` is the last of them.
    """
    unit = schedule.topology.bandwidth_unit
    which = f"algbw of {best[-1].method}" if best else "schedule's algbw"
    note = f"Bandwidths in {unit}; the {which}, for large messages, is {algbw:.6g}."
    return Page(schedule_title(schedule), (_points(points, best, note), _busiest(points[-1], loads)))


def _points(points: Sequence[Point], best: Sequence[BestSchedule], *notes: str) -> Table:
    columns = (
        Column("size", size_name, right=True, key="size"),
        Column("time", duration, right=True, key="time_us"),
        Column("algbw", "{:.4g}".format, right=True, key="algbw"),
        Column("busbw", "{:.4g}".format, right=True, key="busbw"),
        Column("pieces", right=True, key="pieces"),
        Column("chunk", _chunk, right=True, key="chunk_bytes"),
        *((Column("best schedule", key="schedule"),) if best else ()),
    )
    rows = (
        (point.size, point.seconds * 1e6, point.algbw, point.busbw, point.pieces, point.chunk_bytes) for point in points
    )
    if not best:
        return Table(columns, tuple(rows), notes=notes)
    return Table(columns, tuple((*cells, each.method) for cells, each in zip(rows, best, strict=True)), notes=notes)


def _chunk(size: float) -> str:
    return size_name(max(1, round(size)))


def _busiest(point: Point, loads: Loads) -> Table:
    """Return the links with the highest utilisation."""
    topology, used = loads.topology, loads.utilisation(point.size, point.seconds).tolist()
    order = sorted(range(len(used)), key=lambda link: (-round(used[link], 9), link))
    rows = []
    for place in order[:_MOST_LINKS]:
        ends = topology.ids([topology.links[place].source, topology.links[place].target])
        rows.append((" -> ".join(map(str, ends)), used[place]))
    as_busy = sum(used[link] >= used[order[0]] * _SAME_TIME for link in order)
    title = f"Busiest links at {size_name(point.size)}; {as_busy} of {len(used)} links have the highest utilisation:"
    return Table((Column(), Column(show="{:.1%}".format, right=True)), tuple(rows), title)
