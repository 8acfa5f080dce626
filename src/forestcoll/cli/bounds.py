"""`forestcoll bounds`: the upper bounds of all collectives on a network."""

from pathlib import Path

import click

from forestcoll.cli.options import asked_by, json_option, named_network, ranks_option, topology_argument
from forestcoll.cli.types import CollectiveName, FileName
from forestcoll.demand.collective import PERSONALISED, SCHEDULED


@click.command("bounds")
@topology_argument
@click.option(
    "--root",
    metavar="ID",
    help="The root, by id or position; a gather and a scatter need one.  [default: the best root of each]",
)
@click.option(
    "--collective",
    type=CollectiveName([each.value for each in (*SCHEDULED, *PERSONALISED)]),
    metavar="NAME",
    help="Show only the bound of this collective.  [default: all but gather and scatter]",
)
@click.option(
    "--demand",
    type=FileName(),
    metavar="FILE",
    help="With --collective all-to-all, gather or scatter: a CSV file with a demand matrix, as for generate.",
)
@ranks_option
@json_option
def command(  # noqa: PLR0913 (one parameter per option)
    topology: str,
    *,
    root: str | None,
    collective: str | None,
    demand: Path | None,
    ranks: str | None,
    as_json: bool,
) -> None:
    """Show the upper bounds of all collectives.

    For each collective on TOPOLOGY, the command shows the bound on algbw and busbw (as nccl-tests defines them), what
    limits the collective, and what `generate` reaches. It also shows the rates of several methods of allreduce, and the
    least number of steps of any schedule. --json adds the certificates: cuts, weights and lengths that prove the bounds
    by addition.
    """
    if collective is not None:
        _show_one(topology, collective, root, demand, ranks, as_json=as_json)
        return
    if demand is not None:
        raise click.UsageError("--demand needs --collective all-to-all, gather or scatter")
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.bounds import bounds_document, bounds_page
    from forestcoll.solver.bounds.table import bounds_of

    with TerminalProgress() as progress:
        found = bounds_of(named_network(topology, connected=ranks is None), ranks=ranks, root=root, progress=progress)
    if as_json:
        print_json(bounds_document(found))
    else:
        print_page(bounds_page(found))


def _show_one(  # noqa: PLR0913 (one parameter per option)
    topology: str, collective: str, root: str | None, demand: Path | None, ranks: str | None, *, as_json: bool
) -> None:
    """Show the bound of one collective."""
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.demand.ranks import ranks_of
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.bounds import bound_document, bound_page
    from forestcoll.solver.bounds.table import bound_of

    wanted, _ = asked_by({"collective": collective, "root": root, "demand": demand, "ranks": ranks})
    with TerminalProgress() as progress:
        network = named_network(topology, connected=ranks is None)
        members = ranks_of(network, ranks)
        bound = bound_of(network, wanted, progress=progress)
    if as_json:
        print_json(bound_document(network, bound, members))
    else:
        print_page(bound_page(network, bound, members))
