"""The answers of `forestcoll one-port` as pages and as pictures, and the words about one message."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from forestcoll.base.errors import plural
from forestcoll.oneport.asked import MessageAnswer, SeriesAnswer
from forestcoll.oneport.message.pipelined import Pipeline, PipelinePlan, root_rule
from forestcoll.presentation.pictures.charts.lines import Axes, Line, line_chart
from forestcoll.presentation.pictures.charts.parts import headed
from forestcoll.presentation.pictures.charts.scales import size_ticks
from forestcoll.presentation.pictures.raster import write_picture
from forestcoll.presentation.pictures.svg import text
from forestcoll.presentation.results.networks.networks import ports_text
from forestcoll.presentation.results.schedules.period_plot import draw_period
from forestcoll.presentation.results.schedules.series import generated_page
from forestcoll.presentation.tables import Page, row
from forestcoll.presentation.text import all_written, duration, times
from forestcoll.schedule.series.timetable import Timetable

_BOUNDS = {
    "ports": "the prices of ports",
    "receive": "the node that receives last",
    "last packet": "the packet that the source sends last",
}
_SIZES_DRAWN = 13
_STEP = 10**0.5


def answer_page(
    answer: SeriesAnswer | MessageAnswer, seconds: Mapping[str, float], outputs: Mapping[str, Path]
) -> Page:
    """Return the page of an answer; `outputs` are the files that were written, by their kinds."""
    if isinstance(answer, SeriesAnswer):
        return generated_page(answer, seconds, outputs)
    return _message_page(answer, seconds, outputs)


def draw_answer(answer: SeriesAnswer | MessageAnswer, path: Path) -> None:
    """Draw one period of a series, or the times of one message and of larger ones, into a file.

    Raises:
        InputError: the file cannot be written, or the picture would be too large.
    """
    if isinstance(answer, SeriesAnswer):
        draw_period(answer.schedule, path)
    else:
        _draw_plans(answer.pipeline, answer.plan, path)


def _message_page(answer: MessageAnswer, seconds: Mapping[str, float], outputs: Mapping[str, Path]) -> Page:
    plan, by_rule, topology = answer.plan, answer.by_rule, answer.plan.topology
    source, bounds = topology.nodes[plan.source].id, plan.bounds
    packets = f"{plural(by_rule.packets, 'packet')} of {plural(by_rule.packet_size, 'byte')}"
    ruled = f"{packets}: {duration(by_rule.makespan, 6)}, {_multiple(by_rule)} times the bound"
    bound = f"{duration(plan.bound, 6)} by {_BOUNDS[bounds.limit]}; the ratio is {_multiple(plan)}"
    each_bound = {"ports": bounds.ports, "receive": bounds.receive, "last_packet": bounds.last_packet}
    sizes = f"{plan.packets:,} of {plural(plan.packet_size, 'byte')}, {plan.packets_per_cycle} per cycle"
    trees = [{"packets": int(tree.weight), "edges": [topology.ids(ends) for ends in tree.edges]} for tree in plan.trees]
    sends = None if plan.timetable is None else partial(_sends, plan.timetable)
    rows = (
        row(topology=topology.name, compute_nodes=len(topology.compute), port_model=topology.port_model),
        row("time", duration(plan.makespan, 6), source=source, size=plan.size, **_plan(plan)),
        row("bound", bound, lower_bound_us=plan.bound, lower_bounds_us=each_bound),
        row("packets", sizes, packets_per_cycle=plan.packets_per_cycle),
        row("trees", f"{len(plan.trees)}, at most {plural(plan.height, 'link')} high", trees=trees, height=plan.height),
        row("cycles", _cycles(plan), cycle_us=plan.cycle, cycles=plan.cycles, period_us=answer.schedule.period),
        row("√L rule", ruled, root_rule=_plan(by_rule)),
        row("verified", _verified(plan), verified=True, sends=sends),
        times(seconds, "run time"),
        all_written(outputs),
    )
    nodes = f"{len(topology.compute)} compute nodes, {ports_text(topology)}"
    return Page(f"{topology.name}: {plural(plan.size, 'byte')} from {source} to {nodes}", rows)


def _sends(timetable: Timetable) -> list[dict[str, object]]:
    topology = timetable.topology
    ends = [topology.ids([link.source, link.target]) for link in topology.links]
    return [
        {"start_us": send.start, "packet": send.packet, "source": ends[send.link][0], "target": ends[send.link][1]}
        for send in timetable.sends
    ]


def _plan(plan: PipelinePlan) -> dict[str, object]:
    return {
        "packets": plan.packets,
        "packet_size": plan.packet_size,
        "makespan_us": plan.makespan,
        "makespan_us_float": float(plan.makespan),
        "times_lower_bound": float(plan.makespan / plan.bound),
    }


def _cycles(plan: PipelinePlan) -> str:
    if plan.timetable is None:
        return f"{plan.cycles:,} of {duration(plan.cycle, 6)}, then {plan.height - 1} until all packets have arrived"
    left = plan.makespan - (plan.cycles - 1) * plan.cycle
    return f"{plan.cycles:,}, one every {duration(plan.cycle, 6)}; the last one takes {duration(left, 6)}"


def _verified(plan: PipelinePlan) -> str:
    periodic = "ports, trees and whole packets of the periodic schedule"
    if plan.timetable is None:
        return periodic
    return f"arrivals and ports of {plural(len(plan.timetable.sends), 'send')}; {periodic}"


def _multiple(plan: PipelinePlan) -> str:
    return f"{float(plan.makespan / plan.bound):.4g}"


def _draw_plans(pipeline: Pipeline, plan: PipelinePlan, path: Path) -> None:
    """Draw the times of plans for the size of `plan` and for larger sizes, as multiples of the bound."""
    sizes = [round(plan.size * _STEP**step) for step in range(_SIZES_DRAWN)]
    lines = [
        _line("best plan", 0, [pipeline.plan(size) for size in sizes]),
        _line("√L rule", 1, [pipeline.plan(size, packets=root_rule(size)) for size in sizes]),
    ]
    axes = Axes("size of the message", "time as a multiple of the bound", size_ticks(sizes))
    title = f"pipelined broadcast from {plan.topology.nodes[plan.source].id}"
    chart = line_chart("Lines: the time of plans over the size of the message", axes, lines, (1.0, "lower bound"))
    write_picture(text(headed((plan.topology.name, title), chart)), path)


def _line(name: str, place: int, plans: Sequence[PipelinePlan]) -> Line:
    values = tuple((float(plan.size), float(plan.makespan / plan.bound)) for plan in plans)
    return Line(name, values, tuple(size for size, _ in values), place)
