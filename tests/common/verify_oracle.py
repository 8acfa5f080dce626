"""The rules of the file format in plain Python. Tests compare `verify` with these functions."""

from fractions import Fraction
from itertools import pairwise

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.proof import CutProof
from forestcoll.schedule.trees.value import Tree, TreeSchedule


def is_right(schedule: TreeSchedule) -> bool:
    return (
        _ranks_are_right(schedule)
        and _phases_are_right(schedule)
        and all(_route_is_right(schedule, route) for route in schedule.routes)
        and all(len(phase) for phase in schedule.phases)
        and all(_tree_is_right(schedule, tree, phase.op) for phase in schedule.phases for tree in phase)
        and _shares_are_right(schedule)
        and schedule.algbw == _algbw(schedule)
        and _certificate_is_right(schedule)
    )


def members_of(schedule: TreeSchedule) -> tuple[int, ...]:
    return schedule.topology.compute if schedule.ranks is None else schedule.ranks


def _ranks_are_right(schedule: TreeSchedule) -> bool:
    ranks = members_of(schedule)
    return len(ranks) > 1 and set(ranks) <= set(schedule.topology.compute) and list(ranks) == sorted(set(ranks))


def _phases_are_right(schedule: TreeSchedule) -> bool:
    ops = [PhaseOp.REDUCE] * schedule.collective.only_reduces or [PhaseOp.BROADCAST]
    if schedule.collective is Collective.ALLREDUCE:
        ops = [PhaseOp.REDUCE, PhaseOp.BROADCAST]
    return [phase.op for phase in schedule.phases] == ops


def symmetry_is_right(schedule: TreeSchedule) -> bool:
    """Return whether every element of the group is a symmetry, and all map some member to different nodes."""
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
    free = any(len({element[node] for element in elements}) == len(elements) for node in members_of(schedule))
    return commute and free and all(_is_automorphism(schedule, image) for _, image in shifts)


def _is_automorphism(schedule: TreeSchedule, image: list[int]) -> bool:
    nodes, links = schedule.topology.nodes, schedule.topology.links
    members = members_of(schedule)
    kinds = [(node.kind, number in members, node.multicast, node.aggregation) for number, node in enumerate(nodes)]
    bandwidths = {(link.source, link.target): link.bandwidth for link in links}
    return all(kinds[image[node]] == kind for node, kind in enumerate(kinds)) and all(
        bandwidths.get((image[source], image[target])) == each for (source, target), each in bandwidths.items()
    )


def _route_is_right(schedule: TreeSchedule, route: tuple[int, ...]) -> bool:
    nodes = schedule.topology.nodes
    links = {(link.source, link.target) for link in schedule.topology.links}
    if len(route) < 2 or len(set(route)) != len(route):
        return False
    ops = {phase.op for phase in schedule.phases}
    ends = all(any(_may_end(schedule, end, op) for op in ops) for end in (route[0], route[-1]))
    interior = all(not nodes[node].is_compute for node in route[1:-1])
    return ends and interior and all(pair in links for pair in pairwise(route))


def _may_end(schedule: TreeSchedule, number: int, op: PhaseOp) -> bool:
    node = schedule.topology.nodes[number]
    return node.is_compute or (node.multicast if op is PhaseOp.BROADCAST else node.aggregation)


def _tree_is_right(schedule: TreeSchedule, tree: Tree, op: PhaseOp) -> bool:
    if tree.root not in members_of(schedule) or tree.share <= 0:
        return False
    ends = {end for number in tree.routes for end in (schedule.routes[number][0], schedule.routes[number][-1])}
    if not all(_may_end(schedule, end, op) for end in ends):
        return False
    return _sums_up(schedule, tree) if op is PhaseOp.REDUCE else _spreads(schedule, tree)


def _sums_up(schedule: TreeSchedule, tree: Tree) -> bool:
    """Each node except the root sends once, after all its inputs. An idle node sends only data that it received."""
    sent: set[int] = set()
    for number in tree.routes:
        source, target = schedule.routes[number][0], schedule.routes[number][-1]
        if source in sent or target in sent or source == tree.root:
            return False
        sent.add(source)
    waiting = {schedule.routes[number][-1] for number in tree.routes} - sent - {tree.root}
    received = {schedule.routes[number][-1] for number in tree.routes}
    idle = set(schedule.topology.compute).difference(members_of(schedule))
    return not waiting and sent | {tree.root} >= set(members_of(schedule)) and sent & idle <= received


def _spreads(schedule: TreeSchedule, tree: Tree) -> bool:
    reached = {tree.root}
    for number in tree.routes:
        route = schedule.routes[number]
        if route[0] not in reached or route[-1] in reached:
            return False
        reached.add(route[-1])
    return reached.issuperset(members_of(schedule))


def _shares_are_right(schedule: TreeSchedule) -> bool:
    phases = []
    for phase in schedule.phases:
        carried = dict.fromkeys(members_of(schedule), Fraction(0))
        for tree in phase:
            carried[tree.root] += tree.share
        phases.append(carried)
    if any(sum(carried.values()) != 1 for carried in phases):
        return False
    if schedule.collective is Collective.ALLREDUCE:
        return phases[0] == phases[1]
    return phases[0] == _expected_shards(schedule)


def _expected_shards(schedule: TreeSchedule) -> dict[int, Fraction]:
    compute = members_of(schedule)
    if schedule.collective.has_root:
        root = schedule.phases[0].roots[0]
        return {node: Fraction(node == root) for node in compute}
    return dict(zip(compute, schedule.shards or [Fraction(1, len(compute))] * len(compute), strict=True))


def _algbw(schedule: TreeSchedule) -> Fraction:
    loads = {(link.source, link.target): Fraction(0) for link in schedule.topology.links}
    for tree in (tree for phase in schedule.phases for tree in phase):
        for number in tree.routes:
            route = schedule.routes[number]
            for pair in pairwise(route):
                loads[pair] += tree.share
    return 1 / max(loads[link.source, link.target] / link.bandwidth for link in schedule.topology.links)


def _certificate_is_right(schedule: TreeSchedule) -> bool:
    if schedule.bound is None:
        return True
    assert isinstance(schedule.bound.proof, CutProof)
    listed, optimal = schedule.bound.proof.inside, schedule.bound.algbw
    cut, compute = set(listed), set(members_of(schedule))
    links = schedule.topology.links
    leaving = sum((link.bandwidth for link in links if link.source in cut and link.target not in cut), Fraction(0))
    proper = len(cut) == len(listed) and 0 < len(cut & compute) < len(compute)
    if not proper or schedule.collective is Collective.ALLREDUCE:
        return proper and optimal == leaving
    shards = _expected_shards(schedule)
    must = sum((shards[node] for node in compute if (node in cut) != schedule.collective.only_reduces), Fraction(0))
    return must > 0 and optimal == leaving / must
