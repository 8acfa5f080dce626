"""From an expression to a topology and a verified schedule with the predicted cost.

An allgather is made by the rules of the expansions. A reduce-scatter is the reversed allgather, mapped to the network
by an isomorphism from the network to its transpose (Theorem 2). If no isomorphism is known, it is the reverse of the
breadth-first allgather on the transpose (Corollary 1.1). An allreduce is a reduce-scatter followed by an allgather.
"""

from fractions import Fraction

import numpy as np

from forestcoll.base.errors import InputError, InternalError, require_kind
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.design.breadth_first import breadth_first_sends
from forestcoll.design.constructions import Construction
from forestcoll.design.measure import Cost
from forestcoll.design.sends import step_schedule
from forestcoll.schedule.steps.composition import combined, is_own_transpose, mapped_to, reversed_steps
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology import Topology
from forestcoll.verification import verify

_EXPECTED = "a network of Frontier.members, or what expand returns"


def topology_of(construction: Construction, *, bandwidth: Fraction = Fraction(1)) -> Topology:
    """Return the network of a construction as a topology; its name is that of the construction.

    Args:
        construction: a member of a `Frontier`.
        bandwidth: the bandwidth of each arc.

    Returns:
        The network. Parallel arcs are one link.

    Example:
        >>> from forestcoll import find_topologies
        >>> topology_of(find_topologies(8, 2).members[0])
        Topology('Cayley(2,8)', 8 compute nodes, 0 switches, 16 links, GB/s)
    """
    require_kind(construction, Construction, "construction", _EXPECTED)
    return construction.wiring.topology(construction.name, bandwidth)


def predicted_cost(construction: Construction, collective: Collective | str) -> Cost:
    """Return the cost of the collective on the network, without making a schedule.

    Raises:
        InputError: the collective has a root.
    """
    kind = _without_root(collective)
    gather, scatter = construction.cost, construction.reduce_scatter_cost
    if kind is Collective.ALLREDUCE:
        return Cost(gather.steps + scatter.steps, gather.bandwidth_factor + scatter.bandwidth_factor)
    return gather if kind is Collective.ALLGATHER else scatter


def schedule_of(
    construction: Construction,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    bandwidth: Fraction = Fraction(1),
    progress: Progress = SILENT,
) -> StepSchedule:
    """Return a verified schedule on the network of a construction, with the predicted cost.

    Args:
        construction: a member of a `Frontier`.
        collective: an allgather, a reduce-scatter or an allreduce.
        bandwidth: the bandwidth of each arc of the network.
        progress: receives progress reports.

    Returns:
        The schedule, on the topology that `topology_of` returns.

    Raises:
        InputError: the collective has a root.
        InternalError: the schedule is wrong or has another cost, which is a defect of forestcoll.

    Example:
        >>> from forestcoll import find_topologies
        >>> schedule_of(find_topologies(8, 2).members[0], "allreduce").steps
        6
    """
    require_kind(construction, Construction, "construction", _EXPECTED)
    kind = _without_root(collective)
    progress.begin("making the schedule")
    schedule = _build_schedule(construction, kind, bandwidth)
    progress.begin("verifying")
    report = verify(schedule)
    if report.fault is not None:
        raise InternalError(f"{construction.name}: the schedule violates a rule: {report.fault.message}")
    predicted = predicted_cost(construction, kind)
    if (schedule.steps, report.bandwidth_factor) != (predicted.steps, predicted.bandwidth_factor):
        raise InternalError(
            f"{construction.name}: the schedule costs {schedule.steps} steps and {report.bandwidth_factor} M/B, "
            f"not {predicted.steps} and {predicted.bandwidth_factor}"
        )
    return schedule


def _without_root(collective: Collective | str) -> Collective:
    kind = collective_named(collective)
    if kind.has_root:
        raise InputError(f"a {kind} has no step schedule; choose allgather, reduce-scatter or allreduce")
    return kind


def _build_schedule(construction: Construction, kind: Collective, bandwidth: Fraction) -> StepSchedule:
    topology = topology_of(construction, bandwidth=bandwidth)
    if kind is Collective.REDUCE_SCATTER:
        return _reduce_scatter(construction, topology, None)
    allgather = step_schedule(construction.wiring, construction.sends(), topology)
    if kind is Collective.ALLGATHER:
        return allgather
    return combined(_reduce_scatter(construction, topology, allgather), allgather)


def _reduce_scatter(construction: Construction, topology: Topology, allgather: StepSchedule | None) -> StepSchedule:
    mirror = construction.mirror()
    if mirror is None:
        transposed = construction.wiring.transposed()
        spread = step_schedule(transposed, breadth_first_sends(transposed), topology.transposed())
        return reversed_steps(spread)
    if allgather is None:
        allgather = step_schedule(construction.wiring, construction.sends(), topology)
    backwards = reversed_steps(allgather)
    if is_own_transpose(topology):
        return backwards
    image = np.empty_like(mirror)
    image[mirror] = np.arange(len(mirror), dtype=mirror.dtype)
    return mapped_to(backwards, topology, image.tolist())
