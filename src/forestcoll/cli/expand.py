"""`forestcoll expand`: a larger network, with its schedule, made of a given network."""

from pathlib import Path

import click

from forestcoll.cli.options import collective_option, json_option, output_option, path_option
from forestcoll.cli.types import FileOrText, OutputFile, TopologySpec
from forestcoll.demand.collective import UNROOTED, Collective


@click.command("expand")
@click.argument("base", metavar="FILE|TOPOLOGY", type=TopologySpec())
@click.option(
    "--by",
    multiple=True,
    required=True,
    type=FileOrText(),
    metavar="EXPANSION",
    help="An expansion: line-graph, line-graph=K (K times), degree=N (N copies of each node), power=N (Cartesian "
    "power), product=FILE|TOPOLOGY (Cartesian product), parallel=N (each link N times), bidirectional (a reverse link "
    "for each link), breadth-first (the best breadth-first schedule instead of the expanded one). Give the option "
    "several times for several expansions, one after the other.",
)
@collective_option(UNROOTED, Collective.ALLGATHER)
@output_option
@path_option("--topology-output", OutputFile(".json"), "Write the expanded network to this file.")
@json_option
def command(  # noqa: PLR0913 (one parameter per option)
    *,
    base: str,
    by: tuple[str, ...],
    collective: str,
    output: Path | None,
    topology_output: Path | None,
    as_json: bool,
) -> None:
    """Expand a network together with its schedule.

    FILE is an allgather in steps, which is verified first. TOPOLOGY is as for the other commands, and its schedule is
    the best breadth-first broadcast. Every node must have the same number of links. The command prints the steps (T_L)
    and the bandwidth time (T_B, in units of M/B) that the theorems predict. With -o it makes the schedule of the
    expanded network, verifies it, compares it with the prediction, and writes it.
    """
    from forestcoll.base.files import is_standard_stream
    from forestcoll.base.together import written_together
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.design.expanding import bandwidth_of, expand
    from forestcoll.design.realisation import schedule_of, topology_of
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.networks import finder
    from forestcoll.schedule.files import write_schedule
    from forestcoll.topology import write_topology

    with TerminalProgress() as progress:
        progress.begin("expanding")
        network = expand(base, by)
        bandwidth = bandwidth_of(network)
        if output is not None:
            schedule = schedule_of(network, collective, bandwidth=bandwidth, progress=progress)
        with written_together():
            if topology_output is not None:
                write_topology(topology_of(network, bandwidth=bandwidth), topology_output)
            if output is not None:
                progress.begin("writing")
                write_schedule(schedule, output)
    written = {"output": output, "topology_output": topology_output}
    err = is_standard_stream(output)
    if as_json:
        print_json(finder.expanded_document(network, collective, written), err=err)
    else:
        print_page(finder.expanded_page(network, collective, written), err=err)
