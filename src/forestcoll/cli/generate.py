"""`forestcoll generate`: a schedule that reaches the optimum, verified before it is written."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.cli.flow_generation import FlowOptions, generate_flows_and_report
from forestcoll.cli.group_options import (
    BundleOutput,
    GroupOptions,
    group_options,
    members_option,
)
from forestcoll.cli.group_options import generate_and_report as generate_bundle_and_report
from forestcoll.cli.numpy_start import import_numpy
from forestcoll.cli.options import (
    CollectiveOptions,
    LinksCommand,
    change_options,
    collective_options,
    json_option,
    output_option,
    topology_argument,
)
from forestcoll.cli.step_generation import StepOptions, generate_and_report
from forestcoll.cli.types import DataSize, IntegerFrom
from forestcoll.demand.method import Method, StepMethod

if TYPE_CHECKING:
    from forestcoll.base.progress import Progress
    from forestcoll.schedule.schedule import Schedule


@click.command("generate", cls=LinksCommand)
@topology_argument
@collective_options
@group_options
@members_option
@change_options
@click.option(
    "--method",
    type=click.Choice([each.value for each in (*Method, *StepMethod)]),
    default=Method.AUTO.value,
    show_default=True,
    help="Trees: fast grows them, proven packs them as in the paper, and auto packs those that cannot be grown. Steps, "
    "for networks without switches: breadth-first broadcast (bfb), a well-known algorithm, or an all-to-all (steps).",
)
@click.option(
    "--chunks",
    type=IntegerFrom(min=1),
    metavar="P",
    help="For bfb: divide shards only into P equal chunks. For double-binary-tree: the number of chunks in the "
    "pipeline.",
)
@click.option(
    "--size",
    "data_size",
    type=DataSize(),
    metavar="SIZE",
    help="For bfb: the data size M, such as 1MB; the latencies of links then count in addition to their bandwidths.",
)
@click.option(
    "--steps",
    type=IntegerFrom(min=1),
    metavar="K",
    help="For --method steps: the number of steps; more may take less time for large data.  [default: the fewest]",
)
@click.option(
    "--compact",
    is_flag=True,
    help="Write base trees, base flows or, for bfb, base transfers, and a symmetry of the network; all others are "
    "their images. Without this option, flows are written in this form only if there are more than 50,000.",
)
@output_option
@json_option
@click.option("-v", "--verbose", is_flag=True, help="Also print the counters of the run.")
def command(  # noqa: PLR0913 (one parameter per option)
    *,
    topology: str,
    method: str,
    chunks: int | None,
    data_size: int | None,
    steps: int | None,
    compact: bool,
    members: Path | None,
    output: Path | None,
    as_json: bool,
    verbose: bool,
    **options: Any,
) -> None:
    """Generate a verified schedule that reaches the optimum.

    The schedule reaches the optimum of a collective on TOPOLOGY, or the best algbw for the requested number of trees.
    With a method of steps, the report compares the schedule with a lower bound. The schedule is verified before it is
    written.

    With --groups or --layout, several groups run the collective at the same time. The file is then a bundle of
    schedules, one for each group. With --demand FILE.json, the groups move the pieces of data in the file.
    """
    import_numpy()
    from forestcoll.algorithms.generate import schedule_of
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.optimum import (
        generated_document,
        generated_page,
        run_document,
        run_rows,
    )

    groups = GroupOptions.taken_from(options)
    groups.check(options)
    if groups.are_given:
        _check_trees_only(method, compact=compact, others=(chunks, data_size))
        generate_bundle_and_report(topology, groups, options, BundleOutput(output, members, as_json, verbose))
        return
    if members is not None:
        raise click.UsageError("--members is for groups; also give --groups, --layout or pieces")
    if method in set(StepMethod):
        changes = (options["without"], options["degrade"])
        stepwise = StepOptions(topology, options["collective"], method, chunks, data_size, steps, compact, *changes)
        stepwise.check(**options)
        generate_and_report(stepwise, output, as_json=as_json)
        return
    if chunks is not None or data_size is not None or steps is not None:
        raise click.UsageError(
            "--chunks, --size and --steps are for methods of steps; leave them out for methods of trees"
        )
    request = CollectiveOptions(**options)
    request.check()
    if request.is_personalised:
        generate_flows_and_report(request, FlowOptions(topology, method, compact, output, as_json, verbose))
        return
    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        network = request.network(topology)
        solution = request.solve(network, progress)
        schedule = schedule_of(solution, method=method, compact=compact, progress=progress)
        best = replace(solution.optimum, algbw=schedule.algbw)
        gain = request.without_relays(best, progress)
        _verify_and_write(schedule, output, progress)
    seconds, counters, err = progress.seconds, progress.counters, is_standard_stream(output)
    if as_json:
        run = run_document(output, seconds, counters)
        print_json(generated_document(best, schedule, run, gain, solution.by_trees), err=err)
    else:
        rows = run_rows(output, seconds, counters, verbose=verbose)
        print_page(generated_page(best, schedule, rows, gain, solution.by_trees), err=err)


def _verify_and_write(schedule: "Schedule", output: Path | None, progress: "Progress") -> None:
    from forestcoll.schedule.files import write_schedule
    from forestcoll.verification import certified, verify

    progress.begin("verifying")
    certified(verify(schedule))
    if output is not None:
        progress.begin("writing")
        write_schedule(schedule, output)


def _check_trees_only(method: str, *, compact: bool, others: tuple[int | None, ...]) -> None:
    """Check that no option is given that bundles do not have."""
    if method != Method.AUTO.value or compact or any(value is not None for value in others):
        raise click.UsageError(
            "--method, --chunks, --size and --compact are for one collective; leave them out for groups and pieces"
        )
