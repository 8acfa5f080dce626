"""The rules about the bound that a schedule claims, each alone."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.proof import ReceiptProof
from forestcoll.solver.generate import generate
from forestcoll.verification import claims
from forestcoll.verification.claims import Claim, bound_rules, is_optimal
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.question import UnprovenError
from forestcoll.verification.rule import first_fault

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
