"""`forestcoll bounds`: the upper bounds of all collectives on a network."""

import click

from forestcoll.cli.options import json_option, named_network, ranks_option, topology_argument


@click.command("bounds")
@topology_argument
@click.option(
    "--root",
    metavar="ID",
    help="The root of broadcast and reduce, by id or position.  [default: the best root of each]",
)
@ranks_option
@json_option
def command(topology: str, root: str | None, ranks: str | None, *, as_json: bool) -> None:
    """Show the upper bounds of all collectives.

    For each collective on TOPOLOGY, the command shows the bound on algbw and busbw (as nccl-tests defines them), what
    limits the collective, and what `generate` reaches. It also shows the rates of several methods of allreduce, and the
    least number of steps of any schedule. --json adds the certificates: cuts, weights and lengths that prove the bounds
    by addition.
    """
    from forestcoll.bounds.table import bounds_of
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.bounds import bounds_document, bounds_page
    from forestcoll.presentation.printing import print_json, print_page

    with TerminalProgress() as progress:
        found = bounds_of(named_network(topology, connected=ranks is None), ranks=ranks, root=root, progress=progress)
    if as_json:
        print_json(bounds_document(found))
    else:
        print_page(bounds_page(found))
