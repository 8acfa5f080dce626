"""Schedules of every collective: correct ones are accepted, and each small change violates a known rule."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.verification import rules, verify
from verify_drafts import (
    OTHERS,
    Draft,
    DraftTree,
    allreduce,
    broadcast,
    empty_handed,
    fault_of,
    multicast,
    one_way_sum,
    reversed_draft,
    ring,
    rotated_allreduce,
    rotated_ring,
    uneven,
)
from verify_oracle import is_right


@pytest.mark.parametrize("make", OTHERS)
def test_correct_schedules_are_accepted_with_their_bandwidth(make: Callable[[], Draft]) -> None:
    draft = make()
    schedule = draft.freeze()
    report = verify(schedule)
    assert report.fault is None
    assert report.algbw == draft.algbw
    assert report.optimal == (draft.algbw == draft.optimal)
    assert is_right(expanded(schedule))
    assert verify(expanded(schedule)) == report


def test_a_tree_that_reduces_has_the_height_of_its_reverse() -> None:
    for make in (ring, broadcast, rotated_ring):
        assert shape_of(reversed_draft(make()).freeze()) == shape_of(make().freeze())


def _order(draft: Draft) -> None:
    draft.trees[0].routes.reverse()


def _waits_for_nothing(draft: Draft) -> None:
    draft.trees[0].routes.pop()


def _silent(draft: Draft) -> None:
    draft.trees[0].routes.pop(0)


def _twice(draft: Draft) -> None:
    draft.trees[0].routes.insert(0, draft.trees[0].routes[0])


def _root_sends(draft: Draft) -> None:
    draft.routes.append([1, 0])
    draft.trees[0].routes.insert(0, len(draft.routes) - 1)


def _other_root(draft: Draft) -> None:
    draft.trees.pop()
    draft.add_tree(Fraction(1, 2), [1, 2], [2, 3], [3, 0])


def _shares_given(draft: Draft) -> None:
    draft.shards = [Fraction(1, len(draft.topology.nodes))] * len(draft.topology.nodes)


def _shards_negative(draft: Draft) -> None:
    draft.shards = [Fraction(-1), Fraction(2)]


def _shards_short(draft: Draft) -> None:
    draft.shards = [Fraction(1)]


def _shards_sum(draft: Draft) -> None:
    draft.shards = [Fraction(1), Fraction(1)]


def _shards_others(draft: Draft) -> None:
    draft.shards = [Fraction(1, 2), Fraction(1, 2)]


def _cut_without_data(draft: Draft) -> None:
    draft.cut = [2]


def _cut_of_the_other_side(draft: Draft) -> None:
    draft.cut = [node for node in range(len(draft.topology.nodes)) if node not in (draft.cut or ())]


def _unequal_phases(draft: Draft) -> None:
    draft.reduced[0].share += Fraction(1, 16)
    draft.reduced[2].share -= Fraction(1, 16)


def _longer_turn(draft: Draft) -> None:
    """With a rotation by two nodes, roots 0 and 1 are in different orbits. One of them has all trees of a phase."""
    draft.shifts = [(2, [2, 3, 0, 1])]
    draft.trees = [replace(tree, share=tree.share * 2) for tree in draft.trees]
    draft.reduced = [DraftTree(1, tree.share, tree.routes) for tree in draft.trees]
    turned = {0: 1, 1: 2, 2: 3, 3: 0}
    for tree in draft.reduced:
        draft.routes += [[turned[node] for node in draft.routes[each]][::-1] for each in reversed(tree.routes)]
        tree.routes = list(range(len(draft.routes) - len(tree.routes), len(draft.routes)))


def _bound_of_allgather(draft: Draft) -> None:
    draft.optimal, draft.cut = Fraction(200, 3), [1, 2, 3]


def _shifted(draft: Draft) -> None:
    draft.trees = [replace(tree, share=tree.share / 4) for tree in draft.trees]
    draft.shifts = [(4, [1, 2, 3, 0])]


CASES: list[tuple[Callable[[], Draft], Callable[[Draft], None], str, list[str]]] = [
    (
        one_way_sum,
        _order,
        "tree-order",
        ["tree 0 (root 1)", "position 1", "ends on 2", "not send after it", "at 0 only"],
    ),
    (one_way_sum, _waits_for_nothing, "tree-order", ["position 0", "ends on 2", "no route of the tree starts there"]),
    (one_way_sum, _silent, "tree-not-spanning", ["tree 0 (root 1)", "has no data of 0", "all 3"]),
    (one_way_sum, _twice, "tree-node-repeated", ["position 0", "starts on 0", "also sends at position 1"]),
    (one_way_sum, _root_sends, "tree-node-repeated", ["position 0", "starts on 1, the root itself"]),
    (broadcast, _other_root, "root-differs", ["tree 1 (root 'g1')", "another root than tree 0, 'g0'"]),
    (broadcast, _shifted, "root-differs", ["symmetry", "images with other roots"]),
    (broadcast, _shares_given, "shards-wrong", ["shards are given", "broadcast"]),
    (allreduce, _shares_given, "shards-wrong", ["shards are given", "allreduce"]),
    (uneven, _shards_negative, "shards-wrong", ["'a' is -1", "0 or more"]),
    (uneven, _shards_short, "shards-wrong", ["1 shards", "2 compute nodes"]),
    (uneven, _shards_sum, "shards-wrong", ["add up to 2"]),
    (uneven, _shards_others, "root-shares", ["root 'a' carry 1/4", "its shard, 1/2"]),
    (empty_handed, _cut_without_data, "certificate-data", ["none of the compute nodes inside has a shard"]),
    (broadcast, _cut_of_the_other_side, "certificate-data", ["none of the compute nodes inside"]),
    (one_way_sum, _cut_of_the_other_side, "certificate-data", ["none of the compute nodes outside"]),
    (allreduce, _unequal_phases, "root-shares", ["phase 1", "'g0' carry 1/4", "in phase 0, 5/16"]),
    (allreduce, _bound_of_allgather, "certificate-bound", ["200/3", "1 of the data", "50 / (1) = 50"]),
    (rotated_allreduce, _longer_turn, "root-shares", ["base trees that have an image with root 'g0'"]),
]


@pytest.mark.parametrize(("make", "mutate", "rule", "fragments"), CASES)
def test_a_violated_rule_is_named_with_its_place(
    make: Callable[[], Draft], mutate: Callable[[Draft], None], rule: str, fragments: list[str]
) -> None:
    draft = make()
    mutate(draft)
    fault = fault_of(draft.freeze())
    assert fault.rule == rule, fault
    for fragment in fragments:
        assert fragment in fault.message


def test_phases_of_another_collective_are_refused() -> None:
    for make in (ring, broadcast, allreduce, one_way_sum):
        schedule = make().freeze()
        for collective in SCHEDULED:
            fault = verify(replace(schedule, collective=collective)).fault
            if collective.only_reduces != schedule.collective.only_reduces:
                assert fault is not None
                assert fault.rule == "phase-ops"


def test_a_reduce_needs_switches_that_aggregate_and_a_broadcast_switches_that_multicast() -> None:
    draft = reversed_draft(multicast())
    assert verify(draft.freeze()).ok
    draft.topology = draft.topology.transposed()
    fault = fault_of(draft.freeze())
    assert (fault.rule, "cannot aggregate" in fault.message) == ("route-ends-on-switch", True)
    both = replace(multicast(), collective=Collective.ALLREDUCE, optimal=None, cut=None)
    back = reversed_draft(both)
    both.reduced = [replace(tree, routes=[len(both.routes) + each for each in tree.routes]) for tree in back.trees]
    both.routes = [*both.routes, *back.routes]
    fault = fault_of(both.freeze())
    assert (fault.rule, "cannot aggregate" in fault.message) == ("tree-switch", True)


@pytest.mark.parametrize("collective", SCHEDULED)
def test_rules_have_distinct_names_and_statements(collective: Collective) -> None:
    listed = rules(collective)
    assert len({name for name, _ in listed}) == len(listed) == len({statement for _, statement in listed})
