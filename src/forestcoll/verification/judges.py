"""`verify` takes any kind of schedule: the table `JUDGES` is the one place that knows the judge of each."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from forestcoll.collective import Collective, collective_named
from forestcoll.errors import InputError, InternalError
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.verification.report import Report, SeriesReport, StepReport, TreeReport
from forestcoll.verification.series.judge import judge_series, series_rules
from forestcoll.verification.steps.judge import judge_steps
from forestcoll.verification.steps.rules import step_rules
from forestcoll.verification.trees.judge import judge_trees, tree_rules

AnyReport = TypeVar("AnyReport", bound=Report)

Rules = tuple[tuple[str, str], ...]
"""Identifiers of rules with their statements."""


@dataclass(frozen=True)
class Judge:
    """The judge of one kind of schedule.

    Attributes:
        judge: returns the report of a schedule.
        rules: returns the rules of a collective, in the order in which they are tried.
    """

    judge: Callable[[Any], Report]
    rules: Callable[[Collective], Rules]


JUDGES: dict[type[Schedule], Judge] = {
    TreeSchedule: Judge(judge_trees, tree_rules),
    StepSchedule: Judge(judge_steps, lambda _: step_rules()),
    SeriesSchedule: Judge(judge_series, lambda _: series_rules()),
}
"""The judge of each kind."""


@overload
def verify(schedule: TreeSchedule) -> TreeReport: ...
@overload
def verify(schedule: StepSchedule) -> StepReport: ...
@overload
def verify(schedule: SeriesSchedule) -> SeriesReport: ...
@overload
def verify(schedule: Schedule) -> Report: ...
def verify(schedule: Schedule) -> Report:
    """Judge a schedule of any kind by the rules for it, in order, up to the first that it breaks.

    The judge computes everything that the schedule claims again, exactly, without the code that makes schedules.

    Args:
        schedule: the schedule, whoever made it.

    Returns:
        What was found: `ok`, the first `fault`, the `algbw` in the topology's unit, the proven `bound`, and whether the
        schedule is `optimal`. Each kind adds figures of its own.

    Raises:
        InternalError: no judge knows this kind of schedule.

    Example:
        >>> from forestcoll import build_topology, generate
        >>> report = verify(generate(build_topology("ring:nodes=4")))
        >>> report.ok, report.optimal, str(report.algbw)
        (True, True, '8/3')
    """
    if type(schedule) not in JUDGES:
        raise InternalError(f"no judge knows schedules of kind {schedule.kind!r}")
    return JUDGES[type(schedule)].judge(schedule)


def rules(of: Collective | str = Collective.ALLGATHER) -> Rules:
    """Return the identifier and the statement of each rule that `verify` tries, in that order.

    Args:
        of: a collective, for the rules of its trees, or a kind of schedule.

    Raises:
        InputError: there is no such collective or kind.

    Example:
        >>> rules("series")[0]
        ('source', 'The source is a compute node.')
        >>> rules("reduce")[2]
        ('phase-ops', 'A reduce has one phase, a reduce.')
    """
    by_kind: Mapping[str, Judge] = {each.kind: judge for each, judge in JUDGES.items()}
    if of in by_kind:
        return by_kind[of].rules(Collective.ALLGATHER)
    collective = collective_named(of)
    if collective is Collective.ALL_TO_ALL:
        raise InputError("no schedule of an all-to-all is judged yet; ask for another collective")
    return tree_rules(collective)


def certified(report: AnyReport) -> AnyReport:
    """Return the report of a schedule that this library made, if the schedule is right: `certified(verify(schedule))`.

    Raises:
        InternalError: the schedule breaks a rule, which is a defect of what made it.

    Example:
        >>> from forestcoll import generate
        >>> certified(verify(generate("ring:nodes=4"))).optimal
        True
    """
    if report.fault is not None:
        raise InternalError(f"the generated schedule breaks a rule: {report.fault.message} [{report.fault.rule}]")
    return report
