"""`forestcoll find-topology`: networks built for collectives, and what no other is better than."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from forestcoll.cli.options import json_option, size_of
from forestcoll.errors import InputError, shown

if TYPE_CHECKING:
    from forestcoll.cli.watching import Watch
    from forestcoll.design.constructions import Construction
    from forestcoll.design.finder import Frontier
    from forestcoll.design.workload import Workload

_MOST_NODES_FOR_PATHS = 2048
_TRAFFIC = ("allgather", "allreduce", "all-to-all", "mix")


def _span(_context: click.Context, parameter: click.Parameter, text: str) -> range:
    """Return the numbers that `64` or `32..64` means."""
    first, dots, last = text.partition("..")
    ends = (first, last if dots else first)
    if not all(end.isascii() and end.isdecimal() and len(end) <= 9 for end in ends):
        raise click.BadParameter(f"{shown(text)}; expected a number such as 64, or 32..64", param=parameter)
    if int(ends[0]) > int(ends[1]):
        raise click.BadParameter(f"{shown(text)} counts down; write the smaller number first", param=parameter)
    return range(int(ends[0]), int(ends[1]) + 1)


def _number(_context: click.Context, parameter: click.Parameter, text: str | None) -> Fraction | None:
    """Return the exact number that `text` writes."""
    if text is None:
        return None
    from forestcoll.exact import to_fraction

    try:
        return to_fraction(text)
    except ValueError:
        raise click.BadParameter(f"{shown(text)}; expected a number such as 10 or 25/2", param=parameter) from None


def _file(_context: click.Context, _parameter: click.Parameter, text: str | None) -> Path | None:
    from forestcoll.files import path_of

    return None if text is None else path_of(text)


@click.command("find-topology")
@click.option("--nodes", required=True, callback=_span, metavar="N", help="How many nodes; A..B for every number.")
@click.option("--degree", required=True, callback=_span, metavar="D", help="Links out of each node; A..B likewise.")
@click.option("--bidirectional", is_flag=True, help="Only networks whose links all lead both ways.")
@click.option("--published-only", is_flag=True, help="Only base networks of the paper: no Cayley graphs.")
@click.option("--size", callback=size_of, metavar="SIZE", help="The data M of the workload, as 1MB; adds times.")
@click.option("--alpha", callback=_number, metavar="US", help="Latency of a step in microseconds; 10 if left out.")
@click.option("--bandwidth", callback=_number, metavar="GB/S", help="B, what a node sends over all links; 12.5.")
@click.option(
    "--collective", type=click.Choice(_TRAFFIC), default="allreduce", show_default=True, help="What the workload sends."
)
@click.option("--choose", metavar="NAME", help="The network to write, by name or steps; the best if left out.")
@click.option("--topology-output", callback=_file, metavar="FILE", help="Write the chosen network.")
@click.option("--schedule-output", callback=_file, metavar="FILE", help="Write its schedule of steps, verified.")
@click.option("--no-cache", is_flag=True, help="Search anew, and keep nothing.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, help="Processes for a sweep over A..B.")
@json_option
def command(**options: Any) -> None:
    """Find networks built for collectives.

    Prints the Pareto frontier of networks of N nodes with D links each: each takes fewer steps (T_L, in units of alpha)
    than the next, which needs less bandwidth (T_B, in units of M/B). Of a workload (--size) also the times, and which
    network is best.
    """
    asked = _Asked(**options)
    asked.check()
    if len(asked.nodes) * len(asked.degree) > 1:
        _sweep(asked)
    else:
        _find(asked)


@dataclass(frozen=True)
class _Asked:
    nodes: range
    degree: range
    bidirectional: bool
    published_only: bool
    size: int | None
    alpha: Fraction | None
    bandwidth: Fraction | None
    collective: str
    choose: str | None
    topology_output: Path | None
    schedule_output: Path | None
    no_cache: bool
    jobs: int
    as_json: bool

    def check(self) -> None:
        """Refuse options that do not go together."""
        if self.size is None and (self.alpha is not None or self.bandwidth is not None):
            raise click.UsageError("--alpha and --bandwidth are for a workload; give its --size too")
        writes = self.topology_output is not None or self.schedule_output is not None
        if len(self.nodes) * len(self.degree) > 1 and (writes or self.choose):
            raise click.UsageError("a sweep writes no files and chooses none; ask for one number of nodes and degree")
        if self.schedule_output is not None and self.collective in {"all-to-all", "mix"}:
            raise click.UsageError("--schedule-output writes an allgather or an allreduce; leave --collective at one")

    def workload(self) -> "Workload | None":
        """Return the workload, if a size was given."""
        from forestcoll.design.workload import Traffic, Workload

        if self.size is None:
            return None
        alpha = Fraction(10) if self.alpha is None else self.alpha
        bandwidth = Fraction(25, 2) if self.bandwidth is None else self.bandwidth
        return Workload(Traffic(self.collective), self.size, alpha, bandwidth)


def _find(asked: _Asked) -> None:
    from forestcoll.cli.watching import Watch
    from forestcoll.design.cache import find_with_cache
    from forestcoll.design.finder import find_topologies
    from forestcoll.presentation import wording

    workload = asked.workload()
    with Watch() as watch:
        watch.begin("searching")
        search = find_topologies if asked.no_cache else find_with_cache
        frontier = search(
            asked.nodes[0],
            asked.degree[0],
            bidirectional=asked.bidirectional,
            published_only=asked.published_only,
        )
        watch.begin("measuring")
        rows = [_row(member, workload) for member in frontier.members]
        chosen = _chosen(frontier, workload, asked.choose)
        _write(chosen, asked, watch)
    if asked.as_json:
        wording.print_json(_document(frontier, rows, chosen, asked))
        return
    wording.print_lines(_lines(frontier, rows, chosen, asked))


def _row(member: "Construction", workload: "Workload | None") -> dict[str, object]:
    from forestcoll.design.path_rates import path_rates
    from forestcoll.design.workload import time_us

    scatter = member.reduce_scatter_cost
    row: dict[str, object] = {
        "name": member.name,
        "steps": member.cost.steps,
        "bandwidth_factor": str(member.cost.bandwidth_factor),
        "diameter": member.diameter,
        "bandwidth_factor_float": float(member.cost.bandwidth_factor),
        "moore_optimal": member.is_moore_optimal,
        "bandwidth_optimal": member.is_bandwidth_optimal,
        "bidirectional": member.is_bidirectional,
        "reduce_scatter": {"steps": scatter.steps, "bandwidth_factor": str(scatter.bandwidth_factor)},
    }
    if member.nodes <= _MOST_NODES_FOR_PATHS:
        rates = path_rates(member.wiring)
        row["all_to_all"] = {"rate_bound": str(rates.bound), "rate_reached": rates.reached}
    if workload is not None:
        row["time_us"] = time_us(member, workload)
    row["construction"] = member.to_document()
    return row


def _chosen(frontier: "Frontier", workload: "Workload | None", choose: str | None) -> "Construction":
    """Return the network to write: the one named, the best for the workload, or the one of the least bandwidth."""
    from forestcoll.design.workload import best_for

    if choose is not None:
        for member in frontier.members:
            if choose in {member.name, str(member.cost.steps)}:
                return member
        known = ", ".join(f"{member.name} ({member.cost.steps} steps)" for member in frontier.members)
        raise InputError(f"--choose is {shown(choose)}; the frontier holds {known}")
    return frontier.members[-1] if workload is None else best_for(frontier.members, workload)


def _write(chosen: "Construction", asked: _Asked, watch: "Watch") -> None:
    from forestcoll.design.realisation import schedule_of, topology_of
    from forestcoll.schedule.steps.document import write_steps
    from forestcoll.topology import write_topology

    schedule = None
    if asked.schedule_output is not None:
        schedule = schedule_of(chosen, asked.collective, progress=watch)
    if asked.topology_output is not None:
        write_topology(topology_of(chosen), asked.topology_output)
    if schedule is not None and asked.schedule_output is not None:
        watch.begin("writing")
        write_steps(schedule, asked.schedule_output)


def _document(
    frontier: "Frontier", rows: list[dict[str, object]], chosen: "Construction", asked: _Asked
) -> dict[str, object]:
    return {
        "nodes": frontier.nodes,
        "degree": frontier.degree,
        "bidirectional": frontier.bidirectional,
        "bound": _bound(frontier),
        "pareto": rows,
        "chosen": chosen.name,
        "topology_output": None if asked.topology_output is None else str(asked.topology_output),
        "schedule_output": None if asked.schedule_output is None else str(asked.schedule_output),
    }


def _bound(frontier: "Frontier") -> dict[str, object]:
    from forestcoll.design.measure import least_factor, moore_steps

    factor = least_factor(frontier.nodes)
    return {"steps": moore_steps(frontier.nodes, frontier.degree), "bandwidth_factor": str(factor)}


def _lines(frontier: "Frontier", rows: list[dict[str, object]], chosen: "Construction", asked: _Asked) -> list[str]:
    from forestcoll.design.measure import least_factor, moore_steps

    ways = "bidirectional networks" if frontier.bidirectional else "networks"
    bound = f"{moore_steps(frontier.nodes, frontier.degree)} steps and {float(least_factor(frontier.nodes)):.4f} M/B"
    head = ["steps", "T_B (M/B)", "diameter", *(["time"] if "time_us" in rows[0] else []), "network"]
    table = [head, *(_cells(row) for row in rows)]
    widths = [max(len(cells[column]) for cells in table) for column in range(len(head) - 1)]
    lines = [f"{ways} of {frontier.nodes} nodes, degree {frontier.degree}: no allgather beats {bound}"]
    lines.extend("  " + "  ".join([*map(str.rjust, cells, widths), cells[-1]]) for cells in table)
    why = "of the least bandwidth" if asked.size is None else f"the best for {asked.collective} of {asked.size} bytes"
    lines.append(f"Chosen: {chosen.name}, {'as asked' if asked.choose else why}.")
    written = [str(path) for path in (asked.topology_output, asked.schedule_output) if path is not None]
    if written:
        lines.append(f"Written: {', '.join(written)}" + ("; the schedule is verified." * bool(asked.schedule_output)))
    return lines


def _cells(row: dict[str, object]) -> list[str]:
    marks = "*" * bool(row["moore_optimal"]), "*" * bool(row["bandwidth_optimal"])
    time = [f"{row['time_us']:.1f} us"] if "time_us" in row else []
    return [
        f"{row['steps']}{marks[0]:1}",
        f"{row['bandwidth_factor_float']:.4f}{marks[1]:1}",
        str(row["diameter"]),
        *time,
        str(row["name"]),
    ]


def _sweep(asked: _Asked) -> None:
    from concurrent.futures import Executor, ProcessPoolExecutor
    from contextlib import ExitStack

    from forestcoll.cli.watching import Watch
    from forestcoll.design.sweep import questions_of, sweep
    from forestcoll.presentation import wording

    workload = asked.workload()
    with Watch() as watch, ExitStack() as stack:
        watch.begin("searching")
        executor: Executor | None = None
        if asked.jobs > 1:
            executor = stack.enter_context(ProcessPoolExecutor(asked.jobs))
        found = list(
            sweep(
                questions_of(asked.nodes, asked.degree),
                executor=executor,
                bidirectional=asked.bidirectional,
                published_only=asked.published_only,
                progress=watch,
            )
        )
    if asked.as_json:
        wording.print_json({"frontiers": [_brief(frontier, workload) for frontier in found]})
        return
    wording.print_lines(line for frontier in found for line in _brief_lines(frontier, workload))


def _brief(frontier: "Frontier", workload: "Workload | None") -> dict[str, object]:
    from forestcoll.design.workload import best_for

    document: dict[str, object] = {
        "nodes": frontier.nodes,
        "degree": frontier.degree,
        "pareto": [
            {
                "name": member.name,
                "steps": member.cost.steps,
                "bandwidth_factor": str(member.cost.bandwidth_factor),
                "diameter": member.diameter,
            }
            for member in frontier.members
        ],
    }
    return document | ({} if workload is None else {"chosen": best_for(frontier.members, workload).name})


def _brief_lines(frontier: "Frontier", workload: "Workload | None") -> list[str]:
    from forestcoll.design.workload import best_for

    best = None if workload is None else best_for(frontier.members, workload)
    return [
        f"{frontier.nodes:>5} {frontier.degree:>3}  {member.cost.steps:>4}  "
        f"{float(member.cost.bandwidth_factor):.4f}  {'best ' if member is best else '     '}{member.name}"
        for member in frontier.members
    ]
