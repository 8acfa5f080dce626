"""The optimum of flows by a plain linear program, and the rules of schedules of flows in plain Python."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise

import highspy
import numpy as np

from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.flows.value import Flow, FlowSchedule
from forestcoll.topology import Topology

Pair = tuple[int, int]


def pairs_of(topology: Topology, demand: NodeDemand) -> dict[Pair, Fraction]:
    """Return what each pair of nodes exchanges, by definition."""
    members = topology.compute if demand.ranks is None else demand.ranks
    found = {}
    for row, source in enumerate(members):
        for column, target in enumerate(members):
            if demand.matrix is not None:
                part = demand.matrix[row][column]
            elif demand.collective is Collective.ALL_TO_ALL:
                part = Fraction(1, len(members))
            else:
                end = target if demand.collective is Collective.GATHER else source
                part = Fraction(int(end == demand.root), len(members))
            if part and source != target:
                found[source, target] = part
    return found


def plain_optimum(topology: Topology, demand: NodeDemand) -> float:
    """Return the greatest algbw: one column for each pair of nodes and link, and one for the rate."""
    pairs, links = list(pairs_of(topology, demand).items()), topology.links
    highs = highspy.Highs()  # type: ignore[no-untyped-call]
    highs.setOptionValue("output_flag", False)  # noqa: FBT003
    highs.changeObjectiveSense(highspy.ObjSense.kMaximize)
    nothing = np.array([], dtype=np.int32)
    for column in range(1 + len(pairs) * len(links)):
        highs.addCol(float(column == 0), 0.0, highspy.kHighsInf, 0, nothing, np.array([]))
    for place, link in enumerate(links):
        columns = [1 + number * len(links) + place for number in range(len(pairs))]
        _add_row(highs, dict.fromkeys(columns, 1.0), -highspy.kHighsInf, float(link.bandwidth))
    for number, ((source, target), part) in enumerate(pairs):
        for node in range(len(topology.nodes)):
            if node == source:
                continue
            row = {0: -float(part)} if node == target else {}
            for place, link in enumerate(links):
                sign = (link.target == node) - (link.source == node)
                if sign:
                    row[1 + number * len(links) + place] = float(sign)
            _add_row(highs, row, 0.0, 0.0)
    highs.run()
    return float(highs.getSolution().col_value[0])


def _add_row(highs: highspy.Highs, row: Mapping[int, float], low: float, high: float) -> None:
    columns = sorted(row)
    values = np.array([row[column] for column in columns])
    highs.addRow(low, high, len(columns), np.array(columns, dtype=np.int32), values)


def is_right(schedule: FlowSchedule) -> bool:
    """Return whether a schedule without a symmetry keeps all rules, apart from those about the certificate."""
    if not all(_is_route(schedule.topology, route) for route in schedule.routes):
        return False
    if not all(_is_flow(schedule, flow) for flow in schedule.flows):
        return False
    demand = NodeDemand(schedule.collective, schedule.root, None, schedule.ranks, schedule.matrix)
    sent: dict[Pair, Fraction] = {}
    for flow in schedule.flows:
        sent[flow.source, flow.target] = sent.get((flow.source, flow.target), Fraction(0)) + flow.share
    if schedule.root is not None and any(schedule.root not in ends for ends in sent):
        return False
    return sent == pairs_of(schedule.topology, demand) and schedule.algbw == _algbw(schedule)


def _is_route(topology: Topology, route: tuple[int, ...]) -> bool:
    links = {(link.source, link.target) for link in topology.links}
    kinds = [topology.nodes[node].is_compute for node in route]
    if len(set(route)) != len(route) or len(route) < 2:
        return False
    return kinds == [True, *[False] * (len(route) - 2), True] and all(ends in links for ends in pairwise(route))


def _is_flow(schedule: FlowSchedule, flow: Flow) -> bool:
    members = schedule.topology.compute if schedule.ranks is None else schedule.ranks
    routes = [schedule.routes[each] for each in flow.routes]
    starts, ends = [route[0] for route in routes], [route[-1] for route in routes]
    follow = [*starts, flow.target] == [flow.source, *ends]
    return bool(routes) and follow and flow.share > 0 and {flow.source, flow.target} <= set(members)


def _algbw(schedule: FlowSchedule) -> Fraction:
    loads: dict[Pair, Fraction] = {}
    for flow in schedule.flows:
        for ends in (ends for each in flow.routes for ends in pairwise(schedule.routes[each])):
            loads[ends] = loads.get(ends, Fraction(0)) + flow.share
    bandwidths = {(link.source, link.target): link.bandwidth for link in schedule.topology.links}
    return 1 / max(load / bandwidths[ends] for ends, load in loads.items())
