"""`forestcoll train-time`: the time of a training iteration on a network."""

from pathlib import Path
from typing import Any

import click

from forestcoll.cli.file_types import FileOrText, PictureFile, TopologySpec
from forestcoll.cli.options import json_option, usage_of
from forestcoll.cli.types import DataSizes, ExactNumber, MethodText


@click.command("train-time")
@click.argument("profile", metavar="PROFILE", type=FileOrText())
@click.argument("networks", metavar="NETWORK...", nargs=-1, required=True, type=TopologySpec())
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
    metavar="SIZES",
    help="Without --layout: the bucket sizes to try; the report is about the best one.  [default: 1MB,10MB,100MB,1GB]",
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
    type=MethodText(),
    metavar="NAME",
    help="With --layout: what makes the schedules of groups of all ranks, such as nccl-ring. May be given several "
    "times, to compare with the optimum.  [default: the optimum only]",
)
@click.option("--no-overlap", is_flag=True, help="With --layout: no data moves while a GPU computes.")
@click.option(
    "--sweep",
    metavar="AMOUNT=VALUES",
    help="One amount with several values: batch=1,2,4 is the batch of a node, and bandwidth=1/2,1,2 that of all links, "
    "each relative to the profile and the network.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=PictureFile(".svg", ".png"),
    help="The picture (.svg or .png) to write: the timeline; times of several networks, layouts and methods as bars, "
    "or of a sweep as lines.",
)
@json_option
def command(*, output: Path | None, as_json: bool, **options: Any) -> None:
    """Estimate the time of a training iteration on a network.

    The report divides an iteration into computing, all-to-alls, and the part of the allreduces that does not overlap
    with computing. With --layout, the parameters are sharded (FSDP): layers are collected by allgathers before they are
    computed, and their gradients are added up by reduce-scatters. Several networks, layouts, methods or values of a
    sweep are compared.

    PROFILE is a file (format forestcoll.profile/1), or a sample: switch-base-256, switch-large-128,
    switch-c-2048, gpt2-small, gpt2-medium, gpt2-large, vgg-16, resnet-50, gemma-2-2b, gemma-2-27b, llama-2-7b,
    llama-2-70b, llama-3-8b, llama-3-70b, llama-3-119b, mixtral-8x7b or qwen3-30b-a3b.
    NETWORK is a topology, whose allreduce uses breadth-first broadcast without --layout, or the file of an allreduce
    schedule.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.design.workloads.asked import TrainingQuestion
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.networks.training import draw_training, training_page

    question = usage_of(lambda given: TrainingQuestion(**given), options)
    with TerminalProgress() as progress:
        answer = question.answer(progress)
        if output is not None:
            progress.begin("drawing")
            draw_training(answer, output)
    print_result(training_page(answer), as_json=as_json)
