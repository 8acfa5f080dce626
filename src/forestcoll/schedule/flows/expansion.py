"""All flows of a schedule with a symmetry: the image of each base flow under each element of the group."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.topology import Symmetry


@dataclass(frozen=True, slots=True)
class FlowImage:
    """One flow of a schedule, with its paths.

    Attributes:
        source: the number of the node that has the data.
        target: the number of the node that needs it.
        share: the part of M that the flow sends.
        paths: the node numbers of its routes, in the order in which data crosses them.
    """

    source: int
    target: int
    share: Fraction
    paths: tuple[tuple[int, ...], ...]


def flow_images(schedule: FlowSchedule) -> Iterator[FlowImage]:
    """Yield each flow: for each element of the group, the images of the base flows in order.

    Args:
        schedule: a schedule of flows, with or without a symmetry.

    Returns:
        The flows, made one at a time.

    Example:
        >>> from forestcoll import generate
        >>> next(flow_images(generate("ring:nodes=3", "all-to-all", "flows:compact=true"))).paths
        ((0, 1),)
    """
    routes = list(schedule.routes)
    for element in (schedule.symmetry or Symmetry(())).elements(len(schedule.topology.nodes)):
        image = element.tolist()
        paths = [tuple(image[node] for node in route) for route in routes]
        for flow in schedule.flows:
            listed = tuple(paths[route] for route in flow.routes)
            yield FlowImage(image[flow.source], image[flow.target], flow.share, listed)
