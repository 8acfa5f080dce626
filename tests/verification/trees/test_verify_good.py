"""Correct schedules whose bandwidth was computed by hand, and the reports of right and wrong ones."""

import re
import runpy
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from faulty_drafts import CHANGES, with_one_node

from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.topology.registry import build_topology
from forestcoll.verification import LinkLoad, rules, verify
from forestcoll.verification.trees import context, delivery
from forestcoll.verification.trees import rules as tree_rules
from forestcoll.verification.trees.context import TreeContext
from forestcoll.verification.trees.rules import RULE_BOOKS
from networks import built, linked
from verify_drafts import (
    GOOD,
    OTHERS,
    SYMMETRIC,
    Draft,
    DraftTree,
    boxes,
    broadcast,
    chain,
    complete,
    multicast,
    reversed_draft,
    ring,
    rotated_ring,
    slow_ring,
    two_gpus,
)
from verify_oracle import is_right


@pytest.mark.parametrize("make", [*GOOD, *OTHERS, *SYMMETRIC])
def test_correct_schedules_are_accepted_with_their_bandwidth(make: Callable[[], Draft]) -> None:
    draft = make()
    schedule = draft.freeze()
    report, whole = verify(schedule), expanded(schedule)
    assert report.fault is None
    assert report.ok
    assert report.algbw == draft.algbw
    assert report.optimal == (draft.algbw == draft.optimal)
    assert is_right(whole)
    assert verify(whole) == report
    assert whole.ranks == schedule.ranks
    assert TreeContext(schedule).loads.tolist() == TreeContext(whole).loads.tolist()


def test_a_route_without_nodes_is_wrong_in_the_expanded_form_too() -> None:
    schedule = rotated_ring().with_route(8).freeze()
    for each in (schedule, expanded(schedule)):
        fault = verify(each).fault
        assert fault is not None
        assert fault.rule == "route-too-short"


@pytest.mark.parametrize("cells", [1, 7, 8, 9])
def test_blocks_of_any_size_give_the_same_report(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [verify(make().freeze()) for make in GOOD]
    monkeypatch.setattr(context, "base_loads", lambda _: None)  # so that the rules are applied
    monkeypatch.setattr(delivery, "BLOCK_CELLS", cells)
    assert [verify(make().freeze()) for make in GOOD] == expected


def test_busiest_links_are_named_with_their_exact_load() -> None:
    report = verify(boxes().freeze())
    assert report.busiest[0] == LinkLoad("g0", "net", Fraction(1, 4), Fraction(10))
    assert report.busiest[0].time == Fraction(1, 40)
    assert report.busiest_count == len(report.busiest) == 8
    assert verify(slow_ring().freeze()).busiest_count == 4


def test_busiest_links_are_the_first_few_of_many() -> None:
    report = verify(complete().freeze())
    assert (len(report.busiest), report.busiest_count) == (8, 20)
    assert [(load.source, load.target) for load in report.busiest[:5]] == [(0, 10), (0, 20), (0, 30), (0, 40), (10, 0)]


def test_a_report_of_wrong_delivery_has_no_bandwidth() -> None:
    report = verify(CHANGES[boxes]["dropped"](boxes()).freeze())
    assert (report.ok, report.algbw, report.optimal, report.busiest) == (False, None, False, ())


def test_a_report_of_a_wrong_claim_has_the_achieved_bandwidth_and_no_bound() -> None:
    right, report = boxes().freeze(), verify(CHANGES[boxes]["algbw_high"](boxes()).freeze())
    assert (report.ok, report.algbw, report.optimal, report.busiest_count) == (False, Fraction(40), False, 8)
    assert report.bound is None
    assert verify(right).bound == right.bound is not None


def test_a_report_of_a_network_without_links_has_no_busiest_links() -> None:
    report = verify(with_one_node(two_gpus()).freeze())
    assert (report.busiest, report.busiest_count, report.algbw) == ((), 0, None)


def test_a_tree_that_reduces_has_the_height_of_its_reverse() -> None:
    for make in (ring, broadcast, rotated_ring):
        assert shape_of(reversed_draft(make()).freeze()) == shape_of(make().freeze())


def test_huge_denominators_and_bandwidths_stay_exact() -> None:
    tiny = Fraction(1, 10**40 + 1)
    draft = two_gpus().with_tree(0, share=Fraction(1, 2) - tiny)
    draft.trees.append(DraftTree(0, tiny, [0]))
    report = verify(draft.freeze())
    assert (report.ok, report.optimal, report.algbw) == (True, True, Fraction(20))
    bandwidth = Fraction(10**40 + 1, 10**39)
    pair = linked("a b", f"a=b:{bandwidth}")
    fine = replace(two_gpus(), topology=pair, algbw=2 * bandwidth, optimal=2 * bandwidth)
    assert verify(fine.freeze()).optimal
    fault = verify(replace(fine, algbw=2 * bandwidth + Fraction(1, 10**50)).freeze()).fault
    assert fault is not None
    assert fault.rule == "algbw-wrong"


@pytest.mark.parametrize(("make", "most"), [(ring, 57), (lambda: chain(16), 53)], ids=["ring", "chain"])
def test_sums_near_the_limit_of_64_bits_stay_exact(make: Callable[[], Draft], most: int) -> None:
    """A sliver of the first tree is a tree of its own. The loads of the ring and of the chain do not change."""
    for bits in (48, *range(most - 1, most + 8), 80):
        draft = make()
        first = draft.trees[0]
        sliver = first.share / 2**bits
        draft = draft.with_tree(0, share=first.share - sliver)
        draft.trees.append(DraftTree(first.root, sliver, first.routes))
        report, loads = verify(draft.freeze()), TreeContext(draft.freeze()).loads
        assert (report.ok, report.algbw) == (True, draft.algbw), bits
        assert loads.dtype == ("int64" if bits <= most else object), bits


def test_loads_of_uneven_sums_use_64_bits_only_if_they_fit() -> None:
    assert TreeContext(ring().freeze()).loads.dtype == "int64"
    share = ring().trees[0].share + Fraction(1, 2**63)
    assert TreeContext(ring().with_tree(0, share=share).freeze()).loads.dtype == object


def test_a_tree_can_pass_through_a_switch_and_end_there_too() -> None:
    """The shard crosses the link from g0 to the switch twice. It carries 2/3 of M, like the links from the switch."""
    draft = multicast().with_route(6, 0, 3, 1)
    report = verify(draft.with_tree(0, routes=[6, *(draft.routes.index(path) for path in ([0, 3], [3, 2]))]).freeze())
    assert (report.optimal, report.busiest_count) == (True, 4)
    assert report.busiest[0] == LinkLoad("g0", "nvs", Fraction(2, 3), Fraction(10))


@pytest.mark.parametrize("collective", SCHEDULED)
def test_every_collective_has_rules_with_their_own_identifiers(collective: Collective) -> None:
    assert set(RULE_BOOKS) == set(SCHEDULED)
    listed = rules(collective)
    assert len({name for name, _ in listed}) == len(listed) == len({statement for _, statement in listed})
    assert all(statement.endswith(".") and "\n" not in statement for _, statement in listed)


def test_a_second_import_makes_the_same_rules() -> None:
    """`soak/mutants.py` changes functions after the first import; those that make the rules must run again."""
    again = runpy.run_path(tree_rules.__file__, run_name=tree_rules.__name__)["RULE_BOOKS"]
    first, second = (re.sub(r" at 0x\w+", "", repr(books)) for books in (RULE_BOOKS, again))
    assert first == second


def test_links_in_any_order_are_found() -> None:
    draft = boxes()
    shuffled = replace(draft.topology, links=draft.topology.links[::-1])
    assert verify(replace(draft, topology=shuffled).freeze()).optimal


def test_the_loads_of_a_ring_of_any_size() -> None:
    for nodes in range(2, 20):
        report = verify(chain(nodes).freeze())
        assert (report.ok, report.optimal, report.busiest_count) == (True, True, nodes)
        assert report.busiest[0].load == Fraction(nodes - 1, nodes)


def _chains(count: int) -> Draft:
    """Return GPUs on one switch, with a chain from every root through all others. Each hop crosses the switch."""
    star = built([*range(count), "sw"], [(number, "sw", 25) for number in range(count)], switches=["sw"])
    bound = Fraction(25 * count, count - 1)
    draft = Draft(star, bound, bound, [*range(1, count), count])
    draft.routes = [[one, count, (one + step) % count] for step in range(1, count) for one in range(count)]
    share = Fraction(1, count)
    draft.trees = [
        DraftTree(root, share, [(root + step) % count for step in range(count - 1)]) for root in range(count)
    ]
    return draft


@pytest.mark.slow
def test_a_thousand_nodes_are_verified_in_seconds() -> None:
    """About half a second on a laptop. The limit allows for a busy machine."""
    schedule = _chains(1024).freeze()
    begin = time.process_time()
    assert verify(schedule).optimal
    assert time.process_time() - begin < 5


@pytest.mark.slow
def test_sixteen_thousand_nodes_are_verified_in_seconds() -> None:
    """One base tree on a torus, down the first column and along every row. The limit allows for a busy machine."""
    side = 128
    number = np.arange(side * side).reshape(side, side)
    draft = Draft(build_topology(f"torus:dims={side}x{side}"), Fraction(1), None, None)
    draft.routes = [[here, there] for here, there in zip(number[:-1, 0].tolist(), number[1:, 0].tolist(), strict=True)]
    draft.routes += np.stack([number[:, :-1], number[:, 1:]], axis=2).reshape(-1, 2).tolist()
    draft.trees = [DraftTree(0, Fraction(1, side * side), list(range(len(draft.routes))))]
    draft.shifts = [
        (side, np.roll(number, -1, axis=0).reshape(-1).tolist()),
        (side, np.roll(number, -1, axis=1).reshape(-1).tolist()),
    ]
    draft.algbw = Fraction(side * side, (side - 1) * side)
    begin = time.process_time()
    report = verify(draft.freeze())
    assert time.process_time() - begin < 5
    assert (report.fault, report.busiest_count) == (None, side * side)
