"""The verifier of step schedules: does each sender have what it sends, and does every shard or sum arrive?

Like the verifier of trees, it imports only the models, and computes the load of every link at every step again,
exactly. The rules are the tables in `forestcoll.verification.steps.rules`.
"""

from collections.abc import Iterator

from forestcoll.base.exact import exact_sum
from forestcoll.demand.collective import Collective
from forestcoll.schedule.proof import Bound, CutProof, LengthsProof, Proof, ReceiptProof
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.verification.claims import Claim
from forestcoll.verification.proof_checks.checks import PROOFS_OF_EXCHANGES, PROOFS_OF_TREES, proven
from forestcoll.verification.proof_checks.question import BoundQuestion, UnprovenError
from forestcoll.verification.report import StepReport
from forestcoll.verification.rule import first_fault
from forestcoll.verification.steps.context import StepContext
from forestcoll.verification.steps.rules import ACHIEVED, CLAIMS, RULES


def verify_steps(schedule: StepSchedule) -> StepReport:
    """Verify `schedule` by the rules, in order, up to the first that it breaks."""
    context = StepContext(schedule)
    fault = first_fault(context, RULES)
    if fault is not None:
        return StepReport(fault)
    algbw = context.algbw
    # In a step schedule, each part of a shard moves along a tree.
    proofs = PROOFS_OF_EXCHANGES if schedule.collective is Collective.ALL_TO_ALL else PROOFS_OF_TREES
    fault = first_fault(context, ACHIEVED) or first_fault(Claim(schedule, context.network, algbw, proofs), CLAIMS)
    if fault is not None:
        return StepReport(fault)
    bound = _bound(context)
    egress = max(schedule.topology.egress[node] for node in schedule.members)
    return StepReport(
        fault=None,
        algbw=algbw,
        optimal=algbw == bound.algbw,
        bound=bound,
        step_times=context.step_times,
        bandwidth_factor=exact_sum(context.step_times) * egress,
        least_factor=egress / bound.algbw,
    )


def _bound(context: StepContext) -> Bound:
    """Return the least of the bound that the schedule claims and the bounds that hold on any network.

    Every node must receive the shards of all others, or send its part of them (Theorem 4). In an allreduce with any
    shards, 2(N - 1) vectors cross links in total (appendix C.3), and one vector enters and one leaves every node.
    """
    claimed, question = context.schedule.bound, BoundQuestion.of(context.schedule, context.network)
    bounds = [] if claimed is None else [claimed]
    for proof in _proofs(context.schedule):
        try:
            bounds.append(Bound(context.schedule.collective, proven(proof, question), proof))
        except UnprovenError:  # a switch could copy
            continue
    return min(bounds, key=lambda bound: bound.algbw)


def _proofs(schedule: StepSchedule) -> Iterator[Proof]:
    """Yield the proofs that can be best: data that all nodes receive, or that the slowest node receives or sends.

    In an all-to-all, they are lengths of links: 1 for all links, or for those that enter or leave the slowest node.
    """
    topology, sizes = schedule.topology, schedule.shard_sizes
    every, members = range(len(topology.nodes)), schedule.members
    if schedule.collective is Collective.ALL_TO_ALL:
        target, source = (min(members, key=speed.__getitem__) for speed in (topology.ingress, topology.egress))
        yield LengthsProof.of(topology, (1,) * len(topology.links))
        yield LengthsProof.of(topology, tuple(int(link.target == target) for link in topology.links))
        yield LengthsProof.of(topology, tuple(int(link.source == source) for link in topology.links))
        return
    whole = schedule.collective is Collective.ALLREDUCE
    if whole:
        yield ReceiptProof()
    if not schedule.collective.only_reduces:
        last = max(members, key=lambda node: (1 if whole else 1 - sizes[node]) / topology.ingress[node])
        yield CutProof(tuple(node for node in every if node != last))
    if schedule.collective is not Collective.ALLGATHER:
        last = max(members, key=lambda node: (1 if whole else 1 - sizes[node]) / topology.egress[node])
        yield CutProof((last,))
