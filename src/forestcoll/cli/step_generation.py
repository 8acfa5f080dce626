"""`forestcoll generate` with a method of steps."""

from dataclasses import dataclass
from pathlib import Path

import click

from forestcoll.base.files import is_standard_stream
from forestcoll.cli.options import named_network
from forestcoll.demand.collective import Collective

_NOT_FOR_STEPS = {
    "ranks": "--ranks",
    "root": "--root",
    "shards": "--shards",
    "trees": "--trees",
    "max_trees": "--max-trees",
    "max_peers": "--max-peers",
}


@dataclass(frozen=True)
class StepOptions:
    """The options of `generate` for a method of steps."""

    topology: str
    collective: str
    method: str
    chunks: int | None
    data_size: int | None
    steps: int | None
    compact: bool = False
    without: tuple[str, ...] = ()
    degrade: tuple[str, ...] = ()

    def check(self, **others: object) -> None:
        """Check that no option for methods of trees is given.

        Raises:
            click.UsageError: one is given, or the collective has a root.
        """
        for name, option in _NOT_FOR_STEPS.items():
            if others[name] is not None:
                raise click.UsageError(f"{option} is for methods of trees; leave it out with --method {self.method}")
        if self.compact and self.method != "bfb":
            raise click.UsageError(
                f"--compact is for methods of trees and bfb; leave it out with --method {self.method}"
            )
        if others["demand"] is not None:
            raise click.UsageError(f"--demand is for schedules of flows; leave it out with --method {self.method}")
        if Collective(self.collective).has_root:
            raise click.UsageError(
                f"methods of steps support allgather, reduce-scatter, allreduce and all-to-all, not {self.collective}"
            )


def generate_and_report(request: StepOptions, output: Path | None, *, as_json: bool) -> None:
    """Generate a step schedule, verify it, write it if there is an output file, and print its page or JSON object."""
    from forestcoll.algorithms.by_steps import generate_steps
    from forestcoll.cli.terminal_progress import TerminalProgress
    from forestcoll.presentation.printing import print_json, print_page
    from forestcoll.presentation.results.schedules.steps import generated_document, generated_page
    from forestcoll.schedule.files import write_schedule
    from forestcoll.verification import certified, verify

    with TerminalProgress() as progress:
        progress.begin("reading the topology")
        network = named_network(request.topology, request.without, request.degrade)
        schedule = generate_steps(
            network,
            request.collective,
            method=request.method,
            chunks=request.chunks,
            data_size=request.data_size,
            steps=request.steps,
            compact=request.compact,
            progress=progress,
        )
        progress.begin("verifying")
        report = certified(verify(schedule))
        if output is not None:
            progress.begin("writing")
            write_schedule(schedule, output)
    err = is_standard_stream(output)
    if as_json:
        print_json(generated_document(schedule, report, request.method, output, progress.seconds), err=err)
    else:
        print_page(generated_page(schedule, report, request.method, output, progress.seconds), err=err)
