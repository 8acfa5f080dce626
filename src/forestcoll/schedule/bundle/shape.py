"""The shape of a bundle: the shapes of its members, which run at the same time."""

from dataclasses import dataclass

from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.flows.shape import FlowShape, flow_shape
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.shape import Shape
from forestcoll.schedule.trees.shape import TreeShape, tree_shape


@dataclass(frozen=True, slots=True)
class BundleShape(Shape):
    """The shapes of the members of a bundle.

    Attributes:
        shapes: the shape of each member.

    Example:
        >>> from forestcoll import generate_groups, shape_of
        >>> shape = shape_of(generate_groups("ring:nodes=4", "0,1;2,3"))
        >>> len(shape.shapes), shape.hops
        (2, 1)
    """

    shapes: tuple[TreeShape | FlowShape, ...]

    @property
    def hops(self) -> int:
        """The most links that data of a member crosses; see `Shape.hops`."""
        return max((each.hops for each in self.shapes), default=0)


def bundle_shape(schedule: BundleSchedule) -> BundleShape:
    """Return the shape of `schedule`."""
    return BundleShape(
        tuple(
            flow_shape(each.schedule) if isinstance(each.schedule, FlowSchedule) else tree_shape(each.schedule)
            for each in schedule.bundled
        )
    )
