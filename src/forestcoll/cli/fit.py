"""`forestcoll fit`: the parameters of the cost model from measured times."""

from pathlib import Path

import click

from forestcoll.cli.file_types import FileName, TopologySpec
from forestcoll.cli.options import json_option, output_option
from forestcoll.cli.types import CollectiveName, OneOf
from forestcoll.demand.collective import SCHEDULED


@click.command("fit")
@click.argument("times", metavar="TIMES...", type=FileName(), nargs=-1, required=True)
@click.option(
    "--schedule",
    "schedules",
    multiple=True,
    type=TopologySpec(),
    metavar="FILE|TOPOLOGY",
    help="The schedule that ran: a schedule file, or a network for which --algorithm makes it. Give one for all TIMES, "
    "or one for each. Not needed if TIMES has a column `schedule`.",
)
@click.option(
    "--algorithm",
    "algorithms",
    multiple=True,
    metavar="NAME",
    help="For a TOPOLOGY: forestcoll, or an algorithm that forestcoll compare lists, such as nccl-ring. Give one for "
    "all TIMES, or one for each.  [default: forestcoll]",
)
@click.option(
    "--collective",
    type=CollectiveName([each.value for each in SCHEDULED]),
    metavar="NAME",
    help="The collective, if neither TIMES nor the schedule says it.  [default: allgather]",
)
@click.option(
    "--model",
    type=OneOf(["simulation", "alpha-beta"]),
    default="simulation",
    show_default=True,
    help="simulation: latency, overhead, launch and efficiencies; alpha-beta: alpha, launch and one efficiency, and no "
    "overhead.",
)
@click.option(
    "--parameters",
    metavar="NAMES",
    help="The parameters to fit, separated by commas, such as alpha_us,efficiency,rank_gbps.  [default: those of the "
    "model that TIMES identifies]",
)
@click.option(
    "--costs",
    "fixed",
    metavar="FILE",
    type=FileName(),
    help="A file with the values of the parameters that are not fitted.",
)
@output_option
@json_option
def command(
    *,
    times: tuple[Path, ...],
    schedules: tuple[str, ...],
    algorithms: tuple[str, ...],
    collective: str | None,
    model: str,
    parameters: str | None,
    fixed: Path | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Fit the cost model to measured times.

    TIMES is a table of comma-separated values with the columns size and time_us or algbw (GB/s), or the output of
    nccl-tests. The parameters are found by least squares of log(simulated / measured), and the simulated times are
    printed next to the measured ones. Parameters that TIMES does not identify are not fitted. With -o, the costs are
    written to a file for simulate --costs and compare --costs.
    """
    from forestcoll.base.exact import json_text
    from forestcoll.base.files import is_standard_stream, write_text
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.measurement.fit import fit_costs, read_times
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.measurements.fitting import fit_page
    from forestcoll.simulation import read_costs

    names = None if parameters is None else [name.strip() for name in parameters.split(",")]
    with TerminalProgress() as progress:
        measured = read_times(times, schedules, algorithms=algorithms, collective=collective, progress=progress)
        kept = None if fixed is None else read_costs(fixed)
        found = fit_costs(measured, parameters=names, model=model, fixed=kept, progress=progress)
        if output is not None:
            write_text(output, json_text(found.costs.document(), indent=1) + "\n")
    err = is_standard_stream(output)
    print_result(fit_page(found), as_json=as_json, err=err)
