"""Minimum-cost arborescences, and the cuts that prove the minimum (Edmonds 1967, Fulkerson 1974).

Every node except the root takes its cheapest incoming arc. The costs of all arcs into the node are reduced by the cost
of that arc. If the taken arcs form a cycle, the cycle is contracted to one node, and the procedure is repeated. The
tree is then expanded in the reverse order: each cycle drops the arc into the node that is entered from outside.

The reduction at a contracted node is the weight of a cut, which is the set of nodes in it. Every tree enters the set.
No arc costs less than the sum of the weights of the cuts that it enters. The sum of all weights equals the cost of the
tree, so the tree is a cheapest one.

Costs may be floats or exact numbers. Exact costs give an exact proof. The running time is O(arcs) per level, with at
most as many levels as nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, TypeVar

from forestcoll.base.errors import InternalError
from forestcoll.topology.graph.walks import hops

Number = TypeVar("Number", int, float, Fraction)

Arc = tuple[int, int]


@dataclass(frozen=True)
class CheapestTree(Generic[Number]):
    """A spanning tree of minimum cost.

    Attributes:
        arcs: the indices of the arcs of the tree. Each arc comes after the arc that leads to its tail.
        cuts: positive weights, each with a set of nodes that does not contain the root.
    """

    arcs: tuple[int, ...]
    cuts: tuple[tuple[Number, tuple[int, ...]], ...]


@dataclass
class _Level(Generic[Number]):
    """One level of contraction: `label` holds the contracted node of each node, `taken` the arc of each of them."""

    label: list[int]
    taken: dict[int, int] = field(default_factory=dict)


def cheapest_tree(
    nodes: Sequence[int], arcs: Sequence[Arc], costs: Sequence[Number], root: int
) -> CheapestTree[Number]:
    """Return a cheapest spanning tree of `nodes` from `root`. On a tie between arcs, the first one is taken.

    Args:
        nodes: the numbers of the nodes to span.
        arcs: tail and head of each arc, both in `nodes`.
        costs: the cost of each arc, 0 or more.
        root: one of `nodes`. All other nodes can be reached from it.
    """
    left = list(costs)
    outside = list(range(len(arcs)))  # the arcs whose ends are in different contracted nodes
    label = list(range(max(nodes) + 1))
    levels: list[_Level[Number]] = []
    cuts: list[tuple[Number, tuple[int, ...]]] = []
    while True:
        level: _Level[Number] = _Level(label)
        levels.append(level)
        outside = [place for place in outside if label[arcs[place][0]] != label[arcs[place][1]]]
        _take_cheapest(level, arcs, outside, left, root)
        cuts += _reduce_costs(level, nodes, arcs, outside, left)
        cycles = _cycles(level, arcs)
        if not cycles:
            break
        label = _contracted(label, cycles)
    chosen = _expanded(levels, arcs)
    return CheapestTree(_in_order(chosen, arcs, nodes, root), tuple(cuts))


def _take_cheapest(
    level: _Level[Number], arcs: Sequence[Arc], outside: Sequence[int], left: Sequence[Number], root: int
) -> None:
    label, taken = level.label, level.taken
    for place in outside:
        into = label[arcs[place][1]]
        best = taken.get(into)
        if best is None or left[place] < left[best]:
            taken[into] = place
    taken.pop(label[root], None)


def _reduce_costs(
    level: _Level[Number], nodes: Sequence[int], arcs: Sequence[Arc], outside: Sequence[int], left: list[Number]
) -> list[tuple[Number, tuple[int, ...]]]:
    """Reduce the cost of each arc by the cost of the arc taken at its head, and return the cuts of this reduction."""
    label = level.label
    falls = {into: left[place] for into, place in level.taken.items() if left[place] > 0}
    if not falls:
        return []
    members: dict[int, list[int]] = {into: [] for into in falls}
    for node in nodes:
        if label[node] in members:
            members[label[node]].append(node)
    for place in outside:
        into = label[arcs[place][1]]
        if into in falls:
            left[place] -= falls[into]
    return [(falls[into], tuple(members[into])) for into in sorted(falls)]


def _cycles(level: _Level[Number], arcs: Sequence[Arc]) -> list[list[int]]:
    """Return the cycles that the taken arcs form, each as a list of labels."""
    label, taken = level.label, level.taken
    seen: dict[int, int] = {}
    cycles = []
    for start in sorted(taken):
        node = start
        walk = []
        while node in taken and node not in seen:
            seen[node] = start
            walk.append(node)
            node = label[arcs[taken[node]][0]]
        if seen.get(node) == start and walk:
            cycles.append(walk[walk.index(node) :])
    return cycles


def _contracted(label: Sequence[int], cycles: Sequence[Sequence[int]]) -> list[int]:
    first = {node: cycle[0] for cycle in cycles for node in cycle}
    return [first.get(each, each) for each in label]


def _expanded(levels: Sequence[_Level[Number]], arcs: Sequence[Arc]) -> list[int]:
    """Return the arcs of the tree: on each level, the node that is entered from outside drops the arc that it took."""
    chosen: list[int] = []
    for level in reversed(levels):
        kept = dict(level.taken)
        kept |= {level.label[arcs[place][1]]: place for place in chosen}
        chosen = list(kept.values())
    return chosen


def _in_order(chosen: Sequence[int], arcs: Sequence[Arc], nodes: Sequence[int], root: int) -> tuple[int, ...]:
    """Return the arcs in the order of their distance from the root."""
    leaving: dict[int, list[int]] = {}
    for place in sorted(chosen):
        leaving.setdefault(arcs[place][0], []).append(place)
    reached = hops([root], lambda node: [arcs[place][1] for place in leaving.get(node, [])])
    ordered = [place for node in reached for place in leaving.get(node, [])]
    if len(ordered) != len(nodes) - 1:
        raise InternalError("the cheapest tree does not span its nodes")
    return tuple(ordered)
