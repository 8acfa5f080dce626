"""Rules about trees: each tree carries the data of its root to every compute node once. Each returns a message or None.

The arrivals of data form a matrix of trees by nodes: the position (from 1) of the route that first ends on the node, 0
at the root, `NEVER` elsewhere. Three comparisons with this matrix check order, repetition and spanning. The matrix is
computed in blocks of trees to limit memory. Cost: linear in the entries of the trees and in trees times nodes.

A tree that reduces is read backwards: from its last route to its first, and each route from its end to its start. The
same comparisons then check that a node sends after it received all its inputs, and that each node sends once.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.trees.value import Phase
from forestcoll.verification.first_wrong import first_outside, first_true, place_in_rows
from forestcoll.verification.trees import wording
from forestcoll.verification.trees.context import TreeContext

BLOCK_CELLS = 2**20
"""The most cells of the matrix of arrivals at one time, unless one tree alone needs more."""

NEVER = np.iinfo(np.int32).max

_ABILITIES = {PhaseOp.BROADCAST: "multicast", PhaseOp.REDUCE: "aggregate"}
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
    ability = " or ".join(sorted(_ABILITIES[op] for op in ops))
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
            return f"{where} starts or ends on a switch that cannot {_ABILITIES[phase.op]}; expected a compute node"
    return None


def root_wrong(context: TreeContext) -> str | None:
    """Find a tree whose root does not take part; in an allreduce, one that cannot add up or copy the data."""
    members = set(context.compute)
    for place, phase in enumerate(context.schedule.phases):
        for tree, root in enumerate(phase.roots):
            if not 0 <= root < context.network.size:
                return f"tree {tree} of phase {place} has root number {root}; expected 0 to {context.network.size - 1}"
            if root not in members and not _may_be_root(context, phase, root):
                where = "an idle node" if context.network.is_compute[root] else "a switch"
                return (
                    f"{wording.tree(context, place, tree)} is rooted at {where}; expected {wording.a_member(context)}"
                )
    return None


def ends_misplaced(context: TreeContext) -> str | None:
    """Find sources or targets in a schedule that has none: of another collective, or with a symmetry."""
    schedule = context.schedule
    if schedule.sources is None and schedule.targets is None:
        return None
    if schedule.sources is None or schedule.targets is None:
        return f"{'sources' if schedule.sources is None else 'targets'} are missing; expected both, or neither"
    if schedule.collective not in {Collective.BROADCAST, Collective.ALLREDUCE}:
        return f"sources and targets are given; expected none in {schedule.collective.with_article}"
    return None if schedule.symmetry is None else "sources and targets are given with a symmetry; expected one of them"


def ends_wrong(context: TreeContext) -> str | None:
    """Find sources and targets that are not in ascending order, or not the nodes that take part."""
    if context.schedule.sources is None:
        return None
    for name, nodes in (("sources", context.sources), ("targets", context.targets)):
        if not nodes or any(one >= other for one, other in pairwise(nodes)):
            return f"{name} are {wording.listed(nodes)}; expected one or more numbers of nodes in ascending order"
    together = {*context.sources, *context.targets}
    if together == set(context.compute):
        return None
    expected = f"expected the {len(context.compute)} {wording.members(context)}"
    return f"sources and targets together are {wording.listed(sorted(together))}; {expected}"


def _may_be_root(context: TreeContext, phase: Phase, node: int) -> bool:
    """Return whether a node that takes no part may be the root of a tree of `phase`.

    In an allreduce, the root is a place on the way: an idle node, or a switch with the ability that the phase needs.
    """
    if context.schedule.collective is not Collective.ALLREDUCE or context.schedule.symmetry is not None:
        return False
    return bool(context.network.is_compute[node] or context.network.can_join(phase.op)[node])


def route_unknown(context: TreeContext) -> str | None:
    """Find an entry of a tree that is not the number of a route."""
    count = len(context.schedule.routes)
    for place, phase in enumerate(context.schedule.phases):
        if (found := first_outside(phase.routes, count)) is not None:
            tree, position = found
            value = f"position {position} holds route number {phase.routes[tree][position]}"
            expected = f"expected 0 to {count - 1}" if count else "but the table of routes is empty"
            return f"{wording.tree(context, place, tree)}: {value}; {expected}"
    return None


@dataclass(frozen=True)
class _Block:
    """Consecutive trees of a phase; the arrays have one element for each entry of their lists of routes.

    Attributes:
        phase: the number of the phase.
        trees: the numbers of the trees.
        order: the entries of the phase in the order in which they are read.
        positions: the position of each entry in its tree, from 1, as it is read.
        sources: the cell of `arrivals` of the node on which the route of the entry, as it is read, starts.
        targets: the cell of `arrivals` of the node on which this route ends.
        arrivals: the position at which each node is first reached, one row for each tree.
    """

    phase: int
    trees: range
    order: IntArray
    positions: IntArray
    sources: IntArray
    targets: IntArray
    arrivals: npt.NDArray[np.int32]


def _blocks(context: TreeContext) -> Iterator[_Block]:
    height = max(1, BLOCK_CELLS // context.network.size)
    for place, phase in enumerate(context.schedule.phases):
        for begin in range(0, len(phase), height):
            yield _block(context, place, phase, range(begin, min(begin + height, len(phase))))


def _block(context: TreeContext, place: int, phase: Phase, trees: range) -> _Block:
    starts = phase.routes.starts[trees.start : trees.stop + 1]
    sizes = np.diff(starts)
    order: IntArray = np.arange(starts[0], starts[-1])
    if is_backwards(phase):
        order = np.repeat(starts[:-1] + starts[1:] - 1, sizes) - order
    routes = phase.routes.entries[order]
    rows = np.repeat(np.arange(len(trees)) * context.network.size, sizes)
    positions = np.arange(1, len(routes) + 1, dtype=np.int32) - np.repeat(
        (starts[:-1] - starts[0]).astype(np.int32), sizes
    )
    sources, targets = rows + context.firsts[routes], rows + context.lasts[routes]
    if is_backwards(phase):
        sources, targets = targets, sources
    arrivals = np.full((len(trees), context.network.size), NEVER, dtype=np.int32)
    # If a cell gets several values, numpy keeps the last, so the earliest arrival is written last.
    arrivals.reshape(-1)[targets[::-1]] = positions[::-1]
    arrivals[np.arange(len(trees)), phase.roots[trees.start : trees.stop]] = 0
    arrivals[:, list(context.holders)] = 0
    return _Block(place, trees, order, positions, sources, targets, arrivals)


def is_backwards(phase: Phase) -> bool:
    """Return whether the trees of `phase` reduce, so that they are read from the last route to the first."""
    return phase.op is PhaseOp.REDUCE


def starts_unreached(context: TreeContext) -> str | None:
    """Find a route that starts where the data of its tree has not arrived or, in a reduce, ends where it is lost."""
    for block in _blocks(context):
        late = first_true(block.arrivals.reshape(-1)[block.sources] >= block.positions)
        if late is not None:
            tree, route, text = _entry(context, block, late)
            if is_backwards(context.schedule.phases[block.phase]):
                end = int(context.lasts[route])
                sends = _sends(context, block, tree, end)
                earlier = "no route of the tree starts there" if sends is None else f"one starts there at {sends} only"
                return f"{text} ends on {wording.node(context, end)}, which does not send after it; {earlier}"
            start = int(context.firsts[route])
            arrival = int(block.arrivals[tree - block.trees.start, start])
            later = "no route of the tree ends there" if arrival == NEVER else f"one ends there at {arrival - 1} only"
            return f"{text} starts on {wording.node(context, start)}, not reached before; {later}"
    return None


def _sends(context: TreeContext, block: _Block, tree: int, node: int) -> int | None:
    """Return the last position at which `node` sends in a tree that reduces, or None if it does not."""
    arrival = int(block.arrivals[tree - block.trees.start, node])
    return None if arrival == NEVER else len(context.schedule.phases[block.phase].routes[tree]) - arrival


def reached_twice(context: TreeContext) -> str | None:
    """Find a route that ends on a node that its tree reached before or, in a reduce, a node that sends twice."""
    for block in _blocks(context):
        again = first_true(block.arrivals.reshape(-1)[block.targets] != block.positions)
        if again is not None:
            tree, route, text = _entry(context, block, again)
            if is_backwards(context.schedule.phases[block.phase]):
                start = int(context.firsts[route])
                sends = _sends(context, block, tree, start)
                is_root = start == context.schedule.phases[block.phase].roots[tree]
                after = "the root itself" if is_root else f"which also sends at position {sends}"
                return f"{text} starts on {wording.node(context, start)}, {after}; expected a node that sends only here"
            end = int(context.lasts[route])
            arrival = int(block.arrivals[tree - block.trees.start, end])
            itself = "a source, which has the data" if end in context.holders else "the root itself"
            before = f"reached before at position {arrival - 1}" if arrival else itself
            return f"{text} ends on {wording.node(context, end)}, {before}; expected a node not reached before"
    return None


def _entry(context: TreeContext, block: _Block, number: int) -> tuple[int, int, str]:
    """Return the tree and the route of an entry of a block, and how a message names them."""
    rows = context.schedule.phases[block.phase].routes
    tree, position = place_in_rows(rows, int(block.order[number]))
    route = rows[tree][position]
    return (
        tree,
        route,
        f"{wording.tree(context, block.phase, tree)}, position {position}: {wording.route(context, route)}",
    )


def not_spanning(context: TreeContext) -> str | None:
    """Find a tree that does not reach a node that takes part or, in a reduce, has no data of it."""
    for block in _blocks(context):
        compute = np.array(context.joined(context.schedule.phases[block.phase]), dtype=np.int64)
        is_missed = block.arrivals[:, compute] == NEVER
        if (row := first_true(is_missed.any(axis=1))) is not None:
            missed = compute[is_missed[row]].tolist()
            text = wording.tree(context, block.phase, block.trees[row])
            verb = "does not reach" if not is_backwards(context.schedule.phases[block.phase]) else "has no data of"
            return (
                f"{text} {verb} {wording.nodes(context, missed)}; expected all {len(compute)} {_joined(context, block)}"
            )
    return None


def _joined(context: TreeContext, block: _Block) -> str:
    """Return the word for the nodes that the trees of a block join."""
    if context.schedule.sources is None:
        return wording.members(context)
    return "sources" if is_backwards(context.schedule.phases[block.phase]) else "targets"


def relay_empty(context: TreeContext) -> str | None:
    """Find an idle node, or a target that is no source, that sends in a reduce although it received nothing."""
    idle = np.flatnonzero(context.network.is_compute)
    idle = idle[~np.isin(idle, context.sources)]
    for block in _blocks(context) if len(idle) else ():
        if not is_backwards(context.schedule.phases[block.phase]):
            continue
        receives = np.zeros(block.arrivals.size, dtype=np.bool_)
        receives[block.sources] = True
        is_empty = (block.arrivals[:, idle] != NEVER) & ~receives.reshape(block.arrivals.shape)[:, idle]
        if (row := first_true(is_empty.any(axis=1))) is not None:
            number = int(idle[is_empty[row]][0])
            node = f"{'target' if number in context.compute else 'idle node'} {wording.node(context, number)}"
            text = wording.tree(context, block.phase, block.trees[row])
            return f"{text}: {node} sends, but no route of the tree ends there; expected data from others"
    return None
