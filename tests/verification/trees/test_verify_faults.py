"""Each rule is violated by a small change of a correct schedule. The fault names the rule and the place."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.schedule import rows
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase
from forestcoll.verification import Fault, rules, verify
from forestcoll.verification.claims import FORM, Claim, beaten
from forestcoll.verification.proof_checks.checks import PROOFS_OF_TREES
from forestcoll.verification.routes import table
from forestcoll.verification.trees.context import TreeContext
from verify_drafts import Draft, DraftTree, boxes, complete, fault_of, multicast, ring, two_gpus


def _no_such_node(draft: Draft) -> None:
    draft.routes[2][1] = 7


def _negative_node(draft: Draft) -> None:
    draft.routes[2][1] = -1


def _one_node(draft: Draft) -> None:
    draft.routes[3] = [1]


def _no_nodes(draft: Draft) -> None:
    draft.routes.append([])


def _visits_twice(draft: Draft) -> None:
    draft.routes[0] = [0, 6, 0, 6, 2]


def _ends_where_it_starts(draft: Draft) -> None:
    draft.routes.append([1, 6, 1])


def _no_such_link(draft: Draft) -> None:
    draft.routes[1] = [2, 4, 3]


def _no_such_link_in_unused_route(draft: Draft) -> None:
    draft.routes.append([0, 1])


def _through_compute(draft: Draft) -> None:
    draft.routes[0] = [0, 4, 1, 6, 2]


def _ends_on_switch(draft: Draft) -> None:
    draft.routes[0] = [0, 6]


def _starts_on_switch(draft: Draft) -> None:
    draft.routes[0] = [6, 2]


def _no_trees(draft: Draft) -> None:
    draft.trees = []


def _nothing_at_all(draft: Draft) -> None:
    draft.trees, draft.routes = [], []


def _no_routes(draft: Draft) -> None:
    draft.routes = []
    for tree in draft.trees:
        tree.routes = []


def _unknown_root(draft: Draft) -> None:
    draft.trees[2].root = 7


def _root_on_switch(draft: Draft) -> None:
    draft.trees[2].root = 6


def _unknown_route(draft: Draft) -> None:
    draft.trees[1].routes[2] = 8


def _unknown_route_in_empty_table(draft: Draft) -> None:
    draft.routes = []


def _swapped(draft: Draft) -> None:
    routes = draft.trees[1].routes
    routes[0], routes[1] = routes[1], routes[0]


def _from_nowhere(draft: Draft) -> None:
    draft.trees[3].routes = [draft.routes.index([0, 6, 2])]


def _same_route_twice(draft: Draft) -> None:
    draft.trees[1].routes.append(draft.trees[1].routes[0])


def _back_to_root(draft: Draft) -> None:
    draft.trees[1].routes.append(draft.routes.index([3, 6, 1]))


def _dropped(draft: Draft) -> None:
    draft.trees[2].routes.pop()


def _only_roots(draft: Draft) -> None:
    draft.trees[3].routes = []


def _zero_share(draft: Draft) -> None:
    draft.trees.append(DraftTree(1, Fraction(0), list(draft.trees[1].routes)))


def _negative_share(draft: Draft) -> None:
    draft.trees[1].share = Fraction(-1, 4)


def _duplicated(draft: Draft) -> None:
    draft.trees.append(draft.trees[1])


def _share_moved(draft: Draft) -> None:
    draft.trees[1].share += Fraction(1, 100)
    draft.trees[2].share -= Fraction(1, 100)


def _no_share(draft: Draft) -> None:
    draft.trees.pop(0)
    draft.trees[2].share += Fraction(1, 4)


def _algbw_high(draft: Draft) -> None:
    draft.algbw = Fraction(41)


def _algbw_nearly(draft: Draft) -> None:
    draft.algbw += Fraction(1, 10**30)


def _algbw_zero(draft: Draft) -> None:
    draft.algbw = Fraction(0)


def _cut_unknown(draft: Draft) -> None:
    draft.cut = [0, 9]


def _cut_twice(draft: Draft) -> None:
    draft.cut = [0, 1, 4, 1]


def _cut_of_switches(draft: Draft) -> None:
    draft.cut = [4, 6]


def _cut_empty(draft: Draft) -> None:
    draft.cut = []


def _cut_whole(draft: Draft) -> None:
    draft.cut = [0, 1, 2, 3, 4]


def _other_cut(draft: Draft) -> None:
    draft.cut = [0]


def _optimum_high(draft: Draft) -> None:
    draft.optimal = Fraction(500)


BROKEN_BOXES: list[tuple[Callable[[Draft], None], str, list[str]]] = [
    (_no_such_node, "route-node-unknown", ["route 2", "position 1", "node number 7", "expected 0 to 6"]),
    (_negative_node, "route-node-unknown", ["route 2", "position 1", "node number -1"]),
    (_one_node, "route-too-short", ["route 3 ('g1')", "1 node;", "expected two or more"]),
    (_no_nodes, "route-too-short", ["route 8", "0 nodes"]),
    (_visits_twice, "route-node-repeated", ["route 0 ('g0' -> 'net' -> 'g0' -> 'net' -> 'g2')", "visits 'g0' twice"]),
    (_ends_where_it_starts, "route-node-repeated", ["route 8 ('g1' -> 'net' -> 'g1')", "visits 'g1' twice"]),
    (_no_such_link, "route-link-missing", ["route 1 ('g2' -> 's0' -> 'g3')", "'g2' -> 's0' (position 0)"]),
    (_no_such_link_in_unused_route, "route-link-missing", ["route 8 ('g0' -> 'g1')", "'g0' -> 'g1' (position 0)"]),
    (_through_compute, "route-interior-compute", ["route 0 (", "compute node 'g1' (position 2)"]),
    (_ends_on_switch, "route-ends-on-switch", ["route 0 ('g0' -> 'net')", "ends on switch 'net'"]),
    (_starts_on_switch, "route-ends-on-switch", ["route 0 ('net' -> 'g2')", "starts on switch 'net'"]),
    (_no_trees, "phase-empty", ["phase 0 lists no trees"]),
    (_nothing_at_all, "phase-empty", ["phase 0 lists no trees"]),
    (_no_routes, "tree-not-spanning", ["tree 0 (root 'g0')", "'g1', 'g2', 'g3'", "all 4 compute nodes"]),
    (_unknown_root, "tree-root", ["tree 2 of phase 0", "root number 7", "expected 0 to 6"]),
    (_root_on_switch, "tree-root", ["tree 2 (root 'net')", "a switch"]),
    (_unknown_route, "tree-route-unknown", ["tree 1 (root 'g1')", "position 2", "number 8", "expected 0 to 7"]),
    (_unknown_route_in_empty_table, "tree-route-unknown", ["tree 0 (root 'g0')", "route number 0", "is empty"]),
    (
        _swapped,
        "tree-order",
        ["tree 1 (root 'g1')", "position 0: route 4 ('g3' -> 's1' -> 'g2')", "one ends there at 1"],
    ),
    (_from_nowhere, "tree-order", ["tree 3 (root 'g3')", "position 0: route 0 (", "starts on 'g0'", "no route of the"]),
    (_same_route_twice, "tree-node-repeated", ["tree 1 (root 'g1')", "position 3: route 3 (", "'g3'", "at position 0"]),
    (_back_to_root, "tree-node-repeated", ["tree 1 (root 'g1')", "position 3: route 7 (", "ends on 'g1'", "the root"]),
    (_dropped, "tree-not-spanning", ["tree 2 (root 'g2')", "does not reach 'g3'", "all 4 compute nodes"]),
    (_only_roots, "tree-not-spanning", ["tree 3 (root 'g3')", "does not reach 'g0', 'g1', 'g2'"]),
    (_zero_share, "share-not-positive", ["tree 4 (root 'g1')", "share 0", "more than 0"]),
    (_negative_share, "share-not-positive", ["tree 1 (root 'g1')", "share -1/4"]),
    (_duplicated, "shares-sum", ["phase 0", "5 trees", "5/4", "exactly 1"]),
    (_share_moved, "root-shares", ["phase 0", "1 trees with root 'g1'", "13/50", "1/4"]),
    (_no_share, "root-shares", ["0 trees with root 'g0'", "carry 0", "1/4"]),
    (_algbw_high, "algbw-wrong", ["algbw is 41", "'g0' -> 'net' carries 1/4", "bandwidth 10", "expected 40"]),
    (_algbw_nearly, "algbw-wrong", ["algbw is 4" + "0" * 30 + "1/1" + "0" * 30, "expected 40"]),
    (_algbw_zero, "algbw-wrong", ["algbw is 0", "expected 40"]),
    (_cut_unknown, "certificate-cut", ["position 1", "node number 9", "expected 0 to 6"]),
    (_cut_twice, "certificate-cut", ["position 3", "'g1' again"]),
    (_cut_of_switches, "certificate-inside", ["none of its 2 nodes"]),
    (_cut_empty, "certificate-inside", ["none of its 0 nodes"]),
    (_cut_whole, "certificate-outside", ["all 4 compute nodes"]),
    (_other_cut, "certificate-bound", ["is 40", "cut ('g0')", "1 of 4", "bandwidth 110", "110 / (1/4) = 440"]),
    (_optimum_high, "certificate-bound", ["is 500", "cut ('g0', 'g1', 's0')", "2 of 4", "20 / (1/2) = 40"]),
]


@pytest.mark.parametrize(("entries", "codes"), [(1, 0), (5, 40), (2**18, 2**31 - 1)])
@pytest.mark.parametrize(("mutate", "rule", "fragments"), BROKEN_BOXES)
def test_a_violated_rule_is_named_with_its_place(
    mutate: Callable[[Draft], None],
    rule: str,
    fragments: list[str],
    *,
    entries: int,
    codes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(rows, "BLOCK_ENTRIES", entries)
    monkeypatch.setattr(table, "SORTED_ENTRIES", entries)
    monkeypatch.setattr(table, "MAX_SHORT_CODE", codes)
    draft = boxes()
    mutate(draft)
    fault = fault_of(draft.freeze())
    assert fault.rule == rule
    for fragment in fragments:
        assert fragment in fault.message


def test_a_report_of_wrong_delivery_has_no_bandwidth() -> None:
    draft = boxes()
    _dropped(draft)
    report = verify(draft.freeze())
    assert (report.ok, report.algbw, report.optimal, report.busiest) == (False, None, False, ())


def test_a_report_of_a_wrong_claim_has_the_achieved_bandwidth() -> None:
    draft = boxes()
    _algbw_high(draft)
    report = verify(draft.freeze())
    assert (report.ok, report.algbw, report.optimal, report.busiest_count) == (False, Fraction(40), False, 8)


def test_a_wrong_number_of_phases_is_refused() -> None:
    schedule = ring().freeze()
    fault = fault_of(replace(schedule, phases=()))
    assert (fault.rule, fault.message) == ("phase-ops", "phases are []; expected [broadcast] for allgather")
    twice = fault_of(replace(schedule, phases=schedule.phases * 2))
    assert (twice.rule, "[broadcast, broadcast]" in twice.message) == ("phase-ops", True)


@pytest.mark.parametrize("starts", [[], [1, 2], [0, 2, 1, 2], [0, 1], [0, 3]])
def test_inconsistent_rows_are_refused(starts: list[int]) -> None:
    rows = Rows(np.array(starts, dtype=np.int64), np.array([0, 1], dtype=np.int32))
    schedule = two_gpus().freeze()
    assert fault_of(replace(schedule, routes=rows)).rule == "rows-malformed"
    phase = replace(schedule.phases[0], routes=rows)
    fault = fault_of(replace(schedule, phases=(phase,)))
    assert (fault.rule, "phase 0" in fault.message) == ("rows-malformed", True)


def test_a_phase_with_columns_of_different_lengths_is_refused() -> None:
    schedule = two_gpus().freeze()
    phase = schedule.phases[0]
    shorter = Phase(phase.op, phase.roots[:1], phase.shares, phase.routes)
    fault = fault_of(replace(schedule, phases=(shorter,)))
    assert fault == Fault("rows-malformed", "phase 0: has 1 roots, 2 shares and 2 lists of routes")


def test_a_multicast_switch_must_be_reached_before_it_sends() -> None:
    draft = multicast()
    draft.trees[0].routes = [draft.routes.index(path) for path in ([3, 1], [0, 3], [3, 2])]
    fault = fault_of(draft.freeze())
    assert fault.rule == "tree-order"
    assert "route 1 ('nvs' -> 'g1') starts on 'nvs'" in fault.message


def test_passing_through_a_multicast_switch_does_not_reach_it() -> None:
    draft = multicast()
    draft.routes.append([0, 3, 1])
    draft.trees[0].routes = [len(draft.routes) - 1, draft.routes.index([3, 2])]
    fault = fault_of(draft.freeze())
    assert (fault.rule, "starts on 'nvs'" in fault.message) == ("tree-order", True)


def test_a_multicast_switch_must_be_reached_only_once() -> None:
    draft = multicast()
    draft.trees[0].routes.append(draft.routes.index([1, 3]))
    fault = fault_of(draft.freeze())
    assert (fault.rule, "ends on 'nvs'" in fault.message) == ("tree-node-repeated", True)


def test_a_switch_that_only_aggregates_cannot_copy() -> None:
    draft = multicast()
    nodes = tuple(replace(node, multicast=False, aggregation=not node.is_compute) for node in draft.topology.nodes)
    fault = fault_of(replace(draft, topology=replace(draft.topology, nodes=nodes)).freeze())
    assert (fault.rule, "ends on switch 'nvs'" in fault.message) == ("route-ends-on-switch", True)


def test_the_first_violated_rule_and_the_first_tree_are_reported() -> None:
    draft = boxes()
    for tree in (draft.trees[3], draft.trees[1]):
        tree.routes.pop()
    draft.algbw = Fraction(1)
    fault = fault_of(draft.freeze())
    assert (fault.rule, fault.message[:6]) == ("tree-not-spanning", "tree 1")
    draft.trees[2].routes.reverse()
    assert fault_of(draft.freeze()).rule == "tree-order"
    draft.routes[7] = [3]
    assert fault_of(draft.freeze()).rule == "route-too-short"


def test_a_cut_that_nothing_leaves_is_refused() -> None:
    """The builder refuses this network. No tree spans it, so the rule is tested alone."""
    draft = boxes()
    stays = tuple(link for link in draft.topology.links if link.target != 6)
    schedule = replace(draft, topology=replace(draft.topology, links=stays)).freeze()
    claim = Claim(schedule, TreeContext(schedule).network, None, PROOFS_OF_TREES)
    (message,) = (rule.find(claim) for rule in FORM if rule.id == "certificate-exit")
    assert message == "cut: no link leaves its 3 nodes; expected an exit bandwidth of more than 0"


def test_a_bandwidth_above_the_bound_is_refused() -> None:
    """No schedule that passes the other rules exceeds the bound, so the rule is tested alone."""
    schedule = boxes().freeze()
    message = beaten(Claim(schedule, TreeContext(schedule).network, Fraction(41), PROOFS_OF_TREES))
    assert message is not None
    assert message.startswith("the schedule achieves 41, but the cut ('g0', 'g1', 's0') contains 2 of 4")


def test_a_network_with_one_compute_node_is_refused() -> None:
    """The builder refuses this network, but a program can make one. The verifier reports a fault and does not crash."""
    draft = two_gpus()
    topology = replace(draft.topology, nodes=draft.topology.nodes[:1], links=())
    lonely = replace(draft, topology=topology, routes=[], trees=[DraftTree(0, Fraction(1), [])], cut=None, optimal=None)
    fault = fault_of(lonely.freeze())
    assert fault == Fault("algbw-wrong", "algbw is 20, but nothing crosses any link")


def test_long_names_lists_and_numbers_are_shortened() -> None:
    draft = complete()
    draft.trees[0].share += Fraction(1, 10**3000)
    fault = fault_of(draft.freeze())
    assert fault.rule == "shares-sum"
    assert len(fault.message) < 200
    ring_nodes = tuple(replace(node, id=f"{node.id}\n" * 999) for node in ring().topology.nodes)
    named = replace(ring(), topology=replace(ring().topology, nodes=ring_nodes))
    named.trees[0].routes = []
    assert len(fault_of(named.freeze()).message) < 1000


def test_claims_of_any_size_are_refused_in_one_short_line() -> None:
    draft = replace(two_gpus(), algbw=Fraction(10**9999 + 1, 3))
    fault = fault_of(draft.freeze())
    assert fault.rule == "algbw-wrong"
    assert len(fault.message) < 300


def test_every_rule_is_violated_by_a_test() -> None:
    broken = {rule for _, rule, _ in BROKEN_BOXES}
    elsewhere = {"rows-malformed", "phase-ops", "share-too-fine", "certificate-exit", "certificate-beaten"}
    elsewhere |= {"shards-wrong", "certificate-data"}  # in test_verify_collectives
    elsewhere |= {"certificate-collective", "certificate-kind", "certificate-proof"}  # in test_verify_proofs
    elsewhere |= {"ranks-wrong"}  # in test_verify_ranks, with those of reduces
    elsewhere |= {"ends-misplaced", "ends-wrong"}  # in test_verify_ends
    elsewhere |= {name for name, _ in rules() if name.startswith("symmetry-")}  # in test_verify_symmetry
    assert broken | elsewhere == {name for name, _ in rules()}
