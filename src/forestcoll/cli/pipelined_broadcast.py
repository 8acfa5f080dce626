"""`forestcoll pipelined-broadcast`: one large message in packets, along the trees of a series of broadcasts."""

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
@click.option("--source", metavar="ID", required=True, help="The compute node that has the message.")
@click.option(
    "--size", type=DataSize(), metavar="SIZE", required=True, help="The size of the message, such as 1GB or 256MiB."
)
@click.option("--packets", type=click.IntRange(min=1), metavar="N", help="The number of packets.  [default: the best]")
@ports_option
@path_option("--plot", "Draw the time for sizes up to a million times as large: .png, .svg or .pdf.")
@output_option
@json_option
def command(  # noqa: PLR0913 (one parameter an option)
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
    """Send one large message from a node to all, in packets.

    A packet takes the link's latency_us and its size / bandwidth. The packets follow each other through the trees of a
    series of broadcasts, period by period. The number of packets and the trees are chosen so that the exact total time
    is least. The periodic schedule of packets is verified before it is written.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.oneport.pipelined import Pipeline, root_rule
    from forestcoll.presentation.pipeline import draw_plans, pipeline_document, pipeline_page
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.schedule.files import write_schedule
    from forestcoll.verification import certified, verify

    with Watch() as watch:
        watch.begin("reading the topology")
        network = with_ports(named_network(topology), ports)
        pipeline = Pipeline(network, source, watch)
        plan = pipeline.plan(size, packets=packets)
        by_rule = pipeline.plan(size, packets=root_rule(size))
        watch.begin("colouring the links")
        schedule = plan.schedule()
        watch.begin("verifying")
        certified(verify(schedule))
        if plot is not None:
            watch.begin("drawing")
            draw_plans(pipeline, plan, plot)
        if output is not None:
            watch.begin("writing")
            write_schedule(schedule, output)
    err = is_standard_stream(output)
    if as_json:
        print_json(pipeline_document(plan, by_rule, schedule, watch.seconds), err=err)
    else:
        print_page(pipeline_page(plan, by_rule, watch.seconds, output), err=err)
