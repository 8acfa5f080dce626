"""Packing spanning trees edge by edge, each checked by the mu of Theorem 10 (Algorithm 4).

Only the copies of a batch that took every edge are kept. The other copies become single roots again, so all trees
remain possible, and whenever mu is computed every other tree is a single root.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from forestcoll.base.errors import InternalError
from forestcoll.kernels.interface import ReportProgress
from forestcoll.kernels.reference.network import Arc, Capacities, Problem, max_flow, with_arcs
from forestcoll.kernels.reference.switches import LogicalNetwork


@dataclass
class TreeBatches:
    """Trees as lists of arcs; see `Core.pack_trees`."""

    roots: list[int] = field(default_factory=list)
    multiplicities: list[int] = field(default_factory=list)
    trees: list[list[Arc]] = field(default_factory=list)

    def lists(self, logical: LogicalNetwork) -> tuple[list[int], list[int], list[int], list[int]]:  # noqa: ARG002
        """See `interface.TreeBatches.lists`."""
        arcs = [arc for tree in self.trees for arc in tree]
        return self.roots, self.multiplicities, [tail for tail, _ in arcs], [head for _, head in arcs]


def tree_capacity(problem: Problem, remaining: Sequence[int], arc: int, multiplicity: int) -> int:
    """See `Core.tree_capacity`."""
    ends = (problem.tails[arc], problem.heads[arc])
    return _tree_capacity(problem.arc_capacities(), dict(enumerate(remaining)), ends, multiplicity)


def _tree_capacity(capacities: Capacities, remaining: dict[int, int], arc: Arc, multiplicity: int) -> int:
    tail, head = arc
    others = sum(remaining.values())
    fed = with_arcs(capacities, ((tail, node, count) for node, count in remaining.items() if node != tail))
    room = max_flow(fed, tail, head)[0] - others
    return max(min(multiplicity, capacities[arc], room), 0)


def pack_trees(
    problem: Problem, logical: LogicalNetwork, supply: int, progress: ReportProgress = None
) -> tuple[TreeBatches, dict[str, int]]:
    """See `Core.pack_trees`."""
    capacities = {arc: capacity for arc, capacity in logical.capacities.items() if capacity}
    remaining = problem.supplies(supply)
    batches = TreeBatches()
    for place, root in enumerate(problem.terminals):
        while remaining[root]:
            tree, multiplicity = _grow(problem, capacities, remaining, root)
            remaining[root] -= multiplicity
            for arc in tree:
                capacities[arc] -= multiplicity
            batches.roots.append(root)
            batches.multiplicities.append(multiplicity)
            batches.trees.append(tree)
        if progress is not None:
            progress(place + 1, len(problem.terminals))
    return batches, {"batches": len(batches.roots)}


def _grow(problem: Problem, capacities: Capacities, remaining: dict[int, int], root: int) -> tuple[list[Arc], int]:
    """Return a tree from `root`, and how many copies of it leave all other trees possible."""
    multiplicity = remaining[root]
    reached = [root]
    tree: list[Arc] = []
    while len(reached) < len(problem.terminals):
        left = with_arcs(capacities, ((*arc, -multiplicity) for arc in tree))
        others = remaining | {root: remaining[root] - multiplicity}
        for arc in _leaving(left, reached):
            if room := _tree_capacity(left, others, arc, multiplicity):
                multiplicity = room
                tree.append(arc)
                reached.append(arc[1])
                break
        else:
            raise InternalError(f"no arc could be added to a tree from node number {root}")
    return tree, multiplicity


def _leaving(capacities: Capacities, reached: list[int]) -> list[Arc]:
    """Return the arcs that leave the set `reached`; those near the root come first."""
    depth = {node: place for place, node in enumerate(reached)}
    leaving = [arc for arc, left in capacities.items() if left and arc[0] in depth and arc[1] not in depth]
    return sorted(leaving, key=lambda arc: depth[arc[0]])
