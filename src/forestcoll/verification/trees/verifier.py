"""The verifier of trees: does every shard arrive, does the schedule achieve what it claims, and is the bound proven?

It accepts a schedule from any source and does not use the code that generates schedules. It imports only the models,
and computes the loads of links, the bandwidth and the bound again, exactly. The rules are the tables in
`forestcoll.verification.trees.rules`.
"""

from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof import GroupLengthsProof
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.verification.claims import Claim, is_optimal
from forestcoll.verification.proof_checks.checks import PROOFS_OF_TREES
from forestcoll.verification.report import Fault, TreeReport, busiest_loads
from forestcoll.verification.rule import first_fault
from forestcoll.verification.trees.context import TreeContext
from forestcoll.verification.trees.rules import RULE_BOOKS, RuleBook


def verify_trees(schedule: TreeSchedule) -> TreeReport:
    """Verify `schedule` by the rules for its collective, in order, up to the first that it breaks."""
    book, context = RULE_BOOKS[schedule.collective], TreeContext(schedule)
    fault = _undelivered(context, book)
    if fault is not None:
        return TreeReport(fault)
    proofs = PROOFS_OF_TREES if schedule.sources is None else (GroupLengthsProof,)
    links = [] if context.pace is None else context.pace.links.tolist()
    claim = Claim(schedule, context.network, context.algbw, proofs)
    fault = first_fault(context, book.achieved) or first_fault(claim, book.claims)
    return TreeReport(
        fault=fault,
        algbw=context.algbw,
        optimal=fault is None and is_optimal(schedule, context.algbw),
        bound=schedule.bound if fault is None else None,
        busiest=busiest_loads(context.topology, links, context.load_of),
        busiest_count=len(links),
    )


def _undelivered(context: TreeContext, book: RuleBook) -> Fault | None:
    """Return the first fault for which data does not arrive; rules that the fast path has accepted are not applied."""
    fault = first_fault(context, book.form)
    if fault is None and context.examined is None:
        fault = first_fault(context, book.delivery)
    return fault or first_fault(context, book.shares)


def tree_rules(collective: Collective = Collective.ALLGATHER) -> tuple[tuple[str, str], ...]:
    """Return the identifier and the statement of each rule for `collective`, in the order in which they are applied."""
    return RULE_BOOKS[collective].statements()
