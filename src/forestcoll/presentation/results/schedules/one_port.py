"""The answers of `forestcoll one-port` as pages, as JSON and as pictures, and the words about one message."""

from collections.abc import Mapping, Sequence
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
from forestcoll.presentation.results.schedules.series import generated_document, generated_page
from forestcoll.presentation.tables import Page, labelled
from forestcoll.presentation.text import duration, stage_document, stage_times, written_to
from forestcoll.schedule.series.timetable import Timetable

_BOUNDS = {
    "ports": "the prices of ports",
    "receive": "the node that receives last",
    "last packet": "the packet that the source sends last",
}
_SIZES_DRAWN = 13
_STEP = 10**0.5


def answer_document(answer: SeriesAnswer | MessageAnswer, seconds: Mapping[str, float]) -> dict[str, object]:
    """Return the JSON object of an answer; `seconds` is the time of each stage of the run."""
    if isinstance(answer, SeriesAnswer):
        return generated_document(answer, seconds)
    return _message_document(answer, seconds)


def answer_page(answer: SeriesAnswer | MessageAnswer, seconds: Mapping[str, float], output: Path | None) -> Page:
    """Return the page of an answer; `output` is the file of its schedule."""
    if isinstance(answer, SeriesAnswer):
        return generated_page(answer, seconds, output)
    return _message_page(answer, seconds, output)


def draw_answer(answer: SeriesAnswer | MessageAnswer, path: Path) -> None:
    """Draw one period of a series, or the times of one message and of larger ones, into a file.

    Raises:
        InputError: the file cannot be written, or the picture would be too large.
    """
    if isinstance(answer, SeriesAnswer):
        draw_period(answer.schedule, path)
    else:
        _draw_plans(answer.pipeline, answer.plan, path)


def _message_document(answer: MessageAnswer, seconds: Mapping[str, float]) -> dict[str, object]:
    plan, topology = answer.plan, answer.plan.topology
    return {
        "topology": topology.name,
        "compute_nodes": len(topology.compute),
        "port_model": topology.port_model,
        "source": topology.nodes[plan.source].id,
        "size": plan.size,
        **_plan_document(plan),
        "lower_bound_us": str(plan.bound),
        "lower_bounds_us": {
            "ports": str(plan.bounds.ports),
            "receive": str(plan.bounds.receive),
            "last_packet": str(plan.bounds.last_packet),
        },
        "cycle_us": str(plan.cycle),
        "cycles": plan.cycles,
        "packets_per_cycle": plan.packets_per_cycle,
        "height": plan.height,
        "period_us": str(answer.schedule.period),
        "trees": [
            {"packets": int(tree.weight), "edges": [topology.ids(ends) for ends in tree.edges]} for tree in plan.trees
        ],
        "sends": None if plan.timetable is None else _sends_document(plan.timetable),
        "root_rule": _plan_document(answer.by_rule),
        "verified": True,
        "seconds": stage_document(seconds),
    }


def _sends_document(timetable: Timetable) -> list[dict[str, object]]:
    topology = timetable.topology
    ends = [topology.ids([link.source, link.target]) for link in topology.links]
    return [
        {
            "start_us": str(send.start),
            "packet": send.packet,
            "source": ends[send.link][0],
            "target": ends[send.link][1],
        }
        for send in timetable.sends
    ]


def _plan_document(plan: PipelinePlan) -> dict[str, object]:
    return {
        "packets": plan.packets,
        "packet_size": plan.packet_size,
        "makespan_us": str(plan.makespan),
        "makespan_us_float": float(plan.makespan),
        "times_lower_bound": float(plan.makespan / plan.bound),
    }


def _message_page(answer: MessageAnswer, seconds: Mapping[str, float], output: Path | None) -> Page:
    plan, by_rule, topology = answer.plan, answer.by_rule, answer.plan.topology
    source = topology.nodes[plan.source].id
    ruled = (
        f"{plural(by_rule.packets, 'packet')} of {plural(by_rule.packet_size, 'byte')}: {duration(by_rule.makespan, 6)}"
    )
    rows = [
        ("time", duration(plan.makespan, 6)),
        (
            "bound",
            f"{duration(plan.bound, 6)} by {_BOUNDS[plan.bounds.limit]}; the ratio is {_multiple(plan)}",
        ),
        ("packets", f"{plan.packets:,} of {plural(plan.packet_size, 'byte')}, {plan.packets_per_cycle} per cycle"),
        ("trees", f"{len(plan.trees)}, at most {plan.height} links high"),
        ("cycles", _cycles(plan)),
        ("√L rule", f"{ruled}, {_multiple(by_rule)} times the bound"),
        ("verified", _verified(plan)),
        ("run time", stage_times(seconds)),
        ("written", written_to(output)),
    ]
    name, count = topology.name, len(topology.compute)
    title = f"{name}: {plural(plan.size, 'byte')} from {source} to {count} compute nodes, {ports_text(topology)}"
    return Page(title, (labelled(rows),))


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
