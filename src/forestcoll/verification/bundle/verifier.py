"""The verifier of bundles: is each member correct, do all together achieve what they claim, and is the bound proven?

It accepts a bundle from any source and does not use the code that generates schedules.
"""

from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.verification.bundle.claims import BundleClaim
from forestcoll.verification.bundle.context import BundleContext
from forestcoll.verification.bundle.rules import ACHIEVED, CLAIMS, DELIVERY
from forestcoll.verification.claims import is_optimal
from forestcoll.verification.report import BundleReport, busiest_loads
from forestcoll.verification.rule import first_fault


def verify_bundle(schedule: BundleSchedule) -> BundleReport:
    """Verify `schedule` by the rules, in order, up to the first that it breaks."""
    context = BundleContext(schedule)
    fault = first_fault(context, DELIVERY)
    if fault is not None:
        return BundleReport(fault)
    claim = BundleClaim(schedule, context.network, context.algbw)
    fault = first_fault(context, ACHIEVED) or first_fault(claim, CLAIMS)
    longest = max(context.times)
    busiest = [place for place, time in enumerate(context.times) if time == longest]
    return BundleReport(
        fault=fault,
        algbw=context.algbw,
        optimal=fault is None and is_optimal(schedule, context.algbw),
        bound=schedule.bound if fault is None else None,
        busiest=busiest_loads(context.topology, busiest, context.loads.__getitem__),
        busiest_count=len(busiest),
        members=context.reports,
    )
