"""Every changed bundle is refused with the right rule, and files that are not bundles with their place."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.groups.pieces import Piece, groups_of_pieces
from forestcoll.schedule.bundle.value import BundleMember, BundleSchedule
from forestcoll.schedule.files import read_schedule, schedule_text, write_schedule
from forestcoll.schedule.proof import Bound, CutProof, GroupLengthsProof
from forestcoll.solver.groups.solving import generate_groups
from forestcoll.solver.personalised import generate_flows
from forestcoll.topology.registry import build_topology
from forestcoll.verification import rules, verify

Mutation = Callable[[BundleSchedule], BundleSchedule]


def bundle() -> BundleSchedule:
    return generate_groups("ring:nodes=6", "0,1,2;3,4,5;0,3", "allreduce", sizes="1,1/2,1/3")


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


MUTATIONS: dict[str, tuple[str, Mutation]] = {
    "no members": ("bundle-empty", lambda b: replace(b, bundled=())),
    "a size of 0": ("member-size", lambda b: with_member(b, 1, size=Fraction(0))),
    "a piece twice": (
        "member-pieces",
        lambda b: with_member(b, 0, pieces=(("a", Fraction(1, 2)), ("a", Fraction(1, 2)))),
    ),
    "a piece of size 0": (
        "member-pieces",
        lambda b: with_member(b, 0, pieces=(("a", Fraction(0)), ("b", Fraction(1)))),
    ),
    "pieces of another size": ("member-pieces", lambda b: with_member(b, 1, pieces=(("a", Fraction(1)),))),
    "a member of another kind": ("member-kind", lambda b: with_member(b, 1, schedule=b)),
    "a member on another network": (
        "member-network",
        lambda b: with_member(b, 1, schedule=generate("ring:nodes=5", "allreduce")),
    ),
    "a member that breaks a rule": ("member-wrong", lambda b: of_member(b, 2, algbw=b.bundled[2].schedule.algbw * 2)),
    "a member of other ranks": ("member-wrong", lambda b: of_member(b, 2, ranks=(0, 4))),
    "another size": ("algbw-wrong", lambda b: with_member(b, 0, size=Fraction(3))),
    "another algbw": ("algbw-wrong", lambda b: replace(b, algbw=Fraction(10**6))),
    "a member twice": ("algbw-wrong", lambda b: replace(b, bundled=(*b.bundled, b.bundled[0]))),
    "a proof of another kind": (
        "certificate-kind",
        lambda b: replace(b, bound=Bound(b.collective, Fraction(1), CutProof((0, 1)))),
    ),
    "another bound": (
        "certificate-bound",
        lambda b: replace(b, bound=replace(b.bound, algbw=b.bound.algbw + 1) if b.bound else None),
    ),
    "a negative length": (
        "certificate-proof",
        lambda b: with_proof(b, lambda p: replace(p, lengths=(-1, *p.lengths[1:]))),
    ),
    "a link with two lengths": (
        "certificate-proof",
        lambda b: with_proof(b, lambda p: replace(p, ends=(*p.ends, p.ends[0]), lengths=(*p.lengths, 1))),
    ),
    "a length without a link": (
        "certificate-proof",
        lambda b: with_proof(b, lambda p: replace(p, ends=(*p.ends, (0, 3)), lengths=(*p.lengths, 1))),
    ),
    "no lengths": ("certificate-proof", lambda b: with_proof(b, lambda p: replace(p, ends=(), lengths=()))),
    "other lengths": (
        "certificate-bound",
        lambda b: with_proof(b, lambda p: replace(p, lengths=(p.lengths[0] * 7, *p.lengths[1:]))),
    ),
}


def test_the_bundle_itself_is_right() -> None:
    report = verify(bundle())
    assert (report.fault, report.optimal) == (None, True)


@pytest.mark.parametrize("name", MUTATIONS)
def test_a_changed_bundle_is_refused(name: str) -> None:
    rule, change = MUTATIONS[name]
    fault = verify(change(bundle())).fault
    assert fault is not None
    assert fault.rule == rule
    assert "\n" not in fault.message


def test_every_rule_has_a_mutation_except_that_of_a_beaten_bound() -> None:
    assert {rule for rule, _ in rules("bundle")} - {rule for rule, _ in MUTATIONS.values()} == {"certificate-beaten"}


def test_a_bundle_is_read_as_it_was_written(tmp_path: Path) -> None:
    write_schedule(bundle(), tmp_path / "bundle.json.gz")
    assert read_schedule(tmp_path / "bundle.json.gz") == bundle()


def pieces() -> BundleSchedule:
    """Return the bundle of a copy from two holders, a sum that other nodes need, and a sum for one node."""
    ring = build_topology("ring:nodes=6")
    listed = (
        Piece("weights", [1, 2], held_by=[0, 3]),
        Piece("mean", [4, 5], sum_of=[0, 1], size="1/2"),
        Piece("loss", [0], sum_of=[2, 4], size="1/4"),
        Piece("more weights", [2, 1], held_by=[3, 0]),
    )
    return generate_groups(ring, groups_of_pieces(ring, listed))


OF_PIECES: dict[str, tuple[str, Mutation]] = {
    "a piece in two members": (
        "member-pieces",
        lambda b: with_member(b, 1, pieces=(("loss", Fraction(1, 2)),)),
    ),
    "another holder": ("member-wrong", lambda b: of_member(b, 0, sources=(0, 1), targets=(2, 3))),
    "another part of a sum": (
        "member-wrong",
        lambda b: of_member(b, 1, ranks=(0, 1, 2, 4, 5), sources=(0, 1, 2), targets=(4, 5)),
    ),
    "a holder that is not used": ("certificate-bound", lambda b: with_proof_of(b, pieces_of_one())),
}


def pieces_of_one() -> BundleSchedule:
    """Return a bundle whose proof is about one of the pieces."""
    ring = build_topology("ring:nodes=6")
    return generate_groups(ring, groups_of_pieces(ring, [Piece("loss", [0], sum_of=[2, 4])]))


def with_proof_of(whole: BundleSchedule, other: BundleSchedule) -> BundleSchedule:
    assert whole.bound is not None
    assert other.bound is not None
    return replace(whole, bound=replace(whole.bound, proof=other.bound.proof))


@pytest.mark.parametrize("name", OF_PIECES)
def test_a_changed_bundle_of_pieces_is_refused(name: str) -> None:
    rule, change = OF_PIECES[name]
    fault = verify(change(pieces())).fault
    assert fault is not None
    assert fault.rule == rule


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
        BundleMember(Fraction(2), generate_flows(topology, "all-to-all")),
    )
    both = BundleSchedule(topology, members, algbw=Fraction(8, 11))
    write_schedule(both, tmp_path / "both.json")
    report = verify(read_schedule(tmp_path / "both.json"))
    assert (report.fault, report.algbw) == (None, Fraction(8, 11))


FILES: dict[str, tuple[str, Callable[[dict[str, Any]], object]]] = {
    "no members": ("members has 0 entries; expected 1 to 4096", lambda d: d.update(members=[])),
    "no algbw": ('has no "algbw"; a bundle needs it', lambda d: d.pop("algbw")),
    "a member that is a list": ("members[1] is []; expected", lambda d: d["members"].__setitem__(1, [])),
    "a member without a size": ('members[0] has no "size"', lambda d: d["members"][0].pop("size")),
    "a negative size": (
        "members[0].size is '-1'; it must be greater than 0",
        lambda d: d["members"][0].update(size="-1"),
    ),
    "a piece without a size": (
        'members[0].pieces[0] has no "size"; a piece needs it',
        lambda d: d["members"][0].update(pieces=[{"id": "a"}]),
    ),
    "a piece without a name": (
        "members[0].pieces[0].id is 3; expected a text",
        lambda d: d["members"][0].update(pieces=[{"id": 3, "size": 1}]),
    ),
    "a member of another format": (
        "members[2].schedule.format is 'forestcoll.steps/1'; expected",
        lambda d: d["members"][2]["schedule"].update(format="forestcoll.steps/1"),
    ),
    "a network in a member": (
        "members[2].schedule has a topology of its own; remove it",
        lambda d: d["members"][2]["schedule"].update(topology={}),
    ),
    "a wrong route in a member": (
        "members[1].schedule: routes[0][0] is 99",
        lambda d: d["members"][1]["schedule"]["routes"][0].__setitem__(0, 99),
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_file_is_refused_with_its_place(tmp_path: Path, name: str) -> None:
    message, change = FILES[name]
    document = json.loads("".join(schedule_text(bundle())))
    change(document)
    path = tmp_path / "bundle.json"
    path.write_text(json.dumps(document))
    with pytest.raises(InputError) as caught:
        read_schedule(path)
    assert message in str(caught.value)
    assert str(caught.value).startswith(str(path))
