"""The row of `compare` for time slots on GPUs: a model, with the time of a slot that was measured on the machine."""

from dataclasses import replace

from forestcoll.algorithms.method import DoesNotApplyError
from forestcoll.demand.collective import Collective
from forestcoll.runtime.cuda_table import SLOTS as PATH
from forestcoll.runtime.cuda_table import CudaTable
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.trees.slots import SLOT_COSTS, SlotModel

SLOTS = "slots (expected)"
"""The name of the row."""


def measured_costs(table: CudaTable, collective: Collective, schedule: TreeSchedule) -> Costs:
    """Return the costs of slots with the time of a slot in a table.

    It is the least time of a measured way divided by its S + D - 1 slots, for the least measured size, of which the
    data take no time. It contains the further messages to a peer.

    Raises:
        DoesNotApplyError: the table has no right result of slots for the collective.
    """
    rows = [row for row in table.rows if row.collective is collective]
    least = min((row.size for row in rows), default=0)
    ways = [way for row in rows if row.size == least for way in row.ways if way.path == PATH and not way.wrong]
    if not ways:
        raise DoesNotApplyError(f"the table has no right result of slots for {collective.with_article}")
    depth = SlotModel.of(schedule, SLOT_COSTS).depth
    slot = min(way.time_us / (way.chunks + depth - 1) for way in ways)
    return replace(SLOT_COSTS, alpha_us=slot, overhead_us=0.0)
