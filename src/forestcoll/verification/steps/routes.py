"""Rules about the links that transfers cross. Each returns the message of the first wrong place, or None."""

import numpy as np

from forestcoll.schedule.steps.value import Transfers
from forestcoll.verification.first_wrong import first_true
from forestcoll.verification.steps import wording
from forestcoll.verification.steps.context import StepCase


def too_short(case: StepCase) -> str | None:
    """Find a route of fewer than two nodes."""
    starts = case.schedule.routes.starts
    route = first_true(starts[1:] - starts[:-1] < 2)
    return None if route is None else f"routes[{route}] has fewer than two nodes"


def node_repeated(case: StepCase) -> str | None:
    """Find a route that visits a node twice."""
    routes = case.schedule.routes
    codes = np.repeat(np.arange(len(routes)), np.diff(routes.starts)) * case.network.size
    codes += routes.entries
    codes.sort()
    again = first_true(codes[1:] == codes[:-1])
    if again is None:
        return None
    route, node = divmod(int(codes[again]), case.network.size)
    return f"routes[{route}] visits {wording.node(case, node)} twice; expected each node at most once"


def hop_missing(case: StepCase) -> str | None:
    """Find a hop of a route that crosses no link."""
    places, links = case.route_hops
    hop = first_true(links < 0)
    if hop is None:
        return None
    routes, place = case.schedule.routes, int(places[hop])
    route = int(np.searchsorted(routes.starts, place, side="right")) - 1
    source, target = (wording.node(case, int(node)) for node in routes.entries[place : place + 2])
    return f"routes[{route}][{place - int(routes.starts[route])}]: no link leads from {source} to {target}"


def ends_wrong(case: StepCase) -> str | None:
    """Find a transfer whose route does not lead from its source to its target."""
    starts, entries = case.schedule.routes.starts, case.schedule.routes.entries
    for phase in case.schedule.phases:
        sent = phase.transfers
        if sent.routes is None:
            continue
        routed = np.flatnonzero(sent.routes >= 0)
        used = sent.routes[routed]
        first, last = entries[starts[used]], entries[starts[used + 1] - 1]
        wrong = first_true((first != sent.sources[routed]) | (last != sent.targets[routed]))
        if wrong is not None:
            return _wrong_ends(case, sent, int(routed[wrong]), int(used[wrong]))
    return None


def _wrong_ends(case: StepCase, sent: Transfers, transfer: int, route: int) -> str:
    listed = case.schedule.routes[route]
    ends = listed[0], listed[-1], int(sent.sources[transfer]), int(sent.targets[transfer])
    first, last, source, target = (wording.node(case, node) for node in ends)
    where = wording.place(case, sent, transfer)
    return f"{where}: routes[{route}] leads from {first} to {last}; expected a route from {source} to {target}"


def link_missing(case: StepCase) -> str | None:
    """Find a transfer without a route whose source and target no link joins."""
    for phase in case.schedule.phases:
        sent = phase.transfers
        lacks = case.network.find_links(sent.sources, sent.targets) < 0
        if sent.routes is not None:
            lacks &= sent.routes < 0
        transfer = first_true(lacks)
        if transfer is not None:
            source, target = (wording.node(case, int(end[transfer])) for end in (sent.sources, sent.targets))
            return f"{wording.place(case, sent, transfer)}: no link leads from {source} to {target}"
    return None
