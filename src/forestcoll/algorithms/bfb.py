"""Breadth-first broadcast: the fewest steps, and the least bandwidth time over shortest paths (*Direct-Connect*).

Source: L. Zhao et al., "Efficient Direct-Connect Topologies for Collective Communications" (arXiv:2202.03356).
"""

from dataclasses import dataclass
from functools import partial

from forestcoll.algorithms.method import Method, Problem, methods
from forestcoll.base.parameters import count, flag
from forestcoll.base.progress import Progress
from forestcoll.base.resources import ResourceEstimate, announce
from forestcoll.schedule.steps.limits import within_limits
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.solver.generation.bfb import bfb
from forestcoll.topology import Topology

_OF_TRANSFER = ResourceEstimate(1.8e-6, 115)
"""What it takes to make, verify and write a transfer."""


@methods.add("bfb", summary="Breadth-first broadcast in steps, for networks without switches.", by_size=["bfb"])
@dataclass(frozen=True)
class Bfb(Method):
    """Breadth-first broadcast in steps, for networks without switches.

    Limits of nodes count in the times, but the division of data over links is that without limits. With a data size,
    the latencies of links count in addition to their bandwidths.

    Attributes:
        chunks: the number of equal chunks of a shard, which are sent whole; a shard is divided anywhere if None.
        compact: whether to list base transfers and a symmetry.

    Example:
        >>> from forestcoll import generate
        >>> generate("torus:dims=3x3", "allgather", "bfb:chunks=4").steps
        2
    """

    takes = frozenset({"size"})

    chunks: int | None = count("any parts", "equal chunks of a shard")
    compact: bool = flag("list base transfers and a symmetry")

    def schedule(self, problem: Problem) -> StepSchedule:
        """Return the steps."""
        nodes = len(problem.topology.compute)
        if not self.compact:
            announce_transfers(problem.topology, nodes * (nodes - 1), problem.progress)
        make = partial(
            bfb,
            collective=problem.collective,
            chunks=self.chunks,
            data_size=problem.size,
            compact=self.compact,
            progress=problem.progress,
        )
        return within_limits(problem.topology, make)


def announce_transfers(topology: Topology, transfers: int, progress: Progress) -> None:
    """Say what a schedule takes that has at least so many transfers."""
    work = f"{topology.name}: a schedule of {transfers:,} transfers"
    announce(work, _OF_TRANSFER * transfers, progress, "use fewer chunks")
