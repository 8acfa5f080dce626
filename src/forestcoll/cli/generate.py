"""`forestcoll generate`: a schedule that reaches the optimum, verified before it is written."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from forestcoll.cli.options import (
    Asked,
    LinksCommand,
    change_options,
    collective_options,
    json_option,
    output_option,
    topology_argument,
)
from forestcoll.cli.step_generation import StepsAsked, generate_and_report
from forestcoll.cli.types import DataSize
from forestcoll.files import is_standard_stream
from forestcoll.method import Method, StepMethod


@click.command("generate", cls=LinksCommand)
@topology_argument
@collective_options
@change_options
@click.option(
    "--method",
    type=click.Choice([each.value for each in (*Method, *StepMethod)]),
    default=Method.AUTO.value,
    show_default=True,
    help="How trees are found: grown, packed by the paper's way, or grown and, if need be, packed; or steps, on a "
    "network without switches: breadth-first broadcast (bfb), or a well-known algorithm.",
)
@click.option(
    "--chunks",
    type=click.IntRange(min=1),
    metavar="P",
    help="Of bfb: cut shards into P equal chunks, not anywhere; of double-binary-tree: pieces in the pipeline.",
)
@click.option(
    "--size",
    "data_size",
    type=DataSize(),
    metavar="SIZE",
    help="Of bfb: the data M, as 1MB, for which links' latencies are weighed against their bandwidths.",
)
@click.option(
    "--compact", is_flag=True, help="Hold a symmetry of the network and the trees that the others are images of."
)
@output_option
@json_option
@click.option("-v", "--verbose", is_flag=True, help="Also print what the run did.")
def command(  # noqa: PLR0913 (one parameter an option)
    *,
    topology: str,
    method: str,
    chunks: int | None,
    data_size: int | None,
    compact: bool,
    output: Path | None,
    as_json: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Write a schedule that reaches the optimum, verified.

    The optimum is that of a collective on TOPOLOGY; a schedule that the verifier refuses is never written.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.presentation.optimum import generated_document, generated_page, run_document, run_rows
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.schedule.files import write_schedule
    from forestcoll.solver.generate import schedule_of
    from forestcoll.verification import certified, verify

    if method in set(StepMethod):
        changes = (options["without"], options["degrade"])
        steps = StepsAsked(topology, options["collective"], method, chunks, data_size, *changes)
        steps.check(compact=compact, **options)
        generate_and_report(steps, output, as_json=as_json)
        return
    if chunks is not None or data_size is not None:
        raise click.UsageError("--chunks and --size are for methods of steps; leave them out for trees")
    asked = Asked(**options)
    asked.check()
    with Watch() as watch:
        watch.begin("reading the topology")
        network = asked.network(topology)
        solution = asked.solve(network, watch)
        schedule = schedule_of(solution, method=method, compact=compact, progress=watch)
        watch.begin("verifying")
        certified(verify(schedule))
        best = replace(solution.optimum, algbw=schedule.algbw)
        gain = asked.without_relays(best, watch)
        if output is not None:
            watch.begin("writing")
            write_schedule(schedule, output)
    seconds, counters, err = watch.seconds, watch.counters, is_standard_stream(output)
    if as_json:
        run = run_document(output, seconds, counters)
        print_json(generated_document(best, schedule, run, gain, solution.by_trees), err=err)
    else:
        rows = run_rows(output, seconds, counters, verbose=verbose)
        print_page(generated_page(best, schedule, rows, gain, solution.by_trees), err=err)
