"""A series of broadcasts in rows: after it was generated, and after it was verified."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.oneport.asked import SeriesAnswer
from forestcoll.oneport.series.best_dag import BestDag
from forestcoll.oneport.series.best_tree import BestTree
from forestcoll.oneport.series.comparison import SeriesComparison
from forestcoll.presentation.results.networks.networks import ports_text, size_row
from forestcoll.presentation.tables import Page, Row, row
from forestcoll.presentation.text import all_written, times
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


def generated_page(answer: SeriesAnswer, seconds: Mapping[str, float], outputs: Mapping[str, Path]) -> Page:
    """Return the page of a series: the schedule, and the throughputs of the best tree and the best DAG.

    Args:
        answer: the schedule that was generated, and what it is compared with.
        seconds: the time of each stage of the run.
        outputs: the files that were written, by their kinds.
    """
    compared, schedule = answer.compared, answer.schedule
    topology, best, tree, dag = schedule.topology, compared.best.throughput, compared.tree, compared.dag
    source = topology.nodes[schedule.source].id
    optimal = {"optimal": schedule.throughput == best, "throughput_float": float(schedule.throughput)}
    best_tree = {"optimal": tree.optimal, "edges": [topology.ids(ends) for ends in tree.tree.edges]}
    best_dag = {"optimal": dag.optimal, "order": topology.ids(dag.dag.order)}
    phases = f"{number(schedule.initialisation)} each: {plural(schedule.height - 1, 'period')}"
    rows = (
        size_row(topology),
        row("throughput", _rate(schedule.throughput), **series_document(schedule)),
        row("optimum", _of(schedule.throughput, best), **optimal),
        *_shape_rows(schedule),
        row("start and end", phases, initialisation=schedule.initialisation, clean_up=schedule.initialisation),
        row("best DAG", _restricted(dag, best), best_dag_throughput=dag.throughput, best_dag=best_dag),
        row("best tree", _restricted(tree, best), best_tree_throughput=tree.throughput, best_tree=best_tree),
        row("verified", "ports, trees, whole messages, throughput and the proof of the optimum", verified=True),
        *_run_rows(schedule, answer.run),
        times(seconds),
        all_written(outputs),
        row(port_model=topology.port_model, height=schedule.height),
    )
    nodes = f"{len(topology.compute)} compute nodes, {ports_text(topology)}"
    title = f"{topology.name}: series of broadcasts from {source} over {nodes}"
    return Page(title, (*rows, *_proof_lines(compared)))


def _shape_rows(schedule: SeriesSchedule) -> list[Row]:
    return [
        row("period", f"{number(schedule.period)}, {plural(schedule.messages, 'message')}"),
        row("trees", f"{len(schedule.trees)}, at most {plural(schedule.height, 'link')} high"),
        row("rounds", f"{len(schedule.rounds)} per period"),
    ]


def _run_rows(schedule: SeriesSchedule, run: SeriesRun | None) -> list[Row]:
    if run is None:
        return []
    part = float(run.throughput / schedule.throughput)
    late = run.makespan - run.messages / schedule.throughput
    words = f"{plural(run.messages, 'message')} in {number(run.makespan)}: {part:.2%} of the throughput"
    played = {"messages": run.messages, "cycles": run.cycles, "cycle": run.cycle, "makespan": run.makespan}
    reached = {"throughput": run.throughput, "throughput_float": float(run.throughput), "part_of_throughput": part}
    return [row("simulated", f"{words}, {number(late)} for the start and the end", simulation=played | reached)]


def _rate(value: Fraction) -> str:
    return f"{number(value)} {'message' if value == 1 else 'messages'} per unit of time"


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


def _restricted(found: BestTree | BestDag, best: Fraction) -> str:
    known = "" if found.optimal else "; the best one found, not proven to be the best"
    return f"{number(found.throughput)}, {float(found.throughput / best):.2%} of the optimum{known}"


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


def what(schedule: SeriesSchedule) -> str:
    """Return what a periodic schedule does, and where."""
    topology = schedule.topology
    place = f"{topology.name}, {len(topology.compute)} compute nodes"
    return f"series of broadcasts from {topology.nodes[schedule.source].id} on {place}"


def verified_rows(schedule: SeriesSchedule, report: SeriesReport) -> list[Row]:
    """Return the rows of a valid periodic schedule."""
    topology, best = schedule.topology, None if schedule.bound is None else schedule.bound.algbw
    if report.optimal:
        optimum = "reached; the prices in the file prove that no schedule is faster"
    else:
        optimum = "not claimed" if best is None else f"{_rate(best)}, proven by the prices in the file"
    source = topology.nodes[schedule.source].id
    return [
        row(topology=topology.name, compute_nodes=len(topology.compute), source=source),
        row("throughput", _rate(schedule.throughput), throughput=report.throughput),
        row("optimum", optimum, optimal_throughput=best, optimal=report.optimal),
        *_shape_rows(schedule),
        row(period=schedule.period, messages_per_period=schedule.messages),
        row(trees=len(schedule.trees), rounds=len(schedule.rounds)),
    ]
