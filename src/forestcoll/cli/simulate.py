"""`forestcoll simulate`: the time of a schedule by message size."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.cli.file_types import OutputFile, PictureFile
from forestcoll.cli.options import (
    costs_option,
    named_network,
    names_schedule,
    outputs_option,
    schedule_of_source,
    source_options,
)
from forestcoll.cli.types import SIZES, MessageSizes, NumberFrom, OneOf

if TYPE_CHECKING:
    from forestcoll.algorithms.best_schedule import BestSchedule
    from forestcoll.base.progress import Progress
    from forestcoll.simulation import Costs

_MICROSECONDS = NumberFrom(0, 10**9)


@click.command("simulate")
@source_options
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
    type=OneOf(["trees", "program", "slots"]),
    default="trees",
    show_default=True,
    help="trees: the schedule, by a formula; program: the program that the schedule is lowered to, event by event; "
    "slots: trees in time slots, as the torch backend runs them, with A the time of a slot and O that of each further "
    "message to a peer, 30 and 15 by default.",
)
@outputs_option(
    "A file to write: table (.csv), plot (time and bandwidth by size, .svg or .png) or, for the last of --sizes, links "
    "(the utilisation of each link, .csv), gantt (the thread blocks of the program, .svg or .png) or trace (the same "
    "for chrome://tracing or Perfetto, .json).",
    table=OutputFile(".csv"),
    plot=PictureFile(".svg", ".png"),
    links=OutputFile(".csv"),
    gantt=PictureFile(".svg", ".png"),
    trace=OutputFile(".json"),
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list and nothing else.")
def command(
    *,
    sizes: tuple[int, ...],
    alpha_us: float | None,
    overhead_us: float | None,
    costs: Path | None,
    model: str,
    output: Mapping[str, Path],
    as_json: bool,
    **source: Any,
) -> None:
    """Simulate the time of a schedule by message size.

    FILE is a schedule; - is standard input. For TOPOLOGY, each size has its best schedule, as generate --size makes it;
    with --method or --model program, one schedule is generated first. The times follow an alpha-beta
    model: a send takes A microseconds plus the time that its slowest link needs for the data, and each chunk takes O
    more microseconds at each link. For each size, the best number of chunks is used. With --costs, the model also has
    what an implementation loses.

    algbw and busbw are defined as in nccl-tests. Their unit is the bandwidth unit of the network. If a file is written
    to standard output, as with -o -, the report is written to standard error.
    """
    from forestcoll.base.files import is_standard_stream
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.simulation import points_document, simulation_page
    from forestcoll.presentation.view.simulation_files import write_simulation
    from forestcoll.simulation.simulate import loads_of, simulate
    from forestcoll.verification import certified, verify

    known = _costs(costs, alpha_us, overhead_us, model)
    with TerminalProgress() as progress:
        best = () if source["method"] is not None or model != "trees" else _best(source, sizes, known, progress)
        if best:
            schedule, report = best[-1].schedule, certified(verify(best[-1].schedule))
        else:
            schedule, report = schedule_of_source(source, progress)
        progress.begin("simulating")
        points = tuple(each.point for each in best) or simulate(schedule, sizes, known, model)
        loads, algbw = loads_of(schedule), float(report.algbw or 0)
        progress.begin("writing")
        write_simulation(schedule, known, points, algbw, output)
    err = any(map(is_standard_stream, output.values()))
    if as_json:
        print_json(points_document(points, best), err=err)
    else:
        print_page(simulation_page(schedule, points, loads, algbw, best), err=err)


def _best(
    source: Mapping[str, Any], sizes: tuple[int, ...], costs: "Costs", progress: "Progress"
) -> "tuple[BestSchedule, ...]":
    """Return the best schedule for each size on TOPOLOGY; none for the file of a schedule."""
    from forestcoll.algorithms.simulate import best_schedules

    if names_schedule(source["source"]):
        return ()
    progress.begin("reading the topology")
    network = named_network(source["source"], without=source["without"], degrade=source["degrade"])
    return best_schedules(network, source["collective"] or "allgather", sizes, costs, progress=progress)


def _costs(file: Path | None, alpha_us: float | None, overhead_us: float | None, model: str) -> "Costs":
    """Return the costs of a file, or the default ones, with the values of options."""
    from dataclasses import replace

    from forestcoll.simulation import Costs, read_costs
    from forestcoll.simulation.trees.slots import SLOT_COSTS

    default = SLOT_COSTS if model == "slots" else Costs()
    given = {"alpha_us": alpha_us, "overhead_us": overhead_us}
    values = {name: value for name, value in given.items() if value is not None}
    return replace(default if file is None else read_costs(file), **values)
