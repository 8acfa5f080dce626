"""Rules about the table of routes, used or not. Each returns the message of the first offender, or None."""

import numpy as np

from forestcoll.verification import wording
from forestcoll.verification.case import BoolArray, Case
from forestcoll.verification.search import first_outside, first_true, place_in_rows


def node_unknown(case: Case) -> str | None:
    """Find an entry that is no node number."""
    routes = case.schedule.routes
    found = first_outside(routes, case.network.size)
    if found is None:
        return None
    row, position = found
    value = routes[row][position]
    return f"route {row}: position {position} holds node number {value}; expected 0 to {case.network.size - 1}"


def too_short(case: Case) -> str | None:
    """Find a route that crosses no link."""
    row = first_true(np.diff(case.schedule.routes.starts) < 2)
    if row is None:
        return None
    count = len(case.schedule.routes[row])
    return f"{wording.route(case, row)} has {count} node{'s' * (count != 1)}; expected two or more"


def node_repeated(case: Case) -> str | None:
    """Find a route that visits a node twice."""
    routes = case.schedule.routes
    owners = np.repeat(np.arange(len(routes)), np.diff(routes.starts))
    codes = owners * case.network.size + routes.entries
    codes.sort()
    again = first_true(codes[1:] == codes[:-1])
    if again is None:
        return None
    row = int(codes[again]) // case.network.size
    listed = routes[row]
    repeated = next(node for position, node in enumerate(listed) if node in listed[:position])
    return f"{wording.route(case, row)} visits {wording.node(case, repeated)} twice; expected each node once at most"


def link_missing(case: Case) -> str | None:
    """Find a hop without a link."""
    hop = first_true(case.hop_links < 0)
    if hop is None:
        return None
    row, position = place_in_rows(case.schedule.routes, int(case.hops[hop]))
    source, target = case.schedule.routes[row][position : position + 2]
    ends = f"{wording.node(case, source)} -> {wording.node(case, target)}"
    return f"{wording.route(case, row)} crosses {ends} (position {position}), but the topology has no such link"


def interior_compute(case: Case) -> str | None:
    """Find a route that passes through a compute node."""
    routes = case.schedule.routes
    is_inside = np.ones(len(routes.entries), dtype=np.bool_)
    is_inside[routes.starts[:-1]] = False
    is_inside[routes.starts[1:] - 1] = False
    entry = first_true(is_inside & case.network.is_compute[routes.entries])
    if entry is None:
        return None
    row, position = place_in_rows(routes, entry)
    passed = wording.node(case, routes[row][position])
    return f"{wording.route(case, row)} passes through compute node {passed} (position {position}); end a route there"


def ends_on_switch(case: Case) -> str | None:
    """Find a route that starts or ends on a switch that cannot multicast."""
    allowed: BoolArray = case.network.is_compute | case.network.can_multicast
    row = first_true(~(allowed[case.firsts] & allowed[case.lasts]))
    if row is None:
        return None
    starts_wrong = not allowed[case.firsts[row]]
    end, verb = (case.firsts[row], "starts") if starts_wrong else (case.lasts[row], "ends")
    switch = f"switch {wording.node(case, int(end))}, which cannot multicast"
    return f"{wording.route(case, row)} {verb} on {switch}; expected a compute node"
