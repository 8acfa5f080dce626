"""`forestcoll train-time`: the time of a training iteration on a network."""

from fractions import Fraction
from pathlib import Path

import click

from forestcoll.cli.options import json_option
from forestcoll.cli.types import DataSizes, ExactNumber, FileOrText, PictureFile, TopologySpec


@click.command("train-time")
@click.argument("profile", metavar="PROFILE", type=FileOrText())
@click.argument("network", metavar="NETWORK", type=TopologySpec())
@click.option(
    "--alpha",
    type=ExactNumber("microseconds", least=0),
    default="10",
    show_default=True,
    metavar="US",
    help="The latency of a step in microseconds.",
)
@click.option(
    "--buckets",
    type=DataSizes(),
    default="1MB,10MB,100MB,1GB",
    show_default=True,
    metavar="SIZES",
    help="The bucket sizes to try; the report is about the best one.",
)
@click.option(
    "--picture", type=PictureFile(".svg", ".png"), metavar="FILE", help="Also draw the timeline: .svg or .png."
)
@json_option
def command(
    *, profile: str, network: str, alpha: Fraction, buckets: tuple[int, ...], picture: Path | None, as_json: bool
) -> None:
    """Estimate the time of a training iteration on a network.

    The report divides an iteration into computing, all-to-alls, and the part of the allreduces that does not overlap
    with computing.

    PROFILE is a file (format forestcoll.profile/1), or a sample: switch-base-256, switch-large-128,
    switch-c-2048, gpt2-small, gpt2-medium, gpt2-large, vgg-16 or resnet-50.
    NETWORK is a topology, whose allreduce uses breadth-first broadcast, or the file of an allreduce schedule.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.design.workloads import best_iteration, iterate, network_of_file
    from forestcoll.design.workloads.samples import profile_of
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.networks.training import draw_iteration, training_page

    with TerminalProgress() as progress:
        progress.begin("measuring the network")
        given = profile_of(profile)
        measured = network_of_file(network, alpha_us=alpha, exchanges=given.has_exchanges, progress=progress)
        model = given.on(measured.nodes)
        best = best_iteration(model, measured, buckets)
        tried = {size: iterate(model, measured, size).total_us for size in buckets}
        if picture is not None:
            progress.begin("drawing")
            draw_iteration(model, measured, best, picture)
    print_result(training_page(model, measured, best, tried), as_json=as_json)
