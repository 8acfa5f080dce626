"""The time of a bundle, as a closed form.

All members start at the same time. A link is shared in proportion to the data that each member sends over it, until all
members have finished. So each member has the time of its own closed form, in which the data of the others is added to
the load of every link, and the time of the bundle is the greatest of them. M is that of size 1; the size of a member
scales its M. Each member has the best number of pieces.
"""

from dataclasses import dataclass, replace

from forestcoll.base.units import bytes_per_microsecond
from forestcoll.schedule.bundle.value import BundleMember, BundleSchedule
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.loads_of import link_loads
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.simulation.costs import Costs, Point
from forestcoll.simulation.flows.times import FlowModel
from forestcoll.simulation.loads import FloatArray
from forestcoll.simulation.trees.times import TreeModel, TreeWork


@dataclass(frozen=True)
class BundleModel:
    """The times of a bundle.

    Attributes:
        schedule: the bundle.
        models: the model of each member, with the data of the others.
    """

    schedule: BundleSchedule
    models: tuple[TreeModel | FlowModel, ...]

    @staticmethod
    def of(schedule: BundleSchedule, costs: Costs | None = None) -> "BundleModel":
        """Return the model of `schedule`, which `verify` accepts.

        Raises:
            InputError: the size in bytes of the network's bandwidth unit is not known.
        """
        parts = link_loads(schedule).parts
        return BundleModel(schedule, tuple(_model(each, parts, costs or Costs()) for each in schedule.bundled))

    def point(self, size: int) -> Point:
        """Return the time for `size` bytes of data of size 1: that of the slowest member, with its pieces."""
        pairs = zip(self.schedule.bundled, self.models, strict=True)
        points = [(model.point(max(1, round(size * member.size))), member) for member, model in pairs]
        slowest, member = max(points, key=lambda pair: pair[0].seconds)
        unit = float(bytes_per_microsecond(self.schedule.topology.bandwidth_unit) * 10**6)
        algbw = size / slowest.seconds / unit
        factor = float(member.schedule.collective.busbw_factor(len(member.schedule.members)))
        return Point(size, slowest.seconds, algbw, algbw * factor, slowest.pieces, slowest.chunk_bytes)


def _model(member: BundleMember, parts: FloatArray, costs: Costs) -> TreeModel | FlowModel:
    """Return the model of a member; `parts` is the data of all members on each link."""
    schedule = member.schedule
    others = parts / float(member.size) - link_loads(schedule).parts
    if isinstance(schedule, FlowSchedule):
        return FlowModel.of(schedule, costs, others)
    listed = schedule if schedule.symmetry is None else expanded(schedule)
    return replace(TreeWork.of(listed, costs), others=others).model(costs)
