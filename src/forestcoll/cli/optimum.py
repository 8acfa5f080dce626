"""`forestcoll optimum`: the exact optimum, without a schedule."""

from typing import Any

import click

from forestcoll.cli.options import (
    Asked,
    LinksCommand,
    change_options,
    collective_options,
    json_option,
    topology_argument,
)


@click.command("optimum", cls=LinksCommand)
@topology_argument
@collective_options
@change_options
@json_option
def command(topology: str, *, as_json: bool, **options: Any) -> None:
    """Say how fast a collective can run, exactly, and why.

    The reason is a proof: a cut of TOPOLOGY, what all nodes must receive, or weighted sets of nodes.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.presentation.optimum import optimum_document, optimum_page
    from forestcoll.presentation.printing import print_json, print_page

    asked = Asked(**options)
    asked.check()
    with Watch() as watch:
        solution = asked.solve(asked.network(topology), watch)
        gain = asked.without_relays(solution.optimum, watch)
    if as_json:
        print_json(optimum_document(solution.optimum, gain, solution.by_trees))
    else:
        print_page(optimum_page(solution.optimum, gain, solution.by_trees))
