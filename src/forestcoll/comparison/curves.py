"""The times of a row of a comparison for more sizes than it was made with."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from forestcoll.comparison.value import Row
from forestcoll.simulation import Costs, Point, simulate


def curve_of(row: Row, sizes: Sequence[int], costs: Costs | None = None) -> tuple[Point, ...]:
    """Return the simulated time of a row for each size.

    Args:
        row: a row of a comparison.
        sizes: the sizes of M in bytes.
        costs: the costs of a send; the defaults of `Costs` if None.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known.
    """
    factor = scale_of(row)
    points = simulate(row.schedule, [round(size * factor) for size in sizes], costs)
    return tuple(
        replace(point, size=size, algbw=point.algbw / float(factor), busbw=point.busbw / float(factor))
        for size, point in zip(sizes, points, strict=True)
    )


def scale_of(row: Row) -> Fraction:
    """Return the data that the algorithm sends as a multiple of the data that its schedule sends; usually 1."""
    return (row.schedule.algbw or row.algbw) / row.algbw
