"""The rules for an allgather as formats.md states them, in plain Python and one by one, to compare `verify` with."""

from collections import Counter
from fractions import Fraction
from itertools import pairwise

from forestcoll.schedule import Schedule, Tree


def is_right(schedule: Schedule) -> bool:
    return (
        all(_route_is_right(schedule, route) for route in schedule.routes)
        and bool(len(schedule.phases[0]))
        and all(_tree_is_right(schedule, tree) for tree in schedule.phases[0])
        and _shares_are_right(schedule)
        and schedule.algbw == _algbw(schedule)
        and _certificate_is_right(schedule)
    )


def symmetry_is_right(schedule: Schedule) -> bool:
    """Every element of the group, one by one: a symmetry of the network, and no two alike on a compute node."""
    assert schedule.symmetry is not None
    shifts = [(shift.order, shift.image.tolist()) for shift in schedule.symmetry.shifts]
    nodes = list(range(len(schedule.topology.nodes)))
    if any(order < 2 or sorted(image) != nodes for order, image in shifts):
        return False
    elements = [nodes]
    for order, image in shifts:
        powers = [nodes]
        for _ in range(order):
            powers.append([image[node] for node in powers[-1]])
        if powers.pop() != nodes:
            return False
        elements = [[power[node] for node in element] for element in elements for power in powers]
    commute = all(
        [one[node] for node in other] == [other[node] for node in one] for _, one in shifts for _, other in shifts
    )
    free = all(len({element[node] for element in elements}) == len(elements) for node in schedule.topology.compute)
    return commute and free and all(_is_automorphism(schedule, image) for _, image in shifts)


def _is_automorphism(schedule: Schedule, image: list[int]) -> bool:
    nodes, links = schedule.topology.nodes, schedule.topology.links
    kinds = [(node.kind, node.multicast, node.aggregation) for node in nodes]
    bandwidths = {(link.source, link.target): link.bandwidth for link in links}
    return all(kinds[image[node]] == kind for node, kind in enumerate(kinds)) and all(
        bandwidths.get((image[source], image[target])) == each for (source, target), each in bandwidths.items()
    )


def _route_is_right(schedule: Schedule, route: tuple[int, ...]) -> bool:
    nodes = schedule.topology.nodes
    links = {(link.source, link.target) for link in schedule.topology.links}
    if len(route) < 2 or len(set(route)) != len(route):
        return False
    ends = all(nodes[end].is_compute or nodes[end].multicast for end in (route[0], route[-1]))
    interior = all(not nodes[node].is_compute for node in route[1:-1])
    return ends and interior and all(pair in links for pair in pairwise(route))


def _tree_is_right(schedule: Schedule, tree: Tree) -> bool:
    if not schedule.topology.nodes[tree.root].is_compute or tree.share <= 0:
        return False
    reached = {tree.root}
    for number in tree.routes:
        route = schedule.routes[number]
        if route[0] not in reached or route[-1] in reached:
            return False
        reached.add(route[-1])
    return reached.issuperset(schedule.topology.compute)


def _shares_are_right(schedule: Schedule) -> bool:
    carried: Counter[int] = Counter()
    for tree in schedule.phases[0]:
        carried[tree.root] += tree.share  # type: ignore[assignment]
    shard = Fraction(1, len(schedule.topology.compute))
    return sum(carried.values()) == 1 and all(carried[root] == shard for root in schedule.topology.compute)


def _algbw(schedule: Schedule) -> Fraction:
    loads = {(link.source, link.target): Fraction(0) for link in schedule.topology.links}
    for tree in schedule.phases[0]:
        for number in tree.routes:
            route = schedule.routes[number]
            for pair in pairwise(route):
                loads[pair] += tree.share
    return 1 / max(loads[link.source, link.target] / link.bandwidth for link in schedule.topology.links)


def _certificate_is_right(schedule: Schedule) -> bool:
    if schedule.cut is None or schedule.optimal_algbw is None:
        return schedule.cut is None and schedule.optimal_algbw is None
    cut, compute = set(schedule.cut), set(schedule.topology.compute)
    inside = len(cut & compute)
    links = schedule.topology.links
    leaving = sum((link.bandwidth for link in links if link.source in cut and link.target not in cut), Fraction(0))
    return (
        len(cut) == len(schedule.cut)
        and 0 < inside < len(compute)
        and schedule.optimal_algbw == len(compute) * leaving / inside
    )
