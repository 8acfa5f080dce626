"""`forestcoll pipelined-broadcast`: one large message in packets, along the trees of a series of broadcasts."""

from pathlib import Path

import click

from forestcoll.cli.options import json_option, output_option, ports_option, topology_argument
from forestcoll.files import is_standard_stream


@click.command("pipelined-broadcast")
@topology_argument
@click.option("--source", metavar="ID", required=True, help="The compute node that has the message.")
@click.option("--size", metavar="BYTES", required=True, help="The size of the message, such as 1GB or 256MiB.")
@click.option(
    "--packets", type=click.IntRange(min=1), metavar="N", help="How many packets; the best number if left out."
)
@ports_option
@click.option(
    "--plot", metavar="FILE", help="Draw the time over sizes up to a million times as large: .png, .svg or .pdf."
)
@output_option
@json_option
def command(  # noqa: PLR0913 (one parameter an option)
    *,
    topology: str,
    source: str,
    size: str,
    packets: int | None,
    ports: str | None,
    plot: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Send one large message from a node to all, in packets.

    A packet takes the link's latency_us and its size / bandwidth. The packets follow each other through the trees of a
    series of broadcasts, period by period; how many there are best be, and along which trees, is searched over the
    exact time that it all takes. The periodic schedule of packets is verified before it is written.
    """
    from forestcoll.cli.options import with_ports
    from forestcoll.cli.watching import Watch
    from forestcoll.oneport.checking import checked
    from forestcoll.oneport.pipelined import Pipeline, root_rule
    from forestcoll.presentation import pipeline as pipeline_wording
    from forestcoll.presentation import text
    from forestcoll.schedule.files import write_schedule
    from forestcoll.topology.registry import load_topology
    from forestcoll.units import data_size

    length = data_size(size)
    with Watch() as watch:
        watch.begin("reading the topology")
        network = with_ports(load_topology(topology), ports)
        pipeline = Pipeline(network, source, watch)
        plan = pipeline.plan(length, packets=packets)
        by_rule = pipeline.plan(length, packets=root_rule(length))
        watch.begin("colouring the links")
        schedule = plan.schedule()
        watch.begin("verifying")
        checked(schedule)
        if plot is not None:
            watch.begin("drawing")
            pipeline_wording.draw(pipeline, plan, Path(plot))
        if output is not None:
            watch.begin("writing")
            write_schedule(schedule, output)
    err = is_standard_stream(output)
    if as_json:
        text.print_json(pipeline_wording.document(plan, by_rule, schedule, watch.seconds), err=err)
        return
    text.print_lines(pipeline_wording.lines(plan, by_rule, watch.seconds, output), err=err)
