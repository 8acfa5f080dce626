"""`forestcoll broadcast-series`: the best periodic schedule of consecutive broadcasts from one source."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.base.together import written_together
from forestcoll.cli.options import (
    json_option,
    named_network,
    output_option,
    path_option,
    ports_option,
    topology_argument,
    with_ports,
)
from forestcoll.cli.types import IntegerFrom, Part, PictureFile

if TYPE_CHECKING:
    from fractions import Fraction


@click.command("broadcast-series")
@topology_argument
@click.option(
    "--source", metavar="ID", required=True, help="The compute node that sends all messages, by id or position."
)
@click.option(
    "--along",
    type=click.Choice(["graph", "dag", "tree"]),
    default="graph",
    show_default=True,
    help="The links that the schedule may use: all links, those of the best directed acyclic graph (DAG), or those of "
    "the best tree.",
)
@click.option(
    "--order",
    metavar="ID,ID,...",
    help="The ids of all compute nodes in the order of the DAG, the source first.  [default: the best order found]",
)
@click.option(
    "--loss",
    type=Part(),
    default="0",
    metavar="PART",
    show_default=True,
    help="The part of the optimum that may be lost, such as 1%, for a schedule over all links with fewer trees and "
    "fewer rounds.",
)
@ports_option
@click.option("--simulate", type=IntegerFrom(min=1), metavar="K", help="Also simulate the broadcast of K messages.")
@path_option("--picture", PictureFile(".svg", ".png"), "Also draw one period as a Gantt chart: .svg or .png.")
@output_option
@json_option
def command(  # noqa: PLR0913 (one parameter per option)
    *,
    topology: str,
    source: str,
    along: str,
    order: str | None,
    loss: "Fraction",
    ports: str | None,
    simulate: int | None,
    picture: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Compute the best schedule of a series of broadcasts.

    The source sends one message after another to all compute nodes, in a schedule that repeats after a period. A
    message of size 1 takes 1/bandwidth over a link. If TOPOLOGY contains "port_model": "one-port", a compute node sends
    to one neighbour and receives from one neighbour at a time. Without port_model, it uses all its links at once.
    --ports lists the other models. With send_overhead and receive_overhead, a node needs additional time for each
    message. No schedule has a greater throughput, and the report contains the proof. With
    --loss, the throughput may be less than the optimum by this part. The schedule is verified before it is written.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.oneport.series.comparison import compare_series
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.series import generated_document, generated_page
    from forestcoll.schedule.files import write_schedule
    from forestcoll.simulation.series.play import good_cuts, play_series
    from forestcoll.verification import certified, verify

    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        network = with_ports(named_network(topology), ports)
        listed = None if order is None else [each.strip() for each in order.split(",")]
        compared = compare_series(network, source, order=listed, progress=progress)
        progress.begin("colouring the links")
        schedule = compared.schedule(along, loss=loss)
        progress.begin("verifying")
        certified(verify(schedule))
        run = None
        if simulate is not None:
            run = play_series(schedule, simulate, cuts=good_cuts(schedule, simulate), progress=progress)
        with written_together():
            if picture is not None:
                from forestcoll.presentation.results.schedules.period_plot import draw_period

                progress.begin("drawing")
                draw_period(schedule, picture)
            if output is not None:
                progress.begin("writing")
                write_schedule(schedule, output)
    err = is_standard_stream(output)
    if as_json:
        print_json(generated_document(compared, schedule, run, progress.seconds), err=err)
    else:
        print_page(generated_page(compared, schedule, run, progress.seconds, output), err=err)
