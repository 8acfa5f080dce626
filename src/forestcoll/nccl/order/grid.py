"""A ring through all hosts of a torus or mesh in which hosts that follow one another are neighbours.

The hosts may be numbered in any way: those on the axes of a grid are found by their distances, and all others are known
by their distances from these.

A line through the hosts is extended by one dimension after the other. Of a line of P hosts and a dimension of size d,
it goes up and down along all but the first host of one of them, and returns along the first, if P or d is even. If both
are odd and closed to rings, it goes once around each of a rows in one of two directions, each of which moves the column
where it goes on by one: p times one and a - p times the other, so that 2p = a modulo the columns b <= a. Other meshes
of an odd number of hosts have no such ring: one send passes two links.
"""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from forestcoll.nccl.order.fabric import Integers

_LAST = 8
"""How many hosts that were found last, besides the first, the next one on an axis must fit to."""

_MOST_TRIED = 10_000
"""The most hosts that are tried on the axes."""


def grid_ring(distances: Integers) -> Integers | None:
    """Return the hosts of a torus or mesh in the order of a ring; None if they are no torus or mesh.

    Example:
        >>> line = np.abs(np.subtract.outer(np.arange(2), np.arange(2)))
        >>> square = np.kron(line, np.ones((2, 2), int)) + np.tile(line, (2, 2))
        >>> grid_ring(square).tolist()
        [0, 1, 3, 2]
    """
    least = distances[distances > 0].min(initial=len(distances))
    steps = distances // least
    if not np.array_equal(steps * least, distances):
        return None
    pairs = _pairs(steps, steps)
    counts = np.sort(pairs, axis=1)
    for sizes, closed in _grids(len(distances)):
        origin = _row(sizes, closed, 0)
        around = np.array([_row(sizes, closed, place) for place in np.flatnonzero(origin == 1).tolist()])
        origins = np.flatnonzero((counts == np.sort(_pairs(origin, around))).all(axis=1))
        if not len(origins):
            continue
        grid = np.array([_row(sizes, closed, place) for place in range(len(distances))])
        placed = _placed(pairs, _pairs(grid, grid), sizes, int(origins[0]))
        if placed is not None:
            return placed[_line(sizes, closed)]
    return None


def _grids(hosts: int) -> Iterator[tuple[tuple[int, ...], tuple[bool, ...]]]:
    """Yield sizes of dimensions and which are closed: closed odd ones first, then open odd ones, then even ones."""
    for sizes in _factors(hosts, 2):
        for closed in dict.fromkeys(product(*((True, False) if size > 2 else (False,) for size in sizes))):
            pairs = sorted(zip(sizes, closed, strict=True), key=lambda each: (each[0] % 2 == 0, not each[1], each[0]))
            yield tuple(size for size, _ in pairs), tuple(is_ring for _, is_ring in pairs)


def _factors(number: int, least: int) -> Iterator[tuple[int, ...]]:
    """Yield the rising numbers from `least` on that multiply to a number."""
    if number >= least:
        yield (number,)
    for first in range(least, int(number**0.5) + 1):
        if number % first == 0:
            yield from ((first, *others) for others in _factors(number // first, first))


def _row(sizes: Sequence[int], closed: Sequence[bool], place: int) -> Integers:
    """Return the least number of steps from a place of a grid to all places; the last dimension is the fastest."""
    apart = [np.abs(np.arange(size) - at) for size, at in zip(sizes, np.unravel_index(place, sizes), strict=True)]
    each = zip(apart, sizes, closed, strict=True)
    steps = [np.minimum(line, size - line) if is_ring else line for line, size, is_ring in each]
    found: Integers = np.array(0)
    for line in steps:
        found = np.add.outer(found, line)
    return found.ravel()


def _pairs(steps: Integers, around: Integers) -> Integers:
    """Return a number for each pair that tells its steps, and how many neighbours both have: one in a straight line.

    Args:
        steps: the steps from one place to all places, or from all places.
        around: the steps from the neighbours of this place, or from all places, to all places.
    """
    near = (around == 1).astype(np.float32)
    both = near.sum(axis=0) if steps.ndim == 1 else near @ near
    found: Integers = steps * steps.shape[-1] + both.astype(np.int64)
    return found


def _strides(sizes: Sequence[int]) -> list[int]:
    return [int(np.prod(sizes[place + 1 :])) for place in range(len(sizes))]


def _placed(pairs: Integers, grid: Integers, sizes: Sequence[int], origin: int) -> Integers | None:
    """Return the host at each place of a grid, so that pairs are as in the grid; None if there are none."""
    lines = zip(sizes, _strides(sizes), strict=True)
    places = [0, *(step * stride for size, stride in lines for step in range(1, size))]
    found, left = [origin], list[list[int]]()
    for _ in range(_MOST_TRIED):
        if len(found) == len(places):
            host_of = {tuple(row): host for host, row in enumerate(pairs[:, found].tolist())}
            hosts = np.array([host_of.get(tuple(row), -1) for row in grid[:, places].tolist()])
            if (hosts >= 0).all() and np.array_equal(pairs[np.ix_(hosts, hosts)], grid):
                return hosts
            left.append([])
        else:
            near = [0, *range(max(1, len(found) - _LAST), len(found))]
            known = grid[places[len(found)], [places[place] for place in near]]
            left.append(
                np.flatnonzero((pairs[:, [found[place] for place in near]] == known).all(axis=1))[::-1].tolist()
            )
        while left and not left[-1]:
            left.pop()
            found.pop()
        if not left:
            return None
        found[len(left) :] = [left[-1].pop()]
    return None


def _line(sizes: Sequence[int], closed: Sequence[bool]) -> Integers:
    """Return the places of a grid in the order of a ring."""
    line, is_ring = np.zeros(1, dtype=np.int64), True
    for number, (size, stride, closes) in enumerate(zip(sizes, _strides(sizes), closed, strict=True), 1):
        added = np.arange(size) * stride
        if len(line) == 1:
            line, is_ring = added, closes
        elif size % 2 == 0:
            line, is_ring = _comb(line, added), True
        elif is_ring and closes:
            line = _shifted(*sorted((line, added), key=len, reverse=True))
        else:
            line, is_ring = _odd_comb(line, added) if number == len(sizes) else _up_and_down(added, line), False
    return line


def _up_and_down(rows: Integers, columns: Integers) -> Integers:
    """Return a line through all pairs: through the columns of each row, in turn in both directions."""
    found: Integers = np.add.outer(rows, columns)
    found[1::2] = found[1::2, ::-1]
    return found.ravel()


def _comb(columns: Integers, rows: Integers) -> Integers:
    """Return a ring through all pairs of two lines, of which there is an even number of rows."""
    return np.concatenate((_up_and_down(rows, columns[1:]), (rows + columns[0])[::-1]))


def _odd_comb(columns: Integers, rows: Integers) -> Integers:
    """Return an order of all pairs of two lines of odd lengths in which one send passes two links, all others one.

    The ring through all rows but the first makes a detour over the first row between every two columns of the second.
    """
    ring, size = _comb(columns, rows[1:]), len(columns) - 1
    upper, lower = (rows[0] + columns[1:]).reshape(-1, 2), ring[:size].reshape(-1, 2)
    detours = np.column_stack((lower[:, 0], upper, lower[:, 1])).ravel()
    return np.concatenate((detours, ring[size:], [rows[0] + columns[0]]))


def _shifted(rows: Integers, columns: Integers) -> Integers:
    """Return a ring through all pairs of two rings of odd sizes, the longer one first."""
    size, column, found = len(columns), 0, []
    backwards = len(rows) * (size + 1) // 2 % size
    for place, row in enumerate(rows):
        step = -1 if place < backwards else 1
        found.append(row + columns[(column + step * np.arange(size)) % size])
        column -= step
    return np.concatenate(found)
