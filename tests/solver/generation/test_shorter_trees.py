"""Shorter trees: the same loads and edges, and no exchange of parents that is left makes the sum of 2^depth less."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations

import pytest

from forestcoll import generate
from forestcoll.demand.collective import PhaseOp
from forestcoll.demand.demand import Demand
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.solver.generation import shorter_trees
from forestcoll.solver.generation.shorter_trees import with_shorter_trees
from forestcoll.topology import build_topology
from forestcoll.verification import verify

SPECS = ("mi250:boxes=1,gpus=8", "mi250:boxes=2,gpus=8", "torus:dims=3x4")


def schedule_of(spec: str, collective: str) -> TreeSchedule:
    root = build_topology(spec).nodes[0].id if collective in {"broadcast", "reduce"} else None
    made: TreeSchedule = generate(spec, Demand(collective, root=root))
    return made


def parents_of(schedule: TreeSchedule, phase: Phase) -> list[dict[int, int]]:
    """The parent of each node of each tree but the root."""
    made = []
    for tree in phase:
        ends = [(schedule.routes[route][0], schedule.routes[route][-1]) for route in tree.routes]
        made.append(dict(ends) if phase.op is PhaseOp.REDUCE else {lower: upper for upper, lower in ends})
    return made


def sum_of(parents: dict[int, int]) -> int | None:
    """The sum of 2^depth over all nodes; None if `parents` has a cycle."""
    total = 1
    for node in parents:
        depth, at = 0, node
        while at in parents:
            depth, at = depth + 1, parents[at]
            if depth > len(parents):
                return None
        total += 2**depth
    return total


def sums_of(schedule: TreeSchedule) -> list[int]:
    return [sum(sum_of(each) or 0 for each in parents_of(schedule, phase)) for phase in schedule.phases]


def exchanged(schedule: TreeSchedule, phase: Phase) -> Iterator[tuple[int | None, int | None, int]]:
    """For each exchange of parents in two trees of equal shares: the new sums, and the old sum of both."""
    trees = parents_of(schedule, phase)
    for one, other in combinations(range(len(trees)), 2):
        if phase.shares[one] != phase.shares[other]:
            continue
        before = (sum_of(trees[one]) or 0) + (sum_of(trees[other]) or 0)
        for node in trees[one].keys() & trees[other].keys():
            first, second = (trees[each] | {node: trees[one + other - each][node]} for each in (one, other))
            yield sum_of(first), sum_of(second), before


@pytest.mark.parametrize("collective", ["allgather", "reduce-scatter", "allreduce", "broadcast", "reduce"])
@pytest.mark.parametrize("spec", SPECS)
def test_loads_and_edges_stay_and_the_sum_does_not_rise(spec: str, collective: str) -> None:
    before = schedule_of(spec, collective)
    after = with_shorter_trees(before)
    assert verify(after).ok
    assert replace(after, phases=before.phases) == before
    for old, new in zip(before.phases, after.phases, strict=True):
        assert (old.op, old.roots, old.shares) == (new.op, new.roots, new.shares)
        used = [Counter((t.share, route) for t in phase for route in t.routes) for phase in (old, new)]
        assert used[0] == used[1]
    assert all(new <= old for old, new in zip(sums_of(before), sums_of(after), strict=True))


@pytest.mark.parametrize("collective", ["broadcast", "reduce", "allgather"])
@pytest.mark.parametrize("spec", SPECS)
def test_no_exchange_is_left_that_makes_the_sum_less(spec: str, collective: str) -> None:
    schedule = with_shorter_trees(schedule_of(spec, collective))
    for phase in schedule.phases:
        for one, other, before in exchanged(schedule, phase):
            assert one is None or other is None or one + other >= before


def test_a_reduce_on_several_boxes_gets_shorter() -> None:
    schedule = schedule_of("mi250:boxes=2", "reduce")
    assert sums_of(with_shorter_trees(schedule)) < sums_of(schedule)
    assert with_shorter_trees(schedule) == with_shorter_trees(schedule)


def test_trees_stay_if_their_sum_is_not_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = schedule_of("mi250:boxes=2", "reduce")
    (total,) = sums_of(schedule)
    monkeypatch.setattr(shorter_trees, "_EXACT", total)
    assert with_shorter_trees(schedule) == schedule
    monkeypatch.setattr(shorter_trees, "_EXACT", total + 1)
    assert with_shorter_trees(schedule) != schedule
    high = generate("ring:nodes=1100", "broadcast:root=0", "trees:k=1")
    assert with_shorter_trees(high) == high


def test_base_trees_and_trees_over_able_switches_stay() -> None:
    compact = generate("torus:dims=4x4", method="trees:compact=true")
    assert compact.symmetry is not None
    assert with_shorter_trees(compact) is compact
    able = generate("dgx-h100:boxes=2,nvls=true")
    ends = {node for route in able.routes for node in (route[0], route[-1])}
    assert not ends <= set(able.members)
    assert with_shorter_trees(able) is able
