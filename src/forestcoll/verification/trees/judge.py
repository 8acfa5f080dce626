"""The judge of schedules: does every shard arrive, does the schedule achieve what it says, and is the bound proven?

It takes a schedule that anyone wrote and leans on nothing that made it: it imports the models only, and computes
links' loads, bandwidth and bound anew, exactly. The rules are a table, in `forestcoll.verification.trees.rules`.
"""

from fractions import Fraction

from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.verification.report import Fault, LinkLoad, Report
from forestcoll.verification.trees.case import Case
from forestcoll.verification.trees.rules import RULE_BOOKS, Rule, rules

__all__ = ["Fault", "LinkLoad", "Report", "rules", "verify"]

_BUSIEST_SHOWN = 8


def verify(schedule: TreeSchedule) -> Report:
    """Judge `schedule` by the rules for its collective, in order, up to the first that it breaks."""
    book, case = RULE_BOOKS[schedule.collective], Case(schedule)
    fault = _first_fault(case, book.delivery)
    if fault is not None:
        return Report(fault)
    fault = _first_fault(case, book.claims)
    return Report(
        fault=fault,
        algbw=case.algbw,
        optimal=fault is None and case.algbw == schedule.optimal_algbw,
        busiest=_busiest(case),
        busiest_count=0 if case.pace is None else len(case.pace.links),
    )


def _first_fault(case: Case, rules_in_order: tuple[Rule, ...]) -> Fault | None:
    for rule in rules_in_order:
        if (message := rule.find(case)) is not None:
            return Fault(rule.id, message)
    return None


def _busiest(case: Case) -> tuple[LinkLoad, ...]:
    numbers = [] if case.pace is None else case.pace.links[:_BUSIEST_SHOWN].tolist()
    nodes, links = case.schedule.topology.nodes, case.schedule.topology.links
    return tuple(
        LinkLoad(
            source=nodes[links[number].source].id,
            target=nodes[links[number].target].id,
            load=Fraction(int(case.loads[number]), case.denominator or 1),
            bandwidth=links[number].bandwidth,
        )
        for number in numbers
    )
