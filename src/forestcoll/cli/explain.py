"""`forestcoll explain`: measured bandwidths next to what the network allows."""

from pathlib import Path

import click

from forestcoll.cli.file_types import FileName, TopologySpec
from forestcoll.cli.options import change_options, json_option, named_network, ranks_option
from forestcoll.cli.types import CollectiveName
from forestcoll.demand.collective import Collective


@click.command("explain")
@click.argument("topology", metavar="[TOPOLOGY]", type=TopologySpec(), required=False)
@change_options
@click.option(
    "--measured",
    metavar="LOG",
    type=FileName(),
    help="The output of nccl-tests or rccl-tests, also as JSON or CSV; that of a job with NCCL_DEBUG=INFO; what NCCL's "
    "Inspector wrote; or a report of NCCL's RAS. The content says which. - is standard input.",
)
@click.option(
    "--busbw",
    metavar="GB/S",
    help="Instead of --measured: the busbw of large messages, with --collective.",
)
@click.option(
    "--collective",
    type=CollectiveName([each.value for each in Collective]),
    metavar="NAME",
    help="The operation of tests that LOG does not name, if its columns allow several.",
)
@ranks_option
@json_option
def command(
    *,
    topology: str | None,
    without: tuple[str, ...],
    degrade: tuple[str, ...],
    measured: Path | None,
    busbw: str | None,
    collective: str | None,
    ranks: str | None,
    as_json: bool,
) -> None:
    """Compare measured bandwidth with its bound.

    Each test of LOG is printed next to the bound of TOPOLOGY: the share of the bound that each size reaches, the links
    that limit, what the algorithms of NCCL could reach, and whether healthy machines reach more. Without TOPOLOGY, only
    the content of LOG is printed.

    Of a log with NCCL_DEBUG=INFO, hosts, rings, trees and choices are read, too, and what these rings and trees could
    reach on TOPOLOGY or, without it, on the network that NCCL printed.
    """
    if (measured is None) == (busbw is None):
        raise click.UsageError("give either --measured with a file, or --busbw with a number")
    if busbw is not None and (topology is None or collective is None):
        raise click.UsageError("--busbw needs TOPOLOGY and --collective")
    if topology is None and (without or degrade or ranks is not None):
        raise click.UsageError("--without, --degrade and --ranks need TOPOLOGY")
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.nccl.comparison import explain, judge_busbw
    from forestcoll.nccl.job.explained import explain_job
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.measurements.job import job_page, joined_page
    from forestcoll.presentation.results.measurements.measured import comparison_page
    from forestcoll.what_if.causes import with_causes

    with TerminalProgress() as progress:
        network = None
        if topology is not None:
            network = named_network(topology, without, degrade, connected=ranks is None)
        job = None if measured is None else explain_job(measured, network, ranks=ranks)
        if job is not None and not job.has_table:
            print_result(job_page(job), as_json=as_json)
            return
        network = job.topology if job is not None and network is None else network
        if measured is not None:
            found = explain(network, measured, ranks=ranks, collective=collective, progress=progress)
        elif network is not None and collective is not None:
            found = judge_busbw(network, busbw, collective, ranks=ranks, progress=progress)
        found = with_causes(found, progress)
    page = comparison_page(found)
    print_result(page if job is None else joined_page(page, found, job), as_json=as_json)
