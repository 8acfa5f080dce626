"""Trees that survive any single failure of a kind: what is left of them needs no new route or connection.

The guarantee is the greatest algbw that the trees left over by a failure reach with the bandwidth that they had before.
`solver/survival/program.py` has the linear program and its proof. On a network whose nodes are the elements of an
abelian group, with links of bandwidth b to d differences in both directions (rings, tori, hypercubes, complete graphs),
any failed link leaves exactly r - 2 b of the algbw r = N d b / (N - 1).

Cost: a least tree for each tree that is added to the program, up to 400 trees: seconds for 16 nodes, a minute for 32.
"""

from dataclasses import dataclass

from forestcoll.algorithms.method import Generated, Method, Problem, methods
from forestcoll.base.parameters import choice
from forestcoll.demand.collective import SCHEDULED
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.survival.schedule import Survival, surviving_schedule
from forestcoll.topology.failures import PartKind


@methods.add("surviving", summary="Trees of which enough are left after the failure of any one link, NIC or node.")
@dataclass(frozen=True)
class Surviving(Method):
    """Trees with the greatest algbw that is left after any single failure and, of these, with the greatest algbw.

    Attributes:
        failure: what can fail.

    Example:
        >>> from forestcoll import generate
        >>> str(generate("hypercube:dim=3", method="surviving").algbw)
        '24/7'
    """

    collectives = SCHEDULED

    failure: str = choice("links", "what can fail", *PartKind)

    def schedule(self, problem: Problem) -> TreeSchedule:
        """Return the trees."""
        return self.survival(problem).schedule

    def generated(self, problem: Problem) -> Generated:
        """Return the trees, with their guarantee."""
        found = self.survival(problem)
        return Generated(found.schedule, None, survival=found)

    def survival(self, problem: Problem) -> Survival:
        """Return the trees with their guarantee."""
        return surviving_schedule(
            problem.topology, problem.demand, self.failure, problem.optimum.bound, problem.progress
        )
