"""An all-to-all in steps, for networks without switches: few steps, and the least bandwidth time in so many."""

from dataclasses import dataclass

from forestcoll.algorithms.method import Method, Problem, methods
from forestcoll.base.parameters import count
from forestcoll.demand.collective import Collective
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.solver.generation.exchange_steps import stepwise_all_to_all


@methods.add("steps", summary="An all-to-all in steps, for networks without switches.", by_size=["steps"])
@dataclass(frozen=True)
class Steps(Method):
    """An all-to-all in steps, with the least time for large data in so many steps.

    Attributes:
        steps: the number of steps; more may take less time for large data. The fewest if None.

    Example:
        >>> from forestcoll import Steps, generate
        >>> generate("ring:nodes=4", "all-to-all", Steps(steps=3)).steps
        3
    """

    collectives = (Collective.ALL_TO_ALL,)

    steps: int | None = count("the fewest", "number of steps")

    def schedule(self, problem: Problem) -> StepSchedule:
        """Return the steps."""
        return stepwise_all_to_all(problem.topology, steps=self.steps, progress=problem.progress)
