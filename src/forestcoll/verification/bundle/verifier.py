"""The judge of bundles: is each member correct, do all together achieve what they claim, and is the bound proven?

It accepts a bundle from any source and does not use the code that generates schedules.
"""

from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.verification.bundle.claims import BundleClaim
from forestcoll.verification.bundle.context import Case
from forestcoll.verification.bundle.rules import ACHIEVED, CLAIMS, DELIVERY
from forestcoll.verification.claims import is_optimal
from forestcoll.verification.report import BundleReport, LinkLoad
from forestcoll.verification.rule import first_fault

_BUSIEST_SHOWN = 8


def judge_bundle(schedule: BundleSchedule) -> BundleReport:
    """Judge `schedule` by the rules, in order, up to the first that it breaks."""
    case = Case(schedule)
    fault = first_fault(case, DELIVERY)
    if fault is not None:
        return BundleReport(fault)
    claim = BundleClaim(schedule, case.network, case.algbw)
    fault = first_fault(case, ACHIEVED) or first_fault(claim, CLAIMS)
    busiest = _busiest(case)
    return BundleReport(
        fault=fault,
        algbw=case.algbw,
        optimal=fault is None and is_optimal(schedule, case.algbw),
        bound=schedule.bound if fault is None else None,
        busiest=busiest[:_BUSIEST_SHOWN],
        busiest_count=len(busiest),
        members=case.reports,
    )


def _busiest(case: Case) -> tuple[LinkLoad, ...]:
    longest, nodes = max(case.times), case.topology.nodes
    return tuple(
        LinkLoad(nodes[link.source].id, nodes[link.target].id, load, link.bandwidth)
        for link, load, time in zip(case.topology.links, case.loads, case.times, strict=True)
        if time == longest
    )
