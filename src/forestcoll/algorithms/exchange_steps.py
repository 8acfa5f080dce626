"""Collectives in steps, for networks without switches: few steps, and the least bandwidth time in so many."""

from dataclasses import dataclass

from forestcoll.algorithms.method import Method, Problem, methods
from forestcoll.base.parameters import count
from forestcoll.demand.collective import COMPARED, Collective
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.solver.generation.exchange_steps import stepwise_all_to_all
from forestcoll.solver.generation.step_trees import StepBroadcasts


@methods.add(
    "steps",
    summary="The least time for large data in a number of steps, for networks without switches.",
    by_size=["steps"],
    by_size_for=[Collective.ALL_TO_ALL],
)
@dataclass(frozen=True)
class Steps(Method):
    """A collective in steps, with the least time for large data in so many steps.

    Attributes:
        steps: the number of steps; more may take less time for large data. The fewest if None.

    Example:
        >>> from forestcoll import Steps, generate
        >>> [generate("ring:nodes=4", each, Steps(steps=4)).steps for each in ("all-to-all", "allreduce")]
        [4, 4]
    """

    collectives = COMPARED

    steps: int | None = count("the fewest", "number of steps")

    def schedule(self, problem: Problem) -> StepSchedule:
        """Return the steps."""
        if problem.collective is Collective.ALL_TO_ALL:
            return stepwise_all_to_all(problem.topology, steps=self.steps, progress=problem.progress)
        return StepBroadcasts(problem.topology, problem.progress).schedule(problem.collective, self.steps)
