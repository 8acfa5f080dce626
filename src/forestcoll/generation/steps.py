"""Step schedules by any method: one function, one table of methods."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from forestcoll.collective import Collective, collective_named
from forestcoll.errors import InputError, shown
from forestcoll.generation.baselines.double_binary_tree import double_binary_tree_schedule
from forestcoll.generation.baselines.halving_doubling import halving_doubling_schedule
from forestcoll.generation.baselines.rings import ring_schedule
from forestcoll.generation.baselines.torus_rings import torus_ring_schedule
from forestcoll.generation.bfb import bfb
from forestcoll.generation.bfb.allgather import checked_chunks
from forestcoll.method import StepMethod
from forestcoll.progress import SILENT, Progress
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology import Topology

StepGenerator: TypeAlias = Callable[[Topology, Collective], StepSchedule]

BASELINES: Mapping[StepMethod, StepGenerator] = MappingProxyType(
    {
        StepMethod.RING: ring_schedule,
        StepMethod.TORUS_RINGS: torus_ring_schedule,
        StepMethod.HALVING_DOUBLING: halving_doubling_schedule,
        StepMethod.DOUBLE_BINARY_TREE: double_binary_tree_schedule,
    }
)


def generate_steps(  # noqa: PLR0913 (what is asked, and how)
    topology: Topology,
    collective: Collective | str = Collective.ALLGATHER,
    *,
    method: StepMethod | str = StepMethod.BFB,
    chunks: int | None = None,
    data_size: int | None = None,
    progress: Progress = SILENT,
) -> StepSchedule:
    """Return a step schedule for `collective` on `topology`, a network without switches, not yet verified.

    The same arguments give the same schedule.

    Args:
        topology: the network.
        collective: allgather, reduce-scatter or allreduce.
        method: by which way.
        chunks: of BFB as `bfb` takes it; of a double binary tree, the pieces of each half in the pipeline, 1 if None.
        data_size: of BFB, as `bfb` takes it.
        progress: is told how far the work is.

    Raises:
        InputError: there is no such method or collective, the network has a switch, or the method needs another one.
        NoSolutionError: nodes may not use all their links at once.
    """
    way, kind = _method(method), collective_named(collective)
    if way is StepMethod.BFB:
        return bfb(topology, kind, chunks=chunks, data_size=data_size, progress=progress)
    if data_size is not None:
        raise InputError(f"a data size is for the method 'bfb'; leave it out for {way.value!r}")
    if way is StepMethod.DOUBLE_BINARY_TREE:
        return double_binary_tree_schedule(topology, kind, checked_chunks(chunks) or 1)
    if chunks is not None:
        raise InputError(f"chunks are for 'bfb' and 'double-binary-tree'; leave them out for {way.value!r}")
    return BASELINES[way](topology, kind)


def _method(name: StepMethod | str) -> StepMethod:
    try:
        return StepMethod(name)
    except ValueError:
        known = ", ".join(repr(each.value) for each in StepMethod)
        raise InputError(f"there is no method {shown(name)} for steps; there are {known}") from None
