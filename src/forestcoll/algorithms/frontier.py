"""Steps against bandwidth on a given network: for each number of steps, the schedule with the least bandwidth time.

The frontier begins at the fewest steps of any schedule. It ends where more steps do not help, because the time is that
of the optimum for large data, or after `MOST_POINTS` numbers of steps. Breadth-first and stored schedules that reach
the optimum are taken as they are; all others are those of the method `steps`, whose linear program proves that no
schedule of so many steps is faster. For an allreduce it proves this only of a reduce-scatter that is followed by an
allgather. Where the program is too large, the frontier has what the other methods reach.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import lcm

from forestcoll.algorithms.bfb import Bfb
from forestcoll.algorithms.direct_networks.stored import BestSteps
from forestcoll.algorithms.exchange_steps import Steps
from forestcoll.algorithms.generate import problem_of
from forestcoll.algorithms.method import Method, Problem, require_supported
from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.demand.demand import Demand
from forestcoll.demand.groups.groups import Groups
from forestcoll.demand.texts import DemandLike, demand_of
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.solver.generation.bfb.allgather import require_direct
from forestcoll.solver.generation.exchange_steps import stepwise_all_to_all
from forestcoll.solver.generation.step_trees import StepBroadcasts
from forestcoll.topology import Topology, TopologyLike

MOST_POINTS = 5
"""The most numbers of steps that are tried."""


@dataclass(frozen=True)
class StepPoint:
    """The best schedule of a number of steps.

    Attributes:
        method: the method that makes it, as `generate` takes it.
        schedule: the schedule.
        bandwidth_factor: its T_B, in M/B.
        least_factor: no schedule of so many steps has a lower T_B.
    """

    method: str
    schedule: StepSchedule
    bandwidth_factor: Fraction
    least_factor: Fraction

    @property
    def steps(self) -> int:
        """The number of steps."""
        return self.schedule.steps

    @property
    def is_exact(self) -> bool:
        """Whether `bandwidth_factor` is the least T_B of so many steps."""
        return self.bandwidth_factor == self.least_factor

    @property
    def chunks(self) -> int:
        """The number of equal chunks of a shard that are sent whole, as SCCL counts them (C)."""
        points = (point.denominator for phase in self.schedule.phases for point in phase.transfers.points)
        return lcm(*points, *(each.denominator for each in self._times()))

    @property
    def rounds(self) -> int:
        """The rounds of all steps together, as SCCL counts them (R): a link of capacity c sends c chunks in each."""
        return int(sum(self._times()) * self.chunks)

    def _times(self) -> list[Fraction]:
        """Return the time of each step, in shards over a link of capacity 1."""
        shard = max(self.schedule.shard_sizes)
        unit = ScaledTopology.of(self.schedule.topology).unit / shard
        return [each * unit for each in shape_of(self.schedule).step_times]


@dataclass(frozen=True, repr=False)
class StepFrontier(Displayed):
    """The least bandwidth time of a collective on a network, for each number of steps.

    Attributes:
        topology: the network.
        collective: the collective.
        points: the best schedule of each number of steps, from the fewest.
        stopped: why there are no more points, if more steps may help; None if they do not.
        least_factor: the least T_B of any number of steps, in M/B.

    Example:
        >>> found = step_frontier("kautz:degree=2,length=2")
        >>> [(each.steps, str(each.bandwidth_factor)) for each in found.points[:2]]
        [(3, '7/6'), (4, '29/30')]
    """

    topology: Topology
    collective: Collective
    points: tuple[StepPoint, ...]
    stopped: str | None
    least_factor: Fraction


def step_frontier(
    topology: TopologyLike, demand: DemandLike = Collective.ALLGATHER, *, progress: Progress = SILENT
) -> StepFrontier:
    """Return the least bandwidth time of a collective for each number of steps.

    Args:
        topology: a network without switches.
        demand: an allgather, a reduce-scatter, an allreduce or an all-to-all.
        progress: receives the stages of the work.

    Raises:
        InputError: the network has switches, or the demand is another one.
        NoSolutionError: the topology is one-port.

    Example:
        >>> found = step_frontier("dgx-1:boxes=1")
        >>> [(each.steps, each.chunks, each.rounds, each.is_exact) for each in found.points]
        [(2, 2, 3, True), (3, 24, 28, True)]
    """
    wanted = demand_of(demand)
    if isinstance(wanted, Groups):
        raise InputError("the frontier of steps is for one collective; leave groups and pieces out")
    _check(wanted)
    problem = problem_of(topology, wanted, progress)
    require_direct(problem.topology, "ask for the optimum without a frontier")
    egress = max(problem.topology.egress[node] for node in problem.members)
    least = egress / problem.optimum.bound.algbw
    return StepFrontier(problem.topology, problem.collective, *_points(problem, egress, least), least)


def _check(demand: Demand) -> None:
    kind = collective_named(demand.collective)
    if kind not in Steps.collectives:
        raise InputError(f"there is no frontier of steps for {kind.with_article}; use {', '.join(Steps.collectives)}")
    for part in ("ranks", "shards", "matrix"):
        if getattr(demand, part) is not None:
            raise InputError(f"the frontier of steps is for equal shards of all compute nodes; leave {part} out")
    require_supported(Steps(), demand)


def _points(problem: Problem, egress: Fraction, least: Fraction) -> tuple[tuple[StepPoint, ...], str | None]:
    """Return the points, and why there are no more."""
    whole = problem.collective is not Collective.ALLREDUCE

    def point(method: Method, schedule: StepSchedule, *, is_least: bool) -> StepPoint:
        factor = shape_of(schedule).bandwidth_time * egress
        return StepPoint(str(method), schedule, factor, factor if is_least else least)

    known = list[StepPoint]()
    if problem.collective is not Collective.ALL_TO_ALL:
        known = _improving([point(method, method.schedule(problem), is_least=False) for method in (Bfb(), BestSteps())])
        if known[0].is_exact:
            return tuple(known), None
    enough = next((each.steps for each in known if each.is_exact), None)
    make = _maker(problem)
    made = list[StepPoint]()
    stopped = None
    while stopped is None and not (made and (made[-1].bandwidth_factor == least or made[-1].steps + 1 == enough)):
        try:
            schedule = make(made[-1].steps + 1 if made else None)
        except InputError as error:
            stopped = str(error)
            break
        made.append(point(Steps(schedule.steps), schedule, is_least=whole))
        if len(made) == MOST_POINTS:
            stopped = f"more steps may take less time; {MOST_POINTS} numbers of steps are tried"
    points = _improving(made + known)
    return tuple(points), None if points[-1].bandwidth_factor == least else stopped


def _improving(points: list[StepPoint]) -> list[StepPoint]:
    """Return the points that take less time than all points of fewer steps, from the fewest steps."""
    kept = list[StepPoint]()
    for each in sorted(points, key=lambda point: (point.steps, point.bandwidth_factor)):
        if not kept or each.bandwidth_factor < kept[-1].bandwidth_factor:
            kept.append(each)
    return kept


def _maker(problem: Problem) -> Callable[[int | None], StepSchedule]:
    """Return the function that makes the fastest schedule of a number of steps; None stands for the fewest."""
    if problem.collective is Collective.ALL_TO_ALL:
        return lambda steps: stepwise_all_to_all(problem.topology, steps=steps, progress=problem.progress)
    return partial(StepBroadcasts(problem.topology, problem.progress).schedule, problem.collective)
