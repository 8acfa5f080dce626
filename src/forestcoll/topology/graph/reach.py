"""Reachability between the nodes of a network over directed links."""

from collections.abc import Iterable, Sequence

from forestcoll.topology.model import Topology


def reached_from(topology: Topology, start: Iterable[int], *, backwards: bool = False) -> set[int]:
    """Return `start` and all nodes reachable from it; if `backwards`, `start` and all nodes that can reach it."""
    return _closure(start, topology.sources if backwards else topology.targets)


def _closure(start: Iterable[int], neighbours: Sequence[Sequence[int]]) -> set[int]:
    reached = set(start)
    frontier = set(reached)
    while frontier:
        frontier = set().union(*map(neighbours.__getitem__, frontier)) - reached
        reached |= frontier
    return reached


def unreachable_pair(topology: Topology, wanted: Sequence[int]) -> tuple[int, int] | None:
    """Return two of the nodes `wanted` such that the first cannot reach the second, or None if there are none."""
    first = wanted[0]
    forward = unreachable_from(topology, first, wanted)
    return forward or unreachable_from(topology, first, wanted, backwards=True)


def unreachable_from(
    topology: Topology, root: int, wanted: Sequence[int], *, backwards: bool = False
) -> tuple[int, int] | None:
    """Return the root and a node of `wanted` that it cannot reach, or None if there is none.

    If `backwards`, return a node of `wanted` that cannot reach the root, and the root.
    """
    missed = _first_missed(wanted, reached_from(topology, [root], backwards=backwards))
    if missed is None:
        return None
    return (missed, root) if backwards else (root, missed)


def _first_missed(wanted: Iterable[int], reached: set[int]) -> int | None:
    return next((number for number in wanted if number not in reached), None)
