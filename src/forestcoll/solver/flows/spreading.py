"""An all-to-all whose linear program is too large: a nearly optimal flow of integer units, and lengths that bound it.

The core sends units along shortest paths, for one source after the other, with lengths of links that grow exponentially
with their loads (Plotkin, Shmoys and Tardos). The loads of the units give a rate that is reached, and the lengths prove
a bound. Both are exact, and the gap between them is stated. The paths of the units are not kept.
"""

from fractions import Fraction

from forestcoll.base.progress import SILENT, Progress
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology

MOST_NODES = 2048
"""The most compute nodes for which paths are searched."""

MOST_ROUNDS = 64
"""The most rounds of the search. The bound is then usually within two percent of the reached rate."""

DEFAULT_GAP = 0.02
"""The relative gap between the bound and the reached rate at which the search ends."""


def spread_all_to_all(
    topology: Topology, *, gap: float = DEFAULT_GAP, rounds: int = MOST_ROUNDS, progress: Progress = SILENT
) -> tuple[Fraction, tuple[int, ...]]:
    """Return an algbw of an all-to-all that a flow reaches, and lengths of links that prove a bound near it.

    Args:
        topology: the network; all its compute nodes take part.
        gap: the search ends when the bound is at most 1 + `gap` times the reached rate.
        rounds: the most rounds; in each round the paths of every node are computed once.
        progress: receives the progress of the work.
    """
    progress.begin("spreading an all-to-all over paths")
    scaled = ScaledTopology.of(topology)
    nodes, capacities = len(topology.compute), scaled.capacities
    core, problem = scaled.problem(capacities, nodes**2 * max(capacities))
    units, loads, lengths = core.spread_all_to_all(problem, rounds, gap, progress.advance)
    slowest = min(Fraction(each, load) for each, load in zip(capacities, loads, strict=True) if load)
    return nodes * units * scaled.unit * slowest, tuple(lengths)
