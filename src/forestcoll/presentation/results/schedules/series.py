"""A series of broadcasts as a page and as JSON: after it was generated, and after it was verified."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from forestcoll.base.files import input_name
from forestcoll.oneport.asked import SeriesAnswer
from forestcoll.oneport.series.comparison import SeriesComparison
from forestcoll.presentation.results.networks.networks import ports_text
from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import stage_document, stage_times, written_to
from forestcoll.schedule.proof.prices import Port, PortKind
from forestcoll.schedule.series.document import series_document
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.simulation.series.play import SeriesRun
from forestcoll.topology import Topology
from forestcoll.verification import SeriesReport

_MOST_DIGITS = 12
"""The most digits of an exact number on a page. The JSON document has the complete number."""

_MOST_BUSY = 6

_VERBS = {
    PortKind.SEND: "sends",
    PortKind.RECEIVE: "receives",
    PortKind.BOTH: "sends or receives",
    PortKind.OUTGOING: "sends over all links",
    PortKind.INCOMING: "receives over all links",
}
"""What a node does if one of its ports is busy."""


def generated_document(answer: SeriesAnswer, seconds: Mapping[str, float]) -> dict[str, object]:
    """Return the JSON object of a series: the schedule, and the throughputs of the best tree and the best DAG.

    Args:
        answer: the schedule that was generated, and what it is compared with.
        seconds: the time of each stage of the run.
    """
    compared, schedule, run = answer.compared, answer.schedule, answer.run
    topology, tree, dag = schedule.topology, compared.tree, compared.dag
    return {
        "topology": topology.name,
        "compute_nodes": len(topology.compute),
        "links": len(topology.links),
        "port_model": topology.port_model,
        "unit": topology.bandwidth_unit,
        "throughput_float": float(schedule.throughput),
        "optimal": schedule.throughput == compared.best.throughput,
        "verified": True,
        **series_document(schedule),
        "initialisation": str(schedule.initialisation),
        "clean_up": str(schedule.initialisation),
        "height": schedule.height,
        "best_tree_throughput": str(tree.throughput),
        "best_tree": {"optimal": tree.optimal, "edges": [topology.ids(ends) for ends in tree.tree.edges]},
        "best_dag_throughput": str(dag.throughput),
        "best_dag": {"optimal": dag.optimal, "order": topology.ids(dag.dag.order)},
        **({} if run is None else {"simulation": _run_document(schedule, run)}),
        "seconds": stage_document(seconds),
    }


def _run_document(schedule: SeriesSchedule, run: SeriesRun) -> dict[str, object]:
    return {
        "messages": run.messages,
        "cycles": run.cycles,
        "cycle": str(run.cycle),
        "makespan": str(run.makespan),
        "throughput": str(run.throughput),
        "throughput_float": float(run.throughput),
        "part_of_throughput": float(run.throughput / schedule.throughput),
    }


def generated_page(answer: SeriesAnswer, seconds: Mapping[str, float], output: Path | None) -> Page:
    """Return the page of a series; `output` is the file of the schedule, the others are as in `generated_document`."""
    compared, schedule, run = answer.compared, answer.schedule, answer.run
    topology = schedule.topology
    source = topology.nodes[schedule.source].id
    rows = [
        ("throughput", _rate(schedule.throughput)),
        ("optimum", _of(schedule.throughput, compared.best.throughput)),
        ("trees", f"{len(schedule.trees)}, at most {schedule.height} links high"),
        ("period", f"{number(schedule.period)}, {number(Fraction(schedule.messages))} messages"),
        ("rounds", f"{len(schedule.rounds)} per period"),
        ("start and end", f"{number(schedule.initialisation)} each: {schedule.height - 1} periods"),
        ("best DAG", _restricted(compared.dag.throughput, compared.best.throughput, optimal=compared.dag.optimal)),
        ("best tree", _restricted(compared.tree.throughput, compared.best.throughput, optimal=compared.tree.optimal)),
        ("verified", "ports, trees, whole messages, throughput and the proof of the optimum"),
        *([] if run is None else [("simulated", _run(schedule, run))]),
        ("time", stage_times(seconds)),
        ("written", written_to(output)),
    ]
    nodes = f"{len(topology.compute)} compute nodes, {ports_text(topology)}"
    title = f"{topology.name}: series of broadcasts from {source} over {nodes}"
    return Page(title, (labelled(rows), *_proof_lines(compared)))


def _run(schedule: SeriesSchedule, run: SeriesRun) -> str:
    late = run.makespan - run.messages / schedule.throughput
    return (
        f"{run.messages} messages in {number(run.makespan)}: {float(run.throughput / schedule.throughput):.2%} of the "
        f"throughput, {number(late)} for the start and the end"
    )


def _rate(value: Fraction) -> str:
    return f"{number(value)} messages per unit of time"


def number(value: Fraction) -> str:
    """Return `value` exactly and as a decimal number, or rounded if it has many digits."""
    if max(len(str(value.numerator)), len(str(value.denominator))) > _MOST_DIGITS:
        return about(value)
    return str(value) if value.denominator == 1 else f"{value} ({float(value):.6g})"


def about(value: Fraction) -> str:
    """Return a positive number rounded; it may be larger than the greatest float."""
    digits = len(str(value.numerator // value.denominator))
    return f"about {float(value):.6g}" if digits < 300 else f"about 10^{digits - 1}"


def _of(value: Fraction, best: Fraction) -> str:
    if value == best:
        return "reached; no schedule is faster"
    return f"{number(best)} over all links; this is {float(value / best):.2%} of it"


def _restricted(value: Fraction, best: Fraction, *, optimal: bool) -> str:
    known = "" if optimal else "; the best one found, not proven to be the best"
    return f"{number(value)}, {float(value / best):.2%} of the optimum{known}"


def _proof_lines(compared: SeriesComparison) -> list[str]:
    """Return lines that explain why no schedule is faster: the ports that are always busy, with their prices."""
    certificate, topology = compared.best.certificate, compared.best.platform.topology
    weight = sum((each for each, _ in certificate.cuts), Fraction(0))
    priced = sorted(certificate.prices, key=lambda each: (-each[1], each[0]))
    shown = []
    for port, price in priced[:_MOST_BUSY]:
        shown.append(f"{_busy(topology, port)} ({number(price / weight)})")
    for price, inside in certificate.odd_sets[: _MOST_BUSY - len(shown)]:
        names = ", ".join(map(str, topology.ids(inside)))
        shown.append(f"links between {names}: at most {len(inside) // 2} at a time ({number(price / weight)})")
    left = len(priced) + len(certificate.odd_sets) - len(shown)
    rest = [f"{left} more"] if left else []
    return [
        "Bottleneck: at the prices in parentheses, the port time of a message costs at least 1 along every tree.",
        "These ports are always busy:",
        *(f"  {line}" for line in [*shown, *rest]),
    ]


def _busy(topology: Topology, port: Port) -> str:
    """Return what a port that is always busy does."""
    if port.kind is PortKind.LINK:
        link = topology.links[port.number]
        return f"link {' -> '.join(map(str, topology.ids([link.source, link.target])))}"
    return f"{topology.nodes[port.number].id} {_VERBS[port.kind]}"


def verified_document(schedule: SeriesSchedule, report: SeriesReport) -> dict[str, object]:
    """Return the JSON keys of a valid periodic schedule."""
    optimal = None if schedule.bound is None else schedule.bound.algbw
    return {
        "topology": schedule.topology.name,
        "compute_nodes": len(schedule.topology.compute),
        "source": schedule.topology.nodes[schedule.source].id,
        "throughput": str(report.throughput),
        "optimal_throughput": None if optimal is None else str(optimal),
        "optimal": report.optimal,
        "period": str(schedule.period),
        "messages_per_period": schedule.messages,
        "trees": len(schedule.trees),
        "rounds": len(schedule.rounds),
    }


def verified_page(schedule: SeriesSchedule, report: SeriesReport, file: Path) -> Page:
    """Return the page of a valid periodic schedule that was read from `file`."""
    topology, optimal = schedule.topology, None if schedule.bound is None else schedule.bound.algbw
    place = f"{topology.name}, {len(topology.compute)} compute nodes"
    source = topology.nodes[schedule.source].id
    if report.optimal:
        optimum = "reached; the prices in the file prove that no schedule is faster"
    else:
        optimum = "not claimed" if optimal is None else f"{_rate(optimal)}, proven by the prices in the file"
    rows = [
        ("throughput", _rate(schedule.throughput)),
        ("optimum", optimum),
        ("period", f"{number(schedule.period)}, {number(Fraction(schedule.messages))} messages"),
        ("trees", f"{len(schedule.trees)}, at most {schedule.height} links high"),
        ("rounds", f"{len(schedule.rounds)} per period"),
    ]
    return Page(
        f"{input_name(file)}: valid: series of broadcasts from {source} on {place}", (labelled(rows),), valid=True
    )
