"""The answers of `forestcoll design` as pages: the frontier of one size, a sweep, an expanded network."""

from collections.abc import Iterator

from forestcoll.base.errors import plural
from forestcoll.base.units import BANDWIDTH_UNIT
from forestcoll.design.asked import Answer, ExpansionAnswer, JobAnswer, Search, SearchAnswer, SweepAnswer
from forestcoll.design.constructions import Construction
from forestcoll.design.exchange_rate import exchange_rate
from forestcoll.design.measure import least_factor, moore_steps
from forestcoll.design.path_rates import path_rates
from forestcoll.design.realisation import predicted_cost
from forestcoll.design.search.finder import Frontier
from forestcoll.design.workloads.workload import Objective, Workload, best_for, time_us
from forestcoll.presentation.results.networks.exchange_rates import rate_row
from forestcoll.presentation.results.networks.job_networks import ranking_page
from forestcoll.presentation.tables import Column, Page, Row, Table, row
from forestcoll.presentation.text import bandwidth

_MOST_NODES_FOR_PATHS = 2048
"""The most nodes of a network whose all-to-all rates JSON states, because they need all shortest paths."""


def design_page(answer: Answer) -> Page:
    """Return the page of an answer."""
    if isinstance(answer, SweepAnswer):
        return _sweep_page(answer)
    if isinstance(answer, JobAnswer):
        return ranking_page(answer.ranking, tuple(map(str, answer.question.output.values())))
    return _search_page(answer) if isinstance(answer, SearchAnswer) else _expanded_page(answer)


def frontier_page(frontier: Frontier, workload: Workload | None = None) -> Page:
    """Return the page of a frontier, with the times of a workload if it is given."""
    networks = "bidirectional networks" if frontier.bidirectional else "networks"
    steps, factor = moore_steps(frontier.nodes, frontier.degree), least_factor(frontier.nodes)
    least = f"{plural(steps, 'step')} and {float(factor):.4f} M/B"
    bound = {"steps": steps, "bandwidth_factor": factor}
    blocks = (
        row(nodes=frontier.nodes, degree=frontier.degree, bidirectional=frontier.bidirectional, bound=bound),
        _frontier(frontier, workload),
        row(
            pareto=lambda: [
                _member_document(member, workload, with_exchanges=frontier.with_exchanges)
                for member in frontier.members
            ]
        ),
    )
    size = f"{frontier.nodes} nodes, degree {frontier.degree}"
    return Page(f"{networks} of {size}: no allgather beats {least}", blocks)


def _member_document(member: Construction, workload: Workload | None, *, with_exchanges: bool) -> dict[str, object]:
    """Return the JSON object of one network: its cost, in what it is optimal, and its construction."""
    scatter = member.reduce_scatter_cost
    document = _brief_document(member) | {
        "bandwidth_factor_float": float(member.cost.bandwidth_factor),
        "moore_optimal": member.is_moore_optimal,
        "bandwidth_optimal": member.is_bandwidth_optimal,
        "bidirectional": member.is_bidirectional,
        "reduce_scatter": {"steps": scatter.steps, "bandwidth_factor": scatter.bandwidth_factor},
    }
    if member.nodes <= _MOST_NODES_FOR_PATHS:
        rates = path_rates(member.wiring)
        document["all_to_all"] = {"rate_bound": rates.bound, "rate_reached": rates.reached}
        document["rooted_allreduce_steps"] = rates.rooted_steps
    if workload is not None:
        document["time_us"] = time_us(member, workload)
    if with_exchanges:
        document |= rate_row("", exchange_rate(member)).values
    return document | {"construction": member.to_document()}


def _brief_document(member: Construction) -> dict[str, object]:
    return {
        "name": member.name,
        "steps": member.cost.steps,
        "bandwidth_factor": member.cost.bandwidth_factor,
        "diameter": member.diameter,
    }


def _search_page(answer: SearchAnswer) -> Page:
    workload, written = answer.question.workload, answer.question.output
    page = frontier_page(answer.frontier, workload)
    files = [str(path) for path in written.values()]
    verified = "; the schedule is verified" * ("schedule" in written)
    keys = {"topology_output": "topology", "schedule_output": "schedule", "plot": "plot", "picture": "picture"}
    blocks: tuple[Row | str, ...] = (
        f"Chosen: {answer.network.name}, {_reason(answer.question)}.",
        *([f"Written: {', '.join(files)}{verified}."] if files else []),
        *([_links(answer)] if written.keys() & {"schedule", "topology"} else []),
        row(chosen=answer.network.name, **{key: written.get(kind) for key, kind in keys.items()}),
    )
    return Page(page.title, (*page.blocks, *blocks))


def _links(answer: SearchAnswer) -> str:
    """Return a sentence about the bandwidth of the links in the files."""
    total = "" if answer.question.workload is None else f": B / {answer.network.degree}"
    return f"Links in the files: {bandwidth(answer.bandwidth, BANDWIDTH_UNIT)} each{total}."


def _expanded_page(answer: ExpansionAnswer) -> Page:
    network, collective, written = answer.network, answer.collective, answer.question.output
    cost, phases = predicted_cost(network, collective), 2 if collective == "allreduce" else 1
    steps, factor = phases * moore_steps(network.nodes, network.degree), phases * least_factor(network.nodes)
    files = [str(path) for path in written.values()]
    is_verified = "schedule" in written
    verified = f"{', '.join(files)}{'; the schedule is verified' * is_verified}"
    factors = f"{cost.bandwidth_factor} M/B (no {collective} takes less than {factor})"
    rows = (
        row(name=network.name, nodes=network.nodes, degree=network.degree, collective=collective),
        row("steps", f"{cost.steps} ({steps} by the Moore bound)", steps=cost.steps),
        row("T_B", factors, bandwidth_factor=cost.bandwidth_factor, bound={"steps": steps, "bandwidth_factor": factor}),
        row("written", verified if files else "nothing; -o writes the schedule", verified=is_verified),
        row(output=written.get("schedule"), topology_output=written.get("topology")),
        row(bidirectional=network.is_bidirectional),
    )
    return Page(f"{network.name}: {collective} on {network.nodes} nodes, degree {network.degree}", rows)


def _reason(question: Search) -> str:
    workload = question.workload
    if question.choose is not None:
        return "as requested"
    if workload is None:
        return f"the network with {_BEST_IN[Objective(question.objective or Objective.BANDWIDTH)]}"
    return f"the best for {workload.traffic.value} of {plural(workload.size, 'byte')}"


_BEST_IN = {
    Objective.STEPS: "the fewest steps",
    Objective.BANDWIDTH: "the least T_B",
    Objective.ALL_TO_ALL: "the fastest all-to-all",
}


def _frontier(frontier: Frontier, workload: Workload | None) -> Table:
    columns = (
        Column("steps", lambda member: f"{member.cost.steps}{'*' if member.is_moore_optimal else ' '}", right=True),
        Column("T_B (M/B)", _marked_factor, right=True),
        Column("diameter", right=True, key="diameter"),
        *([Column("all-to-all (M/B)", "{:.4f}".format, right=True)] if frontier.with_exchanges else []),
        *([Column("time", "{:.1f} us".format, right=True, key="time_us")] if workload is not None else []),
        Column("network", key="name"),
        Column(None, key="steps"),
        Column(None, key="bandwidth_factor"),
    )
    rows = tuple(
        (
            member,
            member,
            member.diameter,
            *([float(member.degree / exchange_rate(member).algbw)] if frontier.with_exchanges else []),
            *([] if workload is None else [time_us(member, workload)]),
            member.name,
            member.cost.steps,
            member.cost.bandwidth_factor,
        )
        for member in frontier.members
    )
    marked = any(member.is_moore_optimal or member.is_bandwidth_optimal for member in frontier.members)
    notes = ["* no network of this size and degree has less"] if marked else []
    if frontier.with_exchanges:
        notes += _rates_in_words(frontier)
    return Table(columns, rows, notes=tuple(notes))


def _rates_in_words(frontier: Frontier) -> Iterator[str]:
    """Yield how the rates of all-to-alls were computed."""
    rates = {member.name: exchange_rate(member) for member in frontier.members}
    descriptions = dict.fromkeys(rate.description for rate in rates.values())
    for description in descriptions:
        names = ", ".join(name for name, rate in rates.items() if rate.description == description)
        yield f"all-to-all{f' of {names}' * (len(descriptions) > 1)}: {description}"


def _marked_factor(member: Construction) -> str:
    return f"{float(member.cost.bandwidth_factor):.4f}{'*' if member.is_bandwidth_optimal else ' '}"


def _brief_frontier(frontier: Frontier, workload: Workload | None) -> dict[str, object]:
    best = {} if workload is None else {"chosen": best_for(frontier.members, workload).name}
    return {
        "nodes": frontier.nodes,
        "degree": frontier.degree,
        "pareto": [_brief_document(member) for member in frontier.members],
        **best,
    }


def _sweep_page(answer: SweepAnswer) -> Page:
    rows, workload = [], answer.question.workload
    for frontier in answer.frontiers:
        best = None if workload is None else best_for(frontier.members, workload)
        for member in frontier.members:
            factor = float(member.cost.bandwidth_factor)
            mark = "best " if member is best else ""
            rows.append((frontier.nodes, frontier.degree, member.cost.steps, factor, f"{mark}{member.name}"))
    columns = (
        Column("nodes", right=True),
        Column("degree", right=True),
        Column("steps", right=True),
        Column("T_B (M/B)", "{:.4f}".format, right=True),
        Column("network"),
    )
    frontiers = row(frontiers=[_brief_frontier(each, workload) for each in answer.frontiers])
    title = "networks by number of nodes and degree, fewest steps first"
    return Page(title, (Table(columns, tuple(rows)), frontiers))
