"""`forestcoll verify`: checks a schedule file that anyone wrote."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.cli.options import file_argument, json_option
from forestcoll.collective import Collective
from forestcoll.errors import InputError

if TYPE_CHECKING:
    from forestcoll.schedule import Schedule
    from forestcoll.schedule.periodic import PeriodicSchedule
    from forestcoll.topology import NodeId
    from forestcoll.verification import Fault, Report


@click.command("verify")
@file_argument
@json_option
@click.pass_context
def command(context: click.Context, file: Path, *, as_json: bool) -> int:
    """Check a schedule that anyone wrote.

    FILE is a schedule of trees, or a periodic one of a series of broadcasts; - is standard input. Judged are delivery,
    loads or ports, what it claims to achieve, and its proof of the optimum.

    Exit status 1 and the first broken rule if it is not right. With --json the answer is one JSON object whatever FILE
    holds; "rule" is null where it is no schedule at all.
    """
    from forestcoll.cli import wording
    from forestcoll.cli.watching import Watch
    from forestcoll.schedule.any_document import read_any

    try:
        with Watch() as watch:
            watch.begin("reading")
            schedule = read_any(file)
            watch.begin("verifying")
            judged = _judged(schedule)
    except InputError as error:
        if as_json:
            wording.print_json(_refusal(None, str(error)))
        raise
    fault = judged.fault
    if as_json:
        wording.print_json(judged.document() if fault is None else _refusal(fault.rule, fault.message))
    elif fault is not None:
        click.echo(f"forestcoll: {file}: {fault.message} [{fault.rule}]", err=True)
    else:
        wording.print_lines(judged.lines(file))
    context.exit(0 if fault is None else 1)


@dataclass(frozen=True)
class _Judged:
    """What the judge found, and what to say of a schedule that is right."""

    fault: "Fault | None"
    document: Callable[[], dict[str, object]]
    lines: Callable[[Path], list[str]]


def _judged(schedule: "Schedule | PeriodicSchedule") -> _Judged:
    from forestcoll.schedule.periodic import PeriodicSchedule

    if isinstance(schedule, PeriodicSchedule):
        from forestcoll.cli import series_wording
        from forestcoll.verification.series import verify_series

        series = verify_series(schedule)
        return _Judged(
            series.fault,
            lambda: series_wording.verified_document(schedule, series),
            lambda file: series_wording.verified_lines(file, schedule, series),
        )
    from forestcoll.verification import verify

    report = verify(schedule)
    return _Judged(report.fault, lambda: _document(schedule, report), lambda file: _lines(file, schedule, report))


def _refusal(rule: str | None, message: str) -> dict[str, object]:
    return {"valid": False, "rule": rule, "message": message}


def _document(schedule: "Schedule", report: "Report") -> dict[str, object]:
    from forestcoll.cli import wording
    from forestcoll.schedule import shape_of, traffic_of

    shape = shape_of(schedule)
    document: dict[str, object] = {
        "valid": True,
        "collective": schedule.collective.value,
        "topology": schedule.topology.name,
        "compute_nodes": len(schedule.topology.compute),
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
    if schedule.collective.has_root:
        document["root"] = _root(schedule)
    return document


def _root(schedule: "Schedule") -> "NodeId":
    return schedule.topology.nodes[schedule.phases[0].roots[0]].id


def _lines(file: Path, schedule: "Schedule", report: "Report") -> list[str]:
    from forestcoll.cli import wording
    from forestcoll.schedule import shape_of, traffic_of

    topology, unit = schedule.topology, schedule.topology.bandwidth_unit
    place = f"{wording.printable(topology.name)}, {len(topology.compute)} compute nodes"
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
