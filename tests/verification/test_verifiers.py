"""The verifiers by kind: kinds and collectives without rules, and generated schedules with a fault."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InternalError
from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof import CutProof
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology.registry import build_topology
from forestcoll.verification import Fault, Report, SeriesReport, certified, network, rules, verifiers, verify


def test_a_kind_without_a_judge_is_a_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = generate("ring:nodes=4")
    monkeypatch.setattr(verifiers, "VERIFIERS", {StepSchedule: verifiers.VERIFIERS[StepSchedule]})
    with pytest.raises(InternalError, match="there is no verifier for schedules of kind 'trees'"):
        verify(schedule)


def test_a_generated_schedule_with_a_fault_is_a_defect() -> None:
    report = verify(replace(generate("ring:nodes=4"), algbw=Fraction(3)))
    assert report.fault is not None
    with pytest.raises(InternalError, match=rf"the generated schedule breaks a rule: .* \[{report.fault.rule}\]"):
        certified(report)


@pytest.mark.parametrize(
    ("of", "first"), [("trees", "rows-malformed"), ("allreduce", "rows-malformed"), ("series", "source")]
)
def test_rules_are_listed_by_collective_or_kind(of: str, first: str) -> None:
    names = [name for name, _ in rules(of)]
    assert names[0] == first
    assert len(set(names)) == len(names)


def test_collectives_whose_pairs_exchange_data_have_the_rules_of_flows() -> None:
    assert rules("all-to-all") == rules("gather") == rules("flows")
    assert rules("allgather") == rules("trees") != rules("allreduce")
    assert rules(Collective.ALLREDUCE) == rules("all_reduce")


def test_the_report_of_a_right_schedule_is_returned() -> None:
    report = verify(generate("ring:nodes=4"))
    assert certified(report) is report
    assert report.ok
    assert isinstance(report.proof, CutProof)
    assert Report(report.fault).proof is None
    assert not Report(Fault("a-rule", "a message")).ok


def test_the_algbw_of_a_series_is_its_throughput() -> None:
    assert SeriesReport(None, Fraction(7, 3)).throughput == Fraction(7, 3)


def test_the_rules_of_steps_and_series_end_with_their_claims() -> None:
    assert rules("steps")[-1][0] == "certificate-beaten"
    assert rules("series")[-1][0] == "optimum"


@pytest.mark.parametrize("most", [0, 2**25])
def test_a_network_without_links_has_no_link(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Links are found in a table of all pairs of nodes, or by binary search if that table would be too large."""
    monkeypatch.setattr(network, "MAX_TABLE", most)
    ring = build_topology("ring:nodes=4")
    ends = np.array([0, 1]), np.array([1, 3])
    assert network.Network(replace(ring, links=())).find_links(*ends).tolist() == [-1, -1]
    assert network.Network(ring).find_links(*ends).tolist() == [0, -1]
