"""`verify` refuses every small change of a generated schedule."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import SCHEDULED, Collective, PhaseOp
from forestcoll.schedule.proof import CutProof, PricesProof
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import demand_for
from schedule_checks import demand_over

SPECS = ["dgx-a100:boxes=2,gpus=2", "dgx-h100:boxes=2,gpus=3,nvls=true", "mi250:boxes=2,gpus=4", "torus:dims=3x2"]

Mutation = Callable[[TreeSchedule], Iterator[TreeSchedule]]


def with_trees(schedule: TreeSchedule, place: int, trees: list[list[int]]) -> TreeSchedule:
    phase = replace(schedule.phases[place], routes=Rows.of(trees))
    return with_phase(schedule, place, phase)


def with_phase(schedule: TreeSchedule, place: int, phase: Phase) -> TreeSchedule:
    return replace(schedule, phases=(*schedule.phases[:place], phase, *schedule.phases[place + 1 :]))


def trees_of(schedule: TreeSchedule) -> Iterator[tuple[int, int, list[list[int]]]]:
    for place, phase in enumerate(schedule.phases):
        for tree in range(len(phase)):
            yield place, tree, [list(routes) for routes in phase.routes]


def without_a_route(schedule: TreeSchedule) -> Iterator[TreeSchedule]:
    for place, tree, trees in trees_of(schedule):
        for position in range(len(trees[tree])):
            rest = trees[tree][:position] + trees[tree][position + 1 :]
            yield with_trees(schedule, place, [*trees[:tree], rest, *trees[tree + 1 :]])


def with_a_route_twice(schedule: TreeSchedule) -> Iterator[TreeSchedule]:
    for place, tree, trees in trees_of(schedule):
        for route in trees[tree]:
            yield with_trees(schedule, place, [*trees[:tree], [*trees[tree], route], *trees[tree + 1 :]])


def with_a_route_before_its_predecessor(schedule: TreeSchedule) -> Iterator[TreeSchedule]:
    for place, tree, trees in trees_of(schedule):
        routes = trees[tree]
        for later in range(1, len(routes)):
            for earlier in range(later):
                if schedule.routes[routes[earlier]][-1] == schedule.routes[routes[later]][0]:
                    swapped = list(routes)
                    swapped[earlier], swapped[later] = routes[later], routes[earlier]
                    yield with_trees(schedule, place, [*trees[:tree], swapped, *trees[tree + 1 :]])


def with_another_root(schedule: TreeSchedule) -> Iterator[TreeSchedule]:
    for place, phase in enumerate(schedule.phases):
        for tree, root in enumerate(phase.roots):
            other = next(node for node in schedule.topology.compute if node != root)
            roots = (*phase.roots[:tree], other, *phase.roots[tree + 1 :])
            yield with_phase(schedule, place, replace(phase, roots=roots))


def with_another_share(schedule: TreeSchedule) -> Iterator[TreeSchedule]:
    for place, phase in enumerate(schedule.phases):
        for tree, share in enumerate(phase.shares):
            for other in (share * 2, share * (1 - Fraction(1, 10**30)), -share, Fraction(0)):
                shares = (*phase.shares[:tree], other, *phase.shares[tree + 1 :])
                yield with_phase(schedule, place, replace(phase, shares=shares))


def without_a_tree(schedule: TreeSchedule) -> Iterator[TreeSchedule]:
    for place, tree, trees in trees_of(schedule):
        phase = schedule.phases[place]
        kept = [each for each in range(len(phase)) if each != tree]
        yield with_phase(
            schedule,
            place,
            replace(
                phase,
                roots=tuple(phase.roots[each] for each in kept),
                shares=tuple(phase.shares[each] for each in kept),
                routes=Rows.of([trees[each] for each in kept]),
            ),
        )


def with_a_route_of_another_node(schedule: TreeSchedule) -> Iterator[TreeSchedule]:
    """Change the end of a route, or its start in a reduce. So one node is missing and another one occurs twice."""
    for phase in schedule.phases:
        end = 0 if phase.op is PhaseOp.REDUCE else -1
        for route in sorted(set(phase.routes.entries.tolist())):
            for node in range(len(schedule.topology.nodes)):
                paths = [list(path) for path in schedule.routes]
                if node not in paths[route]:
                    paths[route][end] = node
                    yield replace(schedule, routes=Rows.of(paths))


def with_reversed_operations(schedule: TreeSchedule) -> Iterator[TreeSchedule]:
    for place, phase in enumerate(schedule.phases):
        yield with_phase(schedule, place, replace(phase, op=phase.op.dual))


def with_other_claims(schedule: TreeSchedule) -> Iterator[TreeSchedule]:
    bound = schedule.bound
    assert bound is not None
    for factor in (Fraction(1, 2), 1 + Fraction(1, 10**30)):
        yield replace(schedule, algbw=schedule.algbw * factor)
        yield replace(schedule, bound=replace(bound, algbw=bound.algbw * factor))
    for proof in (CutProof(()), CutProof(tuple(range(len(schedule.topology.nodes)))), PricesProof((), ())):
        yield replace(schedule, bound=replace(bound, proof=proof))
    for other in SCHEDULED:
        if other is not schedule.collective:
            yield replace(schedule, bound=replace(bound, collective=other))


MUTATIONS: tuple[Mutation, ...] = (
    without_a_route,
    with_a_route_twice,
    with_a_route_before_its_predecessor,
    with_another_root,
    with_another_share,
    without_a_tree,
    with_a_route_of_another_node,
    with_reversed_operations,
    with_other_claims,
)


@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize("spec", SPECS)
def test_every_mutation_is_refused(spec: str, collective: Collective) -> None:
    topology = build_topology(spec)
    check(generate(topology, demand_for(topology, collective, place=1)))


@pytest.mark.parametrize("collective", SCHEDULED)
@pytest.mark.parametrize(
    ("spec", "ranks"),
    [("ring:nodes=6", [0, 2, 3]), ("torus:dims=3x3", [0, 4, 5]), ("dgx-a100:boxes=2,gpus=3", [0, 1, 4, 5])],
)
def test_every_mutation_of_a_schedule_with_idle_nodes(spec: str, ranks: list[int], collective: Collective) -> None:
    topology = build_topology(spec)
    check(generate(topology, demand_over(topology, collective, ranks)))


def check(schedule: TreeSchedule) -> None:
    assert verify(schedule).ok
    for mutate in MUTATIONS:
        broken = list(mutate(schedule))
        assert broken, mutate.__name__
        for each in broken[:: max(1, len(broken) // 200)]:
            assert not verify(each).ok, mutate.__name__
