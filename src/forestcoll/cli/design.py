"""`forestcoll design`: networks for collectives, which a search finds or which are made of a given network."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.cli.file_types import FileOrText, OutputFile, PictureFile, TopologySpec
from forestcoll.cli.options import (
    HelpLaterOption,
    jobs_option,
    json_option,
    outputs_option,
    parameters_help,
    processes,
    usage_of,
)
from forestcoll.cli.types import DataSize, NumberSpan, OneOf, SpecText, TrafficName

if TYPE_CHECKING:
    from forestcoll.base.registry import Spec


def _costs() -> "Spec":
    from forestcoll.design.workloads.workload import STEP_COSTS

    return STEP_COSTS


def _costs_help() -> str:
    return f"What steps of a workload take, such as alpha=5,bandwidth=25: {parameters_help(_costs())}."


@click.command("design")
@click.argument("base", metavar="[BASE]...", nargs=-1, type=TopologySpec())
@click.option(
    "--by",
    multiple=True,
    type=FileOrText(),
    metavar="EXPANSION",
    help="An expansion of BASE: line-graph, line-graph=K (K times), degree=N (N copies of each node), power=N "
    "(Cartesian power), product=FILE|TOPOLOGY (Cartesian product), parallel=N (each link N times), bidirectional (a "
    "reverse link for each link), breadth-first (the best breadth-first schedule instead of the expanded one). Give "
    "the option several times for several expansions, one after the other.",
)
@click.option("--nodes", type=NumberSpan(), metavar="N", help="The number of nodes, or A..B for a sweep.")
@click.option(
    "--degree", type=NumberSpan(), metavar="D", help="The number of links that leave each node, or A..B for a sweep."
)
@click.option(
    "--only",
    type=OneOf(["bidirectional", "published"]),
    multiple=True,
    help="bidirectional: networks in which every link has a reverse link; published: base networks of the paper, "
    "without Cayley graphs. May be given twice.",
)
@click.option(
    "--size",
    type=DataSize(),
    metavar="SIZE",
    help="The data size M of a workload, such as 1MB; adds its time on each network.",
)
@click.option(
    "--costs",
    cls=HelpLaterOption,
    make_help=_costs_help,
    type=SpecText("costs", _costs),
    metavar="KEY=VALUE,…",
)
@click.option(
    "--collective",
    type=TrafficName(),
    metavar="NAME",
    help="The workload: allgather, allreduce, all-to-all, or mix, which is an allreduce and an all-to-all.  [default: "
    "allreduce]  With --by: allgather, reduce-scatter or allreduce.  [default: allgather]",
)
@click.option(
    "--objective",
    type=OneOf(["steps", "bandwidth", "all-to-all"]),
    help="Without a workload, the measure in which the chosen network is the best: the steps, T_B, or the rate of an "
    "all-to-all, which is then a third measure of the frontier.  [default: bandwidth]",
)
@click.option(
    "--profile",
    type=FileOrText(),
    metavar="FILE",
    help="The job that the network is for: collectives with sizes and weights, or the layers of a model, in the format "
    "forestcoll.profile/1; or a sample of train-time. The best networks by the time of the job are listed.",
)
@click.option(
    "--layout", metavar="LAYOUT", help="With --profile: sharded training, such as tp=4,fsdp=8, as for train-time."
)
@click.option(
    "--choose", metavar="NAME", help="The network to write, by its name or number of steps.  [default: the best]"
)
@jobs_option("The number of processes for a sweep.")
@outputs_option(
    "A file to write: schedule (.json), topology (.json), plot (the frontier, steps over T_B, next to the networks of "
    "the paper's bases, .svg or .png), or picture (the chosen network, .html, .svg or .png).",
    schedule=OutputFile(".json"),
    topology=OutputFile(".json"),
    plot=PictureFile(".svg", ".png"),
    picture=PictureFile(".html", ".svg", ".png"),
)
@json_option
def command(*, output: Mapping[str, Path], jobs: int | None, as_json: bool, **options: Any) -> None:
    """Find or expand networks for collectives.

    With --nodes and --degree, it prints the Pareto frontier of networks with N nodes and D links per node. Each network
    takes fewer steps (T_L, in units of alpha) than the next one, which has a smaller bandwidth time (T_B, in
    units of M/B). The rate of an all-to-all is a third measure if the workload has an all-to-all. With --size, it also
    prints the time of a workload on each network, and the best network for the workload. A BASE is another network to
    search with.

    With --by, it expands BASE together with its schedule, and prints the steps and the bandwidth time that the theorems
    predict.

    BASE is a file with an allgather in steps, which is verified first, or a TOPOLOGY as for other commands, whose
    schedule is the best known one, stored or breadth first. Every node must have the same number of links. With -o, the
    command makes the step schedule of the network, verifies it, compares it with the prediction, and writes it.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.design.asked import asked
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.networks.design import design_page
    from forestcoll.presentation.view.design_files import write_design

    question = usage_of(asked, {**options, "output": output, "jobs": jobs})
    with TerminalProgress() as progress, processes(jobs) as executor:
        answer = question.answer(progress, executor)
        write_design(answer, progress)
    err = any(map(is_standard_stream, output.values()))
    print_result(design_page(answer), as_json=as_json, err=err)
