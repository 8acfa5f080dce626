"""Rules about trees: that each carries its root's data to every compute node, once. Each returns a message or None.

Where a tree's data arrives is a matrix, trees by nodes: the position (from 1) of the route that first ends on the
node, 0 at the root, `NEVER` elsewhere. Three comparisons with it decide order, repetition and spanning. It is made in
blocks of trees, so that its memory stays bounded. Cost: linear in the entries of the trees and in trees times nodes.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forestcoll.schedule import Phase
from forestcoll.schedule.model import IntArray
from forestcoll.verification import wording
from forestcoll.verification.case import Case
from forestcoll.verification.search import first_outside, first_true, place_in_rows

BLOCK_CELLS = 2**20
"""The most cells of the matrix of arrivals at one time, unless one tree alone needs more."""

NEVER = np.iinfo(np.int32).max


def root_wrong(case: Case) -> str | None:
    """Find a tree whose root is not a compute node."""
    compute = set(case.compute)
    for place, phase in enumerate(case.schedule.phases):
        for tree, root in enumerate(phase.roots):
            if not 0 <= root < case.network.size:
                return f"tree {tree} of phase {place} has root number {root}; expected 0 to {case.network.size - 1}"
            if root not in compute:
                return f"{wording.tree(case, place, tree)} is rooted at a switch; expected a compute node"
    return None


def route_unknown(case: Case) -> str | None:
    """Find an entry of a tree that is no route number."""
    count = len(case.schedule.routes)
    for place, phase in enumerate(case.schedule.phases):
        if (found := first_outside(phase.routes, count)) is not None:
            tree, position = found
            value = f"position {position} holds route number {phase.routes[tree][position]}"
            expected = f"expected 0 to {count - 1}" if count else "but the table of routes is empty"
            return f"{wording.tree(case, place, tree)}: {value}; {expected}"
    return None


@dataclass(frozen=True)
class Block:
    """Some trees of a phase that follow one another, each entry of their lists of routes as one element of arrays.

    Attributes:
        phase: the number of the phase.
        trees: the numbers of the trees.
        entry: the number of the first entry among those of the phase.
        positions: the position of each entry in its tree, from 1.
        sources: the cell of `arrivals` of the node that the entry's route starts on.
        targets: the cell of the node that it ends on.
        arrivals: the position at which each node is first reached, a row a tree.
    """

    phase: int
    trees: range
    entry: int
    positions: IntArray
    sources: IntArray
    targets: IntArray
    arrivals: npt.NDArray[np.int32]


def _blocks(case: Case) -> Iterator[Block]:
    height = max(1, BLOCK_CELLS // case.network.size)
    for place, phase in enumerate(case.schedule.phases):
        for begin in range(0, len(phase), height):
            yield _block(case, place, phase, range(begin, min(begin + height, len(phase))))


def _block(case: Case, place: int, phase: Phase, trees: range) -> Block:
    starts = phase.routes.starts[trees.start : trees.stop + 1]
    sizes = np.diff(starts)
    routes = phase.routes.entries[starts[0] : starts[-1]]
    rows = np.repeat(np.arange(len(trees)) * case.network.size, sizes)
    positions = np.arange(1, len(routes) + 1, dtype=np.int32) - np.repeat(
        (starts[:-1] - starts[0]).astype(np.int32), sizes
    )
    sources, targets = rows + case.firsts[routes], rows + case.lasts[routes]
    arrivals = np.full((len(trees), case.network.size), NEVER, dtype=np.int32)
    # Of several values for a cell numpy keeps the last, so the earliest arrival is written last.
    arrivals.reshape(-1)[targets[::-1]] = positions[::-1]
    arrivals[np.arange(len(trees)), phase.roots[trees.start : trees.stop]] = 0
    return Block(place, trees, int(starts[0]), positions, sources, targets, arrivals)


def starts_unreached(case: Case) -> str | None:
    """Find a route that starts where its tree's data has not arrived."""
    for block in _blocks(case):
        late = first_true(block.arrivals.reshape(-1)[block.sources] >= block.positions)
        if late is not None:
            tree, route, text = _entry(case, block, late)
            start = int(case.firsts[route])
            arrival = int(block.arrivals[tree - block.trees.start, start])
            later = "no route of the tree ends there" if arrival == NEVER else f"one ends there at {arrival - 1} only"
            return f"{text} starts on {wording.node(case, start)}, not reached before; {later}"
    return None


def reached_twice(case: Case) -> str | None:
    """Find a route that ends on a node that its tree reached before."""
    for block in _blocks(case):
        again = first_true(block.arrivals.reshape(-1)[block.targets] != block.positions)
        if again is not None:
            tree, route, text = _entry(case, block, again)
            end = int(case.lasts[route])
            arrival = int(block.arrivals[tree - block.trees.start, end])
            before = f"reached before at position {arrival - 1}" if arrival else "the root itself"
            return f"{text} ends on {wording.node(case, end)}, {before}; expected a node newly reached"
    return None


def _entry(case: Case, block: Block, number: int) -> tuple[int, int, str]:
    """Return the tree and the route of an entry of a block, and how a message names them."""
    rows = case.schedule.phases[block.phase].routes
    tree, position = place_in_rows(rows, block.entry + number)
    route = rows[tree][position]
    return tree, route, f"{wording.tree(case, block.phase, tree)}, position {position}: {wording.route(case, route)}"


def not_spanning(case: Case) -> str | None:
    """Find a tree that does not reach some compute node."""
    compute = np.array(case.compute, dtype=np.int64)
    for block in _blocks(case):
        is_missed = block.arrivals[:, compute] == NEVER
        if (row := first_true(is_missed.any(axis=1))) is not None:
            missed = compute[is_missed[row]].tolist()
            text = wording.tree(case, block.phase, block.trees[row])
            return f"{text} does not reach {wording.nodes(case, missed)}; expected all {len(compute)} compute nodes"
    return None
