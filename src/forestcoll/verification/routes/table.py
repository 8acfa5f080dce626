"""Rules about the table of routes, also unused ones. Each returns the message of the first wrong route, or None."""

import numpy as np

from forestcoll.verification.first_wrong import first_outside, first_true, place_in_rows
from forestcoll.verification.routes import wording
from forestcoll.verification.routes.context import RouteCase

SORTED_ENTRIES = 2**14
"""The entries of routes that are sorted at a time; they fit in a cache."""

MAX_SHORT_CODE = int(np.iinfo(np.int32).max)
"""The greatest code of an entry that is sorted as a 32-bit integer, which takes half the time."""


def node_unknown(case: RouteCase) -> str | None:
    """Find an entry that is not the number of a node."""
    routes = case.routes
    found = first_outside(routes, case.network.size)
    if found is None:
        return None
    row, position = found
    value = routes[row][position]
    return f"route {row}: position {position} holds node number {value}; expected 0 to {case.network.size - 1}"


def too_short(case: RouteCase) -> str | None:
    """Find a route that crosses no link."""
    starts = case.routes.starts
    row = first_true(starts[1:] - starts[:-1] < 2)
    if row is None:
        return None
    count = len(case.routes[row])
    return f"{wording.route(case, row)} has {count} node{'s' * (count != 1)}; expected two or more"


def node_repeated(case: RouteCase) -> str | None:
    """Find a route that visits a node twice."""
    for first, block in case.routes.blocks(SORTED_ENTRIES):
        codes = np.repeat(np.arange(len(block)) * case.network.size, np.diff(block.starts)) + block.entries
        if len(block) * case.network.size <= MAX_SHORT_CODE:
            codes = codes.astype(np.int32)
        codes.sort()
        again = first_true(codes[1:] == codes[:-1])
        if again is not None:
            return _repeated(case, first + int(codes[again]) // case.network.size)
    return None


def _repeated(case: RouteCase, row: int) -> str:
    listed = case.routes[row]
    repeated = next(node for position, node in enumerate(listed) if node in listed[:position])
    return f"{wording.route(case, row)} visits {wording.node(case, repeated)} twice; expected each node at most once"


def link_missing(case: RouteCase) -> str | None:
    """Find a hop that crosses no link."""
    for first, block in case.routes.blocks():
        places, links = case.hops(block)
        hop = first_true(links < 0)
        if hop is not None:
            row, position = place_in_rows(block, int(places[hop]))
            source, target = block[row][position : position + 2]
            ends = f"{wording.node(case, source)} -> {wording.node(case, target)}"
            crossing = f"{wording.route(case, first + row)} crosses {ends} (position {position})"
            return f"{crossing}, but the topology has no such link"
    return None


def interior_compute(case: RouteCase) -> str | None:
    """Find a route that passes through a compute node."""
    for first, block in case.routes.blocks():
        is_passed = case.network.is_compute[block.entries]
        is_passed[block.starts[:-1]] = False
        is_passed[block.starts[1:] - 1] = False
        if (entry := first_true(is_passed)) is not None:
            row, position = place_in_rows(block, entry)
            passed = f"compute node {wording.node(case, block[row][position])} (position {position})"
            return f"{wording.route(case, first + row)} passes through {passed}; end a route there"
    return None
