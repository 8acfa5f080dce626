"""Bundles: the whole message of each fault, reports, and files that are not bundles with their place."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import fault_lists
from forestcoll.algorithms.generate import generate
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.groups.pieces import Piece, groups_of_pieces
from forestcoll.schedule.bundle.value import BundleMember, BundleSchedule
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.proof import Bound, CutProof, GroupLengthsProof
from forestcoll.topology.registry import build_topology
from forestcoll.verification import rules, verify
from forestcoll.verification.bundle.claims import BundleClaim, beaten, unproven
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.question import UnprovenError

HALF = Fraction(1, 2)
RING = build_topology("ring:nodes=6")
Mutation = Callable[[BundleSchedule], BundleSchedule]


@cache
def bundle() -> BundleSchedule:
    return generate("ring:nodes=6", Groups("0,1,2;3,4,5;0,3", "allreduce", sizes="1,1/2,1/3"))


def with_member(whole: BundleSchedule, place: int, **changes: Any) -> BundleSchedule:
    members = list(whole.bundled)
    members[place] = replace(members[place], **changes)
    return replace(whole, bundled=tuple(members))


def with_proof(schedule: BundleSchedule, change: Callable[[GroupLengthsProof], GroupLengthsProof]) -> BundleSchedule:
    assert schedule.bound is not None
    assert isinstance(schedule.bound.proof, GroupLengthsProof)
    return replace(schedule, bound=replace(schedule.bound, proof=change(schedule.bound.proof)))


def of_member(whole: BundleSchedule, place: int, **changes: Any) -> BundleSchedule:
    return with_member(whole, place, schedule=replace(whole.bundled[place].schedule, **changes))


MUTATIONS: dict[str, Mutation] = {
    "the bundle itself": lambda b: b,
    "no bound": lambda b: replace(b, bound=None),
    "no algbw": lambda b: replace(b, algbw=None),
    "no members": lambda b: replace(b, bundled=()),
    "a size of 0": lambda b: with_member(b, 1, size=Fraction(0)),
    "a negative size": lambda b: with_member(b, 0, size=Fraction(-1)),
    "a piece twice": lambda b: with_member(b, 0, pieces=(("a", HALF), ("a", HALF))),
    "a piece of size 0": lambda b: with_member(b, 0, pieces=(("a", Fraction(0)), ("b", Fraction(1)))),
    "pieces of another size": lambda b: with_member(b, 1, pieces=(("a", Fraction(1)),)),
    "a member of another kind": lambda b: with_member(b, 1, schedule=b),
    "a member on another network": lambda b: with_member(b, 1, schedule=generate("ring:nodes=5", "allreduce")),
    "a member on an equal network": lambda b: of_member(b, 1, topology=replace(b.topology, nodes=(*b.topology.nodes,))),
    "a member that breaks a rule": lambda b: of_member(b, 2, algbw=b.bundled[2].schedule.algbw * 2),
    "the last member is wrong": lambda b: of_member(b, 2, algbw=Fraction(1, 7)),
    "a member of other ranks": lambda b: of_member(b, 2, ranks=(0, 4)),
    "another size": lambda b: with_member(b, 0, size=Fraction(3)),
    "another algbw": lambda b: replace(b, algbw=Fraction(10**6)),
    "a member twice": lambda b: replace(b, bundled=(*b.bundled, b.bundled[0])),
    "a proof of another kind": lambda b: replace(b, bound=Bound(b.collective, Fraction(1), CutProof((0, 1)))),
    "another bound": lambda b: replace(b, bound=b.bound and replace(b.bound, algbw=b.bound.algbw + 1)),
    "a negative length": lambda b: with_proof(b, lambda p: replace(p, lengths=(-1, *p.lengths[1:]))),
    "a link with two lengths": lambda b: with_proof(
        b, lambda p: replace(p, ends=(*p.ends, p.ends[0]), lengths=(*p.lengths, 1))
    ),
    "a length without a link": lambda b: with_proof(
        b, lambda p: replace(p, ends=(*p.ends, (0, 3)), lengths=(*p.lengths, 1))
    ),
    "no lengths": lambda b: with_proof(b, lambda p: replace(p, ends=(), lengths=())),
    "other lengths": lambda b: with_proof(b, lambda p: replace(p, lengths=(p.lengths[0] * 7, *p.lengths[1:]))),
}


def pieces() -> BundleSchedule:
    """Return the bundle of a copy from two holders, a sum that other nodes need, and a sum for one node."""
    listed = (
        Piece("weights", [1, 2], held_by=[0, 3]),
        Piece("mean", [4, 5], sum_of=[0, 1], size="1/2"),
        Piece("loss", [0], sum_of=[2, 4], size="1/4"),
        Piece("more weights", [2, 1], held_by=[3, 0]),
    )
    return generate(RING, Groups(groups_of_pieces(RING, listed)))


def with_proof_of_one(whole: BundleSchedule) -> BundleSchedule:
    """Return the bundle with the proof of one that contains one of its pieces."""
    one = generate(RING, Groups(groups_of_pieces(RING, [Piece("loss", [0], sum_of=[2, 4])])))
    assert one.bound is not None
    proof = one.bound.proof
    assert isinstance(proof, GroupLengthsProof)
    return with_proof(whole, lambda _: proof)


OF_PIECES: dict[str, Mutation] = {
    "the bundle of pieces": lambda b: b,
    "a piece in two members": lambda b: with_member(b, 1, pieces=(("loss", HALF),)),
    "another holder": lambda b: of_member(b, 0, sources=(0, 1), targets=(2, 3)),
    "another part of a sum": lambda b: of_member(b, 1, ranks=(0, 1, 2, 4, 5), sources=(0, 1, 2), targets=(4, 5)),
    "a holder that is not used": with_proof_of_one,
}


def test_every_message_of_a_bundle() -> None:
    right, of_pieces = bundle(), pieces()
    found = [(name, verify(change(right)).fault) for name, change in MUTATIONS.items()]
    found += [(name, verify(change(of_pieces)).fault) for name, change in OF_PIECES.items()]
    fault_lists.check("bundle", found)
    violated = {fault.rule for _, fault in found if fault is not None}
    assert {rule for rule, _ in rules("bundle")} - violated == {"certificate-beaten"}


def test_a_bundle_of_pieces_is_right_and_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_schedule(pieces(), tmp_path / "pieces.json")
    bundle = read_schedule(tmp_path / "pieces.json")
    assert bundle == pieces()
    assert verify(bundle).optimal
    assert isinstance(bundle, BundleSchedule)
    halves = ("weights", Fraction(1)), ("more weights", Fraction(1))
    assert [each.pieces for each in bundle.bundled] == [
        halves,
        (("mean", Fraction(1, 2)),),
        (("loss", Fraction(1, 4)),),
    ]


def test_trees_and_flows_may_be_in_one_bundle(tmp_path: Path) -> None:
    topology = build_topology("ring:nodes=4")
    members = (
        BundleMember(Fraction(1), generate(topology, "allgather")),
        BundleMember(Fraction(2), generate(topology, "all-to-all")),
    )
    both = BundleSchedule(topology, members, algbw=Fraction(8, 11))
    write_schedule(both, tmp_path / "both.json")
    report = verify(read_schedule(tmp_path / "both.json"))
    assert (report.fault, report.algbw) == (None, Fraction(8, 11))


def test_the_report_of_a_bundle() -> None:
    right = bundle()
    assert right.algbw is not None
    report, without = verify(right), verify(replace(right, bound=None))
    assert (report.optimal, without.ok, without.optimal) == (True, True, False)
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


def test_the_busiest_links_are_named_by_their_ends() -> None:
    schedule = generate("ring:nodes=4", "broadcast:root=0")
    report = verify(BundleSchedule(schedule.topology, (BundleMember(Fraction(1), schedule),), algbw=schedule.algbw))
    assert report.busiest == verify(schedule).busiest
    assert report.busiest_count == verify(schedule).busiest_count
