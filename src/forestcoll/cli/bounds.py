"""`forestcoll bounds`: what no schedule can beat, collective by collective."""

import click

from forestcoll.cli.options import json_option, named_network, ranks_option, topology_argument


@click.command("bounds")
@topology_argument
@click.option(
    "--root",
    metavar="ID",
    help="The root of broadcast and reduce, by its id or position; the best one for each if left out.",
)
@ranks_option
@json_option
def command(topology: str, root: str | None, ranks: str | None, *, as_json: bool) -> None:
    """Say what no schedule can beat, and why.

    Of each collective on TOPOLOGY: the best possible algbw and busbw as nccl-tests defines them, what limits it, and
    what `generate` reaches. Besides, the rate of allreduce between its bounds, and the steps that data takes at least.
    With --json also the certificates: cuts, weights and lengths that anyone can add up.
    """
    from forestcoll.bounds.table import bounds_of
    from forestcoll.cli.watching import Watch
    from forestcoll.presentation.bounds import bounds_document, bounds_page
    from forestcoll.presentation.printing import print_json, print_page

    with Watch() as watch:
        found = bounds_of(named_network(topology, connected=ranks is None), ranks=ranks, root=root, progress=watch)
    if as_json:
        print_json(bounds_document(found))
    else:
        print_page(bounds_page(found))
