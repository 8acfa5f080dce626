"""The verifiers by kind: kinds and collectives without rules, and generated schedules with a fault."""

from dataclasses import replace
from fractions import Fraction

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InternalError
from forestcoll.demand.collective import Collective
from forestcoll.oneport import collective_series
from forestcoll.schedule.proof import CutProof
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.verification import Fault, Report, SeriesReport, certified, rules, verifiers, verify


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
    ("of", "first", "last"),
    [
        ("trees", "rows-malformed", "certificate-beaten"),
        ("allreduce", "rows-malformed", "certificate-beaten"),
        ("steps", "columns-malformed", "certificate-beaten"),
        ("series", "source", "optimum"),
    ],
)
def test_rules_are_listed_by_collective_or_kind(of: str, first: str, last: str) -> None:
    names = [name for name, _ in rules(of)]
    assert (names[0], names[-1]) == (first, last)
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


def test_the_algbw_of_a_series_counts_the_messages_of_an_operation() -> None:
    report = verify(collective_series("ring:nodes=4", "allgather"))
    assert isinstance(report, SeriesReport)
    assert (report.throughput, report.algbw) == (Fraction(2, 3), Fraction(8, 3))
