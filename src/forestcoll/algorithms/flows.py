"""Flows that reach the optimum of an all-to-all, a gather, a scatter, or of any demand matrix.

A maximum concurrent flow of all pairs of nodes: a linear program, whose solution is checked in fractions.
"""

from dataclasses import dataclass
from typing import cast

from forestcoll.algorithms.method import Generated, Method, Problem, methods
from forestcoll.base.parameters import count, derived_flag
from forestcoll.demand.collective import PERSONALISED
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.solver.flows.value import FlowOptimum
from forestcoll.solver.generation.flows import flows_for
from forestcoll.solver.personalised import solve_flows


@methods.add(
    "flows", summary="Data of its own for each pair of nodes, along routes that reach the optimum.", by_size=["flows"]
)
@dataclass(frozen=True)
class Flows(Method):
    """Flows along routes that reach the optimum.

    Attributes:
        peers: the most ranks of other boxes that a rank exchanges data with. The result is the optimum of a logical
            network (`topology.logical_network`); `bound` is still that of all schedules. All flows are then listed.
        compact: whether the schedule lists base flows and a symmetry of the network, if there is a symmetry. If None,
            it does so if there are more than 50,000 flows.

    Example:
        >>> from forestcoll import Flows, generate
        >>> schedule = generate("dgx-a100:boxes=2", "all-to-all", Flows())
        >>> len(schedule.flows), str(schedule.algbw)
        (240, '50')
    """

    collectives = PERSONALISED
    takes = frozenset({"ranks", "shards", "matrix"})

    peers: int | None = count("no limit", "most ranks of other boxes that a rank meets")
    compact: bool | None = derived_flag("above 50,000 flows", "list base flows and a symmetry")

    def optimum(self, problem: Problem) -> FlowOptimum:
        """Return the optimum that the flows reach."""
        if self.peers is None:
            return cast("FlowOptimum", problem.optimum)
        return solve_flows(problem.topology, problem.demand, max_peers=self.peers, progress=problem.progress)

    def schedule(self, problem: Problem) -> FlowSchedule:
        """Return the flows."""
        return flows_for(self.optimum(problem), compact=self.compact, progress=problem.progress)

    def generated(self, problem: Problem) -> Generated:
        """Return the flows and the optimum."""
        best = self.optimum(problem)
        return Generated(flows_for(best, compact=self.compact, progress=problem.progress), best)
