"""NCCL's algorithms by the names that NCCL prints, as schedules in the strongest form that the network allows."""

from collections.abc import Iterator
from fractions import Fraction

from forestcoll.algorithms.baseline import BaselineResult, baselines_named
from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.topology import Topology

BASELINES = {"RING": "nccl-ring", "TREE": "nccl-tree", "NVLS": "nvls", "NVLS_TREE": "nvls-tree", "PAT": "pat"}
"""The name of each algorithm of NCCL in `compare`."""


def made_by(problem: Problem, algorithm: str) -> BaselineResult:
    """Return the schedule of an algorithm of NCCL on a network.

    Raises:
        DoesNotApplyError: the algorithm has no schedule on this network. The message names the algorithm.
    """
    if algorithm not in BASELINES:
        raise DoesNotApplyError(f"NCCL chooses {algorithm}, of which there is no schedule here")
    try:
        return baselines_named([BASELINES[algorithm]])[0].result(problem)
    except DoesNotApplyError as error:
        raise DoesNotApplyError(f"NCCL chooses {algorithm}: {error}") from None


def algbw_of(
    topology: Topology, demand: NodeDemand, algorithm: str, order: tuple[int, ...] | None = None
) -> Fraction | None:
    """Return the algbw of an algorithm of NCCL, in the unit of the topology; None where it has no schedule.

    Args:
        topology: the network.
        demand: the collective and its ranks.
        algorithm: the algorithm, as NCCL prints it.
        order: the order of the hosts by their places; None for that of the network.

    Example:
        >>> from forestcoll import load_topology
        >>> str(algbw_of(load_topology("dgx-h100:boxes=4"), NodeDemand(Collective.ALLREDUCE), "RING"))
        '6400/31'
    """
    try:
        made = made_by(Problem(topology, demand, order=order), algorithm)
    except DoesNotApplyError:
        return None
    return made.algbw or made.schedule.algbw


def usual_algorithms(problem: Problem) -> Iterator[str]:
    """Yield the algorithms that NCCL offers for a collective where its table of the machine is not known."""
    yield "RING"
    several = len(problem.boxes.members) > 1
    if problem.collective is Collective.ALLREDUCE:
        yield from ("TREE", "NVLS_TREE") if several else ("NVLS",)
    elif several and all(len(box) == 1 for box in problem.boxes.members):
        yield "PAT"
    elif not several:
        yield "NVLS"
