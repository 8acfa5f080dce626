"""`forestcoll broadcast-series`: the best periodic schedule of one broadcast after the other, verified."""

from pathlib import Path

import click

from forestcoll.cli.options import (
    json_option,
    named_network,
    output_option,
    path_option,
    ports_option,
    topology_argument,
    with_ports,
)
from forestcoll.files import is_standard_stream


@click.command("broadcast-series")
@topology_argument
@click.option("--source", metavar="ID", required=True, help="The compute node that all messages come from.")
@click.option(
    "--along",
    type=click.Choice(["graph", "dag", "tree"]),
    default="graph",
    show_default=True,
    help="Which links the schedule may use: all, those of the best DAG, or those of the best tree.",
)
@click.option(
    "--order", metavar="ID,ID,...", help="The order of all nodes whose DAG is compared.  [default: the best one known]"
)
@ports_option
@click.option("--simulate", type=click.IntRange(min=1), metavar="K", help="Simulate K messages.")
@path_option("--picture", "Draw a period as a Gantt chart: .png, .svg or .pdf.")
@output_option
@json_option
def command(  # noqa: PLR0913 (one parameter an option)
    *,
    topology: str,
    source: str,
    along: str,
    order: str | None,
    ports: str | None,
    simulate: int | None,
    picture: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Broadcast message after message at the greatest rate.

    A message of size 1 takes 1/bandwidth over a link. If TOPOLOGY says "port_model": "one-port", a compute node sends
    to one neighbour and receives from one neighbour at a time; otherwise it uses all its links at once. No schedule has
    a greater throughput, and the report has the proof. The periodic schedule is verified before it is written.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.oneport.comparison import compare_series
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.series import generated_document, generated_page
    from forestcoll.schedule.files import write_schedule
    from forestcoll.simulation.series.play import good_cuts, play_series
    from forestcoll.verification import certified, verify

    with Watch() as watch:
        watch.begin("reading the topology")
        network = with_ports(named_network(topology), ports)
        listed = None if order is None else [each.strip() for each in order.split(",")]
        compared = compare_series(network, source, order=listed, progress=watch)
        watch.begin("colouring the links")
        schedule = compared.schedule(along)
        watch.begin("verifying")
        certified(verify(schedule))
        run = None
        if simulate is not None:
            run = play_series(schedule, simulate, cuts=good_cuts(schedule, simulate), progress=watch)
        if picture is not None:
            from forestcoll.pictures.gantt import draw_period

            watch.begin("drawing")
            draw_period(schedule, picture)
        if output is not None:
            watch.begin("writing")
            write_schedule(schedule, output)
    err = is_standard_stream(output)
    if as_json:
        print_json(generated_document(compared, schedule, run, watch.seconds), err=err)
    else:
        print_page(generated_page(compared, schedule, run, watch.seconds, output), err=err)
