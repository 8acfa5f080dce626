"""The verifier of flows: does all data arrive, does the schedule achieve what it claims, and is the bound proven?

It accepts a schedule from any source and does not use the code that generates schedules. It computes the amounts that
each pair of nodes exchanges, the loads of links, the bandwidth and the bound again, exactly.
"""

from fractions import Fraction

from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.verification.claims import Claim, is_optimal
from forestcoll.verification.flows.context import FlowContext
from forestcoll.verification.flows.rules import ACHIEVED, CLAIMS, DELIVERY
from forestcoll.verification.proof_checks.checks import PROOFS_OF_EXCHANGES
from forestcoll.verification.report import FlowReport, LinkLoad
from forestcoll.verification.rule import first_fault

_BUSIEST_SHOWN = 8


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
        busiest=_busiest(context),
        busiest_count=len(context.busiest[1]),
    )


def _busiest(context: FlowContext) -> tuple[LinkLoad, ...]:
    nodes, links = context.topology.nodes, context.topology.links
    return tuple(
        LinkLoad(
            source=nodes[links[number].source].id,
            target=nodes[links[number].target].id,
            load=Fraction(int(context.loads[number]), context.denominator or 1),
            bandwidth=links[number].bandwidth,
        )
        for number in context.busiest[1][:_BUSIEST_SHOWN].tolist()
    )
