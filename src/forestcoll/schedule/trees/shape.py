"""The heights of the trees of a schedule, which determine the time of small messages.

The *height* of a tree is the number of edges from the root to the deepest node; an edge is one send between compute
nodes. Its *hops* are the number of links on that path, with those at switches. Means weight each tree by its share. A
tree that reduces is as high as its reverse.
"""

from dataclasses import dataclass

import numpy as np

from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.shape import Shape, mean_by_share
from forestcoll.schedule.trees.value import TreeSchedule


@dataclass(frozen=True, slots=True)
class TreeShape(Shape):
    """Tree counts and heights of a schedule.

    Attributes:
        trees: the number of trees of all phases, with all images of base trees.
        greatest_height: the most sends from a root to its deepest node, over all trees.
        mean_height: the mean height of the trees, weighted by their shares.
        greatest_hops: the most links from a root to its deepest node, over all trees.
        mean_hops: the mean hops of the trees, weighted by their shares.
        group_order: the number of images of each base tree; 1 without a symmetry.
        phases: the number of phases, which follow each other.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.schedule import shape_of
        >>> shape = shape_of(generate("ring:nodes=4"))
        >>> shape.trees, shape.greatest_height, shape.phases
        (8, 2, 1)
    """

    trees: int
    greatest_height: int
    mean_height: float
    greatest_hops: int
    mean_hops: float
    group_order: int = 1
    phases: int = 1

    @property
    def hops(self) -> int:
        """The greatest hops of a tree times the number of phases; see `Shape.hops`."""
        return self.phases * self.greatest_hops

    @property
    def sends(self) -> int:
        """The greatest height of a tree times the number of phases."""
        return self.phases * self.greatest_height

    @property
    def base_trees(self) -> int:
        """The number of trees that the phases list."""
        return self.trees // self.group_order


def tree_shape(schedule: TreeSchedule) -> TreeShape:
    """Return the shape of `schedule`; its trees must list each route after the routes that feed it.

    The images of a base tree have its height and its share.

    Raises:
        IndexError: a tree lists a route, or a route a node, that does not exist.
    """
    from forestcoll.schedule._schedules import heights as tree_heights

    routes = schedule.routes.compiled_indices()
    nodes = len(schedule.topology.nodes)
    depths = [
        tree_heights(routes, phase.routes.compiled_indices(), nodes, phase.op is PhaseOp.REDUCE)
        for phase in schedule.phases
    ]
    heights, hops = np.concatenate(depths, axis=1) if depths else np.zeros((2, 0), dtype=np.int32)
    shares = [share for phase in schedule.phases for share in phase.shares]
    group_order = 1 if schedule.symmetry is None else schedule.symmetry.order
    return TreeShape(
        trees=len(shares) * group_order,
        greatest_height=int(heights.max(initial=0)),
        mean_height=mean_by_share(heights, shares),
        greatest_hops=int(hops.max(initial=0)),
        mean_hops=mean_by_share(hops, shares),
        group_order=group_order,
        phases=len(schedule.phases),
    )
