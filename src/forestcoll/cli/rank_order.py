"""`forestcoll rank-order`: the order of hosts with which NCCL's rings and trees cross the fabric least."""

from pathlib import Path

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.cli.file_types import OutputFile
from forestcoll.cli.options import collective_option, json_option, named_network, output_option_of, topology_argument
from forestcoll.cli.types import OneOf
from forestcoll.demand.collective import UNROOTED, Collective


@click.command("rank-order")
@topology_argument
@collective_option(UNROOTED, Collective.ALLREDUCE)
@click.option(
    "--layout",
    metavar="LAYOUT",
    help="Groups by dimension, the fastest first, such as tp=8,dp=4: the rings of all of them count.  [default: one "
    "group of all ranks]",
)
@click.option(
    "--to",
    type=OneOf(["ranks", "hostfile", "rankfile", "slurm"]),
    help="What -o writes: ranks: one line a rank, with its host and GPU; hostfile and rankfile: for mpirun; slurm: for "
    "srun --distribution=arbitrary.  [default: ranks]",
)
@output_option_of(OutputFile())
@json_option
def command(
    *,
    topology: str,
    without: tuple[str, ...],
    degrade: tuple[str, ...],
    collective: str,
    layout: str | None,
    to: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find the best order of hosts for NCCL's rings and trees.

    NCCL's rings go from host to host in the order of the ranks, and its trees join hosts by their places in it. The
    order that is found passes the fewest links of the fabric with rings and, among such orders, few with trees. The
    report says whether no order has fewer, or "found by search". A host is the GPUs with one attribute box; ranks of a
    host follow one another.
    """
    if to is not None and output is None:
        raise click.UsageError("--to is the format of the file of -o; also give -o FILE")
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.nccl.order.files import FORMATS, write_order
    from forestcoll.nccl.order.rank_order import rank_order
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.networks.rank_order import rank_order_page

    kind = to or FORMATS[0]
    with TerminalProgress() as progress:
        found = rank_order(named_network(topology, without, degrade), collective, layout=layout, progress=progress)
        if output is not None:
            write_order(found, output, kind)
    print_result(rank_order_page(found, output, kind), as_json=as_json, err=is_standard_stream(output))
