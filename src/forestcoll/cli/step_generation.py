"""What `forestcoll generate` does with a method of steps: generate, verify, write, report."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.collective import Collective
from forestcoll.files import is_standard_stream

if TYPE_CHECKING:
    from forestcoll.cli.watching import Watch
    from forestcoll.schedule.steps.value import StepSchedule
    from forestcoll.verification import StepReport

_NOT_FOR_STEPS = {
    "ranks": "--ranks",
    "root": "--root",
    "shards": "--shards",
    "trees": "--trees",
    "max_trees": "--max-trees",
}


@dataclass(frozen=True)
class StepsAsked:
    """What the command line asks of a method of steps."""

    topology: str
    collective: str
    method: str
    chunks: int | None
    data_size: int | None

    def check(self, *, compact: bool, **others: object) -> None:
        """Refuse options that are for trees, as wrong usage."""
        for name, option in _NOT_FOR_STEPS.items():
            if others[name] is not None:
                raise click.UsageError(f"{option} is for methods of trees; leave it out with --method {self.method}")
        if compact:
            raise click.UsageError(f"--compact is for methods of trees; leave it out with --method {self.method}")
        if Collective(self.collective).has_root:
            raise click.UsageError(
                f"--method {self.method} makes an allgather, a reduce-scatter or an allreduce, no {self.collective}"
            )


def generate_and_report(asked: StepsAsked, output: Path | None, *, as_json: bool) -> None:
    """Generate a step schedule, let it be judged, write it, and print what it is."""
    from forestcoll.cli.watching import Watch
    from forestcoll.errors import InternalError
    from forestcoll.generation.steps import generate_steps
    from forestcoll.presentation import text
    from forestcoll.presentation.steps import step_rows, step_title
    from forestcoll.schedule.files import write_schedule
    from forestcoll.topology.registry import load_topology
    from forestcoll.verification import verify

    with Watch() as watch:
        watch.begin("reading the topology")
        network = load_topology(asked.topology)
        schedule = generate_steps(
            network,
            asked.collective,
            method=asked.method,
            chunks=asked.chunks,
            data_size=asked.data_size,
            progress=watch,
        )
        watch.begin("verifying")
        report = verify(schedule)
        if report.fault is not None:
            raise InternalError(f"the generated schedule breaks a rule: {report.fault.message}")
        if output is not None:
            watch.begin("writing")
            write_schedule(schedule, output)
    err = is_standard_stream(output)
    if as_json:
        text.print_json(_document(asked, schedule, report, output, watch), err=err)
        return
    rows = [
        *step_rows(schedule, report),
        ("verified", "every part is held before it is sent, every shard arrives, exact loads"),
        ("time", ", ".join(f"{stage} {passed:.3f} s" for stage, passed in watch.seconds.items())),
        ("written", text.place(output)),
    ]
    text.print_lines([step_title(schedule, asked.method), *text.table(rows)], err=err)


def _document(
    asked: StepsAsked, schedule: "StepSchedule", report: "StepReport", output: Path | None, watch: "Watch"
) -> dict[str, object]:
    from forestcoll.presentation.steps import step_document

    return step_document(schedule, report) | {
        "method": asked.method,
        "verified": True,
        "output": None if output is None else str(output),
        "seconds": {stage: round(passed, 6) for stage, passed in watch.seconds.items()},
    }
