"""`forestcoll optimum`: the exact optimum of a collective, without a schedule."""

from typing import Any

import click

from forestcoll.cli.group_options import GroupOptions, group_options, report_optimum, report_table, table_option
from forestcoll.cli.numpy_start import import_numpy
from forestcoll.cli.options import (
    CollectiveOptions,
    LinksCommand,
    change_options,
    collective_options,
    json_option,
    topology_argument,
)


@click.command("optimum", cls=LinksCommand)
@topology_argument
@collective_options
@group_options
@table_option
@change_options
@json_option
def command(topology: str, *, table: bool, as_json: bool, **options: Any) -> None:
    """Compute the exact optimum of a collective.

    The optimum is the greatest algbw of a collective on TOPOLOGY, as nccl-tests defines algbw. Its proof is a cut of
    the network, the data that all nodes must receive, weighted sets of nodes, or lengths of links. `generate` writes a
    schedule that reaches the optimum.

    With --groups or --layout, several groups run the collective at the same time, and share the links. Their common
    rate is as great as possible. With --demand FILE.json, the same is computed for the pieces of data in the file.
    """
    import_numpy()
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.flows import optimum_document as flow_document
    from forestcoll.presentation.results.schedules.flows import optimum_page as flow_page
    from forestcoll.presentation.results.schedules.optimum import optimum_document, optimum_page

    groups = GroupOptions.taken_from(options)
    groups.check(options, table=table)
    if groups.are_given:
        report = report_table if table else report_optimum
        report(topology, groups, options, as_json=as_json)
        return
    request = CollectiveOptions(**options)
    request.check()
    if request.is_personalised:
        with TerminalProgress() as progress:
            flows = request.solve_flows(request.network(topology), progress)
        if as_json:
            print_json(flow_document(flows))
        else:
            print_page(flow_page(flows))
        return
    with TerminalProgress() as progress:
        solution = request.solve(request.network(topology), progress)
        gain = request.without_relays(solution.optimum, progress)
    if as_json:
        print_json(optimum_document(solution.optimum, gain, solution.by_trees))
    else:
        print_page(optimum_page(solution.optimum, gain, solution.by_trees))
