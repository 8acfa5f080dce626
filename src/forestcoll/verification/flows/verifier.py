"""The judge of flows: does all data arrive, does the schedule achieve what it claims, and is the bound proven?

It accepts a schedule from any source and does not use the code that generates schedules. It computes the amounts that
each pair of nodes exchanges, the loads of links, the bandwidth and the bound again, exactly.
"""

from fractions import Fraction

from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.verification.claims import Claim, is_optimal
from forestcoll.verification.flows.context import Case
from forestcoll.verification.flows.rules import ACHIEVED, CLAIMS, DELIVERY
from forestcoll.verification.proof_checks.checks import PROOFS_OF_EXCHANGES
from forestcoll.verification.report import FlowReport, LinkLoad
from forestcoll.verification.rule import first_fault

_BUSIEST_SHOWN = 8


def judge_flows(schedule: FlowSchedule) -> FlowReport:
    """Judge `schedule` by the rules, in order, up to the first that it breaks."""
    case = Case(schedule)
    fault = first_fault(case, DELIVERY)
    if fault is not None:
        return FlowReport(fault)
    claim = Claim(schedule, case.network, case.algbw, PROOFS_OF_EXCHANGES)
    fault = first_fault(case, ACHIEVED) or first_fault(claim, CLAIMS)
    return FlowReport(
        fault=fault,
        algbw=case.algbw,
        optimal=fault is None and is_optimal(schedule, case.algbw),
        bound=schedule.bound if fault is None else None,
        busiest=_busiest(case),
        busiest_count=len(case.busiest[1]),
    )


def _busiest(case: Case) -> tuple[LinkLoad, ...]:
    nodes, links = case.topology.nodes, case.topology.links
    return tuple(
        LinkLoad(
            source=nodes[links[number].source].id,
            target=nodes[links[number].target].id,
            load=Fraction(int(case.loads[number]), case.denominator or 1),
            bandwidth=links[number].bandwidth,
        )
        for number in case.busiest[1][:_BUSIEST_SHOWN].tolist()
    )
