"""Rules about flows and about what they deliver. Each returns the message of the first wrong place, or None."""

from fractions import Fraction
from itertools import groupby
from operator import itemgetter

import numpy as np

from forestcoll.base.errors import plural
from forestcoll.demand.collective import Collective
from forestcoll.verification.first_wrong import first_outside, first_true
from forestcoll.verification.flows.context import FlowContext
from forestcoll.verification.network import BoolArray
from forestcoll.verification.proof_checks.question import MAX_DENOMINATOR_DIGITS
from forestcoll.verification.routes import wording
from forestcoll.verification.routes.form import fits


def rows_malformed(context: FlowContext) -> str | None:
    """Find flat rows that do not match. The file reader never makes such rows, but a program may."""
    if not fits(context.routes):
        return "routes: starts do not ascend from 0 to the number of entries"
    if not fits(context.flows.routes):
        return "flows: the starts of routes do not ascend from 0 to the number of entries"
    flows = context.flows
    counts = (len(flows.sources), len(flows.targets), len(flows.shares), len(flows.routes))
    if len(set(counts)) > 1:
        return "flows: has {} sources, {} targets, {} shares and {} lists of routes".format(*counts)
    return None if counts[0] else "flows: lists no flow; expected one or more"


def demand_wrong(context: FlowContext) -> str | None:
    """Find a demand matrix of the wrong size, with a negative entry, or with an entry that the collective forbids."""
    matrix, count = context.schedule.matrix, len(context.compute)
    if matrix is None:
        return None
    if len(matrix) != count or any(len(row) != count for row in matrix):
        return f"demand: is not a matrix of {plural(count, 'row')} and {plural(count, 'column')}"
    for row, source in enumerate(context.compute):
        for column, target in enumerate(context.compute):
            entry = matrix[row][column]
            if entry < 0 or (row == column and entry):
                place = f"demand: {_pair(context, source, target)} is {wording.number(entry)}"
                return f"{place}; expected {'0' if row == column else '0 or more'}"
            if entry and not _fits_root(context, source, target):
                return f"demand: {_pair(context, source, target)} does not {_root_verb(context)}"
    return None


def _fits_root(context: FlowContext, source: int, target: int) -> bool:
    root = context.schedule.root
    return root is None or root == (target if context.schedule.collective is Collective.GATHER else source)


def _root_verb(context: FlowContext) -> str:
    end = "end" if context.schedule.collective is Collective.GATHER else "start"
    return f"{end} on the root {wording.node(context, context.schedule.root or 0)}"


def symmetry_forbidden(context: FlowContext) -> str | None:
    """Find a symmetry of a collective with a root, which no shift may move."""
    if context.schedule.collective.has_root and context.group.shifts:
        return f"a {context.schedule.collective} has a root, so it has no symmetry; expected none"
    return None


def demand_asymmetric(context: FlowContext) -> str | None:
    """Find a shift that does not keep the demand matrix."""
    matrix = context.schedule.matrix
    if matrix is None:
        return None
    place_of = {node: place for place, node in enumerate(context.compute)}
    for number, shift in enumerate(context.group.shifts):
        moved = [place_of[int(shift[node])] for node in context.compute]
        for row, entries in enumerate(matrix):
            for column, entry in enumerate(entries):
                if matrix[moved[row]][moved[column]] != entry:
                    ends = _pair(context, context.compute[row], context.compute[column])
                    image = _pair(context, context.compute[moved[row]], context.compute[moved[column]])
                    return f"shift {number} sends {ends} to {image}, but their demands differ"
    return None


def ends_on_switch(context: FlowContext) -> str | None:
    """Find a route that starts or ends on a switch."""
    is_compute = context.network.is_compute
    row = first_true(~(is_compute[context.firsts] & is_compute[context.lasts]))
    if row is None:
        return None
    end, verb = (context.lasts[row], "ends") if is_compute[context.firsts[row]] else (context.firsts[row], "starts")
    return f"{wording.route(context, row)} {verb} on switch {wording.node(context, int(end))}; expected a compute node"


def ends_wrong(context: FlowContext) -> str | None:
    """Find a flow whose source or target does not take part, or whose ends are the same."""
    for ends, name in ((context.flows.sources, "source"), (context.flows.targets, "target")):
        outside = (ends < 0) | (ends >= context.network.size)
        place = first_true(outside)
        if place is not None:
            return f"flow {place}: {name} is node number {ends[place]}; expected 0 to {context.network.size - 1}"
        place = first_true(~_takes_part(context)[ends])
        if place is not None:
            named = wording.node(context, int(ends[place]))
            return f"{_flow(context, place)}: the {name} {named} is not {wording.a_member(context)}"
    place = first_true(context.flows.sources == context.flows.targets)
    return None if place is None else f"{_flow(context, place)}: source and target are the same node"


def _takes_part(context: FlowContext) -> BoolArray:
    marks = np.zeros(context.network.size, dtype=np.bool_)
    marks[list(context.compute)] = True
    return marks


def route_unknown(context: FlowContext) -> str | None:
    """Find a flow without routes, or an entry that is not the number of a route."""
    place = first_true(np.diff(context.flows.routes.starts) == 0)
    if place is not None:
        return f"{_flow(context, place)} has no route; expected one or more"
    found = first_outside(context.flows.routes, len(context.routes))
    if found is None:
        return None
    flow, position = found
    value = context.flows.routes[flow][position]
    expected = f"expected 0 to {len(context.routes) - 1}"
    return f"{_flow(context, flow)}: position {position} holds route number {value}; {expected}"


def chain_broken(context: FlowContext) -> str | None:
    """Find a flow whose routes do not lead from its source to its target, one after the other."""
    entries, starts = context.flows.routes.entries, context.flows.routes.starts
    firsts, lasts = context.firsts[entries], context.lasts[entries]
    expected = np.empty(len(entries), dtype=np.int64)
    expected[1:] = lasts[:-1]
    expected[starts[:-1]] = context.flows.sources
    entry = first_true(firsts != expected)
    if entry is not None:
        flow = int(context.of_flow[entry])
        start, wanted = wording.node(context, int(firsts[entry])), wording.node(context, int(expected[entry]))
        position = entry - int(starts[flow])
        return f"{_flow(context, flow)}: the route at position {position} starts on {start}; expected {wanted}"
    flow_ends = lasts[starts[1:] - 1]
    place = first_true(flow_ends != context.flows.targets)
    if place is None:
        return None
    return f"{_flow(context, place)} ends on {wording.node(context, int(flow_ends[place]))}; expected its target"


def not_positive(context: FlowContext) -> str | None:
    """Find a share of 0 or less."""
    wrong = {share for share in set(context.flows.shares) if share <= 0}
    if not wrong:
        return None
    place = next(place for place, share in enumerate(context.flows.shares) if share in wrong)
    share = wording.number(context.flows.shares[place])
    return f"{_flow(context, place)}: the share is {share}; expected more than 0"


def too_fine(context: FlowContext) -> str | None:
    """Find shares whose common denominator is too long."""
    if context.denominator is not None:
        return None
    return f"the common denominator of the shares has more than {MAX_DENOMINATOR_DIGITS} digits"


def delivery_wrong(context: FlowContext) -> str | None:
    """Find a pair of nodes whose flows do not add up to what it exchanges."""
    whole, found = context.denominator or 1, dict(context.delivered)
    least = context.group.orbits
    for first, pairs in groupby(context.question.pairs(), key=itemgetter(0)):
        for source, target, part in pairs if least[first] == first else ():
            amount = found.pop((source, target), 0)
            if amount != part * whole:
                sent, named = wording.number(Fraction(amount, whole)), _pair(context, source, target)
                return f"the flows {named} add up to {sent}; expected {wording.number(part)}"
    for (source, target), amount in found.items():
        sent = wording.number(Fraction(amount, whole))
        return f"the flows {_pair(context, source, target)} add up to {sent}; expected no flow"
    return None


def algbw_wrong(context: FlowContext) -> str | None:
    """Find an algbw other than the one that the loads of links allow."""
    if context.schedule.algbw == context.algbw:
        return None
    time, links = context.busiest
    link = context.topology.links[int(links[0])]
    busy = f"link {_pair(context, link.source, link.target)} needs {wording.number(time)} for one unit of M"
    found = f"algbw is {wording.number(context.schedule.algbw)}"
    return f"{found}, but {busy}; expected 1 / ({wording.number(time)}) = {wording.number(context.algbw)}"


def _pair(context: FlowContext, source: int, target: int) -> str:
    """Return the ids of two nodes with an arrow."""
    return f"{wording.node(context, source)} -> {wording.node(context, target)}"


def _flow(context: FlowContext, place: int) -> str:
    """Return the number of a flow and the ids of its ends."""
    return f"flow {place} ({_pair(context, int(context.flows.sources[place]), int(context.flows.targets[place]))})"
