"""`forestcoll simulate`: how long a schedule takes, size by size."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.cli.options import file_argument, path_option
from forestcoll.cli.types import MessageSize, MessageSizes

if TYPE_CHECKING:
    from forestcoll.schedule.schedule import Schedule
    from forestcoll.simulation import Costs

_MICROSECONDS = click.FloatRange(0, 10**9)


@click.command("simulate")
@file_argument
@click.option(
    "--sizes",
    type=MessageSizes(),
    default="1K..16G",
    show_default=True,
    metavar="SIZES",
    help="Sizes of the data M: a list such as 64KiB,1MiB, or a range such as 1KiB..1GiB, in which each size is twice "
    "the one before.",
)
@click.option(
    "--alpha-us",
    "--alpha",
    "alpha_us",
    type=_MICROSECONDS,
    default=5.0,
    show_default=True,
    metavar="A",
    help="Microseconds from the start of a send to its arrival, added to the latencies that the network states.",
)
@click.option(
    "--overhead-us",
    type=_MICROSECONDS,
    default=1.0,
    show_default=True,
    metavar="O",
    help="Microseconds that each chunk takes at each link in addition.",
)
@click.option(
    "--model",
    type=click.Choice(["trees", "program"]),
    default="trees",
    show_default=True,
    help="What is simulated: the schedule, by a formula, or the program that it becomes, event by event.",
)
@click.option(
    "--at",
    type=MessageSize(),
    metavar="SIZE",
    help="The size of --links, --gantt and --trace.  [default: the last of --sizes]",
)
@path_option("--csv", "Also write the table, as comma-separated values.")
@path_option("--plot", "Also draw the table: .png, .svg or .pdf.")
@path_option("--links", "Also write how busy each link is, as comma-separated values.")
@path_option("--gantt", "Also draw what each block of the program does at what time.")
@path_option("--trace", "Also write what --gantt draws as a trace for chrome://tracing or Perfetto.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list and nothing else.")
def command(  # noqa: PLR0913 (one parameter an option)
    *,
    file: Path,
    sizes: tuple[int, ...],
    alpha_us: float,
    overhead_us: float,
    model: str,
    at: int | None,
    csv: Path | None,
    plot: Path | None,
    links: Path | None,
    gantt: Path | None,
    trace: Path | None,
    as_json: bool,
) -> None:
    """Say how long a schedule takes, size by size.

    FILE is a schedule; - is standard input. Times follow an alpha-beta model: a send takes A microseconds and the time
    that its slowest link needs for the bytes, and each chunk takes O microseconds more. The number of chunks is the
    best one for each size.

    Bandwidths are algbw and busbw as nccl-tests defines them, in the unit of the schedule's network.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.files import write_text
    from forestcoll.pictures.canvas import check_pictures
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.simulation import plot_of, points_document, simulation_page
    from forestcoll.simulation import Costs, simulate
    from forestcoll.simulation.simulate import loads_of
    from forestcoll.simulation.tables import links_csv, points_csv
    from forestcoll.verification.reading import read_verified

    costs, size = Costs(alpha_us, overhead_us), at or sizes[-1]
    check_pictures(each for each in (plot, gantt) if each is not None)
    with Watch() as watch:
        schedule, report = read_verified(file, progress=watch)
        watch.begin("simulating")
        points = simulate(schedule, sizes, costs, model)
        loads = loads_of(schedule)
        watch.begin("writing")
        if csv is not None:
            write_text(csv, points_csv(points, schedule.topology.bandwidth_unit))
        if plot is not None:
            plot_of(schedule, points, float(report.algbw or 0), plot)
        if links is not None:
            write_text(links, links_csv(loads, simulate(schedule, [size], costs, model)[0]))
        if gantt is not None or trace is not None:
            _write_run(schedule, costs, size, gantt=gantt, trace=trace)
    if as_json:
        print_json(points_document(points))
    else:
        print_page(simulation_page(schedule, points, loads, float(report.algbw or 0)))


def _write_run(schedule: "Schedule", costs: "Costs", size: int, *, gantt: Path | None, trace: Path | None) -> None:
    """Run the program of the schedule for one size, and write what its blocks do."""
    from forestcoll.files import write_text
    from forestcoll.pictures.simulation import draw_gantt
    from forestcoll.presentation.simulation import run_title
    from forestcoll.simulation.simulate import ProgramModel
    from forestcoll.simulation.tables import chrome_trace

    model = ProgramModel(schedule, costs)
    pieces = model.point(size).pieces
    timeline, program = model.run(size, pieces), model.program(pieces)
    if gantt is not None:
        draw_gantt(program, timeline, run_title(schedule, size, pieces), gantt)
    if trace is not None:
        write_text(trace, chrome_trace(program, timeline))
