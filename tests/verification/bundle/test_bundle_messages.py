"""The whole message of each fault of a bundle."""

from dataclasses import replace
from fractions import Fraction

import pytest
from test_bundle_mutations import MUTATIONS, bundle, of_member

import fault_lists
from forestcoll.algorithms.generate import generate
from forestcoll.schedule.bundle.value import BundleMember, BundleSchedule
from forestcoll.verification import verify
from forestcoll.verification.bundle.claims import BundleClaim, beaten, unproven
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.question import UnprovenError


def test_every_message_of_a_bundle() -> None:
    right = bundle()
    found = [(name, verify(change(right)).fault) for name, (_, change) in MUTATIONS.items()]
    found.append(("the bundle itself", verify(right).fault))
    found.append(("no bound", verify(replace(right, bound=None)).fault))
    found.append(("no algbw", verify(replace(right, algbw=None)).fault))
    negative = BundleMember(Fraction(-1), right.bundled[0].schedule)
    found.append(("a negative size", verify(replace(right, bundled=(negative,))).fault))
    found.append(("the last member is wrong", verify(of_member(right, 2, algbw=Fraction(1, 7))).fault))
    fault_lists.check("bundle", found)


def test_the_report_of_a_bundle() -> None:
    right = bundle()
    assert right.algbw is not None
    report = verify(right)
    assert report.bound == right.bound is not None
    assert [each.algbw for each in report.members] == [each.schedule.algbw for each in right.bundled]
    assert {load.time for load in report.busiest} == {1 / right.algbw}
    assert len(report.busiest) == min(8, report.busiest_count)
    wrong = verify(replace(right, algbw=right.algbw + 1))
    assert (wrong.bound, wrong.optimal, wrong.algbw, wrong.busiest) == (None, False, report.algbw, report.busiest)


@pytest.mark.parametrize("bandwidth", ["1/3", "5"])
def test_the_time_of_a_link_is_its_load_over_its_bandwidth(bandwidth: str) -> None:
    schedule = generate(f"ring:nodes=4,bandwidth={bandwidth}", "allgather")
    members = (BundleMember(Fraction(1, 2), schedule), BundleMember(Fraction(1, 3), schedule))
    report = verify(BundleSchedule(schedule.topology, members, algbw=schedule.algbw * Fraction(6, 5)))
    assert (report.fault, report.algbw) == (None, schedule.algbw * Fraction(6, 5))


def test_only_the_first_eight_of_the_busiest_links_are_listed() -> None:
    schedule = generate("ring:nodes=6", "allgather")
    whole = BundleSchedule(schedule.topology, (BundleMember(Fraction(1), schedule),), algbw=schedule.algbw)
    report = verify(whole)
    assert (len(report.busiest), report.busiest_count, report.fault) == (8, 12, None)


def test_a_bandwidth_above_the_bound_is_refused() -> None:
    """No bundle that keeps the other rules exceeds the bound, so the rule is tested alone."""
    right = bundle()
    assert right.algbw is not None
    claim = BundleClaim(right, Network(right.topology), right.algbw)
    assert beaten(claim) is None
    assert beaten(replace(claim, achieved=right.algbw + 1)) == (
        f"the bundle achieves {right.algbw + 1}, but the proof proves {claim.proven}"
    )
    without = replace(claim, schedule=replace(right, bound=None))
    assert (beaten(without), unproven(without)) == (None, None)
    with pytest.raises(UnprovenError, match=r"^there is no proof by lengths for groups$"):
        _ = without.proven


def test_members_may_have_an_equal_network() -> None:
    right = bundle()
    equal = replace(right.topology, nodes=tuple(right.topology.nodes))
    assert equal is not right.topology
    assert verify(of_member(right, 1, topology=equal)).ok


def test_a_bundle_that_claims_no_bound_is_not_optimal() -> None:
    report = verify(replace(bundle(), bound=None))
    assert (report.ok, report.optimal) == (True, False)


def test_the_busiest_links_are_named_by_their_ends() -> None:
    schedule = generate("ring:nodes=4", "broadcast", root=0)
    report = verify(BundleSchedule(schedule.topology, (BundleMember(Fraction(1), schedule),), algbw=schedule.algbw))
    assert report.busiest == verify(schedule).busiest
    assert report.busiest_count == verify(schedule).busiest_count
