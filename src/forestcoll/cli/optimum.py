"""`forestcoll optimum`: the exact optimum of a collective, without a schedule."""

from typing import TYPE_CHECKING, Any

import click

from forestcoll.cli.numpy_start import import_numpy
from forestcoll.cli.options import (
    LinksCommand,
    asked_by,
    change_options,
    changed_network_of,
    demand_options,
    json_option,
    topology_argument,
    tree_options,
)

if TYPE_CHECKING:
    from forestcoll.base.progress import Progress
    from forestcoll.demand.demand import Demand
    from forestcoll.demand.groups.groups import Groups
    from forestcoll.topology import Topology


@click.command("optimum", cls=LinksCommand)
@topology_argument
@demand_options
@tree_options
@click.option(
    "--table",
    is_flag=True,
    help="With --layout: print a table of all dimensions, of the links that limit them, and of other orders.",
)
@change_options
@json_option
def command(topology: str, *, as_json: bool, without: Any, degrade: Any, **options: Any) -> None:
    """Compute the exact optimum of a collective.

    The optimum is the greatest algbw of a collective on TOPOLOGY, as nccl-tests defines algbw. Its proof is a cut of
    the network, the data that all nodes must receive, weighted sets of nodes, or lengths of links. `generate` writes a
    schedule that reaches the optimum.

    With --groups or --layout, several groups run the collective at the same time, and share the links. Their common
    rate is as great as possible. With --demand FILE.json, the same is computed for the pieces of data in the file.
    """
    import_numpy()
    from forestcoll.algorithms.generate import optimum
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.generated import optimum_document, optimum_page

    demand, method = asked_by(options)
    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        network = changed_network_of(topology, demand, (without, degrade))
        if options["table"]:
            _show_table(network, demand, progress, as_json=as_json)
            return
        best = optimum(network, demand, method, progress=progress)
    if as_json:
        print_json(optimum_document(best))
    else:
        print_page(optimum_page(best))


def _show_table(network: "Topology", demand: "Demand | Groups", progress: "Progress", *, as_json: bool) -> None:
    """Print the table of a layout."""
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.groups import table_document, table_page
    from forestcoll.solver.groups.layouts import layout_table

    table = layout_table(network, demand, progress=progress)
    if as_json:
        print_json(table_document(table))
    else:
        print_page(table_page(table))
