"""The compiled fast path accepts exactly the schedules that the rules in Python accept, and finds the same loads."""

import random
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from forestcoll.algorithms.asked import asked
from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import IntArray, Rows, row_starts
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.verification.rule import first_fault
from forestcoll.verification.trees import examination
from forestcoll.verification.trees.context import TreeContext
from forestcoll.verification.trees.rules import RULE_BOOKS
from networks import linked, with_abilities
from verify_drafts import GOOD, OTHERS, ring

GENERATED: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("dgx-a100:boxes=2", "allgather", {}),
    ("dgx-a100:boxes=2", "allgather", {"compact": True}),
    ("dgx-a100:boxes=2", "reduce-scatter", {"ranks": [0, 1, 2, 8, 9]}),
    ("dgx-h100:boxes=2,nvls=true", "allreduce", {}),
    ("torus:dims=3x3", "allreduce", {}),
    ("torus:dims=3x3", "allreduce", {"ranks": [0, 1, 4, 8]}),
    ("mi250:boxes=1", "broadcast", {"root": "b0/gpu3"}),
    ("hypercube:dim=3", "reduce", {"root": 5}),
)


def generated(spec: str, collective: str, **options: Any) -> TreeSchedule:
    schedule = generate(spec, *asked({"collective": collective, **options}))
    assert isinstance(schedule, TreeSchedule)
    return schedule


def accepted_by_rules(context: TreeContext) -> bool:
    return first_fault(context, RULE_BOOKS[context.schedule.collective].delivery) is None


def agrees(schedule: TreeSchedule) -> bool:
    """Check that both paths accept or refuse `schedule`, with the same loads; return whether they accept it."""
    context, slow = TreeContext(schedule), TreeContext(schedule)
    slow.__dict__["examined"] = None
    assert (context.examined is not None) == accepted_by_rules(slow)
    if context.examined is not None:
        assert context.loads.tolist() == slow.loads.tolist()
    return context.examined is not None


@cache
def correct() -> dict[str, TreeSchedule]:
    drafts = {make.__name__: make().freeze() for make in (*GOOD, *OTHERS)}
    return drafts | {f"{spec} {kind} {options}": generated(spec, kind, **options) for spec, kind, options in GENERATED}


def test_correct_schedules_are_accepted() -> None:
    for name, schedule in correct().items():
        assert agrees(schedule), name


def changed_rows(rows: Rows, bound: int, choose: random.Random) -> Rows:
    """Return `rows` with one entry changed, exchanged with another one, added or removed."""
    lists = [list(row) for row in rows]
    row = lists[choose.randrange(len(lists))]
    kind, place = choose.randrange(5), choose.randrange(len(row) + 1)
    if kind < 2:
        row[place : place + 1] = [choose.randrange(-1, bound + 1)]
    elif kind == 2:
        row.insert(place, choose.randrange(bound))
    elif kind == 3 and row:
        row.pop(choose.randrange(len(row)))
    elif row:
        other = choose.randrange(len(row))
        row[other], row[place - 1] = row[place - 1], row[other]
    return Rows.of(lists)


def changed_phase(phase: Phase, routes: int, nodes: int, choose: random.Random) -> Phase:
    if choose.randrange(4):
        return replace(phase, routes=changed_rows(phase.routes, routes, choose))
    roots = list(phase.roots)
    roots[choose.randrange(len(roots))] = choose.randrange(-1, nodes + 1)
    return replace(phase, roots=tuple(roots))


def changed(schedule: TreeSchedule, choose: random.Random) -> TreeSchedule:
    nodes = len(schedule.topology.nodes)
    if choose.randrange(2):
        return replace(schedule, routes=changed_rows(schedule.routes, nodes, choose))
    place = choose.randrange(len(schedule.phases))
    phases = list(schedule.phases)
    phases[place] = changed_phase(phases[place], len(schedule.routes), nodes, choose)
    return replace(schedule, phases=tuple(phases))


@pytest.mark.parametrize("count", [20, pytest.param(2000, marks=pytest.mark.slow)])
def test_changed_schedules_are_accepted_by_both_paths_or_by_none(count: int) -> None:
    choose = random.Random(20)  # noqa: S311 (not for secrets)
    accepted = [agrees(changed(schedule, choose)) for schedule in correct().values() for _ in range(count)]
    assert 0 < sum(accepted) < len(accepted)  # some changes break no rule


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("starts", [np.int16, np.int32, np.int64])
def test_arrays_of_other_types_are_converted(dtype: type[np.int32], starts: type[np.int32]) -> None:
    schedule = ring().freeze()
    rows = Rows(schedule.routes.starts.astype(starts), schedule.routes.entries.astype(dtype))
    assert agrees(replace(schedule, routes=rows))


def test_a_number_that_only_looks_right_in_32_bits_is_refused() -> None:
    schedule = ring().freeze()
    entries: IntArray = schedule.routes.entries.astype(np.int64)
    entries[0] += 2**32
    wide = replace(schedule, routes=Rows(schedule.routes.starts, entries))
    assert TreeContext(wide).examined is None
    assert not agrees(wide)


def test_arrays_with_gaps_are_copied() -> None:
    schedule = ring().freeze()
    gaps: IntArray = np.repeat(schedule.routes.entries, 2)
    assert agrees(replace(schedule, routes=Rows(schedule.routes.starts, gaps[::2])))


@pytest.mark.parametrize("scale", [Fraction(1, 3**60), Fraction(1, 10**40)])
def test_sums_that_do_not_fit_in_64_bits_are_left_to_the_rules(scale: Fraction) -> None:
    draft = ring()
    draft.trees[0].share += scale
    context = TreeContext(draft.freeze())
    assert context.examined is None
    assert accepted_by_rules(context)
    assert sum(context.loads.tolist()) > 2**63


def with_number(place: int | None, number: Any) -> TreeSchedule:
    """Return the schedule of the ring with another first root, or another number of the first tree's first route."""
    schedule = ring().freeze()
    (phase,) = schedule.phases
    if place is None:
        return replace(schedule, phases=(replace(phase, roots=(number, *phase.roots[1:])),))
    entries: IntArray = phase.routes.entries.astype(np.int64)
    entries[place] += number
    return replace(schedule, phases=(replace(phase, routes=Rows(phase.routes.starts, entries)),))


@pytest.mark.parametrize(
    "schedule",
    [
        *(with_number(None, root) for root in (2**31, -(2**31) - 1, 2**40, 0.0)),
        with_number(0, 2**32),
        ring().with_tree(0, share=ring().trees[0].share + Fraction(1, 10**4001)).freeze(),
        ring().with_tree(0, share=ring().trees[0].share - 1).freeze(),
    ],
    ids=["root", "negative root", "long root", "float", "route", "denominator", "negative share"],
)
def test_numbers_that_do_not_fit_are_left_to_the_rules(schedule: TreeSchedule) -> None:
    assert TreeContext(schedule).examined is None


def test_many_trees_and_routes_are_marked_apart() -> None:
    """Trees and routes use the same marks of nodes, so a route must not find the marks of a tree."""
    schedule = ring().freeze()
    phase = schedule.phases[0]
    twice = replace(
        phase,
        roots=phase.roots * 2,
        shares=phase.shares * 2,
        routes=Rows(row_starts(np.tile(np.diff(phase.routes.starts), 2)), np.tile(phase.routes.entries, 2)),
    )
    assert agrees(replace(schedule, phases=(twice,)))


def star(*, multicast: bool, aggregation: bool) -> TreeSchedule:
    """Return an allreduce of two nodes through switch 2, with a switch 3 that can do nothing."""
    network = linked("a b", "a=hub:4 a=plain:4 b=hub:4 b=plain:4", switches="hub plain")
    whole = (Fraction(1),)
    return TreeSchedule(
        topology=with_abilities(network, [(multicast, aggregation)]),
        collective=Collective.ALLREDUCE,
        routes=Rows.of([[0, 2], [1, 2], [2, 0], [2, 1]]),
        phases=(
            Phase(PhaseOp.REDUCE, (2,), whole, Rows.of([[0, 1]])),
            Phase(PhaseOp.BROADCAST, (2,), whole, Rows.of([[2, 3]])),
        ),
        algbw=Fraction(4),
    )


@pytest.mark.parametrize("multicast", [False, True])
@pytest.mark.parametrize("aggregation", [False, True])
def test_a_root_on_a_switch_needs_the_ability_of_its_phase(*, multicast: bool, aggregation: bool) -> None:
    schedule = star(multicast=multicast, aggregation=aggregation)
    assert agrees(schedule) == (multicast and aggregation)


def test_an_unused_route_that_ends_on_a_switch_without_abilities_is_refused() -> None:
    schedule = star(multicast=True, aggregation=True)
    assert agrees(schedule)
    assert not agrees(replace(schedule, routes=Rows.of([*schedule.routes, (0, 3)])))


def test_a_switch_that_only_adds_up_may_be_the_root_of_a_tree_that_reduces() -> None:
    schedule = star(multicast=False, aggregation=True)
    other = Phase(PhaseOp.BROADCAST, (0,), (Fraction(1),), Rows.of([[2]]))
    routes = Rows.of([[0, 2], [1, 2], [0, 3, 1]])
    assert agrees(replace(schedule, routes=routes, phases=(schedule.phases[0], other)))


@pytest.mark.parametrize("marks", ["_members", "_possible_roots"])
def test_marks_of_other_nodes_are_refused(marks: str, monkeypatch: pytest.MonkeyPatch) -> None:
    context = TreeContext(ring().freeze())
    monkeypatch.setattr(examination, marks, lambda *_: np.ones(2, dtype=np.bool_))
    with pytest.raises(ValueError, match="marks of other nodes"):
        examination.base_loads(context)
