"""Rules about flows and about what they deliver. Each returns the message of the first wrong place, or None."""

from fractions import Fraction

import numpy as np

from forestcoll.base.counting import plural
from forestcoll.demand.collective import Collective
from forestcoll.verification.first_wrong import first_outside, first_true
from forestcoll.verification.flows import wording
from forestcoll.verification.flows.context import Case
from forestcoll.verification.network import BoolArray
from forestcoll.verification.proof_checks.question import MAX_DENOMINATOR_DIGITS
from forestcoll.verification.routes.form import fits


def rows_malformed(case: Case) -> str | None:
    """Find flat rows that do not match. The file reader never makes such rows, but a program may."""
    if not fits(case.routes):
        return "routes: starts do not ascend from 0 to the number of entries"
    if not fits(case.flows.routes):
        return "flows: the starts of routes do not ascend from 0 to the number of entries"
    flows = case.flows
    counts = (len(flows.sources), len(flows.targets), len(flows.shares), len(flows.routes))
    if len(set(counts)) > 1:
        return "flows: has {} sources, {} targets, {} shares and {} lists of routes".format(*counts)
    return None if counts[0] else "flows: lists no flow; expected one or more"


def demand_wrong(case: Case) -> str | None:
    """Find a demand matrix of the wrong size, with a negative entry, or with an entry that the collective forbids."""
    matrix, count = case.schedule.matrix, len(case.compute)
    if matrix is None:
        return None
    if len(matrix) != count or any(len(row) != count for row in matrix):
        return f"demand: is not a matrix of {plural(count, 'row')} and {plural(count, 'column')}"
    for row, source in enumerate(case.compute):
        for column, target in enumerate(case.compute):
            entry = matrix[row][column]
            if entry < 0 or (row == column and entry):
                place = f"demand: {wording.pair(case, source, target)} is {wording.number(entry)}"
                return f"{place}; expected {'0' if row == column else '0 or more'}"
            if entry and not _fits_root(case, source, target):
                return f"demand: {wording.pair(case, source, target)} does not {_root_verb(case)}"
    return None


def _fits_root(case: Case, source: int, target: int) -> bool:
    root = case.schedule.root
    return root is None or root == (target if case.schedule.collective is Collective.GATHER else source)


def _root_verb(case: Case) -> str:
    end = "end" if case.schedule.collective is Collective.GATHER else "start"
    return f"{end} on the root {wording.node(case, case.schedule.root or 0)}"


def symmetry_forbidden(case: Case) -> str | None:
    """Find a symmetry of a collective with a root, which no shift may move."""
    if case.schedule.collective.has_root and case.group.shifts:
        return f"a {case.schedule.collective} has a root, so it has no symmetry; expected none"
    return None


def demand_asymmetric(case: Case) -> str | None:
    """Find a shift that does not keep the demand matrix."""
    matrix = case.schedule.matrix
    if matrix is None:
        return None
    place_of = {node: place for place, node in enumerate(case.compute)}
    for number, shift in enumerate(case.group.shifts):
        moved = [place_of[int(shift[node])] for node in case.compute]
        for row, entries in enumerate(matrix):
            for column, entry in enumerate(entries):
                if matrix[moved[row]][moved[column]] != entry:
                    ends = wording.pair(case, case.compute[row], case.compute[column])
                    image = wording.pair(case, case.compute[moved[row]], case.compute[moved[column]])
                    return f"shift {number} sends {ends} to {image}, but their demands differ"
    return None


def ends_on_switch(case: Case) -> str | None:
    """Find a route that starts or ends on a switch."""
    is_compute = case.network.is_compute
    row = first_true(~(is_compute[case.firsts] & is_compute[case.lasts]))
    if row is None:
        return None
    end, verb = (case.lasts[row], "ends") if is_compute[case.firsts[row]] else (case.firsts[row], "starts")
    return f"{wording.route(case, row)} {verb} on switch {wording.node(case, int(end))}; expected a compute node"


def ends_wrong(case: Case) -> str | None:
    """Find a flow whose source or target does not take part, or whose ends are the same."""
    for ends, name in ((case.flows.sources, "source"), (case.flows.targets, "target")):
        outside = (ends < 0) | (ends >= case.network.size)
        place = first_true(outside)
        if place is not None:
            return f"flow {place}: {name} is node number {ends[place]}; expected 0 to {case.network.size - 1}"
        place = first_true(~_takes_part(case)[ends])
        if place is not None:
            named = wording.node(case, int(ends[place]))
            return f"{wording.flow(case, place)}: the {name} {named} is not {wording.a_member(case)}"
    place = first_true(case.flows.sources == case.flows.targets)
    return None if place is None else f"{wording.flow(case, place)}: source and target are the same node"


def _takes_part(case: Case) -> BoolArray:
    marks = np.zeros(case.network.size, dtype=np.bool_)
    marks[list(case.compute)] = True
    return marks


def route_unknown(case: Case) -> str | None:
    """Find a flow without routes, or an entry that is not the number of a route."""
    place = first_true(np.diff(case.flows.routes.starts) == 0)
    if place is not None:
        return f"{wording.flow(case, place)} has no route; expected one or more"
    found = first_outside(case.flows.routes, len(case.routes))
    if found is None:
        return None
    flow, position = found
    value = case.flows.routes[flow][position]
    expected = f"expected 0 to {len(case.routes) - 1}"
    return f"{wording.flow(case, flow)}: position {position} holds route number {value}; {expected}"


def chain_broken(case: Case) -> str | None:
    """Find a flow whose routes do not lead from its source to its target, one after the other."""
    entries, starts = case.flows.routes.entries, case.flows.routes.starts
    firsts, lasts = case.firsts[entries], case.lasts[entries]
    expected = np.empty(len(entries), dtype=np.int64)
    expected[1:] = lasts[:-1]
    expected[starts[:-1]] = case.flows.sources
    entry = first_true(firsts != expected)
    if entry is not None:
        flow = int(case.of_flow[entry])
        start, wanted = wording.node(case, int(firsts[entry])), wording.node(case, int(expected[entry]))
        position = entry - int(starts[flow])
        return f"{wording.flow(case, flow)}: the route at position {position} starts on {start}; expected {wanted}"
    flow_ends = lasts[starts[1:] - 1]
    place = first_true(flow_ends != case.flows.targets)
    if place is None:
        return None
    return f"{wording.flow(case, place)} ends on {wording.node(case, int(flow_ends[place]))}; expected its target"


def not_positive(case: Case) -> str | None:
    """Find a share of 0 or less."""
    wrong = {share for share in set(case.flows.shares) if share <= 0}
    if not wrong:
        return None
    place = next(place for place, share in enumerate(case.flows.shares) if share in wrong)
    share = wording.number(case.flows.shares[place])
    return f"{wording.flow(case, place)}: the share is {share}; expected more than 0"


def too_fine(case: Case) -> str | None:
    """Find shares whose common denominator is too long."""
    if case.denominator is not None:
        return None
    return f"the common denominator of the shares has more than {MAX_DENOMINATOR_DIGITS} digits"


def delivery_wrong(case: Case) -> str | None:
    """Find a pair of nodes whose flows do not add up to what it exchanges."""
    whole, found = case.denominator or 1, dict(case.delivered)
    least = case.group.orbits
    for source, target, part in case.question.pairs():
        if least[source] != source:
            continue
        amount = found.pop((source, target), 0)
        if amount != part * whole:
            sent = wording.number(Fraction(amount, whole))
            return f"the flows {wording.pair(case, source, target)} add up to {sent}; expected {wording.number(part)}"
    for (source, target), amount in found.items():
        sent = wording.number(Fraction(amount, whole))
        return f"the flows {wording.pair(case, source, target)} add up to {sent}; expected no flow"
    return None


def algbw_wrong(case: Case) -> str | None:
    """Find an algbw other than the one that the loads of links allow."""
    if case.schedule.algbw == case.algbw:
        return None
    time, links = case.busiest
    link = case.topology.links[int(links[0])]
    busy = f"link {wording.pair(case, link.source, link.target)} needs {wording.number(time)} for one unit of M"
    found = f"algbw is {wording.number(case.schedule.algbw)}"
    return f"{found}, but {busy}; expected 1 / ({wording.number(time)}) = {wording.number(case.algbw)}"
