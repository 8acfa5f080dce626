"""The verifier of flows: does all data arrive, does the schedule achieve what it claims, and is the bound proven?

It accepts a schedule from any source and does not use the code that generates schedules. It computes the amounts that
each pair of nodes exchanges, the loads of links, the bandwidth and the bound again, exactly.
"""

from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.verification.claims import Claim, is_optimal
from forestcoll.verification.flows.context import FlowContext
from forestcoll.verification.flows.rules import ACHIEVED, CLAIMS, DELIVERY
from forestcoll.verification.proof_checks.checks import PROOFS_OF_EXCHANGES
from forestcoll.verification.report import FlowReport, busiest_loads
from forestcoll.verification.rule import first_fault


def verify_flows(schedule: FlowSchedule) -> FlowReport:
    """Verify `schedule` by the rules, in order, up to the first that it breaks."""
    context = FlowContext(schedule)
    fault = first_fault(context, DELIVERY)
    if fault is not None:
        return FlowReport(fault)
    claim = Claim(schedule, context.network, context.algbw, PROOFS_OF_EXCHANGES)
    fault = first_fault(context, ACHIEVED) or first_fault(claim, CLAIMS)
    return FlowReport(
        fault=fault,
        algbw=context.algbw,
        optimal=fault is None and is_optimal(schedule, context.algbw),
        bound=schedule.bound if fault is None else None,
        busiest=busiest_loads(context.topology, context.busiest[1].tolist(), context.load_of),
        busiest_count=len(context.busiest[1]),
    )
