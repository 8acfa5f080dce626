"""Step schedules by any method: one function, one table of methods."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from forestcoll.collective import Collective, collective_named
from forestcoll.errors import InputError, shown
from forestcoll.generation.bfb import bfb
from forestcoll.method import StepMethod
from forestcoll.progress import SILENT, Progress
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology import Topology

StepGenerator: TypeAlias = Callable[[Topology, Collective, Progress], StepSchedule]


def _bfb(topology: Topology, collective: Collective, progress: Progress) -> StepSchedule:
    return bfb(topology, collective, progress=progress)


STEP_GENERATORS: Mapping[StepMethod, StepGenerator] = MappingProxyType({StepMethod.BFB: _bfb})


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
        chunks: of BFB, as `bfb` takes it.
        data_size: likewise.
        progress: is told how far the work is.

    Raises:
        InputError: there is no such method or collective, the network has a switch, or the method needs another one.
        NoSolutionError: nodes may not use all their links at once.
    """
    way, kind = _method(method), collective_named(collective)
    if way is StepMethod.BFB:
        return bfb(topology, kind, chunks=chunks, data_size=data_size, progress=progress)
    if chunks is not None or data_size is not None:
        raise InputError(f"chunks and data_size are for the method 'bfb'; leave them out for {way.value!r}")
    return STEP_GENERATORS[way](topology, kind, progress)


def _method(name: StepMethod | str) -> StepMethod:
    try:
        return StepMethod(name)
    except ValueError:
        known = ", ".join(repr(each.value) for each in StepMethod)
        raise InputError(f"there is no method {shown(name)} for steps; there are {known}") from None
