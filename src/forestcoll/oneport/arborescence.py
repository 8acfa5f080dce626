"""Cheapest spanning trees from a root over directed arcs, and the cuts that prove it (Edmonds 1967, Fulkerson 1974).

Every node but the root takes its cheapest arc, and the costs of all arcs into it fall by as much. Where the arcs taken
close a cycle, it becomes one node, and so on; unfolded backwards, each cycle gives up the one arc whose end was
entered from outside. What costs fell by at a node that stands for a set of nodes is the weight of a cut: every tree
enters the set, no arc costs less than the cuts that it enters together, and the cuts together cost what the tree does.

Costs may be floats or exact; exact ones give an exact proof. Cost: O(arcs) a level, at most as many levels as nodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Generic, TypeVar

from forestcoll.errors import InternalError

Number = TypeVar("Number", int, float, Fraction)

Arc = tuple[int, int]


@dataclass(frozen=True)
class CheapestTree(Generic[Number]):
    """A spanning tree of least cost.

    Attributes:
        arcs: the places of its arcs, each after the one that leads to its tail.
        cuts: weights above 0, each with a set of nodes without the root.
    """

    arcs: tuple[int, ...]
    cuts: tuple[tuple[Number, tuple[int, ...]], ...]


@dataclass
class _Level(Generic[Number]):
    """Nodes merged so far: `label` says of each node which one it is part of, `taken` which arc each takes."""

    label: list[int]
    taken: dict[int, int] = field(default_factory=dict)


def cheapest_tree(
    nodes: Sequence[int], arcs: Sequence[Arc], costs: Sequence[Number], root: int
) -> CheapestTree[Number]:
    """Return a cheapest spanning tree of `nodes` from `root`; of equally cheap arcs the first is taken.

    Args:
        nodes: the numbers of the nodes to span.
        arcs: tail and head of each arc, both in `nodes`.
        costs: of each arc, 0 or more.
        root: one of `nodes`, from which all others can be reached.
    """
    left = list(costs)
    outside = list(range(len(arcs)))  # the arcs whose ends have not been merged
    label = list(range(max(nodes) + 1))
    levels: list[_Level[Number]] = []
    cuts: list[tuple[Number, tuple[int, ...]]] = []
    while True:
        level: _Level[Number] = _Level(label)
        levels.append(level)
        outside = [place for place in outside if label[arcs[place][0]] != label[arcs[place][1]]]
        _take_cheapest(level, arcs, outside, left, root)
        cuts += _lower(level, nodes, arcs, outside, left)
        cycles = _cycles(level, arcs)
        if not cycles:
            break
        label = _merged(label, cycles)
    chosen = _unfolded(levels, arcs)
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


def _lower(
    level: _Level[Number], nodes: Sequence[int], arcs: Sequence[Arc], outside: Sequence[int], left: list[Number]
) -> list[tuple[Number, tuple[int, ...]]]:
    """Let the costs of all arcs fall by that of the arc taken where they end, and return the cuts that this means."""
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
    """Return the cycles that the arcs taken close, each a list of labels."""
    label, taken = level.label, level.taken
    seen: dict[int, int] = {}
    cycles = []
    for start in sorted(taken):
        node = start
        way = []
        while node in taken and node not in seen:
            seen[node] = start
            way.append(node)
            node = label[arcs[taken[node]][0]]
        if seen.get(node) == start and way:
            cycles.append(way[way.index(node) :])
    return cycles


def _merged(label: Sequence[int], cycles: Sequence[Sequence[int]]) -> list[int]:
    first = {node: cycle[0] for cycle in cycles for node in cycle}
    return [first.get(each, each) for each in label]


def _unfolded(levels: Sequence[_Level[Number]], arcs: Sequence[Arc]) -> list[int]:
    """Return the arcs of the tree: on each level, what was entered from outside gives up the arc that it took."""
    chosen: list[int] = []
    for level in reversed(levels):
        kept = dict(level.taken)
        kept |= {level.label[arcs[place][1]]: place for place in chosen}
        chosen = list(kept.values())
    return chosen


def _in_order(chosen: Sequence[int], arcs: Sequence[Arc], nodes: Sequence[int], root: int) -> tuple[int, ...]:
    """Return the arcs from the root outwards, nearest first."""
    leaving: dict[int, list[int]] = {}
    for place in sorted(chosen):
        leaving.setdefault(arcs[place][0], []).append(place)
    ordered: list[int] = []
    frontier = [root]
    for node in frontier:
        for place in leaving.get(node, []):
            ordered.append(place)
            frontier.append(arcs[place][1])
    if len(ordered) != len(nodes) - 1:
        raise InternalError("the cheapest tree does not span its nodes")
    return tuple(ordered)
