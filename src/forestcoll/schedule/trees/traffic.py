"""How much a schedule sends: what switches that copy or add save is seen here, not in the bandwidth."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule


@dataclass(frozen=True, slots=True)
class Traffic:
    """Amounts of data, as multiples of M.

    Attributes:
        sent: what a compute node sends in all, on average.
        wire: what all links together carry.
    """

    sent: Fraction
    wire: Fraction


def traffic_of(schedule: TreeSchedule) -> Traffic:
    """Return how much `schedule` sends, all images of base trees counted."""
    topology, routes = schedule.topology, schedule.routes
    order = 1 if schedule.symmetry is None else schedule.symmetry.order
    carried, whole = carried_by_routes(routes, schedule.phases, order * len(topology.nodes))
    is_compute = np.array([node.is_compute for node in topology.nodes])
    from_compute = carried[is_compute[routes.entries[routes.starts[:-1]]]]
    hops = carried * (np.diff(routes.starts) - 1)
    return Traffic(
        Fraction(int(from_compute.sum()) * order, whole * len(topology.compute)),
        Fraction(int(hops.sum()) * order, whole),
    )


def carried_by_routes(routes: Rows, phases: Sequence[Phase], copies: int) -> tuple[IntArray, int]:
    """Return what each route carries in all phases, in parts of M, and how many of these parts M has.

    The integers are wide enough for sums in which each tree's share counts once for every edge, `copies` times over.
    """
    whole = lcm(*{share.denominator for phase in phases for share in phase.shares})
    longest = int(np.diff(routes.starts).max(initial=1))
    most = whole * copies * longest * len(phases)
    carried = np.zeros(len(routes), dtype=np.int64 if most * 2 < 2**62 else object)
    for phase in phases:
        units = np.array([int(share * whole) for share in phase.shares], dtype=carried.dtype)
        np.add.at(carried, phase.routes.entries, np.repeat(units, np.diff(phase.routes.starts)))
    return carried, whole
