"""`forestcoll optimum`: the exact optimum, without a schedule."""

from typing import Any

import click

from forestcoll.cli.options import Asked, collective_options, json_option, topology_argument


@click.command("optimum")
@topology_argument
@collective_options
@json_option
def command(topology: str, *, as_json: bool, **options: Any) -> None:
    """Say how fast a collective can run, exactly, and why.

    The reason is a cut of TOPOLOGY: its nodes, its links, and what must cross them.
    """
    from forestcoll.cli import wording
    from forestcoll.cli.watching import Watch
    from forestcoll.topology.registry import load_topology

    asked = Asked(**options)
    asked.check()
    with Watch() as watch:
        network = load_topology(topology)
        best, by_trees = asked.optimum(network, watch)
    if as_json:
        wording.print_json(wording.optimum_document(best) | wording.by_trees_document(by_trees))
        return
    wording.print_lines(
        [
            wording.title(best),
            *wording.table(wording.optimum_rows(best)),
            *wording.by_trees_lines(by_trees),
            *wording.bottleneck_lines(best),
        ]
    )
