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
        greatest_height: the most sends that data of a member takes, one after the other, along a tree or a flow.
        mean_height: the mean of the mean heights of the members, weighted by their sizes.

    Example:
        >>> from forestcoll import Groups, generate
        >>> from forestcoll.schedule import shape_of
        >>> shape = shape_of(generate("ring:nodes=4", Groups("0,1;2,3")))
        >>> len(shape.shapes), shape.hops, shape.greatest_height, shape.mean_height
        (2, 1, 1, 1.0)
    """

    shapes: tuple[TreeShape | FlowShape, ...]
    greatest_height: int
    mean_height: float

    @property
    def hops(self) -> int:
        """The most links that data of a member crosses; see `Shape.hops`."""
        return max((each.hops for each in self.shapes), default=0)

    @property
    def sends(self) -> int:
        """The most sends of a member."""
        return max((each.sends for each in self.shapes), default=0)


def bundle_shape(schedule: BundleSchedule) -> BundleShape:
    """Return the shape of `schedule`."""
    shapes = tuple(
        flow_shape(each.schedule) if isinstance(each.schedule, FlowSchedule) else tree_shape(each.schedule)
        for each in schedule.bundled
    )
    sizes = [float(each.size) for each in schedule.bundled]
    return BundleShape(
        shapes,
        greatest_height=max((each.greatest_height for each in shapes), default=0),
        mean_height=sum(each.mean_height * size for each, size in zip(shapes, sizes, strict=True)) / sum(sizes),
    )
