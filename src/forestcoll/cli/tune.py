"""`forestcoll tune`: the best schedule and program of a collective for each range of message sizes."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.cli.file_types import FileName, OutputFolder
from forestcoll.cli.options import (
    collective_option,
    dialect_option,
    files_option,
    json_option,
    named_network,
    nccl_option,
    ranks_option,
    topology_argument,
)
from forestcoll.cli.types import SIZES, MessageSizes, OneOf
from forestcoll.demand.collective import UNROOTED, Collective

if TYPE_CHECKING:
    from forestcoll.demand.demand import Demand
    from forestcoll.topology import Topology

NCCL_TUNER = "nccl-tuner"


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
    "--to",
    type=OneOf([NCCL_TUNER]),
    help="nccl-tuner: find rules for NCCL instead: which algorithm and protocol it should use for each size. -o writes "
    "a folder with the rules (CSV), a plugin that applies them (tuner.c) and a README.",
)
@click.option(
    "--measured",
    metavar="FILE",
    type=FileName(),
    multiple=True,
    help="With --to nccl-tuner: a log of nccl-tests for each setting of NCCL; the rules come from these logs. Without "
    "it, they come from NCCL's own model, and the commands that measure all settings are printed.",
)
@nccl_option
@click.option(
    "-o",
    "--output",
    metavar="FOLDER",
    type=OutputFolder(),
    help="The folder to write: the schedules, the programs, manifest.json and times.svg. A folder with another tuning "
    "is replaced. With --to nccl-tuner: the rules, the plugin and the README.",
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
    to: str | None,
    measured: tuple[Path, ...],
    nccl: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Find the best schedule for each message size.

    For each size, the programs of the best candidates are simulated: the optimal schedule in several numbers of pieces,
    schedules with fewer or lower trees, the algorithms that compare lists, and direct exchanges for small data. The
    table shows the fastest one for each range of sizes, and how far it is from a lower bound. -o writes a folder with a
    schedule and programs for each range.
    """
    from forestcoll.demand.demand import Demand

    if to is not None:
        if costs:
            raise click.UsageError("--costs is not for --to nccl-tuner; leave it out")
        network = named_network(topology, without, degrade, connected=ranks is None)
        options = {"sizes": sizes, "measured": measured, "nccl": nccl}
        _tune_nccl(network, Demand(collective, ranks), options, output, as_json=as_json)
        return
    if measured or nccl:
        raise click.UsageError("--measured and --nccl are for --to nccl-tuner; leave them out")
    from forestcoll.cli.terminal_progress import TerminalProgress
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


def _tune_nccl(
    network: "Topology", demand: "Demand", options: dict[str, Any], output: Path | None, *, as_json: bool
) -> None:
    """Find rules for NCCL's tuner, and write them."""
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.comparison.nccl_tuning import nccl_tuning
    from forestcoll.nccl.tuner.folder import check_tuner_folder, write_tuner
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.programs.nccl_tuner import tuner_page

    if output is not None:
        check_tuner_folder(output)
    with TerminalProgress() as progress:
        found = nccl_tuning(network, demand, progress=progress, **options)
        if output is not None:
            write_tuner(found, output)
    print_result(tuner_page(found, output), as_json=as_json)
