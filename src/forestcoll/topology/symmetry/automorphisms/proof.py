"""The proof that a group is what it claims, tested on every link: the last step of the search."""

from math import prod

import numpy as np

from forestcoll.base.errors import InternalError
from forestcoll.topology.symmetry.automorphisms.graph import ColouredGraph, Indices, Mask, components
from forestcoll.topology.symmetry.shifts import NodeArray, Symmetry


def prove(graph: ColouredGraph, symmetry: Symmetry, *, moves_all: bool = True) -> None:
    """Test that the shifts are symmetries of `graph` with the stated orders, commute, and move every compute node.

    If not `moves_all`, it is enough that they move every compute node of one orbit.

    Raises:
        InternalError: a test fails; the text says which.
    """
    arcs = _arcs(graph, np.arange(graph.nodes, dtype=np.int32))
    for number, shift in enumerate(symmetry.shifts):
        _require(_is_permutation(shift.image, graph.nodes), "a shift is not a permutation")
        _require(np.array_equal(graph.colour[shift.image], graph.colour), "a shift changes the sort of a node")
        _require(np.array_equal(_arcs(graph, shift.image), arcs), "a shift does not keep the links")
        _require(_has_order(shift.image, shift.order), "a shift does not have its stated order")
        earlier = symmetry.shifts[:number]
        commutes = all(np.array_equal(shift.image[each.image], each.image[shift.image]) for each in earlier)
        _require(commutes, "two shifts do not commute")
    is_free = _is_free(graph, symmetry)
    _require(is_free.all() if moves_all else is_free.any(), "a product of shifts leaves a compute node in place")


def _require(condition: bool | np.bool_, what: str) -> None:  # noqa: FBT001 - it is an assertion
    if not condition:
        raise InternalError(f"symmetry: {what}")


def _is_permutation(image: NodeArray, nodes: int) -> bool:
    return np.array_equal(np.sort(image), np.arange(nodes))


def _arcs(graph: ColouredGraph, image: NodeArray) -> Indices:
    """Return the arcs between images, sorted, as rows of target, source and label."""
    source, target = image[graph.source], image[graph.target]
    order = np.lexsort((graph.label, target, source))
    return np.stack([source[order], target[order], graph.label[order]]).astype(np.int64)


def _has_order(image: NodeArray, order: int) -> bool:
    """Return whether `order` applications of `image` are the identity; fewer are not, as an orbit is free."""
    result, square, left = np.arange(len(image)), image.astype(np.int64), order
    while left:
        if left % 2:
            result = square[result]
        square, left = square[square], left // 2
    return order > 1 and np.array_equal(result, np.arange(len(image)))


def _is_free(graph: ColouredGraph, symmetry: Symmetry) -> Mask:
    """Return for each orbit of compute nodes whether it has as many nodes as the group has elements.

    If it has fewer, an element leaves its nodes in place.
    """
    images = [shift.image.astype(np.int64) for shift in symmetry.shifts]
    if not images:
        return np.ones(1, dtype=np.bool_)
    source = np.tile(np.arange(graph.nodes), len(images))
    orbits = components(graph.nodes, source, np.concatenate(images))[graph.compute]
    sizes = np.bincount(orbits)
    of_group: Mask = sizes[sizes > 0] == prod(shift.order for shift in symmetry.shifts)
    return of_group
