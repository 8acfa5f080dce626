"""`forestcoll pipelined-broadcast`: the broadcast of one large message in packets."""

from pathlib import Path

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
from forestcoll.cli.types import DataSize, IntegerFrom, PictureFile


@click.command("pipelined-broadcast")
@topology_argument
@click.option("--source", metavar="ID", required=True, help="The compute node that has the message, by id or position.")
@click.option(
    "--size", type=DataSize(), metavar="SIZE", required=True, help="The size of the message, such as 1GB or 256MiB."
)
@click.option(
    "--packets",
    type=IntegerFrom(min=1),
    metavar="N",
    help="The number of packets; with 1 the message is not divided.  [default: the best number]",
)
@ports_option
@path_option(
    "--plot", PictureFile(".svg", ".png"), "Also draw the times for sizes up to a million times as large: .svg or .png."
)
@output_option
@json_option
def command(  # noqa: PLR0913 (one parameter per option)
    *,
    topology: str,
    source: str,
    size: int,
    packets: int | None,
    ports: str | None,
    plot: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Plan the broadcast of one large message in packets.

    A packet takes latency_us + size / bandwidth over a link, and additional time in nodes with send_overhead or
    receive_overhead. The command chooses the number of packets, their trees and
    the times of all sends for the least total time found, and prints a lower bound of the time of any broadcast.
    With --json, "sends" lists all sends if there are at most 20,000. With -o, the periodic schedule of a series of such
    packets is written. Both are verified first.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.oneport.message.pipelined import Pipeline, root_rule
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.pipeline import draw_plans, pipeline_document, pipeline_page
    from forestcoll.schedule.files import write_schedule
    from forestcoll.verification import certified, verify
    from forestcoll.verification.series.timetable import certified_timetable

    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        network = with_ports(named_network(topology), ports)
        pipeline = Pipeline(network, source, progress)
        plan = pipeline.plan(size, packets=packets)
        by_rule = pipeline.plan(size, packets=root_rule(size))
        progress.begin("colouring the links")
        schedule = plan.schedule()
        progress.begin("verifying")
        certified(verify(schedule))
        if plan.timetable is not None:
            certified_timetable(plan.timetable)
        with written_together():
            if plot is not None:
                progress.begin("drawing")
                draw_plans(pipeline, plan, plot)
            if output is not None:
                progress.begin("writing")
                write_schedule(schedule, output)
    err = is_standard_stream(output)
    if as_json:
        print_json(pipeline_document(plan, by_rule, schedule, progress.seconds), err=err)
    else:
        print_page(pipeline_page(plan, by_rule, progress.seconds, output), err=err)
