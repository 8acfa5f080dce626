"""`forestcoll verify`: checks a schedule file that anyone wrote."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.cli.options import file_argument, json_option
from forestcoll.collective import Collective
from forestcoll.errors import InputError

if TYPE_CHECKING:
    from forestcoll.schedule.series.value import SeriesSchedule
    from forestcoll.schedule.steps.value import StepSchedule
    from forestcoll.schedule.trees.value import TreeSchedule
    from forestcoll.topology import NodeId
    from forestcoll.verification import Fault, Report
    from forestcoll.verification.series.judge import SeriesReport
    from forestcoll.verification.steps.judge import StepReport


@click.command("verify")
@file_argument
@json_option
@click.pass_context
def command(context: click.Context, file: Path, *, as_json: bool) -> int:
    """Check a schedule that anyone wrote.

    FILE is a schedule of trees or of steps, or a periodic one; - is standard input. Of trees are judged delivery,
    loads, what they claim to achieve, and the proof of the optimum; of steps, that what is sent is held, that all
    arrives, and loads; of a series of broadcasts, ports, trees, whole messages and the proof of the optimum.

    Exit status 1 and the first broken rule if it is not right. With --json the answer is one JSON object whatever FILE
    holds; "rule" is null where it is no schedule at all.
    """
    from forestcoll.cli.watching import Watch
    from forestcoll.presentation import wording
    from forestcoll.schedule.files import read_any_schedule

    try:
        with Watch() as watch:
            watch.begin("reading")
            schedule = read_any_schedule(file)
            watch.begin("verifying")
            judgement = _judgement(schedule)
    except InputError as error:
        if as_json:
            wording.print_json(_refusal(None, str(error)))
        raise
    fault = judgement.fault
    if fault is None and as_json:
        wording.print_json({"valid": True} | judgement.document())
    elif fault is None:
        wording.print_lines(judgement.lines(file))
    elif as_json:
        wording.print_json(_refusal(fault.rule, fault.message))
    else:
        click.echo(f"forestcoll: {file}: {fault.message} [{fault.rule}]", err=True)
    context.exit(0 if fault is None else 1)


@dataclass(frozen=True)
class _Judgement:
    """The first broken rule, or None and then what is said of the schedule, as JSON and in lines for a person."""

    fault: "Fault | None"
    document: Callable[[], dict[str, object]]
    lines: Callable[[Path], list[str]]


def _judgement(schedule: "TreeSchedule | StepSchedule | SeriesSchedule") -> _Judgement:
    from forestcoll.schedule.series.value import SeriesSchedule
    from forestcoll.schedule.steps.value import StepSchedule
    from forestcoll.verification import verify
    from forestcoll.verification.steps.judge import verify_steps

    if isinstance(schedule, StepSchedule):
        judged = verify_steps(schedule)
        return _Judgement(judged.fault, partial(_steps_document, schedule, judged), partial(_steps, schedule, judged))
    if isinstance(schedule, SeriesSchedule):
        return _series_judgement(schedule)
    report = verify(schedule)
    return _Judgement(report.fault, partial(_document, schedule, report), partial(_lines, schedule, report))


def _series_judgement(schedule: "SeriesSchedule") -> _Judgement:
    from forestcoll.presentation import series as series_wording
    from forestcoll.verification.series.judge import verify_series

    report = verify_series(schedule)
    document = partial(series_wording.verified_document, schedule, report)
    return _Judgement(report.fault, document, partial(_series, schedule, report))


def _steps_document(schedule: "StepSchedule", report: "StepReport") -> dict[str, object]:
    from forestcoll.presentation.steps import step_document

    return step_document(schedule, report)


def _steps(schedule: "StepSchedule", report: "StepReport", file: Path) -> list[str]:
    from forestcoll.presentation.steps import verified_page

    return verified_page(schedule, report, file).lines()


def _series(schedule: "SeriesSchedule", report: "SeriesReport", file: Path) -> list[str]:
    from forestcoll.presentation.series import verified_page

    return verified_page(schedule, report, file).lines()


def _refusal(rule: str | None, message: str) -> dict[str, object]:
    return {"valid": False, "rule": rule, "message": message}


def _document(schedule: "TreeSchedule", report: "Report") -> dict[str, object]:
    from forestcoll.presentation import wording
    from forestcoll.schedule.trees.shape import shape_of
    from forestcoll.schedule.trees.traffic import traffic_of

    shape = shape_of(schedule)
    document: dict[str, object] = {
        "collective": schedule.collective.value,
        "topology": schedule.topology.name,
        "compute_nodes": len(schedule.members),
        "algbw": str(report.algbw),
        "optimal_algbw": None if schedule.optimal_algbw is None else str(schedule.optimal_algbw),
        "optimal": report.optimal,
        "unit": schedule.topology.bandwidth_unit,
        "trees": shape.trees,
        "base_trees": shape.base_trees,
        "group_order": shape.group_order,
        "greatest_height": shape.greatest_height,
        "mean_height": shape.mean_height,
    }
    document |= wording.traffic_document(traffic_of(schedule))
    if schedule.ranks is not None:
        document["ranks"] = schedule.topology.ids(schedule.ranks)
    if schedule.collective.has_root:
        document["root"] = _root(schedule)
    return document


def _root(schedule: "TreeSchedule") -> "NodeId":
    return schedule.topology.nodes[schedule.phases[0].roots[0]].id


def _lines(schedule: "TreeSchedule", report: "Report", file: Path) -> list[str]:
    from forestcoll.presentation import wording
    from forestcoll.schedule.trees.shape import shape_of
    from forestcoll.schedule.trees.traffic import traffic_of

    topology, unit = schedule.topology, schedule.topology.bandwidth_unit
    place = f"{wording.printable(topology.name)}, {wording.counted(topology, schedule.ranks)}"
    rows = [] if report.algbw is None else [("algbw", wording.bandwidth(report.algbw, unit))]
    if schedule.optimal_algbw is None:
        rows.append(("optimum", "not claimed"))
    elif report.optimal:
        rows.append(("optimum", "reached; the cut in the file proves that no schedule is faster"))
    else:
        name = "bound" if schedule.collective is Collective.ALLREDUCE else "optimum"
        rows.append((name, f"{wording.bandwidth(schedule.optimal_algbw, unit)}, proven by the cut in the file"))
    table = wording.table([*rows, *wording.shape_rows(shape_of(schedule)), *wording.traffic_rows(traffic_of(schedule))])
    way = {Collective.BROADCAST: " from ", Collective.REDUCE: " to "}.get(schedule.collective)
    root = "" if way is None else f"{way}{wording.printable(_root(schedule))}"
    return [f"{file}: right: {schedule.collective.value}{root} on {place}", *table]
