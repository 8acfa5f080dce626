"""The times of a row of a comparison for more sizes than it was made with."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from forestcoll.base.errors import InternalError
from forestcoll.comparison.value import Row
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation import Costs, Point
from forestcoll.simulation.simulate import simulate


def curve_of(row: Row, sizes: Sequence[int], costs: Costs | None = None) -> tuple[Point, ...]:
    """Return the simulated time of a row for each size; of forestcoll's row, that of the best of its schedules.

    Args:
        row: a row of a comparison with times.
        sizes: the sizes of M in bytes.
        costs: the costs of a send; the defaults of `Costs` if None.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known.
    """
    if row.schedule is None:  # a program, whose simulation takes long
        return tuple(point for point in row.times if point.size in sizes)
    if row.best:
        schedules = {each.method: each.schedule for each in row.best} | {"": row.schedule}
        curves = [simulate(each, sizes, costs) for each in schedules.values()]
        return tuple(min(points, key=lambda point: point.seconds) for points in zip(*curves, strict=True))
    factor = scale_of(row)
    points = simulate(row.schedule, [round(size * factor) for size in sizes], costs)
    return tuple(
        replace(point, size=size, algbw=point.algbw / float(factor), busbw=point.busbw / float(factor))
        for size, point in zip(sizes, points, strict=True)
    )


def scale_of(row: Row) -> Fraction:
    """Return the data that the algorithm sends as a multiple of the data that its schedule sends; usually 1."""
    return (schedule_of(row).algbw or row.algbw) / row.algbw


def schedule_of(row: Row) -> Schedule:
    """Return the schedule of a row that has one."""
    if row.schedule is None:
        raise InternalError(f"{row.name} has no schedule")
    return row.schedule
