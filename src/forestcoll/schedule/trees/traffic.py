"""The amount of data that a schedule sends. Switches that copy or add up reduce it, even at the same bandwidth."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.trees.value import TreeSchedule


@dataclass(frozen=True, slots=True)
class Traffic:
    """Amounts of data, as multiples of M.

    Attributes:
        sent: the data that a compute node sends, on average.
        wire: the data that all links together carry.

    Example:
        >>> from forestcoll import generate
        >>> traffic = traffic_of(generate("ring:nodes=4"))
        >>> str(traffic.sent), str(traffic.wire)
        ('3/4', '3')
    """

    sent: Fraction
    wire: Fraction


def traffic_of(schedule: TreeSchedule) -> Traffic:
    """Return the amount of data that `schedule` sends, with all images of base trees.

    Args:
        schedule: a schedule of trees.

    Returns:
        The amounts, as multiples of M.

    Example:
        >>> from forestcoll import generate
        >>> str(traffic_of(generate("ring:nodes=4", "allreduce")).wire)
        '6'
    """
    from forestcoll.schedule._schedules import sends

    topology, routes = schedule.topology, schedule.routes.compiled_indices()
    is_compute = np.array([node.is_compute for node in topology.nodes], dtype=np.uint8)
    order = 1 if schedule.symmetry is None else schedule.symmetry.order
    sent = wire = Fraction(0)
    for phase in schedule.phases:
        from_compute, over_links = sends(routes, phase.routes.compiled_indices(), is_compute)
        sent += _weighted(from_compute, phase.shares)
        wire += _weighted(over_links, phase.shares)
    return Traffic(sent * order / len(topology.compute), wire * order)


def _weighted(counts: IntArray, shares: Sequence[Fraction]) -> Fraction:
    """Return the sum of `counts`, each times its share."""
    of_share: Counter[Fraction] = Counter()
    for count, share in zip(counts.tolist(), shares, strict=True):
        of_share[share] += count
    return sum((count * share for share, count in of_share.items()), Fraction(0))
