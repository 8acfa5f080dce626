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

    The reason is a proof: a cut of TOPOLOGY, what all nodes must receive, or weighted sets of nodes.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.presentation import optimum as words
    from forestcoll.presentation import parts, text

    asked = Asked(**options)
    asked.check()
    with Watch() as watch:
        solution = asked.solve(asked.network(topology), watch)
        best = solution.optimum
        gain = asked.without_relays(best, watch)
    if as_json:
        document = words.document(best) | parts.part_document(best, gain)
        text.print_json(document | words.by_trees_document(solution.by_trees))
        return
    text.print_lines(
        [
            words.title(best),
            *text.table([*words.rows(best), *parts.relay_rows(best, gain)]),
            *words.by_trees_lines(solution.by_trees),
            *words.bottleneck_lines(best),
            *parts.unused_lines(best),
        ]
    )
