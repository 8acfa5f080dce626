"""Rules about the links that transfers cross. Each returns the message of the first wrong place, or None."""

import numpy as np

from forestcoll.schedule.steps.value import Transfers
from forestcoll.verification.first_wrong import first_true
from forestcoll.verification.steps import wording
from forestcoll.verification.steps.context import StepContext


def too_short(context: StepContext) -> str | None:
    """Find a route of fewer than two nodes."""
    starts = context.schedule.routes.starts
    route = first_true(starts[1:] - starts[:-1] < 2)
    return None if route is None else f"routes[{route}] has fewer than two nodes"


def node_repeated(context: StepContext) -> str | None:
    """Find a route that visits a node twice."""
    routes = context.schedule.routes
    codes = np.repeat(np.arange(len(routes)), np.diff(routes.starts)) * context.network.size
    codes += routes.entries
    codes.sort()
    again = first_true(codes[1:] == codes[:-1])
    if again is None:
        return None
    route, node = divmod(int(codes[again]), context.network.size)
    return f"routes[{route}] visits {wording.node(context, node)} twice; expected each node at most once"


def hop_missing(context: StepContext) -> str | None:
    """Find a hop of a route that crosses no link."""
    places, links = context.route_hops
    hop = first_true(links < 0)
    if hop is None:
        return None
    routes, place = context.schedule.routes, int(places[hop])
    route = int(np.searchsorted(routes.starts, place, side="right")) - 1
    source, target = (wording.node(context, int(node)) for node in routes.entries[place : place + 2])
    return f"routes[{route}][{place - int(routes.starts[route])}]: no link leads from {source} to {target}"


def ends_wrong(context: StepContext) -> str | None:
    """Find a transfer whose route does not lead from its source to its target."""
    starts, entries = context.schedule.routes.starts, context.schedule.routes.entries
    for phase in context.schedule.phases:
        sent = phase.transfers
        if sent.routes is None:
            continue
        routed = np.flatnonzero(sent.routes >= 0)
        used = sent.routes[routed]
        first, last = entries[starts[used]], entries[starts[used + 1] - 1]
        wrong = first_true((first != sent.sources[routed]) | (last != sent.targets[routed]))
        if wrong is not None:
            return _wrong_ends(context, sent, int(routed[wrong]), int(used[wrong]))
    return None


def _wrong_ends(context: StepContext, sent: Transfers, transfer: int, route: int) -> str:
    listed = context.schedule.routes[route]
    ends = listed[0], listed[-1], int(sent.sources[transfer]), int(sent.targets[transfer])
    first, last, source, target = (wording.node(context, node) for node in ends)
    where = wording.place(context, sent, transfer)
    return f"{where}: routes[{route}] leads from {first} to {last}; expected a route from {source} to {target}"


def link_missing(context: StepContext) -> str | None:
    """Find a transfer without a route whose source and target no link joins."""
    for phase in context.schedule.phases:
        sent = phase.transfers
        lacks = context.network.find_links(sent.sources, sent.targets) < 0
        if sent.routes is not None:
            lacks &= sent.routes < 0
        transfer = first_true(lacks)
        if transfer is not None:
            source, target = (wording.node(context, int(end[transfer])) for end in (sent.sources, sent.targets))
            return f"{wording.place(context, sent, transfer)}: no link leads from {source} to {target}"
    return None
