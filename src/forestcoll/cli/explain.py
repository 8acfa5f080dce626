"""`forestcoll explain`: measured bandwidths next to what the network allows."""

from pathlib import Path

import click

from forestcoll.cli.options import json_option, named_network, ranks_option, topology_argument
from forestcoll.cli.types import CollectiveName, FileName
from forestcoll.demand.collective import Collective


@click.command("explain")
@topology_argument
@click.option(
    "--measured",
    metavar="LOG",
    type=FileName(),
    required=True,
    help="The output of nccl-tests or rccl-tests; - is standard input.",
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
    topology: str,
    without: tuple[str, ...],
    degrade: tuple[str, ...],
    measured: Path,
    collective: str | None,
    ranks: str | None,
    as_json: bool,
) -> None:
    """Compare measured bandwidth with its bound.

    Each test of an nccl-tests log is printed next to the bound of TOPOLOGY: the share of the bound that each size
    reaches, the links that limit, and the most that rings, which NCCL uses, could reach.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.nccl.comparison import explain
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.measurements.measured import comparison_document, comparison_page

    with TerminalProgress() as progress:
        network = named_network(topology, without, degrade, connected=ranks is None)
        found = explain(network, measured, ranks=ranks, collective=collective, progress=progress)
    if as_json:
        print_json(comparison_document(found))
    else:
        print_page(comparison_page(found))
