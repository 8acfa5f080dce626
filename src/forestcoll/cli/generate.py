"""`forestcoll generate`: a schedule that reaches the optimum, verified before it is written."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.cli.file_types import OutputFile, OutputFolder
from forestcoll.cli.numpy_start import import_numpy
from forestcoll.cli.options import (
    PARTS,
    asked_by,
    changed_network_of,
    demand_options,
    json_option,
    outputs_option,
    topology_argument,
    tree_options,
)
from forestcoll.cli.types import MessageSizes, MethodText, OneOf, SpecText

if TYPE_CHECKING:
    from forestcoll.base.progress import Progress
    from forestcoll.base.registry import Registry
    from forestcoll.schedule.schedule import Schedule
    from forestcoll.verification import Report


def _formats() -> "Registry":
    from forestcoll.programs.targets.target import targets

    return targets


@click.command("generate")
@topology_argument
@demand_options
@click.option(
    "--method",
    type=MethodText(),
    metavar="NAME[:KEY=VALUE…]",
    help="trees reach the optimum; fast only grows them, and proven packs them as in the paper. flows are for "
    "all-to-all, gather and scatter. Steps, for networks without switches: bfb (breadth-first broadcast; "
    "bfb:chunks=P divides shards only into P equal chunks), ring, torus-rings, halving-doubling, double-binary-tree "
    "(:chunks=P in the pipeline), steps (the least time for large data in the fewest steps, or in :steps=K). Also the "
    "algorithms that compare lists, such as nccl-ring.  [default: trees or flows]",
)
@tree_options
@click.option(
    "--size",
    type=MessageSizes(),
    metavar="SIZE",
    help="The data size M, such as 128MiB: the schedule is the one with the least simulated time of all that are "
    "known, whatever its method. For a range, such as 1MiB..1GiB, it is the one that loses least on average. "
    "With --method bfb, the latencies of links then count in addition to their bandwidths.",
)
@click.option(
    "--survive",
    type=OneOf(PARTS),
    help="Make the trees of which the most algbw is left after the failure of any one part of this kind, without new "
    "routes; their algbw without a failure may be lower.",
)
@click.option(
    "--for",
    "runtime",
    type=SpecText("format", _formats),
    metavar="NAME[:KEY=VALUE…]",
    help="Make the schedule for the programs of a runtime, as --to of export: mscclpp-json, msccl-xml. If those of the "
    "optimum would be slow or do not fit, it has fewer peers or other trees.",
)
@click.option(
    "--compact",
    is_flag=True,
    help="Write base trees, base flows or, for bfb, base transfers, and a symmetry of the network; all others are "
    "their images. Without this option, flows are written in this form only if there are more than 50,000.",
)
@outputs_option(
    "A file to write: schedule (.json, or .json.gz for gzip) or, for groups and pieces, members (a directory with the "
    "schedule of each group, group-N.json); with --survive also failover (a directory with the trees that each failure "
    "leaves).",
    schedule=OutputFile(".json"),
    members=OutputFolder(r"group-\d+\.json"),
    failover=OutputFolder(),
)
@json_option
def command(*, topology: str, output: Mapping[str, Path], as_json: bool, **options: Any) -> None:
    """Generate a verified schedule that reaches the optimum.

    The schedule reaches the optimum of a collective on TOPOLOGY, or the best algbw for the requested number of trees.
    With a method of steps, the report compares the schedule with a lower bound. The schedule is verified before it is
    written.

    With --groups or --layout, several groups run the collective at the same time. The file is then a bundle of
    schedules, one for each group. With --demand FILE.json, the groups move the pieces of data in the file.

    In Python, forestcoll.StepSchedule.of_sends makes a schedule of the sends of an algorithm of your own;
    docs/how-to/your-own-algorithm.md has an example.
    """
    import_numpy()
    from forestcoll.algorithms.generate import generated
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_result
    from forestcoll.presentation.results.schedules.generated import Run, generated_page

    changes, runtime = (options.pop("without"), options.pop("degrade")), options.pop("runtime")
    survive = options["survive"]
    if runtime is not None and survive is not None:
        raise click.UsageError("--for may take other trees than those that survive; leave it out, and use export")
    demand, method = asked_by({**options, **{name: output.get(name) for name in ("members", "failover")}})
    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        network = changed_network_of(topology, demand, changes)
        if "failover" in output:
            from forestcoll.what_if.failover import check_trees_left

            check_trees_left(network, output["failover"], survive, demand)
        made = generated(network, demand, method, options["size"], progress=progress)
        if runtime is not None:
            from forestcoll.tuning.programs.for_runtime import schedule_for_runtime

            made = replace(made, schedule=schedule_for_runtime(made.schedule, runtime, progress))
        report = _verify_and_write(made.schedule, output, progress)
        if made.survival is not None and "failover" in output:
            from forestcoll.what_if.failover import write_trees_left

            write_trees_left(made.survival, output["failover"], progress=progress)
    run = Run("" if method is None else method.name, output, progress.seconds, progress.counters)
    err = is_standard_stream(output.get("schedule"))
    print_result(generated_page(made, report, run), as_json=as_json, err=err)


def _verify_and_write(schedule: "Schedule", output: Mapping[str, Path], progress: "Progress") -> "Report":
    from forestcoll.base.together import written_together
    from forestcoll.schedule.bundle.files import write_members
    from forestcoll.schedule.bundle.value import BundleSchedule
    from forestcoll.schedule.files import write_schedule
    from forestcoll.verification import certified, verify

    progress.begin("verifying")
    report = certified(verify(schedule))
    progress.begin("writing")
    with written_together():
        if "members" in output and isinstance(schedule, BundleSchedule):
            write_members(schedule, output["members"])
        if "schedule" in output:
            write_schedule(schedule, output["schedule"])
    return report
