"""The shape of a schedule of flows: how many sends and links the data of a flow crosses."""

from dataclasses import dataclass

import numpy as np

from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.shape import Shape, mean_by_share


@dataclass(frozen=True, slots=True)
class FlowShape(Shape):
    """The number of flows of a schedule, and their lengths.

    Attributes:
        flows: the number of flows, with all images of base flows.
        relayed: the number of flows that pass through other compute nodes.
        greatest_hops: the most links of a flow.
        mean_hops: the mean number of links of the flows, weighted by their shares.
        greatest_height: the most sends of a flow: one more than the compute nodes that relay it.
        mean_height: the mean number of sends of the flows, weighted by their shares.
        group_order: the number of images of each base flow; 1 without a symmetry.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.schedule import shape_of
        >>> shape = shape_of(generate("dgx-a100:boxes=2", "all-to-all"))
        >>> shape.flows, shape.relayed, shape.hops
        (240, 0, 2)
    """

    flows: int
    relayed: int
    greatest_hops: int
    mean_hops: float
    greatest_height: int
    mean_height: float
    group_order: int = 1

    @property
    def hops(self) -> int:
        """The most links of a flow; see `Shape.hops`."""
        return self.greatest_hops

    @property
    def sends(self) -> int:
        return self.greatest_height


def flow_shape(schedule: FlowSchedule) -> FlowShape:
    """Return the shape of `schedule`. The images of a base flow have its length and its share."""
    order = 1 if schedule.symmetry is None else schedule.symmetry.order
    hops, sends = links_of_flows(schedule), np.diff(schedule.flows.routes.starts)
    return FlowShape(
        flows=len(schedule.flows) * order,
        relayed=int((sends > 1).sum()) * order,
        greatest_hops=int(hops.max(initial=0)),
        mean_hops=mean_by_share(hops, schedule.flows.shares),
        greatest_height=int(sends.max(initial=0)),
        mean_height=mean_by_share(sends, schedule.flows.shares),
        group_order=order,
    )


def links_of_flows(schedule: FlowSchedule) -> IntArray:
    """Return the number of links that each listed flow crosses."""
    lengths = np.diff(schedule.routes.starts) - 1
    listed = schedule.flows.routes
    of_flow = np.repeat(np.arange(len(listed)), np.diff(listed.starts))
    hops: IntArray = np.zeros(len(listed), dtype=np.int64)
    np.add.at(hops, of_flow, lengths[listed.entries])
    return hops
