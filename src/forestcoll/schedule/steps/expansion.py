"""All transfers of a step schedule with a symmetry: the image of each base transfer under each element of the group."""

from dataclasses import replace
from itertools import pairwise

import numpy as np

from forestcoll.schedule.rows import Rows, row_starts
from forestcoll.schedule.steps.value import NO_ROUTE, StepSchedule, Transfers
from forestcoll.topology import NodeArray


def expanded_steps(schedule: StepSchedule) -> StepSchedule:
    """Return the same schedule without a symmetry: every transfer, and every image of a route, is listed.

    The result takes memory for all transfers. The images of a base transfer are adjacent, first the transfer itself.

    Args:
        schedule: a schedule of steps.

    Returns:
        The expanded schedule; `schedule` itself if it has no symmetry.

    Example:
        >>> from forestcoll import generate
        >>> expanded_steps(generate("ring:nodes=4", method="bfb:compact=true")).size
        '2 steps, 16 transfers'
    """
    if schedule.symmetry is None:
        return schedule
    elements = np.stack(list(schedule.symmetry.elements(len(schedule.topology.nodes))))
    phases = (replace(each, transfers=images_of(each.transfers, elements)) for each in schedule.phases)
    return replace(schedule, phases=tuple(phases), routes=_routes(schedule.routes, elements), symmetry=None)


def images_of(base: Transfers, elements: NodeArray) -> Transfers:
    """Return the images of transfers under all elements of a group; the steps and the parts stay the same.

    Args:
        base: the transfers.
        elements: one row for each element, as in `Shift.image`. The image of route number r under element number e has
            the number r * (number of elements) + e.
    """
    count = len(elements)
    shards, sources, targets = (elements[:, column].T.ravel() for column in (base.shards, base.sources, base.targets))
    lows, highs = (np.repeat(column, count) for column in (base.lows, base.highs))
    routes = base.routes
    if routes is not None:
        images = np.where(routes[:, None] == NO_ROUTE, NO_ROUTE, routes[:, None] * count + np.arange(count))
        routes = images.ravel().astype(np.int32)
    return Transfers(base.starts * count, shards, sources, targets, lows, highs, base.points, routes)


def _routes(routes: Rows, elements: NodeArray) -> Rows:
    """Return the images of each route under all elements, one route after the other."""
    starts = row_starts(np.repeat(np.diff(routes.starts), len(elements)))
    images = [elements[:, routes.entries[begin:end]].ravel() for begin, end in pairwise(routes.starts.tolist())]
    return Rows(starts, np.concatenate([*images, np.zeros(0, dtype=np.int32)]).astype(np.int32))
