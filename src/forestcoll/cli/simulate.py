"""`forestcoll simulate`: the time of a schedule by message size."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.cli.options import costs_option, file_argument, path_option
from forestcoll.cli.types import SIZES, MessageSize, MessageSizes, NumberFrom, OutputFile, PictureFile

if TYPE_CHECKING:
    from forestcoll.schedule.schedule import Schedule
    from forestcoll.simulation import Costs

_MICROSECONDS = NumberFrom(0, 10**9)


@click.command("simulate")
@file_argument
@click.option(
    "--sizes",
    type=MessageSizes(),
    default="1K..16G",
    show_default=True,
    metavar="SIZES",
    help=f"The data sizes M, such as 64KiB,1MiB or 1KiB..1GiB: {SIZES}",
)
@click.option(
    "--alpha-us",
    "--alpha",
    "alpha_us",
    type=_MICROSECONDS,
    metavar="A",
    help="The latency of each send in microseconds, in addition to the latencies of links in the network.  [default: "
    "as in --costs, or 5]",
)
@click.option(
    "--overhead-us",
    type=_MICROSECONDS,
    metavar="O",
    help="The additional time of each chunk at each link, in microseconds.  [default: as in --costs, or 1]",
)
@costs_option
@click.option(
    "--model",
    type=click.Choice(["trees", "program"]),
    default="trees",
    show_default=True,
    help="trees: the schedule, by a formula; program: the program that the schedule is lowered to, event by event.",
)
@click.option(
    "--at",
    type=MessageSize(),
    metavar="SIZE",
    help="The data size for --links, --gantt and --trace.  [default: the last of --sizes]",
)
@path_option("--csv", OutputFile(".csv"), "Also write the table as comma-separated values.")
@path_option("--plot", PictureFile(".svg", ".png"), "Also draw time and bandwidth by size: .svg or .png.")
@path_option("--links", OutputFile(".csv"), "Also write the utilisation of each link as comma-separated values.")
@path_option(
    "--gantt", PictureFile(".svg", ".png"), "Also draw a Gantt chart of the thread blocks of the program: .svg or .png."
)
@path_option(
    "--trace",
    OutputFile(".json"),
    "Also write the data of the Gantt chart as a trace for chrome://tracing or Perfetto.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list and nothing else.")
def command(  # noqa: PLR0913 (one parameter per option)
    *,
    file: Path,
    sizes: tuple[int, ...],
    alpha_us: float | None,
    overhead_us: float | None,
    costs: Path | None,
    model: str,
    at: int | None,
    csv: Path | None,
    plot: Path | None,
    links: Path | None,
    gantt: Path | None,
    trace: Path | None,
    as_json: bool,
) -> None:
    """Simulate the time of a schedule by message size.

    FILE is a schedule; - is standard input. The times follow an alpha-beta model: a send takes A microseconds plus the
    time that its slowest link needs for the data, and each chunk takes O more microseconds at each link. For each size,
    the best number of chunks is used. With --costs, the model also has what an implementation loses.

    algbw and busbw are defined as in nccl-tests. Their unit is the bandwidth unit of the network. If a file is written
    to standard output, as with --csv -, the report is written to standard error.
    """
    from forestcoll.base.files import is_standard_stream, write_text
    from forestcoll.base.together import written_together
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.simulation import plot_of, points_document, simulation_page
    from forestcoll.simulation.simulate import loads_of, simulate
    from forestcoll.simulation.tables import links_csv, points_csv
    from forestcoll.verification.reading import read_verified

    if at is not None and all(each is None for each in (links, gantt, trace)):
        raise click.UsageError("--at is for --links, --gantt and --trace; give one of them, or leave it out")
    known, size = _costs(costs, alpha_us, overhead_us), at or sizes[-1]
    with TerminalProgress() as progress:
        schedule, report = read_verified(file, progress=progress)
        progress.begin("simulating")
        points = simulate(schedule, sizes, known, model)
        loads = loads_of(schedule)
        progress.begin("writing")
        with written_together():
            if csv is not None:
                write_text(csv, points_csv(points, schedule.topology.bandwidth_unit))
            if plot is not None:
                plot_of(schedule, points, float(report.algbw or 0), plot)
            if links is not None:
                write_text(links, links_csv(loads, simulate(schedule, [size], known, model)[0]))
            if gantt is not None or trace is not None:
                _write_run(schedule, known, size, gantt=gantt, trace=trace)
    err = any(is_standard_stream(each) for each in (csv, plot, links, gantt, trace))
    if as_json:
        print_json(points_document(points), err=err)
    else:
        print_page(simulation_page(schedule, points, loads, float(report.algbw or 0)), err=err)


def _costs(file: Path | None, alpha_us: float | None, overhead_us: float | None) -> "Costs":
    """Return the costs of a file, or the default ones, with the values of options."""
    from dataclasses import replace

    from forestcoll.simulation import Costs, read_costs

    given = {"alpha_us": alpha_us, "overhead_us": overhead_us}
    values = {name: value for name, value in given.items() if value is not None}
    return replace(Costs() if file is None else read_costs(file), **values)


def _write_run(schedule: "Schedule", costs: "Costs", size: int, *, gantt: Path | None, trace: Path | None) -> None:
    """Simulate the program of the schedule for one size, and write the activity of its thread blocks."""
    from forestcoll.base.files import write_text
    from forestcoll.presentation.results.programs.program_plot import draw_gantt
    from forestcoll.presentation.results.schedules.simulation import run_title
    from forestcoll.simulation.simulate import ProgramModel
    from forestcoll.simulation.tables import chrome_trace

    model = ProgramModel(schedule, costs)
    pieces = model.point(size).pieces
    timeline, program = model.run(size, pieces), model.program(pieces)
    if gantt is not None:
        draw_gantt(program, timeline, run_title(schedule, size, pieces), gantt)
    if trace is not None:
        write_text(trace, chrome_trace(program, timeline))
