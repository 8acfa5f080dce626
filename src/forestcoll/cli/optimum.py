"""`forestcoll optimum`: the exact optimum of a collective, without a schedule."""

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from forestcoll.cli.numpy_start import import_numpy
from forestcoll.cli.options import (
    Changes,
    asked_by,
    changed_network_of,
    demand_options,
    json_option,
    named_network,
    topology_argument,
    tree_options,
    usage_of,
)

if TYPE_CHECKING:
    from forestcoll.base.progress import Progress
    from forestcoll.demand.demand import Demand
    from forestcoll.demand.groups.groups import Groups
    from forestcoll.topology import Topology


@click.command("optimum")
@topology_argument
@demand_options
@tree_options
@click.option(
    "--all",
    "every",
    is_flag=True,
    help="Show the bounds of all collectives but gather and scatter, and what reaches them; only --ranks and --root "
    "may be given with it. With --layout: a table of all dimensions, the links that limit them, and other orders.",
)
@json_option
def command(topology: str, *, every: bool, as_json: bool, without: Any, degrade: Any, **options: Any) -> None:
    """Compute the exact optimum of a collective.

    The optimum is the greatest algbw of a collective on TOPOLOGY, as nccl-tests defines algbw. Its proof is a cut of
    the network, the data that all nodes must receive, weighted sets of nodes, or lengths of links. `generate` writes a
    schedule that reaches the optimum.

    With --groups or --layout, several groups run the collective at the same time, and share the links. Their common
    rate is as great as possible. With --demand FILE.json, the same is computed for the pieces of data in the file.

    With --all, a table has the bound of each collective on algbw and busbw (as nccl-tests defines them), what limits
    it, and what `generate` reaches; the rates of several methods of allreduce; and the least number of steps of any
    schedule. --json adds the certificates: cuts, weights and lengths that prove the bounds by addition.
    """
    import_numpy()
    from forestcoll.algorithms.generate import optimum
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.schedules.generated import optimum_page

    if every and options["layout"] is None:
        _show_all(topology, (without, degrade), options, as_json=as_json)
        return
    demand, method = asked_by(options)
    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        network = changed_network_of(topology, demand, (without, degrade))
        if every:
            _show_table(network, demand, progress, as_json=as_json)
            return
        best = optimum(network, demand, method, progress=progress)
    print_result(optimum_page(best), as_json=as_json)


def _show_all(topology: str, changes: Changes, options: dict[str, Any], *, as_json: bool) -> None:
    """Print the bounds of all collectives."""
    from forestcoll.algorithms.asked import AllCollectives
    from forestcoll.base.parameters import of_options
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.schedules.bounds import bounds_page
    from forestcoll.solver.bounds.table import bounds

    every = usage_of(partial(of_options, AllCollectives), options)
    with TerminalProgress() as progress:
        network = named_network(topology, *changes, connected=every.ranks is None)
        found = bounds(network, ranks=every.ranks, root=every.root, progress=progress)
    print_result(bounds_page(found), as_json=as_json)


def _show_table(network: "Topology", demand: "Demand | Groups", progress: "Progress", *, as_json: bool) -> None:
    """Print the table of a layout."""
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.schedules.groups import table_page
    from forestcoll.solver.groups.layouts import layout_table

    table = layout_table(network, demand, progress=progress)
    print_result(table_page(table), as_json=as_json)
