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
    from forestcoll.verification.steps.judge import StepReport

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
    from forestcoll.presentation import text as wording
    from forestcoll.schedule.steps.document import write_steps
    from forestcoll.topology.registry import load_topology
    from forestcoll.verification.steps.judge import verify_steps

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
        report = verify_steps(schedule)
        if report.fault is not None:
            raise InternalError(f"the generated schedule breaks a rule: {report.fault.message}")
        if output is not None:
            watch.begin("writing")
            write_steps(schedule, output)
    err = is_standard_stream(output)
    if as_json:
        wording.print_json(_document(asked, schedule, report, output, watch), err=err)
        return
    rows = [
        *step_rows(schedule, report),
        ("verified", "every part is held before it is sent, every shard arrives, exact loads"),
        ("time", ", ".join(f"{stage} {passed:.3f} s" for stage, passed in watch.seconds.items())),
        ("written", wording.place(output)),
    ]
    wording.print_lines([step_title(schedule, asked.method), *wording.table(rows)], err=err)


def _document(
    asked: StepsAsked, schedule: "StepSchedule", report: "StepReport", output: Path | None, watch: "Watch"
) -> dict[str, object]:
    return step_document(schedule, report) | {
        "method": asked.method,
        "verified": True,
        "output": None if output is None else str(output),
        "seconds": {stage: round(passed, 6) for stage, passed in watch.seconds.items()},
    }


def step_document(schedule: "StepSchedule", report: "StepReport") -> dict[str, object]:
    """Return the JSON keys that describe a step schedule which is right."""
    algbw = report.algbw
    return {
        "topology": schedule.topology.name,
        "collective": schedule.collective.value,
        "compute_nodes": len(schedule.topology.compute),
        "steps": schedule.steps,
        "bandwidth_factor": str(report.bandwidth_factor),
        "least_bandwidth_factor": str(report.least_factor),
        "bandwidth_optimal": report.bandwidth_optimal,
        "algbw": None if algbw is None else str(algbw),
        "algbw_float": None if algbw is None else float(algbw),
        "unit": schedule.topology.bandwidth_unit,
        "transfers": len(schedule),
    }


def step_title(schedule: "StepSchedule", method: str | None = None) -> str:
    """Return the line above what is said of a step schedule."""
    from forestcoll.presentation import text as wording

    what = f"{schedule.collective.value}{'' if method is None else f' by {method}'}"
    return f"{wording.printable(schedule.topology.name)}: {what} over {len(schedule.topology.compute)} compute nodes"


def step_rows(schedule: "StepSchedule", report: "StepReport") -> list[tuple[str, str]]:
    """Return the rows that state what a step schedule which is right comes to."""
    from forestcoll.presentation import text as wording

    factor, least = report.bandwidth_factor, report.least_factor
    if factor is None or least is None:
        return [("steps", str(schedule.steps))]
    optimal = "no schedule has less" if report.bandwidth_optimal else f"at least {least} ({float(least):.4g})"
    rows = [
        ("steps", f"{schedule.steps} (T_L, in hops)"),
        ("bandwidth", f"{factor} ({float(factor):.4g}) M/B (T_B); {optimal}"),
    ]
    if report.algbw is not None:
        rows.append(("algbw", f"{wording.bandwidth(report.algbw, schedule.topology.bandwidth_unit)} for large data"))
    return [*rows, ("transfers", str(len(schedule)))]
