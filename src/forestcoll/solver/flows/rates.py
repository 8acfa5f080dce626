"""The rate of an all-to-all, for the comparison of networks: exact if that takes seconds, else near the bound."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.exact import as_float
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.solver.flows.search import flow_search
from forestcoll.topology import Topology

MOST_COLUMNS = 20_000
"""The most columns of a linear program that is solved for a rate: about ten seconds."""


@dataclass(frozen=True, slots=True)
class ExchangeRate:
    """The algbw of an all-to-all, and how it was computed.

    Attributes:
        algbw: the algbw that a flow reaches, in the unit of the topology.
        bound: the algbw that no flow exceeds.
        reason: why the rate is not that of the best flow; empty if it is.
    """

    algbw: Fraction
    bound: Fraction
    reason: str = ""

    @property
    def method(self) -> str:
        """`exact` if the rate is the bound, else `approximate`."""
        return "exact" if self.algbw == self.bound else "approximate"

    @property
    def description(self) -> str:
        """How the rate was computed, in words."""
        if self.algbw == self.bound:
            return "the exact rate of the best flow"
        gap = as_float(self.bound / self.algbw) - 1
        return f"at most {gap:.1%} below the rate of the best flow, as {self.reason}"


def exchange_rate_of(topology: Topology, progress: Progress = SILENT) -> ExchangeRate:
    """Return the rate of an all-to-all between all compute nodes.

    Args:
        topology: the network.
        progress: receives the stages of the work.

    Raises:
        InputError: the network has more than 2,048 compute nodes, and little symmetry.

    Example:
        >>> from forestcoll import load_topology
        >>> rate = exchange_rate_of(load_topology("torus:dims=4x4"))
        >>> str(rate.algbw), rate.method
        ('2', 'exact')
    """
    best = flow_search(topology, NodeDemand(Collective.ALL_TO_ALL), progress, most_columns=MOST_COLUMNS, paths=False)
    too_large = f"its linear program has more than {MOST_COLUMNS:,} columns"
    reason = (
        "" if best.is_optimal else "the solution of its linear program was rounded" if best.is_reached else too_large
    )
    return ExchangeRate(best.algbw, best.bound.algbw, reason)
