"""`forestcoll bench`: measures a collective between processes, in the manner of nccl-tests."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.cli.file_types import FileName, FirstRankFile, TopologySpec
from forestcoll.cli.options import (
    Command,
    collective_option,
    json_option,
    named_network,
    ranks_option,
)
from forestcoll.cli.types import DataSize, ElementTypes, IntegerFrom, OneOf, Reductions
from forestcoll.demand.collective import Collective

if TYPE_CHECKING:
    from forestcoll.measurement.bench import BenchReport, BenchRow
    from forestcoll.runtime.cuda_table import MeasuredSize
    from forestcoll.schedule.schedule import Schedule


def _size_option(short: str, long: str, text: str) -> Callable[[Command], Command]:
    """Return an option with the first or the last size that is measured."""
    return click.option(short, long, type=DataSize(), default="32M", show_default=True, metavar="SIZE", help=text)


def _count_option(*names: str, least: int, default: int, text: str) -> Callable[[Command], Command]:
    """Return an option with a number of runs."""
    return click.option(*names, type=IntegerFrom(least), default=default, show_default=True, metavar="N", help=text)


@click.command("bench")
@_size_option("-b", "--minbytes", "The least size M.")
@_size_option("-e", "--maxbytes", "The greatest size M.")
@click.option("-i", "--stepbytes", type=DataSize(), metavar="SIZE", help="How much larger each size is.  [default: 1M]")
@click.option("-f", "--stepfactor", type=IntegerFrom(2), metavar="K", help="How many times larger each size is.")
@_count_option("-n", "--iters", least=1, default=20, text="Runs that are timed.")
@_count_option("-w", "--warmup_iters", least=0, default=1, text="Runs before them.")
@_count_option("-c", "--check", least=0, default=1, text="Runs checked on data.")
@click.option(
    "-o",
    "--op",
    type=Reductions(),
    default="sum",
    show_default=True,
    metavar="OP",
    help="The reduction: sum, prod, min, max, avg, mulsum or all.",
)
@click.option(
    "-d",
    "--datatype",
    type=ElementTypes(),
    default="float",
    show_default=True,
    metavar="TYPE",
    help="The elements: int8, uint8, int32, int64, half, float, double, bfloat16 or all.",
)
@click.option(
    "-r",
    "--root",
    type=IntegerFrom(0),
    default=0,
    show_default=True,
    metavar="RANK",
    help="The root of a broadcast, a reduce, a gather or a scatter.",
)
@collective_option(Collective, Collective.ALLREDUCE)
@click.option(
    "--topology",
    type=TopologySpec(),
    envvar="FORESTCOLL_TOPOLOGY",
    show_envvar=True,
    metavar="TOPOLOGY",
    help="The network; rank i runs its compute node i.",
)
@click.option(
    "--schedule",
    "schedules",
    type=FileName(),
    metavar="FILE",
    multiple=True,
    help="Measure the schedule in this file, and not the optimal one of --collective and --topology. May be given "
    "several times.",
)
@ranks_option
@click.option(
    "--library",
    type=OneOf(["auto", "gloo", "mpi", "none"]),
    default="auto",
    show_default=True,
    help="The library to compare with: auto is the MPI under mpirun, else gloo where torch is installed.",
)
@_count_option("--library-iters", least=1, default=5, text="Its runs.")
@click.option("--in-place/--no-in-place", default=True, show_default=True, help="Whether to measure in place, too.")
@click.option(
    "--cuda",
    is_flag=True,
    help="Measure collectives on CUDA tensors by torch: NCCL's own, two levels and slots. Needs torchrun and GPUs.",
)
@click.option(
    "--write-table",
    type=FirstRankFile(".json"),
    metavar="FILE",
    help="With --cuda, write what was measured, for FORESTCOLL_CUDA=auto.",
)
@json_option
@click.pass_context
def command(
    context: click.Context,
    *,
    minbytes: int,
    maxbytes: int,
    stepbytes: int | None,
    stepfactor: int | None,
    iters: int,
    warmup_iters: int,
    check: int,
    op: str,
    datatype: str,
    root: int,
    collective: str,
    topology: str | None,
    schedules: tuple[Path, ...],
    ranks: str | None,
    library: str,
    library_iters: int,
    in_place: bool,
    cuda: bool,
    write_table: Path | None,
    as_json: bool,
) -> None:
    """Measure a collective next to its bound.

    Each process of a launcher runs this: torchrun, mpirun or forestcoll emulate. Options and table are those of
    nccl-tests; further columns have the bound of algbw, the share of it that was reached, the time of the library's
    own collective, how much slower that is, and the path of the data. Bandwidths are in the unit of the network. Rank 0
    prints. Exit status 1 if any element was wrong.

    FORESTCOLL_PACING=1 says that the bandwidths of the network are the real ones, so that connections keep to the
    schedule's rates. FORESTCOLL_INTERFACE is the address of this process, FORESTCOLL_SECRET what all processes must
    know to join, and FORESTCOLL_TIMEOUT how many seconds to wait for another process at most (120).

    With --cuda, the collectives allgather, reduce-scatter and allreduce run on CUDA tensors by all ways that the torch
    backend has, as an experiment. Of the other options, it takes those of sizes, --iters and --topology.
    """
    from forestcoll.measurement.bench import BenchRequest, Listener, bench
    from forestcoll.measurement.bench.request import elements_named, ops_named, sizes_between
    from forestcoll.presentation.printing import print_json, print_lines
    from forestcoll.presentation.results.measurements.bench import bench_document, end_lines, row_line, title_lines
    from forestcoll.runtime.launch import join
    from forestcoll.verification.reading import read_verified

    if topology is None and not schedules:
        raise click.UsageError("no network; give --topology, --schedule, or FORESTCOLL_TOPOLOGY in the environment")
    sizes = sizes_between(minbytes, maxbytes, stepfactor, stepbytes)
    if cuda:
        is_right = _measure_cuda(topology, sizes, iters, write_table, as_json=as_json)
        context.exit(0 if is_right else 1)
    if write_table is not None:
        raise click.UsageError("--write-table needs --cuda")
    request = BenchRequest(
        sizes,
        elements_named(datatype),
        ops_named(op),
        iters,
        warmup_iters,
        check,
        in_place=in_place,
        other_iterations=library_iters,
        other_library=library,
    )
    launch = join(uses_mpi=library in {"auto", "mpi"})

    def make() -> "list[tuple[str, Schedule]]":
        if schedules:
            return [(each.name, read_verified(each)[0]) for each in schedules]
        return [("forestcoll", _optimal(topology or "", collective, root, ranks))]

    def begin(report: "BenchReport") -> None:
        print_lines(title_lines(report))

    def each(row: "BenchRow") -> None:
        print_lines([row_line(row)])

    reports = bench(launch, make, request, listener=None if as_json else Listener(begin, each))
    is_wrong = launch.share(str(sum(report.wrong for report in reports))) != "0"
    if launch.rank == 0 and as_json:
        print_json(bench_document(reports))
    elif launch.rank == 0:
        print_lines(end_lines(reports))
    launch.close()
    context.exit(1 if is_wrong else 0)


def _optimal(topology: str, collective: str, root: int, ranks: str | None) -> "Schedule":
    """Return the schedule that reaches the optimum."""
    from forestcoll.algorithms.generate import generate
    from forestcoll.base.errors import InputError
    from forestcoll.demand.demand import Demand

    network = named_network(topology, connected=ranks is None)
    if not Collective(collective).has_root:
        made: Schedule = generate(network, Demand(collective, ranks))
        return made
    if root >= len(network.compute):
        most = len(network.compute) - 1
        raise InputError(f"bench: root is {root}; {network.name} has {most + 1} compute nodes, so use 0 to {most}")
    rooted: Schedule = generate(network, Demand(collective, ranks, network.nodes[network.compute[root]].id))
    return rooted


def _measure_cuda(
    topology: str | None, sizes: tuple[int, ...], iters: int, file: Path | None, *, as_json: bool
) -> bool:
    """Measure the ways of CUDA tensors, and return on all ranks whether all elements were right."""
    from forestcoll.base.exact import json_text
    from forestcoll.base.files import write_text
    from forestcoll.measurement.bench.cuda import CudaRequest, measure_ways
    from forestcoll.presentation.printing import print_json, print_lines
    from forestcoll.presentation.results.measurements.cuda import cuda_row_lines, cuda_title_lines

    if topology is None:
        raise click.UsageError("no network; give --topology, or FORESTCOLL_TOPOLOGY in the environment")
    titles = iter(() if as_json else cuda_title_lines(named_network(topology, connected=True).bandwidth_unit))

    def show(row: "MeasuredSize") -> None:
        if not as_json:
            print_lines([*titles, *cuda_row_lines(row)])

    request = CudaRequest(topology, sizes, iterations=iters)
    table, is_right = measure_ways(request, show)
    if table is not None and as_json:
        print_json(table.to_document())
    if table is not None and file is not None:
        write_text(file, [json_text(table.to_document(), indent=1), "\n"])
    return is_right
