"""`forestcoll optimum`: the exact optimum of a collective, without a schedule."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.cli.file_types import PictureFile
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
@click.option(
    "--frontier",
    is_flag=True,
    help="For allgather, reduce-scatter, allreduce and all-to-all on a network without switches: the least bandwidth "
    "time (T_B) for each number of steps, from the fewest to where more steps do not help, or five.",
)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=PictureFile(".svg", ".png"),
    help="With --frontier: the picture (.svg or .png) to write: steps over T_B.",
)
@json_option
def command(
    topology: str,
    *,
    every: bool,
    frontier: bool,
    output: Path | None,
    as_json: bool,
    without: Any,
    degrade: Any,
    **options: Any,
) -> None:
    """Compute the exact optimum of a collective.

    The optimum is the greatest algbw of a collective on TOPOLOGY, as nccl-tests defines algbw. Its proof is a cut of
    the network, the data that all nodes must receive, weighted sets of nodes, or lengths of links. `generate` writes a
    schedule that reaches the optimum.

    With --groups or --layout, several groups run the collective at the same time, and share the links. Their common
    rate is as great as possible. With --demand FILE.json, the same is computed for the pieces of data in the file.

    With --all, a table has the bound of each collective on algbw and busbw (as nccl-tests defines them), what limits
    it, and what `generate` reaches; the rates of several methods of allreduce; and the least number of steps of any
    schedule. --json adds the certificates: cuts, weights and lengths that prove the bounds by addition.

    With --frontier, a table has the least T_B for each number of steps, which `generate --method steps:steps=K`
    reaches, next to a lower bound, and the equal chunks of a shard and the rounds in which its links send them.
    """
    import_numpy()
    from forestcoll.algorithms.generate import optimum
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.schedules.generated import optimum_page

    if output is not None and not frontier:
        raise click.UsageError("-o is for --frontier; also give --frontier")
    for name in ("max_peers", "max_trees", "trees"):
        if frontier and options[name] is not None:
            raise click.UsageError(f"--{name.replace('_', '-')} is for trees; --frontier divides data among step trees")
    if every and frontier:
        raise click.UsageError("--all and --frontier exclude each other; give one of them")
    if every and options["layout"] is None:
        _show_all(topology, (without, degrade), options, as_json=as_json)
        return
    demand, method = asked_by(options)
    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        network = changed_network_of(topology, demand, (without, degrade))
        if frontier:
            _show_frontier(network, demand, progress, output, as_json=as_json)
            return
        if every:
            _show_table(network, demand, progress, as_json=as_json)
            return
        best = optimum(network, demand, method, progress=progress)
    print_result(optimum_page(best), as_json=as_json)


def _show_frontier(
    network: "Topology",
    demand: "Demand | Groups",
    progress: "Progress",
    output: Path | None,
    *,
    as_json: bool,
) -> None:
    """Print, and draw, the least bandwidth time for each number of steps."""
    from forestcoll.algorithms.frontier import step_frontier
    from forestcoll.presentation.pictures.raster import write_picture
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.networks.step_frontier import step_frontier_page, step_frontier_plot

    found = step_frontier(network, demand, progress=progress)
    if output is not None:
        progress.begin("drawing the frontier")
        write_picture(step_frontier_plot(found), output)
    print_result(step_frontier_page(found), as_json=as_json)


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
