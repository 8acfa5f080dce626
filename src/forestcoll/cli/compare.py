"""`forestcoll compare`: the optimum compared with the algorithms of other libraries and papers."""

from collections.abc import Iterable, Iterator
from pathlib import Path

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.cli.file_types import FileName, OutputFile
from forestcoll.cli.invocation import invocation
from forestcoll.cli.options import (
    collective_option,
    costs_option,
    json_option,
    named_network,
    nccl_option,
    path_option,
    ranks_option,
    topology_argument,
)
from forestcoll.cli.types import SIZES, MessageSizes
from forestcoll.demand.collective import COMPARED, Collective

_AGAINST = "--against"


class _CompareCommand(click.Command):
    """A command that takes several files after one `--against`, if TOPOLOGY is its first argument."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat `--against` before each further file."""
        topology_first = bool(args) and not args[0].startswith("-")
        return super().parse_args(ctx, list(_one_by_one(args)) if topology_first else args)


def _one_by_one(args: Iterable[str]) -> Iterator[str]:
    """Yield the arguments, with `--against` repeated before each file that follows another one."""
    files: int | None = None  # the number of files since the last `--against`; None after another option
    for word in args:
        if word == _AGAINST:
            files = 0
        elif word.startswith("-") and word != "-":
            files = None
        elif files is not None:
            if files:
                yield _AGAINST
            files += 1
        yield word


@click.command("compare", cls=_CompareCommand)
@topology_argument
@collective_option(COMPARED, Collective.ALLGATHER)
@ranks_option
@click.option(
    "--sizes",
    type=MessageSizes(),
    default="1M,16M,128M,1G",
    show_default=True,
    metavar="SIZES",
    help=f"The sizes of the data M for which times are simulated: {SIZES}",
)
@click.option(
    "--baselines",
    metavar="NAMES",
    help="The algorithms, separated by commas, such as nccl-ring,two-level; the table of all that apply has their "
    "names. openmpi and mpich are what these libraries choose for each size.  [default: all that apply and take "
    "seconds; not integer programs, nor tacos and multitree on large networks]",
)
@click.option(
    _AGAINST,
    type=FileName(),
    multiple=True,
    metavar="FILE…",
    help="Also compare a schedule, a program (MSCCL XML, or a plan of MSCCL++) or the graphs of NCCL "
    "(NCCL_GRAPH_DUMP_FILE) from each file; TOPOLOGY stands before them.",
)
@click.option(
    "--all",
    "complete",
    is_flag=True,
    help="Show all rows, with a sentence for each, the data that crosses the cuts, and why algorithms do not apply, "
    "not only the ten rows that matter most.",
)
@costs_option
@nccl_option
@click.option(
    "--cuda-table",
    type=FileName(),
    metavar="FILE",
    help="Add a row with the times that time slots on GPUs are expected to take, with the time of a slot in FILE, the "
    "table of 'bench --cuda'.",
)
@path_option(
    "--html",
    OutputFile(".html", ".htm"),
    "Also write a report to FILE: one page of HTML with the comparison, the proof, pictures and charts. With -, the "
    "page is written to standard output, and the table to standard error.",
)
@json_option
def command(
    *,
    topology: str,
    without: tuple[str, ...],
    degrade: tuple[str, ...],
    collective: str,
    ranks: str | None,
    sizes: tuple[int, ...],
    baselines: str | None,
    against: tuple[Path, ...],
    complete: bool,
    costs: Path | None,
    nccl: str | None,
    cuda_table: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Compare the optimum with well-known algorithms.

    Each algorithm, such as the rings and trees of NCCL, becomes a schedule for TOPOLOGY, which is verified and
    simulated. The table shows its algbw and busbw, its part of the proven bound, and its algbw for each size. A
    sentence says what limits the schedule. --all also shows the data that crosses the cuts that limit the collective.
    --html writes a report that explains the result to readers who do not know forestcoll.
    """
    from forestcoll.algorithms.baseline import default_baselines
    from forestcoll.base.files import write_text
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.comparison import compare
    from forestcoll.comparison.comparing import NCCL_ROWS
    from forestcoll.demand.demand import Demand
    from forestcoll.demand.ranks import members_of, ranks_of
    from forestcoll.presentation.pages.report import html_report
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.comparisons.comparison import comparison_page
    from forestcoll.simulation import read_costs

    known = None if costs is None else read_costs(costs)
    with TerminalProgress() as progress:
        network = named_network(topology, without, degrade, connected=ranks is None)
        count = len(members_of(network, ranks_of(network, ranks)))
        usual = [*(each.name for each in default_baselines(count)), *NCCL_ROWS]
        listed = usual if baselines is None else baselines.split(",")
        found = compare(
            network,
            Demand(collective, ranks),
            sizes=sizes,
            baselines=[*(name.strip() for name in listed), *against],
            costs=known,
            nccl=nccl,
            cuda_table=cuda_table,
            progress=progress,
        )
        if html is not None:
            write_text(html, [html_report(found, command=invocation("--html"), progress=progress)])
    err = is_standard_stream(html)
    print_result(comparison_page(found, complete=complete), as_json=as_json, err=err)
