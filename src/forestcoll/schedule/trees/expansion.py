"""All trees of a schedule with a symmetry: the image of each base tree under each element of the group."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from forestcoll.schedule.rows import IntArray, Rows, type_of_numbers
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import NodeArray, Shift, Symmetry


@dataclass(frozen=True, slots=True)
class TreeImage:
    """One tree of a schedule, with its paths.

    Attributes:
        root: the number of the node that the data starts from or, in a reduce, ends on.
        share: the exact fraction of the total data M that the tree carries.
        paths: the node numbers of its routes, in the order in which data flows.
    """

    root: int
    share: Fraction
    paths: Rows


def tree_images(schedule: TreeSchedule, phase: int) -> Iterator[TreeImage]:
    """Yield each tree of a phase: for each element of the group, the images of the base trees in order.

    Args:
        schedule: a schedule of trees, with or without a symmetry.
        phase: the number of the phase, from 0.

    Returns:
        The trees, made one at a time.

    Example:
        >>> from forestcoll import generate
        >>> first = next(tree_images(generate("ring:nodes=4"), 0))
        >>> first.root, len(first.paths)
        (0, 3)
    """
    listed = schedule.phases[phase]
    for element in _elements(schedule):
        for tree in listed:
            base = schedule.routes.take(np.array(tree.routes, dtype=np.int64))
            yield TreeImage(int(element[tree.root]), tree.share, Rows(base.starts, element[base.entries]))


def expanded(schedule: TreeSchedule) -> TreeSchedule:
    """Return the same schedule without a symmetry: every tree in the order of `tree_images`, every route once.

    The result takes memory for all trees. The order of the routes is not specified, but always the same.

    Args:
        schedule: a schedule of trees.

    Returns:
        The expanded schedule; `schedule` itself if it has no symmetry.

    Example:
        >>> from forestcoll import generate
        >>> expanded(generate("ring:nodes=4")).size
        '8 trees'
    """
    if schedule.symmetry is None:
        return schedule
    elements = _table_of_elements(schedule)
    routes, of_element = _images_of_free(schedule, elements) or _images(schedule, elements)
    phases = tuple(_expanded_phase(phase, elements, of_element) for phase in schedule.phases)
    return replace(schedule, routes=routes, phases=phases, symmetry=None)


def _images(schedule: TreeSchedule, elements: IntArray) -> tuple[Rows, IntArray]:
    """Return each image of a route once, and a matrix: for each element and each route, the number of the image."""
    routes, numbers = distinct_rows(schedule.routes.images(elements))
    return routes, numbers.reshape(len(elements), -1)


def _images_of_free(schedule: TreeSchedule, elements: IntArray) -> tuple[Rows, IntArray] | None:
    """Return what `_images` returns, in another order and without comparing routes, or None if the group is not free.

    Under a group that acts freely, a route has as many different images as the group has elements. Each orbit of routes
    has one route that starts on the first node of an orbit of nodes. So the element that maps that route to another
    identifies the other. Elements of an abelian group are multiplied by adding the exponents of their shifts.
    """
    shifts = (schedule.symmetry or Symmetry(())).shifts
    element_of = _element_of_node(elements)
    routes = schedule.routes
    if (routes.starts[1:] == routes.starts[:-1]).any():
        return None  # a route without nodes; only a wrong file has one
    starts = routes.entries[routes.starts[:-1]]
    firsts = element_of[starts]
    if not shifts or not _is_abelian(shifts) or (firsts < 0).any():
        return None
    orders = tuple(shift.order for shift in shifts)
    powers = np.stack(np.unravel_index(firsts, orders), axis=1)
    back = np.ravel_multi_index(tuple((-powers % orders).T), orders)
    lengths = np.diff(routes.starts)
    base, of_base = distinct_rows(Rows(routes.starts, elements[np.repeat(back, lengths), routes.entries]))
    numbers = np.empty((len(elements), len(routes)), dtype=np.int32)
    for element, image in enumerate(elements):
        numbers[element] = element_of[image[starts]] * len(base) + of_base
    return base.images(elements), numbers


def _element_of_node(elements: IntArray) -> IntArray:
    """Return, for each node, the number of the only element that maps the first node of its orbit to it, or -1."""
    nodes = elements.shape[1]
    first = elements.min(axis=0)
    found = np.full(nodes, -1, dtype=np.int64)
    starts = np.flatnonzero(first == np.arange(nodes))
    sizes = np.bincount(first, minlength=nodes)
    free = starts[sizes[starts] == len(elements)]
    found[elements[:, free]] = np.arange(len(elements))[:, None]
    return found


def _is_abelian(shifts: tuple[Shift, ...]) -> bool:
    """Return whether all shifts commute, and each shift raised to its order is the identity."""
    commute = all(np.array_equal(one.image[two.image], two.image[one.image]) for one, two in combinations(shifts, 2))
    return commute and all(_returns(shift) for shift in shifts)


def _returns(shift: Shift) -> bool:
    power, square, left = np.arange(len(shift.image)), shift.image.astype(np.int64), shift.order
    while left:
        power = square[power] if left % 2 else power
        square, left = square[square], left // 2
    return bool((power == np.arange(len(power))).all())


def _elements(schedule: TreeSchedule) -> Iterator[NodeArray]:
    return (schedule.symmetry or Symmetry(())).elements(len(schedule.topology.nodes))


def _table_of_elements(schedule: TreeSchedule) -> IntArray:
    """Return all elements of the group as the rows of one array, of the type that the images of routes will have."""
    order = 1 if schedule.symmetry is None else schedule.symmetry.order
    nodes = len(schedule.topology.nodes)
    table = np.empty((order, nodes), dtype=type_of_numbers(nodes))
    for row, element in zip(table, _elements(schedule), strict=True):
        row[:] = element
    return table


def _expanded_phase(phase: Phase, elements: IntArray, routes: IntArray) -> Phase:
    """Return the images of `phase`; `routes` has one row for each element, the number of each base route's image."""
    roots = np.array(phase.roots, dtype=np.int64)
    return Phase(
        op=phase.op,
        roots=tuple(elements[:, roots].reshape(-1).tolist()),
        shares=phase.shares * len(elements),
        routes=phase.routes.images(routes),
    )


def distinct_rows(rows: Rows) -> tuple[Rows, IntArray]:
    """Return the distinct rows in order of first occurrence, and for each of `rows` its number among them.

    Step n gives each row a number by its first n entries. At the end, number and length together identify a row.
    """
    lengths = np.diff(rows.starts)
    longest = int(lengths.max(initial=0))
    numbers = np.zeros(len(rows), dtype=np.int64)
    bound = int(rows.entries.max(initial=0)) + 1
    for position in range(longest):
        longer = np.flatnonzero(lengths > position)
        codes = numbers[longer] * bound + rows.entries[rows.starts[longer] + position]
        numbers[longer] = np.unique(codes, return_inverse=True)[1]
    _, firsts, numbers = np.unique(numbers * (longest + 1) + lengths, return_index=True, return_inverse=True)
    order = np.argsort(firsts)
    ranks = np.empty(len(order), dtype=np.int32)
    ranks[order] = np.arange(len(order), dtype=np.int32)
    return rows.take(firsts[order]), ranks[numbers]
