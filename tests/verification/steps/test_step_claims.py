"""The claims of a step schedule, and the bound that the verifier computes."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.by_steps import generate_steps
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.proof import Bound, CutProof, LengthsProof, Proof, ReceiptProof
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples, networks, one_way_networks

RING = generate_steps(build_topology("ring:nodes=4"), "allreduce")
DIRECT = st.one_of(networks(most=6, switches=False), one_way_networks(most=6, switches=False))


@examples(60)
@given(DIRECT, st.sampled_from(["allgather", "reduce-scatter", "allreduce"]))
def test_the_judge_proves_its_own_bound(topology: Topology, collective: str) -> None:
    schedule = generate_steps(topology, collective)
    report = verify(schedule)
    assert report.bound is not None
    assert report.proof is not None
    assert report.proof.algbw(topology, schedule.demand) == report.bound.algbw
    assert report.algbw is not None
    assert report.algbw <= report.bound.algbw
    assert report.optimal == (report.bandwidth_factor == report.least_factor)
    assert report.least_factor == max(topology.egress) / report.bound.algbw


def claiming(algbw: Fraction | None, bound: Fraction, proof: Proof) -> StepSchedule:
    return replace(RING, algbw=algbw, bound=Bound(RING.collective, bound, proof))


def test_claims_are_checked(tmp_path: Path) -> None:
    achieved = verify(RING).algbw
    assert achieved is not None
    right = claiming(achieved, verify(RING).bound.algbw, ReceiptProof())  # type: ignore[union-attr]
    assert verify(right).ok
    write_schedule(right, tmp_path / "steps.json")
    assert read_schedule(tmp_path / "steps.json") == right
    assert read_schedule(tmp_path / "steps.json") != RING


WRONG: list[tuple[str, StepSchedule]] = [
    ("algbw-wrong", replace(RING, algbw=Fraction(1, 7))),
    ("certificate-bound", claiming(None, Fraction(1, 7), ReceiptProof())),
    ("certificate-cut", claiming(None, Fraction(2), CutProof((0, 0)))),
    ("certificate-outside", claiming(None, Fraction(2), CutProof((0, 1, 2, 3)))),
    ("certificate-kind", claiming(None, Fraction(2), LengthsProof((), ()))),
]


@pytest.mark.parametrize(("rule", "schedule"), WRONG)
def test_wrong_claims_are_refused(rule: str, schedule: StepSchedule) -> None:
    fault = verify(schedule).fault
    assert fault is not None
    assert fault.rule == rule
