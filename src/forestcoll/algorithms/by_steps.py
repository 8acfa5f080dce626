"""Step schedules by any method: one function and a table of methods."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from forestcoll.algorithms.direct_networks.double_binary_tree import double_binary_tree_schedule
from forestcoll.algorithms.direct_networks.halving_doubling import halving_doubling_schedule
from forestcoll.algorithms.direct_networks.rings import ring_schedule
from forestcoll.algorithms.direct_networks.torus_rings import torus_ring_schedule
from forestcoll.base.errors import InputError, shown
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.resources import Cost, announce
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.demand.method import StepMethod
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.solver.generation.bfb import bfb
from forestcoll.solver.generation.bfb.allgather import checked_chunks
from forestcoll.solver.generation.exchange_steps import stepwise_all_to_all
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.registry import load_topology

StepGenerator: TypeAlias = Callable[[Topology, Collective], StepSchedule]

BASELINES: Mapping[StepMethod, StepGenerator] = MappingProxyType(
    {
        StepMethod.RING: ring_schedule,
        StepMethod.TORUS_RINGS: torus_ring_schedule,
        StepMethod.HALVING_DOUBLING: halving_doubling_schedule,
        StepMethod.DOUBLE_BINARY_TREE: double_binary_tree_schedule,
    }
)

_OF_TRANSFER = Cost(1.8e-6, 115)
"""What it takes to make, verify and write a transfer."""


def generate_steps(  # noqa: PLR0913 (the collective and the method)
    topology: TopologyLike,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    method: StepMethod | str = StepMethod.BFB,
    chunks: int | None = None,
    data_size: int | None = None,
    steps: int | None = None,
    compact: bool = False,
    progress: Progress = SILENT,
) -> StepSchedule:
    """Return a step schedule for `collective` on `topology`. The schedule is not verified yet.

    The same arguments always give the same schedule.

    Args:
        topology: a network without switches.
        collective: allgather, reduce-scatter, allreduce or, for the method `steps`, all-to-all.
        method: the method.
        chunks: for BFB, the number of chunks of a shard as in `bfb`. For a double binary tree, the number of chunks of
            each half in the pipeline, 1 by default.
        data_size: for BFB, the data size as in `bfb`, in bytes.
        steps: for an all-to-all, the number of steps; None for the fewest.
        compact: for BFB, whether to list base transfers and a symmetry (`StepSchedule.symmetry`).
        progress: receives the progress.

    Returns:
        The schedule, in which a shard may be divided into parts.

    Raises:
        InputError: the method or the collective is unknown, the network has a switch, or the method does not support
            the network or the collective.
        NoSolutionError: the network is one-port.

    Example:
        >>> from forestcoll import generate_steps, load_topology, verify
        >>> schedule = generate_steps(load_topology("ring:nodes=4"), "allreduce", method="ring")
        >>> schedule.steps, verify(schedule).ok
        (6, True)
    """
    topology = load_topology(topology)
    chosen, kind = _method(method), collective_named(collective)
    if (chosen is StepMethod.STEPS) != (kind is Collective.ALL_TO_ALL):
        raise InputError(
            f"the method {chosen.value!r} is not for {kind.with_article}; use {StepMethod.STEPS.value!r} for an "
            "all-to-all, and the other methods for allgather, reduce-scatter and allreduce"
        )
    if steps is not None and chosen is not StepMethod.STEPS:
        raise InputError(f"a number of steps is only for the method 'steps'; leave it out for {chosen.value!r}")
    if chosen is StepMethod.BFB:
        if not compact:
            _announce(topology, len(topology.nodes) * (len(topology.nodes) - 1), progress)
        return bfb(topology, kind, chunks=chunks, data_size=data_size, compact=compact, progress=progress)
    if compact:
        raise InputError(f"a compact schedule of steps is only for the method 'bfb'; leave it out for {chosen.value!r}")
    if data_size is not None:
        raise InputError(f"a data size is only for the method 'bfb'; leave it out for {chosen.value!r}")
    if chosen is StepMethod.STEPS and chunks is None:
        return stepwise_all_to_all(topology, steps=steps, progress=progress)
    if chosen is StepMethod.DOUBLE_BINARY_TREE:
        pipelined = checked_chunks(chunks) or 1
        _announce(topology, 4 * pipelined * (len(topology.nodes) - 1), progress)
        return double_binary_tree_schedule(topology, kind, pipelined)
    if chunks is not None:
        raise InputError(f"chunks are only for 'bfb' and 'double-binary-tree'; leave them out for {chosen.value!r}")
    return BASELINES[chosen](topology, kind)


def _announce(topology: Topology, transfers: int, progress: Progress) -> None:
    """Say what a schedule takes that has at least so many transfers."""
    work = f"{topology.name}: a schedule of {transfers:,} transfers"
    announce(work, _OF_TRANSFER * transfers, progress, "use fewer chunks")


def _method(name: StepMethod | str) -> StepMethod:
    try:
        return StepMethod(name)
    except ValueError:
        known = ", ".join(repr(each.value) for each in StepMethod)
        raise InputError(f"unknown step method {shown(name)}; choose one of {known}") from None
