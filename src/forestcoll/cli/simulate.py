"""`forestcoll simulate`: how long a schedule takes, size by size."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.cli.options import file_argument, path_option

if TYPE_CHECKING:
    from forestcoll.schedule.schedule import Schedule
    from forestcoll.simulation import Costs, Point
    from forestcoll.simulation.loads import Loads

_MOST_LINKS = 6
_MICROSECONDS = click.FloatRange(0, 10**9)


@click.command("simulate")
@file_argument
@click.option(
    "--sizes",
    default="1K..16G",
    show_default=True,
    metavar="SIZES",
    help="Sizes of the data M: 64K,1MB or a range 1K..1G, doubled up to its end. K, M, G are powers of two.",
)
@click.option(
    "--alpha-us",
    "--alpha",
    "alpha_us",
    type=_MICROSECONDS,
    default=5.0,
    show_default=True,
    metavar="A",
    help="Microseconds from the start of a send to its arrival, besides what the network states of links.",
)
@click.option(
    "--overhead-us",
    type=_MICROSECONDS,
    default=1.0,
    show_default=True,
    metavar="O",
    help="Microseconds that each chunk takes besides, wherever it passes.",
)
@click.option(
    "--model",
    type=click.Choice(["trees", "program"]),
    default="trees",
    show_default=True,
    help="The trees themselves, by a formula, or the program that they become, event by event.",
)
@click.option("--at", metavar="SIZE", help="The size of --links, --gantt and --trace.  [default: the last of --sizes]")
@path_option("--csv", "Also write the table, as comma-separated values.")
@path_option("--plot", "Also draw it: .png, .svg or .pdf.")
@path_option("--links", "Also write how busy each link is, as comma-separated values.")
@path_option("--gantt", "Also draw which block of the program does what when.")
@path_option("--trace", "Also write that as a trace for chrome://tracing or Perfetto.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list and nothing else.")
def command(  # noqa: PLR0913 (one parameter an option)
    *,
    file: Path,
    sizes: str,
    alpha_us: float,
    overhead_us: float,
    model: str,
    at: str | None,
    csv: Path | None,
    plot: Path | None,
    links: Path | None,
    gantt: Path | None,
    trace: Path | None,
    as_json: bool,
) -> None:
    """Say how long a schedule takes, size by size.

    FILE is a schedule; - is standard input. Time is reckoned by an alpha-beta model: each send takes A microseconds and
    what its slowest link needs for the bytes, each chunk O more. The number of chunks is the best for each size.

    Bandwidths are algbw and busbw as nccl-tests defines them, in the unit of the schedule's network.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.presentation import text
    from forestcoll.simulation import Costs, simulate
    from forestcoll.simulation.simulate import loads_of
    from forestcoll.simulation.sizes import size_of, sizes_of
    from forestcoll.verification.reading import read_verified

    listed, costs = sizes_of(sizes), Costs(alpha_us, overhead_us)
    shown = size_of(at) if at is not None else listed[-1]
    _check_pictures([each for each in (plot, gantt) if each is not None])
    with Watch() as watch:
        schedule, report = read_verified(file, progress=watch)
        watch.begin("simulating")
        points = simulate(schedule, listed, costs, model)
        loads = loads_of(schedule)
        watch.begin("writing")
        algbw = float(report.algbw or 0)
        _write_tables(schedule, points, algbw, csv=csv, plot=plot)
        if links is not None:
            _write_links(loads, simulate(schedule, [shown], costs, model)[0], links)
        if gantt is not None or trace is not None:
            _write_run(schedule, costs, shown, gantt=gantt, trace=trace)
    if as_json:
        click.echo(json.dumps([_document(point) for point in points], indent=1))
        return
    text.print_lines(_lines(schedule, points, loads, algbw))


def _check_pictures(paths: Sequence[Path]) -> None:
    from forestcoll.pictures.canvas import check_name, new_figure

    for path in paths:
        check_name(path)
    if paths:
        new_figure(1, 1)  # so that a library that is missing is known before the work


def _write_tables(
    schedule: "Schedule", points: "Sequence[Point]", algbw: float, *, csv: Path | None, plot: Path | None
) -> None:
    from forestcoll.files import write_text
    from forestcoll.pictures.simulation import plot_points
    from forestcoll.simulation.tables import points_csv

    unit = schedule.topology.bandwidth_unit
    if csv is not None:
        write_text(csv, points_csv(points, unit))
    if plot is not None:
        plot_points(points, _title(schedule), unit, algbw, plot)


def _title(schedule: "Schedule") -> str:
    from forestcoll.presentation.text import printable

    nodes = len(schedule.members)
    return f"{printable(schedule.topology.name)}: {schedule.collective} over {nodes} compute nodes"


def _write_links(loads: "Loads", point: "Point", path: Path) -> None:
    from forestcoll.files import write_text
    from forestcoll.simulation.tables import links_csv

    write_text(path, links_csv(loads, point))


def _write_run(schedule: "Schedule", costs: "Costs", size: int, *, gantt: Path | None, trace: Path | None) -> None:
    """Run the program of the schedule for one size, and write what its blocks do."""
    from forestcoll.files import write_text
    from forestcoll.pictures.simulation import draw_gantt
    from forestcoll.simulation.simulate import ProgramModel
    from forestcoll.simulation.tables import chrome_trace
    from forestcoll.units import size_name

    model = ProgramModel(schedule, costs)
    pieces = model.point(size).pieces
    timeline, program = model.run(size, pieces), model.program(pieces)
    if gantt is not None:
        title = f"{_title(schedule)}, {size_name(size)} in {pieces} piece{'s' * (pieces > 1)}"
        draw_gantt(program, timeline, title, gantt)
    if trace is not None:
        write_text(trace, chrome_trace(program, timeline))


def _document(point: "Point") -> dict[str, object]:
    return {
        "size": point.size,
        "time_us": point.seconds * 1e6,
        "algbw": point.algbw,
        "busbw": point.busbw,
        "pieces": point.pieces,
        "chunk_bytes": point.chunk_bytes,
    }


def _lines(schedule: "Schedule", points: "Sequence[Point]", loads: "Loads", algbw: float) -> list[str]:
    from forestcoll.units import size_name

    unit = schedule.topology.bandwidth_unit
    lines = [_title(schedule), f"  {'size':>10}  {'time':>12}  {'algbw':>10}  {'busbw':>10}  {'chunk':>10}  pieces"]
    for point in points:
        start = f"  {size_name(point.size):>10}  {_time(point.seconds):>12}"
        bandwidths = "  ".join(f"{value:>10.4g}" for value in (point.algbw, point.busbw))
        chunk = size_name(max(1, round(point.chunk_bytes)))
        lines.append(f"{start}  {bandwidths}  {chunk:>10}  {point.pieces}")
    lines.append(f"  Bandwidths in {unit}; the schedule's algbw, for large messages, is {algbw:.6g}.")
    return [*lines, *_busiest(schedule, points[-1], loads)]


def _time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3)):
        if seconds * factor >= 1:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds * 1e6:.4g} us"


def _busiest(schedule: "Schedule", point: "Point", loads: "Loads") -> list[str]:
    """Name the links that are busy the longest, and how long."""
    from forestcoll.presentation.text import printable
    from forestcoll.units import size_name

    topology, used = schedule.topology, loads.utilisation(point.size, point.seconds).tolist()
    order = sorted(range(len(used)), key=lambda link: (-round(used[link], 9), link))
    names = []
    for place in order[:_MOST_LINKS]:
        ends = topology.ids([topology.links[place].source, topology.links[place].target])
        names.append(f"    {' -> '.join(map(printable, ends))}: {used[place]:.1%}")
    as_busy = sum(used[link] >= used[order[0]] * (1 - 1e-9) for link in order)
    return [f"  Busiest links at {size_name(point.size)}, {as_busy} of {len(used)} as busy as the first:", *names]
