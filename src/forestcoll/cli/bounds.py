"""`forestcoll bounds`: what no schedule can beat, collective by collective."""

import click

from forestcoll.cli.options import json_option, ranks_option, topology_argument


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
    from forestcoll.presentation import bounds as words
    from forestcoll.presentation import text
    from forestcoll.topology.registry import load_topology

    with Watch() as watch:
        network = load_topology(topology, connected=ranks is None)
        found = bounds_of(network, ranks=ranks, root=root, progress=watch)
    if as_json:
        text.print_json(words.document(found))
        return
    text.print_lines(words.lines(found))
