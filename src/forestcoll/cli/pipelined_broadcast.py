"""`forestcoll pipelined-broadcast`: the broadcast of one large message in packets."""

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
from forestcoll.cli.types import DataSize
from forestcoll.files import is_standard_stream


@click.command("pipelined-broadcast")
@topology_argument
@click.option("--source", metavar="ID", required=True, help="The compute node that has the message, by id or position.")
@click.option(
    "--size", type=DataSize(), metavar="SIZE", required=True, help="The size of the message, such as 1GB or 256MiB."
)
@click.option(
    "--packets", type=click.IntRange(min=1), metavar="N", help="The number of packets.  [default: the best number]"
)
@ports_option
@path_option("--plot", "Also draw the times for sizes up to a million times as large: .png, .svg or .pdf.")
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

    A packet takes latency_us + size / bandwidth over a link. The packets follow each other along the trees of a series
    of broadcasts, period by period. The command chooses the number of packets and the trees with the least total time,
    which is exact. The periodic schedule of the packets is verified before it is written.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.oneport.pipelined import Pipeline, root_rule
    from forestcoll.presentation.pipeline import draw_plans, pipeline_document, pipeline_page
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.schedule.files import write_schedule
    from forestcoll.verification import certified, verify

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
