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
    "--layout",
    multiple=True,
    metavar="LAYOUT",
    help="Sharded training: the dimensions, the fastest first, such as fsdp=16 (FSDP), fsdp=8,dp=2 (HSDP), "
    "tp=8,fsdp=2 or ep=8,fsdp=2 (experts). May be given several times, to compare layouts.",
)
@click.option(
    "--method",
    multiple=True,
    metavar="NAME",
    help="With --layout: what makes the schedules of groups of all ranks, such as nccl-ring. May be given several "
    "times, to compare with the optimum.  [default: the optimum only]",
)
@click.option("--no-overlap", is_flag=True, help="With --layout: no data moves while a GPU computes.")
@click.option(
    "--picture",
    type=PictureFile(".svg", ".png"),
    metavar="FILE",
    help="Also draw the timeline, or the times of several layouts and methods as bars: .svg or .png.",
)
@json_option
def command(
    *,
    profile: str,
    network: str,
    alpha: Fraction,
    buckets: tuple[int, ...],
    layout: tuple[str, ...],
    method: tuple[str, ...],
    no_overlap: bool,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Estimate the time of a training iteration on a network.

    The report divides an iteration into computing, all-to-alls, and the part of the allreduces that does not overlap
    with computing. With --layout, the parameters are sharded (FSDP): layers are collected by allgathers before they are
    computed, and their gradients are added up by reduce-scatters.

    PROFILE is a file (format forestcoll.profile/1), or a sample: switch-base-256, switch-large-128,
    switch-c-2048, gpt2-small, gpt2-medium, gpt2-large, vgg-16, resnet-50, gemma-2-2b, gemma-2-27b, llama-2-7b,
    llama-2-70b, llama-3-8b, llama-3-70b, llama-3-119b, mixtral-8x7b or qwen3-30b-a3b.
    NETWORK is a topology, whose allreduce uses breadth-first broadcast without --layout, or the file of an allreduce
    schedule.
    """
    if not layout and (method or no_overlap):
        raise click.UsageError("--method and --no-overlap are for sharded training; also give --layout, as in fsdp=16")
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.design.workloads import best_iteration, iterate, network_of_file
    from forestcoll.design.workloads.samples import profile_of
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.networks.training import draw_iteration, training_page

    if layout:
        _of_layouts(profile, network, alpha, layout, method, overlaps=not no_overlap, picture=picture, as_json=as_json)
        return
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


def _of_layouts(
    profile: str,
    network: str,
    alpha: Fraction,
    layouts: tuple[str, ...],
    methods: tuple[str, ...],
    *,
    overlaps: bool,
    picture: Path | None,
    as_json: bool,
) -> None:
    """Report iterations with sharded parameters."""
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.design.workloads.samples import profile_of
    from forestcoll.design.workloads.sharded import layout_times, sharded_iteration
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.networks.training import draw_layouts, layouts_page
    from forestcoll.topology.registry import load_topology

    with TerminalProgress() as progress:
        given, topology = profile_of(profile), load_topology(network)
        model = given.on(len(topology.compute))
        found = []
        for layout in layouts:
            for method in (None, *methods):
                times = layout_times(topology, layout, method, alpha_us=alpha, progress=progress)
                found.append((times, sharded_iteration(model, times, overlaps=overlaps)))
        if picture is not None:
            progress.begin("drawing")
            draw_layouts(model, found, picture)
    print_result(layouts_page(model, found), as_json=as_json)
