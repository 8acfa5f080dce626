"""Rules about the certificate: that its cut proves the claimed optimum. Each returns a message or None.

With a compute node inside the cut and one outside, some part of the data must leave the cut over its exit bandwidth E:
in an allgather or a broadcast the shards inside, for a node outside needs them; in a reduce-scatter or a reduce those
of the nodes outside, for a node inside adds to them; in an allreduce all, for what the nodes inside add up to is wanted
outside. So no schedule, with or without switches that multicast or aggregate, is faster than algbw = E / (that part).
"""

from fractions import Fraction

import numpy as np

from forestcoll.collective import Collective
from forestcoll.verification.network import BoolArray
from forestcoll.verification.trees import wording
from forestcoll.verification.trees.case import Case


def incomplete(case: Case) -> str | None:
    """Find a claim without a proof, or a proof without a claim."""
    optimal, cut = case.schedule.optimal_algbw, case.schedule.cut
    if (optimal is None) == (cut is None):
        return None
    missing, present = ("optimal_algbw", "cut") if optimal is None else ("cut", "optimal_algbw")
    return f"the certificate has {present} but no {missing}; expected both or neither"


def node_wrong(case: Case) -> str | None:
    """Find a number in the cut that is no node, or there twice."""
    seen: set[int] = set()
    for position, number in enumerate(case.schedule.cut or ()):
        if not 0 <= number < case.network.size:
            expected = f"expected 0 to {case.network.size - 1}"
            return f"cut: position {position} holds node number {number}; {expected}"
        if number in seen:
            return f"cut: position {position} holds {wording.node(case, number)} again; expected each node once at most"
        seen.add(number)
    return None


def none_inside(case: Case) -> str | None:
    """Find a cut without a compute node."""
    if case.schedule.cut is None or _compute_inside(case):
        return None
    return f"cut: none of its {len(case.schedule.cut)} nodes is {wording.a_member(case)}; expected one or more"


def none_outside(case: Case) -> str | None:
    """Find a cut that holds every compute node."""
    if case.schedule.cut is None or _compute_inside(case) < len(case.compute):
        return None
    return f"cut: holds all {len(case.compute)} {wording.members(case)}; expected one or more outside"


def nothing_leaves(case: Case) -> str | None:
    """Find a cut that no data needs to leave."""
    if case.schedule.cut is None or _must_leave(case) > 0:
        return None
    side = "outside" if case.schedule.collective.only_reduces else "inside"
    empty = f"none of the {wording.members(case)} {side} has a shard, so that nothing must leave it"
    return f"cut: {empty}; expected one or more"


def no_exit(case: Case) -> str | None:
    """Find a cut that no link leaves."""
    if case.schedule.cut is None or _exit_bandwidth(case) > 0:
        return None
    return f"cut: no link leaves its {len(case.schedule.cut)} nodes; expected an exit bandwidth of more than 0"


def bound_wrong(case: Case) -> str | None:
    """Find that the cut proves another bound than the one claimed."""
    optimal = case.schedule.optimal_algbw
    if case.schedule.cut is None or optimal is None or optimal == _bound(case):
        return None
    return f"optimal_algbw is {wording.number(optimal)}, but {_proof(case)}"


def beaten(case: Case) -> str | None:
    """Find that the schedule is faster than the bound."""
    if case.schedule.cut is None or case.algbw is None or case.algbw <= _bound(case):
        return None
    return f"the schedule achieves {wording.number(case.algbw)}, but {_proof(case)}"


def _proof(case: Case) -> str:
    exit_bandwidth, inside, count = _exit_bandwidth(case), _compute_inside(case), len(case.compute)
    cut = f"cut ({wording.nodes(case, case.schedule.cut or ())})"
    holds = f"holds {inside} of {count} {wording.members(case)} and has exit bandwidth {wording.number(exit_bandwidth)}"
    part = wording.number(_must_leave(case))
    formula = f"{part} of the data must leave it: expected {wording.number(exit_bandwidth)} / ({part})"
    return f"the {cut} {holds}; {formula} = {wording.number(_bound(case))}"


def _bound(case: Case) -> Fraction:
    return _exit_bandwidth(case) / _must_leave(case)


def _must_leave(case: Case) -> Fraction:
    """Return what part of the data must leave the cut."""
    collective = case.schedule.collective
    if collective is Collective.ALLREDUCE:
        return Fraction(1)
    inside = _inside(case)[list(case.compute)].tolist()
    shards = zip(case.shards, inside, strict=True)
    return sum((shard for shard, is_in in shards if is_in != collective.only_reduces), Fraction(0))


def _inside(case: Case) -> BoolArray:
    inside = np.zeros(case.network.size, dtype=np.bool_)
    inside[list(case.schedule.cut or ())] = True
    return inside


def _compute_inside(case: Case) -> int:
    return int(_inside(case)[list(case.compute)].sum())


def _exit_bandwidth(case: Case) -> Fraction:
    return case.network.exit_bandwidth(_inside(case))
