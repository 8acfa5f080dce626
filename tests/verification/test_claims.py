"""The rules about the bound that a schedule claims, each alone."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.proof import Bound, CutProof, ReceiptProof
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import Topology
from forestcoll.verification import Fault, claims
from forestcoll.verification.claims import Claim, bound_rules, is_optimal
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.question import UnprovenError
from forestcoll.verification.rule import first_fault
from networks import linked

RING = generate("ring:nodes=4", "allreduce")
BEST = Fraction(RING.algbw)


def claim(achieved: Fraction | None, *, bound: bool = True) -> Claim:
    schedule = RING if bound else replace(RING, bound=None)
    return Claim(schedule, Network(RING.topology), achieved, (ReceiptProof,))


def test_a_schedule_without_a_bound_claims_nothing() -> None:
    without = claim(BEST, bound=False)
    assert without.proof is None
    with pytest.raises(UnprovenError, match=r"^there is no proof$"):
        _ = without.proven
    assert first_fault(without, (*claims.FORM, *bound_rules("all"))) is None
    assert not is_optimal(without.schedule, BEST)


def test_the_rules_about_cuts_accept_other_proofs() -> None:
    assert first_fault(claim(BEST), (*claims.FORM, *bound_rules("all"))) is None


def test_a_schedule_is_optimal_if_it_reaches_its_bound() -> None:
    assert is_optimal(RING, BEST)
    assert not is_optimal(RING, BEST - 1)
    assert not is_optimal(RING, None)


def test_a_schedule_above_its_bound_is_refused() -> None:
    """No schedule that keeps the other rules exceeds a bound, so the rule is tested alone."""
    assert claims.beaten(claim(None)) is None
    assert claims.beaten(claim(BEST)) is None
    message = claims.beaten(claim(BEST + 1))
    assert message is not None
    assert message.startswith(f"the schedule achieves {BEST + 1}, but the ")
    assert message.endswith(str(BEST))


def thin(bandwidth: str) -> Topology:
    """Return a line of three nodes, in which a link of this bandwidth leads to the last one, and no link back."""
    return linked("a b c", f"a=b b>c:{bandwidth}", connected=False, name="line")


def of_cut(inside: tuple[int, ...]) -> Claim:
    """Return a claim about a broadcast from the first node of the line: the rules about a cut read no routes."""
    topology, bound = thin("1/2"), Bound(Collective.BROADCAST, Fraction(3), CutProof(inside))
    phase = Phase(PhaseOp.BROADCAST, (0,), (Fraction(1),), Rows.of([[]]))
    trees = TreeSchedule(
        topology, Collective.BROADCAST, Rows.of([]), (phase,), algbw=Fraction(1), bound=bound, ranks=(0, 1, 2)
    )
    return Claim(trees, Network(topology), None, (CutProof,))


NO_DATA = "cut: none of the ranks inside has a shard, so no data must leave the cut; expected one or more"
PROVEN = "2 of 3 ranks and has exit bandwidth 1/2; 1 of the data must leave it: expected 1/2 / (1) = 1/2"


@pytest.mark.parametrize(
    ("inside", "rule", "message"),
    [
        ((0, 3), "certificate-cut", "cut: position 1 holds node number 3; expected 0 to 2"),
        ((0, -1), "certificate-cut", "cut: position 1 holds node number -1; expected 0 to 2"),
        ((1, 1), "certificate-cut", "cut: position 1 holds 'b' again; expected each node at most once"),
        ((2,), "certificate-exit", "cut: no link leaves its 1 nodes; expected an exit bandwidth of more than 0"),
        ((1,), "certificate-data", NO_DATA),
        ((0, 1), "certificate-bound", f"optimal_algbw is 3, but the cut ('a', 'b') contains {PROVEN}"),
    ],
)
def test_the_first_fault_of_a_cut_is_named(inside: tuple[int, ...], rule: str, message: str) -> None:
    rules = (*claims.FORM, *bound_rules("the shards inside"))
    assert first_fault(of_cut(inside), rules) == Fault(rule, message)


@pytest.mark.parametrize(
    ("part", "first", "formula"),
    [("", [], "its exit bandwidth"), ("the shards inside", ["certificate-data"], None)],
)
def test_the_rules_name_the_data_that_must_leave_a_cut(part: str, first: list[str], formula: str | None) -> None:
    rules = bound_rules(part)
    expected = [*first, "certificate-proof", "certificate-bound", "certificate-beaten"]
    assert [rule.id for rule in rules] == expected
    if first:
        assert rules[0].statement == f"Some data must leave the cut: {part}."
    proves = formula or f"(exit bandwidth of the cut) / ({part})"
    exact = f"optimal_algbw is exactly the bound that the certificate proves; a cut proves {proves}."
    assert rules[-2].statement == exact
