"""Step schedules of all collectives from a generator of allgathers (Corollary 1.1)."""

from collections.abc import Callable

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.schedule.steps.composition import combined, is_own_transpose, reversed_steps
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology import Topology


def from_allgathers(
    topology: Topology, collective: Collective, allgather: Callable[[Topology], StepSchedule]
) -> StepSchedule:
    """Return a schedule of `collective`, made by `allgather`.

    A reduce-scatter is a reversed allgather on the transposed network. An allreduce is a reduce-scatter followed by an
    allgather.

    Raises:
        InputError: the collective has a root.
    """
    if collective.has_root:
        raise InputError(f"a {collective} has one root and no step schedule; choose a collective without a root")
    if collective is Collective.ALLGATHER:
        return allgather(topology)
    if collective is Collective.REDUCE_SCATTER:
        return reversed_steps(allgather(topology.transposed()))
    gather = allgather(topology)
    backwards = gather if is_own_transpose(topology) else allgather(topology.transposed())
    return combined(reversed_steps(backwards), gather)
