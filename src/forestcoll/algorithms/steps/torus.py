"""Algorithms whose steps are each along one dimension of a torus: the dimensions, and their order."""

from collections.abc import Iterator, Sequence

import numpy as np

from forestcoll.algorithms.direct_networks.torus_rings import torus_sizes
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.errors import InputError
from forestcoll.schedule.rows import IntArray


def sizes_of(problem: Problem) -> tuple[int, ...]:
    """Return the sizes of the dimensions of a torus.

    Raises:
        DoesNotApplyError: the network is not a torus of compute nodes with nodes numbered row by row, or only some of
            the compute nodes take part.
    """
    if problem.demand.ranks is not None:
        raise DoesNotApplyError("all nodes of the torus must take part, and here only some do")
    try:
        sizes = torus_sizes(problem.topology)
    except InputError:
        raise DoesNotApplyError("the network is not a torus with nodes numbered row by row") from None
    if problem.topology.switches:
        raise DoesNotApplyError("the network has switches, and a torus needs direct links")
    return sizes


def in_turn(steps: Sequence[int], first: int) -> Iterator[tuple[int, int]]:
    """Yield the dimension of each step, in turn from `first`, and the number of the step in its dimension.

    Args:
        steps: the number of steps in each dimension.
        first: the dimension of the first step.

    Example:
        >>> list(in_turn([2, 1], 1))
        [(1, 0), (0, 0), (0, 1)]
    """
    for step in range(max(steps)):
        for place in range(len(steps)):
            dimension = (first + place) % len(steps)
            if step < steps[dimension]:
                yield dimension, step


def moved(sizes: Sequence[int], dimension: int, distances: int | IntArray) -> IntArray:
    """Return the node at a distance from each node along a dimension.

    Args:
        sizes: the sizes of the dimensions; one size for a ring.
        dimension: the dimension.
        distances: the distance of all nodes, or one for each.

    Example:
        >>> moved((2, 3), 1, -1).tolist()
        [2, 0, 1, 5, 3, 4]
    """
    places = list(places_along(sizes))
    places[dimension] = (places[dimension] + distances) % sizes[dimension]
    return np.ravel_multi_index(places, tuple(sizes))


def places_along(sizes: Sequence[int]) -> tuple[IntArray, ...]:
    """Return, for each dimension, the places of all nodes."""
    return np.unravel_index(np.arange(np.prod(sizes)), tuple(sizes))
