"""`forestcoll tune`: the best schedule and program of a collective for each range of message sizes."""

from collections.abc import Mapping
from pathlib import Path

import click

from forestcoll.cli.options import (
    collective_option,
    dialect_option,
    files_option,
    json_option,
    named_network,
    ranks_option,
    topology_argument,
)
from forestcoll.cli.types import SIZES, FileName, MessageSizes, OutputFolder
from forestcoll.demand.collective import UNROOTED, Collective


@click.command("tune")
@topology_argument
@collective_option(UNROOTED, Collective.ALLGATHER)
@ranks_option
@click.option(
    "--sizes",
    type=MessageSizes(),
    default="1K..4G",
    show_default=True,
    metavar="SIZES",
    help=f"The sizes of the data M for which candidates are compared: {SIZES}",
)
@dialect_option("The runtime that loads the MSCCL XML.", default="microsoft")
@files_option(
    "--costs",
    kinds={each: FileName() for each in ("Simple", "LL", "LL128")},
    description="The parameters of the cost model, in a file that forestcoll fit wrote; or machine, for the latencies "
    "and the bandwidth of a block that are known of the machine in the network's name. KIND is the protocol Simple, LL "
    "or LL128. Without costs, Simple has those of simulate, and LL and LL128 are not used.",
)
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=OutputFolder(),
    help="The folder to write: the schedules, the programs, manifest.json and times.svg. A folder with another tuning "
    "is replaced.",
)
@json_option
def command(
    *,
    topology: str,
    without: tuple[str, ...],
    degrade: tuple[str, ...],
    collective: str,
    ranks: str | None,
    sizes: tuple[int, ...],
    dialect: str,
    costs: Mapping[str, Path],
    output: Path | None,
    as_json: bool,
) -> None:
    """Find the best schedule for each message size.

    For each size, the programs of all candidates are simulated: the optimal schedule in several numbers of pieces,
    schedules with fewer or lower trees, the algorithms that compare lists, and direct exchanges for small data. The
    table shows the fastest one for each range of sizes, and how far it is from a lower bound. -o writes a folder with a
    schedule and programs for each range.
    """
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.demand.demand import Demand
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.programs.tuning import tuning_page
    from forestcoll.presentation.results.programs.tuning_folder import check_tuning_folder, write_tuning
    from forestcoll.simulation import read_costs
    from forestcoll.tuning.costs import MACHINE
    from forestcoll.tuning.tune import tune

    if output is not None:
        check_tuning_folder(output)
    given = {name: MACHINE if str(file) == MACHINE else read_costs(file) for name, file in costs.items()}
    with TerminalProgress() as progress:
        found = tune(
            named_network(topology, without, degrade, connected=ranks is None),
            Demand(collective, ranks),
            sizes,
            costs=given,
            dialect=dialect,
            progress=progress,
        )
        if output is not None:
            progress.begin("writing")
            write_tuning(found, output)
    print_result(tuning_page(found, output), as_json=as_json)
