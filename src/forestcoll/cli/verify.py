"""`forestcoll verify`: checks a schedule file that anyone wrote."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from forestcoll.cli.options import file_argument, json_option
from forestcoll.collective import Collective
from forestcoll.errors import InputError

if TYPE_CHECKING:
    from forestcoll.schedule import Schedule
    from forestcoll.topology import NodeId
    from forestcoll.verification import Report


@click.command("verify")
@file_argument
@json_option
@click.pass_context
def command(context: click.Context, file: Path, *, as_json: bool) -> int:
    """Check a schedule that anyone wrote.

    FILE is a schedule; - is standard input. Judged are delivery, loads, what it claims to achieve, and its proof of the
    optimum.

    Exit status 1 and the first broken rule if it is not right. With --json the answer is one JSON object whatever FILE
    holds; "rule" is null where it is no schedule at all.
    """
    from forestcoll.cli import wording
    from forestcoll.cli.watching import Watch
    from forestcoll.schedule import read_schedule
    from forestcoll.verification import verify

    try:
        with Watch() as watch:
            watch.begin("reading")
            schedule = read_schedule(file)
            watch.begin("verifying")
            report = verify(schedule)
    except InputError as error:
        if as_json:
            wording.print_json(_refusal(None, str(error)))
        raise
    if as_json:
        wording.print_json(_document(schedule, report))
    elif report.fault is not None:
        click.echo(f"forestcoll: {file}: {report.fault.message} [{report.fault.rule}]", err=True)
    else:
        _print(file, schedule, report)
    context.exit(0 if report.ok else 1)


def _refusal(rule: str | None, message: str) -> dict[str, object]:
    return {"valid": False, "rule": rule, "message": message}


def _document(schedule: "Schedule", report: "Report") -> dict[str, object]:
    if report.fault is not None:
        return _refusal(report.fault.rule, report.fault.message)
    from forestcoll.cli import wording
    from forestcoll.schedule import shape_of, traffic_of

    shape = shape_of(schedule)
    document: dict[str, object] = {
        "valid": True,
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


def _root(schedule: "Schedule") -> "NodeId":
    return schedule.topology.nodes[schedule.phases[0].roots[0]].id


def _print(file: Path, schedule: "Schedule", report: "Report") -> None:
    from forestcoll.cli import wording
    from forestcoll.schedule import shape_of, traffic_of

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
    wording.print_lines([f"{file}: right: {schedule.collective.value}{root} on {place}", *table])
