"""A series of a collective in rows: after it was generated, and after it was verified."""

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.demand.collective import Collective
from forestcoll.oneport.asked import SeriesAnswer
from forestcoll.oneport.series.best_dag import BestDag
from forestcoll.oneport.series.best_tree import BestTree
from forestcoll.oneport.series.comparison import SeriesComparison
from forestcoll.presentation.results.networks.networks import ports_text, size_row
from forestcoll.presentation.tables import Page, Row, row
from forestcoll.presentation.text import all_written, times
from forestcoll.schedule.proof.prices import Port, PortKind, PricesProof, crossings
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
    """Return the page of a series: the schedule and, for broadcasts, the throughputs of the best tree and DAG.

    Args:
        answer: the schedule that was generated, and what it is compared with.
        seconds: the time of each stage of the run.
        outputs: the files that were written, by their kinds.
    """
    schedule = answer.schedule
    topology, best = schedule.topology, _best(schedule)
    optimal = {"optimal": schedule.throughput == best, "throughput_float": float(schedule.throughput)}
    phases = f"{number(schedule.initialisation)} each: {plural(schedule.height - 1, 'period')}"
    rows = (
        size_row(topology),
        row("throughput", _rate(schedule, schedule.throughput), **series_document(schedule)),
        row("optimum", _of(schedule.throughput, best), **optimal),
        *_shape_rows(schedule),
        row("start and end", phases, initialisation=schedule.initialisation, clean_up=schedule.initialisation),
        *_restricted_rows(answer.compared),
        row("verified", "ports, trees, whole messages, throughput and the proof of the optimum", verified=True),
        *_run_rows(schedule, answer.run),
        times(seconds),
        all_written(outputs),
        row(port_model=topology.port_model, height=schedule.height),
    )
    nodes = f"{len(topology.compute)} compute nodes, {ports_text(topology)}"
    return Page(f"{topology.name}: {_series(schedule)} over {nodes}", (*rows, *_proof_lines(schedule)))


def _best(schedule: SeriesSchedule) -> Fraction:
    """Return the throughput that the proof in `schedule` allows."""
    return schedule.throughput if schedule.bound is None else schedule.bound.algbw / schedule.parts


def _restricted_rows(compared: SeriesComparison | None) -> list[Row]:
    if compared is None:
        return []
    best, tree, dag, topology = compared.best.throughput, compared.tree, compared.dag, compared.best.platform.topology
    best_tree = {"optimal": tree.optimal, "edges": [topology.ids(ends) for ends in tree.tree.edges]}
    best_dag = {"optimal": dag.optimal, "order": topology.ids(dag.dag.order), "bound": dag.bound}
    return [
        row("best DAG", _restricted(dag, best), best_dag_throughput=dag.throughput, best_dag=best_dag),
        row("best tree", _restricted(tree, best), best_tree_throughput=tree.throughput, best_tree=best_tree),
    ]


def _shape_rows(schedule: SeriesSchedule) -> list[Row]:
    return [
        row("period", f"{number(schedule.period)}, {plural(schedule.messages, _each(schedule))}"),
        row("trees", f"{len(schedule.trees)}, at most {plural(schedule.height, 'link')} high"),
        row("rounds", f"{len(schedule.rounds)} per period"),
    ]


def _run_rows(schedule: SeriesSchedule, run: SeriesRun | None) -> list[Row]:
    if run is None:
        return []
    part = float(run.throughput / schedule.throughput)
    late = run.makespan - run.messages / schedule.throughput
    words = f"{plural(run.messages, _each(schedule))} in {number(run.makespan)}: {part:.2%} of the throughput"
    played = {"messages": run.messages, "cycles": run.cycles, "cycle": run.cycle, "makespan": run.makespan}
    reached = {"throughput": run.throughput, "throughput_float": float(run.throughput), "part_of_throughput": part}
    return [row("simulated", f"{words}, {number(late)} for the start and the end", simulation=played | reached)]


def _each(schedule: SeriesSchedule) -> str:
    """Return what the series repeats: a message, or an operation of another collective than a broadcast."""
    return "message" if schedule.collective is Collective.BROADCAST else "operation"


def _rate(schedule: SeriesSchedule, value: Fraction) -> str:
    return f"{number(value)} {_each(schedule)}{'s' * (value != 1)} per unit of time"


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
    most = f", and none has more than {float(found.bound / best):.2%}" if found.bound < best else ""
    known = "" if found.optimal else f"; the best one found, not proven to be the best{most}"
    return f"{number(found.throughput)}, {float(found.throughput / best):.2%} of the optimum{known}"


def _proof_lines(schedule: SeriesSchedule) -> list[str]:
    """Return lines that explain why no schedule is faster: the ports that are always busy, with their prices."""
    if schedule.bound is None or not isinstance(schedule.bound.proof, PricesProof):
        return []
    certificate, topology = schedule.bound.proof, schedule.topology
    nodes = len(topology.compute)
    weight = sum(
        (each * crossings(schedule.collective, nodes, len(cut)) for each, cut in certificate.cuts), Fraction(0)
    )
    whole = schedule.collective is not Collective.BROADCAST
    each = "an operation costs at least 1" if whole else "a message costs at least 1 along every tree"
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
        f"Bottleneck: at the prices in parentheses, the port time of {each}.",
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
    return f"{_series(schedule)} on {topology.name}, {len(topology.compute)} compute nodes"


def _series(schedule: SeriesSchedule) -> str:
    """Return what the series repeats, in words."""
    collective = schedule.collective
    if schedule.source is None:
        return f"series of {collective.value}s"
    preposition = "to" if collective.flows_to_roots else "from"
    return f"series of {collective.value}s {preposition} {schedule.topology.nodes[schedule.source].id}"


def _root(schedule: SeriesSchedule) -> dict[str, object]:
    """Return the keys that name another collective than a broadcast, and the root."""
    named = {} if schedule.collective is Collective.BROADCAST else {"collective": schedule.collective.value}
    rooted = {} if schedule.source is None else {"source": schedule.topology.nodes[schedule.source].id}
    return {**named, **rooted}


def verified_rows(schedule: SeriesSchedule, report: SeriesReport) -> list[Row]:
    """Return the rows of a valid periodic schedule."""
    topology, best = schedule.topology, None if schedule.bound is None else _best(schedule)
    if report.optimal:
        optimum = "reached; the prices in the file prove that no schedule is faster"
    else:
        optimum = "not claimed" if best is None else f"{_rate(schedule, best)}, proven by the prices in the file"
    return [
        row(topology=topology.name, compute_nodes=len(topology.compute), **_root(schedule)),
        row("throughput", _rate(schedule, schedule.throughput), throughput=report.throughput),
        row("optimum", optimum, optimal_throughput=best, optimal=report.optimal),
        *_shape_rows(schedule),
        row(period=schedule.period, messages_per_period=schedule.messages),
        row(trees=len(schedule.trees), rounds=len(schedule.rounds)),
    ]
