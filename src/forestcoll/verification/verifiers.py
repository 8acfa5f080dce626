"""`verify` takes any kind of schedule. The table `VERIFIERS` is the only place that lists the verifier of each kind."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, overload

from forestcoll.base.errors import InternalError
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.verification.bundle.rules import bundle_rules
from forestcoll.verification.bundle.verifier import verify_bundle
from forestcoll.verification.flows.rules import flow_rules
from forestcoll.verification.flows.verifier import verify_flows
from forestcoll.verification.report import BundleReport, FlowReport, Report, SeriesReport, StepReport, TreeReport
from forestcoll.verification.series.verifier import series_rules, verify_series
from forestcoll.verification.steps.rules import step_rules
from forestcoll.verification.steps.verifier import verify_steps
from forestcoll.verification.trees.verifier import tree_rules, verify_trees

AnyReport = TypeVar("AnyReport", bound=Report)

Rules = tuple[tuple[str, str], ...]
"""Identifiers of rules with their statements."""


@dataclass(frozen=True)
class Verifier:
    """The verifier of one kind of schedule.

    Attributes:
        verify: returns the report of a schedule.
        rules: returns the rules of a collective, in the order in which they are tried.
    """

    verify: Callable[[Any], Report]
    rules: Callable[[Collective], Rules]


VERIFIERS: dict[type[Schedule], Verifier] = {
    TreeSchedule: Verifier(verify_trees, tree_rules),
    StepSchedule: Verifier(verify_steps, lambda _: step_rules()),
    SeriesSchedule: Verifier(verify_series, lambda _: series_rules()),
    FlowSchedule: Verifier(verify_flows, lambda _: flow_rules()),
    BundleSchedule: Verifier(verify_bundle, lambda _: bundle_rules()),
}
"""The verifier of each kind."""


@overload
def verify(schedule: TreeSchedule) -> TreeReport: ...
@overload
def verify(schedule: StepSchedule) -> StepReport: ...
@overload
def verify(schedule: SeriesSchedule) -> SeriesReport: ...
@overload
def verify(schedule: FlowSchedule) -> FlowReport: ...
@overload
def verify(schedule: BundleSchedule) -> BundleReport: ...
@overload
def verify(schedule: Schedule) -> Report: ...
def verify(schedule: Schedule) -> Report:
    """Check a schedule by the rules of its kind, in order, up to the first that it breaks.

    The verifier computes everything that the schedule claims again, exactly, without the code that generates schedules.

    Args:
        schedule: a schedule of any kind, from any source.

    Returns:
        The report: `ok`, the first `fault`, the `algbw` in the topology's unit, the proven `bound`, and whether the
        schedule is `optimal`. Each kind adds its own figures.

    Raises:
        InternalError: there is no verifier for this kind of schedule.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.topology import build_topology
        >>> report = verify(generate(build_topology("ring:nodes=4")))
        >>> report.ok, report.optimal, str(report.algbw)
        (True, True, '8/3')
    """
    if type(schedule) not in VERIFIERS:
        raise InternalError(f"there is no verifier for schedules of kind {schedule.kind!r}")
    return VERIFIERS[type(schedule)].verify(schedule)


def rules(of: Collective | str = Collective.ALLGATHER) -> Rules:
    """Return the identifier and the statement of each rule that `verify` applies, in order.

    Args:
        of: a collective, for the rules of its trees or flows, or a kind of schedule: "trees", "steps", "series",
            "flows" or "bundle".

    Returns:
        Pairs of identifier and statement.

    Raises:
        InputError: the collective or kind is unknown.

    Example:
        >>> rules("series")[0]
        ('source', 'The source is a compute node.')
        >>> rules("reduce")[4]
        ('phase-ops', 'A reduce has one phase, a reduce.')
    """
    by_kind: Mapping[str, Verifier] = {each.kind: verifier for each, verifier in VERIFIERS.items()}
    if of in by_kind:
        return by_kind[of].rules(Collective.ALLGATHER)
    collective = collective_named(of)
    return flow_rules() if collective.is_personalised else tree_rules(collective)


def certified(report: AnyReport) -> AnyReport:
    """Return `report` if the schedule is correct; use as `certified(verify(schedule))` on a generated schedule.

    Raises:
        InternalError: the schedule breaks a rule, which is a defect of the generator.

    Example:
        >>> from forestcoll import generate
        >>> certified(verify(generate("ring:nodes=4"))).optimal
        True
    """
    if report.fault is not None:
        raise InternalError(f"the generated schedule breaks a rule: {report.fault.message} [{report.fault.rule}]")
    return report
