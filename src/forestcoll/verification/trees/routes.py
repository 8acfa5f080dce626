"""Rules about the ends of routes in trees. Each returns the message of the first wrong route, or None."""

from forestcoll.demand.collective import PhaseOp
from forestcoll.verification.first_wrong import first_true, place_in_rows
from forestcoll.verification.trees import wording
from forestcoll.verification.trees.context import TreeContext

ABILITIES = {PhaseOp.BROADCAST: "multicast", PhaseOp.REDUCE: "aggregate"}
"""The ability that a switch needs so that routes of a phase may start or end on it."""


def ends_on_switch(context: TreeContext) -> str | None:
    """Find a route that starts or ends on a switch that cannot multicast or, in a reduce, aggregate."""
    ops = {phase.op for phase in context.schedule.phases}
    allowed = context.network.is_compute.copy()
    for op in ops:
        allowed |= context.network.can_join(op)
    row = first_true(~(allowed[context.firsts] & allowed[context.lasts]))
    if row is None:
        return None
    starts_wrong = not allowed[context.firsts[row]]
    end, verb = (context.firsts[row], "starts") if starts_wrong else (context.lasts[row], "ends")
    ability = " or ".join(sorted(ABILITIES[op] for op in ops))
    switch = f"switch {wording.node(context, int(end))}, which cannot {ability}"
    return f"{wording.route(context, row)} {verb} on {switch}; expected a compute node"


def joins_wrong_switch(context: TreeContext) -> str | None:
    """Find a tree with a route that starts or ends on a switch without the ability that the phase needs."""
    for place, phase in enumerate(context.schedule.phases):
        allowed = context.network.is_compute | context.network.can_join(phase.op)
        is_right = allowed[context.firsts] & allowed[context.lasts]
        entry = first_true(~is_right[phase.routes.entries])
        if entry is not None:
            tree, position = place_in_rows(phase.routes, entry)
            route = wording.route(context, phase.routes[tree][position])
            where = f"{wording.tree(context, place, tree)}, position {position}: {route}"
            return f"{where} starts or ends on a switch that cannot {ABILITIES[phase.op]}; expected a compute node"
    return None
