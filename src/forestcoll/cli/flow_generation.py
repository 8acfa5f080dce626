"""`forestcoll generate` for an all-to-all, a gather or a scatter: schedules of flows."""

from dataclasses import dataclass
from pathlib import Path

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.cli.options import CollectiveOptions
from forestcoll.demand.method import Method


@dataclass(frozen=True)
class FlowOptions:
    """The other options of `generate`.

    Attributes:
        topology: TOPOLOGY, as text.
        method: the method; only the default is possible.
        compact: whether to write base flows and a symmetry.
        output: the file to write; None if none.
        as_json: whether to print JSON.
        verbose: whether to print counters, too.
    """

    topology: str
    method: str
    compact: bool
    output: Path | None
    as_json: bool
    verbose: bool


def generate_flows_and_report(request: CollectiveOptions, options: FlowOptions) -> None:
    """Generate a schedule of flows, verify it, write it, and print the report."""
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.flows import generated_document, generated_page
    from forestcoll.presentation.results.schedules.optimum import run_document, run_rows
    from forestcoll.schedule.files import write_schedule
    from forestcoll.solver.generation.flows import flows_for
    from forestcoll.verification import certified, verify

    if options.method != Method.AUTO.value:
        raise click.UsageError(f"--method {options.method} is for trees and steps; leave it out for flows")
    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        best = request.solve_flows(request.network(options.topology), progress)
        schedule = flows_for(best, compact=options.compact or None, progress=progress)
        progress.begin("verifying")
        certified(verify(schedule))
        if options.output is not None:
            progress.begin("writing")
            write_schedule(schedule, options.output)
    seconds, counters, err = progress.seconds, progress.counters, is_standard_stream(options.output)
    if options.as_json:
        print_json(generated_document(best, schedule, run_document(options.output, seconds, counters)), err=err)
    else:
        rows = run_rows(options.output, seconds, counters, verbose=options.verbose)
        print_page(generated_page(best, schedule, rows), err=err)
