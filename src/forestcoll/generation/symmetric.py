"""Base trees: schedules of symmetric networks from the trees of a few roots (one an orbit of the symmetry).

The images of the base trees under all elements of the group are the trees of all roots. As the group sends links to
links of equal bandwidth, all links of an orbit carry the same; so base trees that use an orbit of n links no more often
than n/g times the capacity of one, in a group of g elements, make a schedule within all capacities. For 16,384 GPUs
there are then a few trees to be grown, verified and written instead of 16,384.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from forestcoll.bounds import Optimum
from forestcoll.bounds.scaling import ScaledTopology
from forestcoll.core import RoutedTrees
from forestcoll.progress import Progress
from forestcoll.topology import Shift, Symmetry, Topology


def grow_base_trees(best: Optimum, symmetry: Symmetry, progress: Progress) -> tuple[RoutedTrees, Symmetry] | None:
    """Return base trees that reach `best`, and the group whose images they are of; None if they could not be grown.

    The group is `symmetry` or, where its base trees run into dead ends, a smaller one.
    """
    capacities = best.tree_capacities()
    demand = len(best.topology.compute) * best.trees_per_root
    core, problem = ScaledTopology.of(best.topology).problem(capacities, bound=sum(capacities) + 2 * demand)
    for group in _groups(symmetry):
        progress.begin("growing trees")
        routed, counters = core.grow_base_trees(
            problem,
            best.trees_per_root,
            [shift.image.tolist() for shift in group.shifts],
            link_orbits(best.topology, group).tolist(),
            group.order,
            progress.advance,
        )
        progress.note(counters)
        if not counters["missing"]:
            return RoutedTrees(*routed), group
    return None


def _groups(symmetry: Symmetry) -> Iterator[Symmetry]:
    """Yield the groups that are tried: the whole, then without one shift after the other, the smallest first."""
    shifts = sorted(symmetry.shifts, key=lambda shift: shift.order)
    while shifts:
        yield Symmetry(tuple(shift for shift in symmetry.shifts if shift in shifts))
        shifts = shifts[1:]


def link_orbits(topology: Topology, symmetry: Symmetry) -> npt.NDArray[np.int64]:
    """Return of each link the number of the first link of its orbit."""
    ends = np.array([(link.source, link.target) for link in topology.links], dtype=np.int64)
    codes = ends[:, 0] * len(topology.nodes) + ends[:, 1]  # rising, as links are sorted
    first = np.arange(len(codes))
    for shift in symmetry.shifts:
        image = shift.image.astype(np.int64)
        first = _least_of_cycle(first, np.searchsorted(codes, image[ends[:, 0]] * len(topology.nodes) + image[ends[:, 1]]), shift)
    return first


def _least_of_cycle(values: npt.NDArray[np.int64], image: npt.NDArray[np.int64], shift: Shift) -> npt.NDArray[np.int64]:
    """Return of each link the least of `values` on its cycle under `image`, which closes after `shift.order` steps."""
    reach = 1
    while reach < shift.order:  # values[i] is the least of `reach` steps from i on; image leads so many steps on
        values = np.minimum(values, values[image])
        image = image[image]
        reach *= 2
    return values
