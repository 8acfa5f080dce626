"""Rules about the table of routes, also unused ones. Each returns the message of the first wrong route, or None."""

import numpy as np

from forestcoll.verification.first_wrong import first_outside, first_true, place_in_rows
from forestcoll.verification.routes import wording
from forestcoll.verification.routes.context import RouteContext

SORTED_ENTRIES = 2**14
"""The entries of routes that are sorted at a time; they fit in a cache."""

MAX_SHORT_CODE = int(np.iinfo(np.int32).max)
"""The greatest code of an entry that is sorted as a 32-bit integer, which takes half the time."""


def node_unknown(context: RouteContext) -> str | None:
    """Find an entry that is not the number of a node."""
    routes = context.routes
    found = first_outside(routes, context.network.size)
    if found is None:
        return None
    row, position = found
    value = routes[row][position]
    return f"route {row}: position {position} holds node number {value}; expected 0 to {context.network.size - 1}"


def too_short(context: RouteContext) -> str | None:
    """Find a route that crosses no link."""
    starts = context.routes.starts
    row = first_true(starts[1:] - starts[:-1] < 2)
    if row is None:
        return None
    count = len(context.routes[row])
    return f"{wording.route(context, row)} has {count} node{'s' * (count != 1)}; expected two or more"


def node_repeated(context: RouteContext) -> str | None:
    """Find a route that visits a node twice."""
    for first, block in context.routes.blocks(SORTED_ENTRIES):
        codes = np.repeat(np.arange(len(block)) * context.network.size, np.diff(block.starts)) + block.entries
        if len(block) * context.network.size <= MAX_SHORT_CODE:
            codes = codes.astype(np.int32)
        codes.sort()
        again = first_true(codes[1:] == codes[:-1])
        if again is not None:
            return _repeated(context, first + int(codes[again]) // context.network.size)
    return None


def _repeated(context: RouteContext, row: int) -> str:
    listed = context.routes[row]
    repeated = next(node for position, node in enumerate(listed) if node in listed[:position])
    return (
        f"{wording.route(context, row)} visits {wording.node(context, repeated)} twice; expected each node at most once"
    )


def link_missing(context: RouteContext) -> str | None:
    """Find a hop that crosses no link."""
    for first, block in context.routes.blocks():
        places, links = context.hops(block)
        hop = first_true(links < 0)
        if hop is not None:
            row, position = place_in_rows(block, int(places[hop]))
            source, target = block[row][position : position + 2]
            ends = f"{wording.node(context, source)} -> {wording.node(context, target)}"
            crossing = f"{wording.route(context, first + row)} crosses {ends} (position {position})"
            return f"{crossing}, but the topology has no such link"
    return None


def interior_compute(context: RouteContext) -> str | None:
    """Find a route that passes through a compute node."""
    for first, block in context.routes.blocks():
        is_passed = context.network.is_compute[block.entries]
        is_passed[block.starts[:-1]] = False
        is_passed[block.starts[1:] - 1] = False
        if (entry := first_true(is_passed)) is not None:
            row, position = place_in_rows(block, entry)
            passed = f"compute node {wording.node(context, block[row][position])} (position {position})"
            return f"{wording.route(context, first + row)} passes through {passed}; end a route there"
    return None
