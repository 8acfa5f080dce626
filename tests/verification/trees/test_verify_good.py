"""Correct schedules whose bandwidth was computed by hand."""

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.demand.collective import SCHEDULED
from forestcoll.schedule.rows import Rows
from forestcoll.topology import TopologyBuilder
from forestcoll.verification import LinkLoad, network, rules, verify
from forestcoll.verification.proof_checks.question import MAX_DENOMINATOR_DIGITS
from forestcoll.verification.trees import context, delivery
from forestcoll.verification.trees.context import TreeContext
from forestcoll.verification.trees.rules import RULE_BOOKS
from verify_drafts import GOOD, Draft, DraftTree, boxes, complete, multicast, ring, slow_ring, two_gpus, unclaimed


@pytest.mark.parametrize("make", GOOD)
def test_correct_schedules_are_accepted_with_their_bandwidth(make: Callable[[], Draft]) -> None:
    draft = make()
    report = verify(draft.freeze())
    assert report.fault is None
    assert report.ok
    assert report.algbw == draft.algbw
    assert report.optimal == (draft.algbw == draft.optimal)


def test_a_slow_schedule_is_correct_but_not_optimal() -> None:
    report = verify(slow_ring().freeze())
    assert report.ok
    assert not report.optimal
    assert (report.algbw, report.busiest_count) == (Fraction(100, 3), 4)


def test_without_a_certificate_nothing_is_proven_optimal() -> None:
    report = verify(unclaimed().freeze())
    assert report.ok
    assert not report.optimal


def test_busiest_links_are_named_with_their_exact_load() -> None:
    report = verify(boxes().freeze())
    assert report.busiest[0] == LinkLoad("g0", "net", Fraction(1, 4), Fraction(10))
    assert report.busiest[0].time == Fraction(1, 40)
    assert report.busiest_count == len(report.busiest) == 8


def test_busiest_links_are_the_first_few_of_many() -> None:
    report = verify(complete().freeze())
    assert (len(report.busiest), report.busiest_count) == (8, 20)
    assert [(load.source, load.target) for load in report.busiest[:5]] == [(0, 10), (0, 20), (0, 30), (0, 40), (10, 0)]


@pytest.mark.parametrize("make", GOOD)
@pytest.mark.parametrize("cells", [1, 7, 8, 9])
def test_blocks_of_any_size_give_the_same_report(
    make: Callable[[], Draft], cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = verify(make().freeze())
    monkeypatch.setattr(context, "base_loads", lambda _: None)  # so that the rules are applied
    monkeypatch.setattr(delivery, "BLOCK_CELLS", cells)
    assert verify(make().freeze()) == expected


@pytest.mark.parametrize("cells", [1, 8, 12, 2**24])
def test_a_fault_in_a_later_block_is_reported_with_its_place(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "BLOCK_CELLS", cells)
    draft = ring()
    draft.trees[5].routes.reverse()
    fault = verify(draft.freeze()).fault
    assert fault is not None
    assert fault.rule == "tree-order"
    assert fault.message.startswith("tree 5 (root 'g2') of phase 0, position 0: route ")


def test_huge_denominators_stay_exact() -> None:
    tiny = Fraction(1, 10**40 + 1)
    draft = two_gpus()
    draft.trees = [
        DraftTree(0, Fraction(1, 2) - tiny, [0]),
        DraftTree(0, tiny, [0]),
        DraftTree(1, Fraction(1, 2), [1]),
    ]
    report = verify(draft.freeze())
    assert (report.ok, report.optimal, report.algbw) == (True, True, Fraction(20))
    draft.trees[0].share += Fraction(1, 10**50)
    fault = verify(draft.freeze()).fault
    assert fault is not None
    assert fault.rule == "shares-sum"


def test_huge_bandwidths_stay_exact() -> None:
    bandwidth = Fraction(10**40 + 1, 10**39)
    builder = TopologyBuilder("fine")
    builder.add_duplex(builder.add_compute("a"), builder.add_compute("b"), bandwidth)
    draft = replace(two_gpus(), topology=builder.build(), algbw=2 * bandwidth, optimal=2 * bandwidth)
    assert verify(draft.freeze()).optimal
    off = replace(draft, algbw=2 * bandwidth + Fraction(1, 10**50))
    fault = verify(off.freeze()).fault
    assert fault is not None
    assert fault.rule == "algbw-wrong"


@pytest.mark.parametrize("whole", [2**57, 2**58, 2**59, 2**63, 2**70])
def test_sums_near_the_limit_of_64_bits_stay_exact(whole: int) -> None:
    """Every load of the ring is 3/8, with and without 64-bit integers."""
    draft = ring()
    sliver = Fraction(1, 8 * whole)
    first = draft.trees[0]
    draft.trees.append(DraftTree(first.root, sliver, list(first.routes)))
    first.share -= sliver
    report = verify(draft.freeze())
    assert (report.ok, report.algbw) == (True, Fraction(200, 3))


def _chains(count: int) -> Draft:
    """Return GPUs on one switch, with a chain from every root through all others. Each hop crosses the switch."""
    builder = TopologyBuilder("star")
    for number in range(count):
        builder.add_compute(number)
    builder.add_switch("sw")
    for number in range(count):
        builder.add_duplex(number, "sw", 25)
    bound = Fraction(25 * count, count - 1)
    draft = Draft(builder.build(), bound, bound, [*range(1, count), count])
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


def test_loads_use_64_bits_only_if_they_fit() -> None:
    assert TreeContext(ring().freeze()).loads.dtype == "int64"
    draft = ring()
    draft.trees[0].share += Fraction(1, 2**63)
    assert TreeContext(draft.freeze()).loads.dtype == object


def test_a_denominator_beyond_the_limit_is_refused() -> None:
    draft = two_gpus()
    draft.trees = [DraftTree(0, Fraction(1, 10**59 + number), [0]) for number in range(1000)]
    draft.trees.append(DraftTree(1, Fraction(1, 2), [1]))
    fault = verify(draft.freeze()).fault
    assert fault is not None
    assert fault.rule == "share-too-fine"
    assert str(MAX_DENOMINATOR_DIGITS) in fault.message


def test_a_tree_can_pass_through_a_switch_and_end_there_too() -> None:
    """The shard crosses the link from g0 to the switch twice. It carries 2/3 of M, like the links from the switch."""
    draft = multicast()
    draft.routes.append([0, 3, 1])
    draft.trees[0].routes = [len(draft.routes) - 1, draft.routes.index([0, 3]), draft.routes.index([3, 2])]
    report = verify(draft.freeze())
    assert (report.optimal, report.busiest_count) == (True, 4)
    assert report.busiest[0] == LinkLoad("g0", "nvs", Fraction(2, 3), Fraction(10))


def test_every_collective_has_rules_with_their_own_identifiers() -> None:
    assert set(RULE_BOOKS) == set(SCHEDULED)
    for collective in SCHEDULED:
        names = [name for name, _ in rules(collective)]
        assert len(set(names)) == len(names)
        assert all(statement.endswith(".") and "\n" not in statement for _, statement in rules(collective))


def test_the_verifier_imports_no_generator() -> None:
    code = (
        "import sys, forestcoll.verification; print(*(name for name in sys.modules if name.startswith('forestcoll.')))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout  # noqa: S603
    allowed = {"base", "demand", "schedule", "topology", "verification"}
    assert {name.split(".")[1] for name in output.split()} <= allowed


def test_links_in_any_order_are_found() -> None:
    draft = boxes()
    shuffled = replace(draft.topology, links=draft.topology.links[::-1])
    assert verify(replace(draft, topology=shuffled).freeze()).optimal


@pytest.mark.parametrize("pairs", [0, 2**25])
def test_links_are_found_with_and_without_a_table(pairs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network, "MAX_TABLE", pairs)
    found = TreeContext(boxes().freeze()).network
    ends = np.array([(source, target) for source in range(7) for target in range(7)])
    numbers = {(link.source, link.target): number for number, link in enumerate(boxes().topology.links)}
    expected = [numbers.get((source, target), -1) for source, target in ends.tolist()]
    assert found.find_links(ends[:, 0], ends[:, 1]).tolist() == expected


def test_the_report_does_not_depend_on_the_integer_width() -> None:
    schedule = ring().freeze()
    wide = Rows(schedule.routes.starts.copy(), schedule.routes.entries.astype("int64"))
    assert verify(replace(schedule, routes=wide)) == verify(schedule)
