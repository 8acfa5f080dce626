"""Rules about the table of routes, also unused ones. Each returns the message of the first wrong route, or None."""

import numpy as np

from forestcoll.collective import PhaseOp
from forestcoll.verification.search import first_outside, first_true, place_in_rows
from forestcoll.verification.trees import wording
from forestcoll.verification.trees.case import Case

SORTED_ENTRIES = 2**14
"""The entries of routes that are sorted at a time; they fit in a cache."""

MAX_SHORT_CODE = int(np.iinfo(np.int32).max)
"""The greatest code of an entry that is sorted as a 32-bit integer, which takes half the time."""


def node_unknown(case: Case) -> str | None:
    """Find an entry that is not the number of a node."""
    routes = case.schedule.routes
    found = first_outside(routes, case.network.size)
    if found is None:
        return None
    row, position = found
    value = routes[row][position]
    return f"route {row}: position {position} holds node number {value}; expected 0 to {case.network.size - 1}"


def too_short(case: Case) -> str | None:
    """Find a route that crosses no link."""
    starts = case.schedule.routes.starts
    row = first_true(starts[1:] - starts[:-1] < 2)
    if row is None:
        return None
    count = len(case.schedule.routes[row])
    return f"{wording.route(case, row)} has {count} node{'s' * (count != 1)}; expected two or more"


def node_repeated(case: Case) -> str | None:
    """Find a route that visits a node twice."""
    for first, block in case.schedule.routes.blocks(SORTED_ENTRIES):
        codes = np.repeat(np.arange(len(block)) * case.network.size, np.diff(block.starts)) + block.entries
        if len(block) * case.network.size <= MAX_SHORT_CODE:
            codes = codes.astype(np.int32)
        codes.sort()
        again = first_true(codes[1:] == codes[:-1])
        if again is not None:
            return _repeated(case, first + int(codes[again]) // case.network.size)
    return None


def _repeated(case: Case, row: int) -> str:
    listed = case.schedule.routes[row]
    repeated = next(node for position, node in enumerate(listed) if node in listed[:position])
    return f"{wording.route(case, row)} visits {wording.node(case, repeated)} twice; expected each node at most once"


def link_missing(case: Case) -> str | None:
    """Find a hop that crosses no link."""
    for first, block in case.schedule.routes.blocks():
        places, links = case.hops(block)
        hop = first_true(links < 0)
        if hop is not None:
            row, position = place_in_rows(block, int(places[hop]))
            source, target = block[row][position : position + 2]
            ends = f"{wording.node(case, source)} -> {wording.node(case, target)}"
            crossing = f"{wording.route(case, first + row)} crosses {ends} (position {position})"
            return f"{crossing}, but the topology has no such link"
    return None


def interior_compute(case: Case) -> str | None:
    """Find a route that passes through a compute node."""
    for first, block in case.schedule.routes.blocks():
        is_passed = case.network.is_compute[block.entries]
        is_passed[block.starts[:-1]] = False
        is_passed[block.starts[1:] - 1] = False
        if (entry := first_true(is_passed)) is not None:
            row, position = place_in_rows(block, entry)
            passed = f"compute node {wording.node(case, block[row][position])} (position {position})"
            return f"{wording.route(case, first + row)} passes through {passed}; end a route there"
    return None


ABILITIES = {PhaseOp.BROADCAST: "multicast", PhaseOp.REDUCE: "aggregate"}
"""The ability that a switch needs so that routes of a phase may start or end on it."""


def ends_on_switch(case: Case) -> str | None:
    """Find a route that starts or ends on a switch that cannot multicast or, in a reduce, aggregate."""
    ops = {phase.op for phase in case.schedule.phases}
    allowed = case.network.is_compute.copy()
    for op in ops:
        allowed |= case.network.can_join(op)
    row = first_true(~(allowed[case.firsts] & allowed[case.lasts]))
    if row is None:
        return None
    starts_wrong = not allowed[case.firsts[row]]
    end, verb = (case.firsts[row], "starts") if starts_wrong else (case.lasts[row], "ends")
    ability = " or ".join(sorted(ABILITIES[op] for op in ops))
    switch = f"switch {wording.node(case, int(end))}, which cannot {ability}"
    return f"{wording.route(case, row)} {verb} on {switch}; expected a compute node"


def joins_wrong_switch(case: Case) -> str | None:
    """Find a tree with a route that starts or ends on a switch without the ability that the phase needs."""
    for place, phase in enumerate(case.schedule.phases):
        allowed = case.network.is_compute | case.network.can_join(phase.op)
        is_right = allowed[case.firsts] & allowed[case.lasts]
        entry = first_true(~is_right[phase.routes.entries])
        if entry is not None:
            tree, position = place_in_rows(phase.routes, entry)
            route = wording.route(case, phase.routes[tree][position])
            where = f"{wording.tree(case, place, tree)}, position {position}: {route}"
            return f"{where} starts or ends on a switch that cannot {ABILITIES[phase.op]}; expected a compute node"
    return None
