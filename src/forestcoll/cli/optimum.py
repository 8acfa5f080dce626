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
    from forestcoll.cli.watching import Watch
    from forestcoll.presentation import parts as part_wording
    from forestcoll.presentation import wording

    asked = Asked(**options)
    asked.check()
    with Watch() as watch:
        network = asked.network(topology)
        best, by_trees = asked.optimum(network, watch)
        gain = asked.without_relays(best, watch)
    if as_json:
        document = wording.optimum_document(best) | part_wording.part_document(best, gain)
        wording.print_json(document | wording.by_trees_document(by_trees))
        return
    wording.print_lines(
        [
            wording.title(best),
            *wording.table([*wording.optimum_rows(best), *part_wording.relay_rows(best, gain)]),
            *wording.by_trees_lines(by_trees),
            *wording.bottleneck_lines(best),
            *part_wording.unused_lines(best),
        ]
    )
