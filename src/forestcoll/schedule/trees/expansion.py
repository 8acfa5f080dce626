"""The trees that a schedule with a symmetry stands for: the image of each base tree under each element of the group."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations

import numpy as np

from forestcoll.schedule.rows import IntArray, Rows, row_starts
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import NodeArray, Shift, Symmetry


@dataclass(frozen=True, slots=True)
class TreeImage:
    """One tree of a schedule, written out.

    Attributes:
        root: the number of the node that the data starts from or, where it is reduced, ends on.
        share: the exact fraction of the total data M that the tree carries.
        paths: the node numbers of its routes, in the order in which data flows.
    """

    root: int
    share: Fraction
    paths: Rows


def tree_images(schedule: TreeSchedule, phase: int) -> Iterator[TreeImage]:
    """Yield each tree of a phase, one at a time: element by element of the group, in the order of the base trees."""
    listed = schedule.phases[phase]
    for element in _elements(schedule):
        for tree in listed:
            base = schedule.routes.take(np.array(tree.routes, dtype=np.int64))
            yield TreeImage(int(element[tree.root]), tree.share, Rows(base.starts, element[base.entries]))


def expanded(schedule: TreeSchedule) -> TreeSchedule:
    """Return the same schedule without a symmetry: every tree in the order of `tree_images`, every route once.

    Takes memory for all of it; the order of the routes is none in particular, but always the same.
    """
    if schedule.symmetry is None:
        return schedule
    elements = np.stack(list(_elements(schedule)))
    routes, of_element = _images_of_free(schedule, elements) or _images(schedule, elements)
    phases = tuple(_expanded_phase(phase, elements, of_element) for phase in schedule.phases)
    return replace(schedule, routes=routes, phases=phases, symmetry=None)


def _images(schedule: TreeSchedule, elements: NodeArray) -> tuple[Rows, IntArray]:
    """Return each image of a route once, and a matrix: of each element and route, the number of the image."""
    lengths = np.tile(np.diff(schedule.routes.starts), len(elements))
    routes, numbers = distinct_rows(
        Rows(row_starts(lengths), np.take(elements, schedule.routes.entries, axis=1).reshape(-1))
    )
    return routes, numbers.reshape(len(elements), -1)


def _images_of_free(schedule: TreeSchedule, elements: NodeArray) -> tuple[Rows, IntArray] | None:
    """Return what `_images` does, in another order and without comparing them, or None if the group forbids it.

    A group that acts freely sends a route to as many different ones as it has elements. So a route is told by the
    element that leads to it from the route of its orbit that starts on the first node of an orbit of nodes; elements
    of an abelian group are added by adding the powers of its shifts.
    """
    shifts = (schedule.symmetry or Symmetry(())).shifts
    element_of = _element_of_node(elements)
    routes = schedule.routes
    if (routes.starts[1:] == routes.starts[:-1]).any():
        return None  # a route without nodes, which only a wrong file has
    starts = routes.entries[routes.starts[:-1]]
    firsts = element_of[starts]
    if not shifts or not _is_abelian(shifts) or (firsts < 0).any():
        return None
    orders = tuple(shift.order for shift in shifts)
    powers = np.stack(np.unravel_index(firsts, orders), axis=1)
    back = np.ravel_multi_index(tuple((-powers % orders).T), orders)
    lengths = np.diff(routes.starts)
    base, of_base = distinct_rows(Rows(routes.starts, elements[np.repeat(back, lengths), routes.entries]))
    lengths = np.tile(np.diff(base.starts), len(elements))
    images = Rows(row_starts(lengths), np.take(elements, base.entries, axis=1).reshape(-1))
    numbers = np.empty((len(elements), len(routes)), dtype=np.int32)
    for element, image in enumerate(elements):
        numbers[element] = element_of[image[starts]] * len(base) + of_base
    return images, numbers


def _element_of_node(elements: NodeArray) -> IntArray:
    """Return of each node the number of the only element that leads to it from the first of its orbit, -1 if none."""
    nodes = elements.shape[1]
    first = elements.min(axis=0)
    found = np.full(nodes, -1, dtype=np.int64)
    starts = np.flatnonzero(first == np.arange(nodes))
    sizes = np.bincount(first, minlength=nodes)
    free = starts[sizes[starts] == len(elements)]
    found[elements[:, free]] = np.arange(len(elements))[:, None]
    return found


def _is_abelian(shifts: tuple[Shift, ...]) -> bool:
    """Whether all shifts commute and come back to the identity after as many steps as they say."""
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


def _expanded_phase(phase: Phase, elements: NodeArray, routes: IntArray) -> Phase:
    """Return the images of `phase`; `routes` has a row an element, the number of each base route's image."""
    roots = np.array(phase.roots, dtype=np.int64)
    lengths = np.tile(np.diff(phase.routes.starts), len(elements))
    return Phase(
        op=phase.op,
        roots=tuple(elements[:, roots].reshape(-1).tolist()),
        shares=phase.shares * len(elements),
        routes=Rows(row_starts(lengths), np.take(routes, phase.routes.entries, axis=1).reshape(-1)),
    )


def distinct_rows(rows: Rows) -> tuple[Rows, IntArray]:
    """Return each of `rows` once, in order of first occurrence, and of each of `rows` its number among them.

    Rows get numbers by their beginnings, one entry longer at each step; in the end number and length tell them apart.
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
