"""`forestcoll broadcast-series`: the best periodic schedule of one broadcast after the other, verified."""

from pathlib import Path

import click

from forestcoll.cli.options import json_option, output_option, ports_option, topology_argument
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
    "--order", metavar="ID,ID,...", help="The order of all nodes whose DAG is compared; the best one known if left out."
)
@ports_option
@click.option("--simulate", type=click.IntRange(min=1), metavar="K", help="Play K messages through the schedule.")
@click.option("--picture", metavar="FILE", help="Draw a period as a Gantt chart: a .png, .svg or .pdf file.")
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
    picture: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Broadcast message after message, as fast as can be.

    A message of 1 takes 1/bandwidth over a link. Where TOPOLOGY says "port_model": "one-port", a compute node sends to
    one neighbour at a time and receives from one; else it uses all its links at once. The throughput is the greatest
    of all schedules, proven; the periodic schedule that reaches it is verified before it is written.
    """
    from forestcoll.cli.options import with_ports
    from forestcoll.cli.watching import Watch
    from forestcoll.oneport.checking import checked
    from forestcoll.oneport.comparison import compare_series
    from forestcoll.presentation import series as series_wording
    from forestcoll.presentation import text
    from forestcoll.schedule.files import write_schedule
    from forestcoll.simulation.series.play import good_cuts, play_series
    from forestcoll.topology.registry import load_topology

    with Watch() as watch:
        watch.begin("reading the topology")
        network = with_ports(load_topology(topology), ports)
        listed = None if order is None else [each.strip() for each in order.split(",")]
        compared = compare_series(network, source, order=listed, progress=watch)
        watch.begin("colouring the links")
        schedule = compared.schedule(along)
        watch.begin("verifying")
        checked(schedule)
        run = None
        if simulate is not None:
            run = play_series(schedule, simulate, cuts=good_cuts(schedule, simulate), progress=watch)
        if picture is not None:
            from forestcoll.pictures.gantt import draw_period

            watch.begin("drawing")
            draw_period(schedule, Path(picture))
        if output is not None:
            watch.begin("writing")
            write_schedule(schedule, output)
    err = is_standard_stream(output)
    if as_json:
        text.print_json(series_wording.document(compared, schedule, run, watch.seconds), err=err)
        return
    text.print_lines(series_wording.lines(compared, schedule, run, watch.seconds, output), err=err)
