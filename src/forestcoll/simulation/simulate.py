"""The time of a schedule for many message sizes, by a closed form or by simulation of its program."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, Protocol

from forestcoll.base.errors import InputError
from forestcoll.programs.lowering import Options, default_options, lower
from forestcoll.programs.model import Program, instruction_count
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.loads_of import link_loads
from forestcoll.schedule.schedule import Schedule, entry_for
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.bundle.times import BundleModel
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.flows.times import FlowModel
from forestcoll.simulation.loads import Loads
from forestcoll.simulation.program.events import EventSimulation, Timeline
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.series.times import SeriesModel
from forestcoll.simulation.steps.times import StepModel, StepWork
from forestcoll.simulation.trees.slots import SLOT_COSTS, SlotModel
from forestcoll.simulation.trees.times import TreeModel, TreeWork

MOST_PIECES = 16
"""The most pieces that a program is simulated with; runtimes cut chunks further by themselves."""
MOST_INSTRUCTIONS = 40_000
"""The most instructions of a program that is simulated with several pieces."""


class Model(StrEnum):
    """The model of time."""

    TREES = "trees"
    """A closed form: trees, flows and groups share links in proportion to their data; steps follow each other."""
    PROGRAM = "program"
    """A discrete-event simulation of the program that the schedule is lowered to; transfers share links fairly."""
    SLOTS = "slots"
    """A closed form of trees in time slots, as the torch backend runs them on GPUs; all ranks end a slot together."""


class TimeModel(Protocol):
    """A model of the times of one schedule."""

    def point(self, size: int) -> Point:
        """Return the time of M of `size` bytes."""


class _Work(Protocol):
    """What a schedule sends: everything in its times that does not depend on costs."""

    def model(self, costs: Costs) -> TimeModel:
        """Return the times with these costs."""


@dataclass(frozen=True)
class Simulation:
    """The functions that simulate schedules of one kind.

    Attributes:
        times: returns the closed form of the times of a schedule with given costs.
        paths: returns the paths between ranks, for the simulation of the program.
        work: returns what does not depend on costs, if that saves time when a schedule has times with many costs.
    """

    times: Callable[[Any, Costs], TimeModel]
    paths: Callable[[Any], Paths] = Paths.shortest
    work: Callable[[Any], _Work] | None = None


def _step_times(schedule: StepSchedule, costs: Costs) -> StepModel:
    return StepWork.of(schedule).model(costs)


SIMULATIONS: dict[type[Schedule], Simulation] = {
    TreeSchedule: Simulation(TreeModel.of, Paths.of, TreeWork.of),
    StepSchedule: Simulation(_step_times, work=StepWork.of),
    SeriesSchedule: Simulation(SeriesModel.of),
    FlowSchedule: Simulation(FlowModel.of, Paths.of_flows),
    BundleSchedule: Simulation(BundleModel.of),
}
"""The functions of each kind of schedule that can be simulated."""


def loads_of(schedule: Schedule) -> Loads:
    """Return the part of the data that `schedule` sends over each link.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit, or the loads of this kind, are not known.
    """
    return Loads.of_parts(schedule.topology, link_loads(schedule).parts)


def paths_of(schedule: Schedule) -> Paths:
    """Return the paths between ranks over which programs of `schedule` send.

    Raises:
        InputError: schedules of this kind cannot be simulated.
    """
    return _simulation(schedule).paths(schedule)


def times_of(schedule: Schedule) -> Callable[[Costs], TimeModel]:
    """Return a function from costs to the times of `schedule` by its closed form.

    Raises:
        InputError: schedules of this kind cannot be simulated.
    """
    entry = _simulation(schedule)
    return partial(entry.times, schedule) if entry.work is None else entry.work(schedule).model


def _simulation(schedule: Schedule) -> Simulation:
    return entry_for(SIMULATIONS, schedule, "simulated")


def simulate(
    schedule: Schedule,
    sizes: Sequence[int],
    costs: Costs | None = None,
    model: Model | str = Model.TREES,
) -> tuple[Point, ...]:
    """Return the time of `schedule` for each message size, with the best number of pieces.

    Args:
        schedule: a schedule of any kind that `verify` accepts. For a series, M is one large message.
        sizes: the sizes of the total data M, in bytes.
        costs: the parameters of the model; the defaults of `Costs` if None.
        model: `"trees"` for a closed form, `"program"` for a discrete-event simulation of the lowered program,
            `"slots"` for trees in time slots. The defaults of the last are `SLOT_COSTS`.

    Returns:
        One point for each size, in the order of `sizes`.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known, or schedules of this kind cannot be
            simulated or have no programs.
        NoSolutionError: no program of the schedule fits the limits.

    Example:
        >>> from forestcoll import generate
        >>> for point in simulate(generate("ring:nodes=4"), [2**10, 2**30]):
        ...     print(f"{point.size:10} bytes {point.seconds * 1e6:9.1f} us {point.algbw:6.3f} GB/s")
              1024 bytes      12.8 us  0.080 GB/s
        1073741824 bytes  403933.3 us  2.658 GB/s
    """
    found = _model(schedule, costs, Model(model))
    return tuple(found.point(size) for size in sizes)


def _model(schedule: Schedule, costs: Costs | None, model: Model) -> TimeModel:
    entry = _simulation(schedule)
    if model is Model.PROGRAM:
        return ProgramModel(schedule, costs or Costs())
    if model is Model.TREES:
        return entry.times(schedule, costs or Costs())
    if not isinstance(schedule, TreeSchedule):
        raise InputError(f"a {schedule.kind} schedule has no slots; use the model 'trees', or a schedule of trees")
    return SlotModel.of(schedule, costs or SLOT_COSTS)


class ProgramModel:
    """The times of the program that a schedule is lowered to."""

    def __init__(self, schedule: Schedule, costs: Costs, options: Options | None = None) -> None:
        """Prepare to lower `schedule` with `options`, whose number of pieces is replaced."""
        self._schedule, self._costs = schedule, costs
        self._options = options or default_options(schedule)
        self.paths = paths_of(schedule)
        self._programs: dict[int, Program] = {}
        self._simulations: dict[int, EventSimulation] = {}

    def program(self, pieces: int) -> Program:
        """Return the program in which the data of each tree is cut into this number of `pieces`."""
        if pieces not in self._programs:
            options = replace(self._options, pieces=pieces)
            self._programs[pieces] = lower(self._schedule, options).program
        return self._programs[pieces]

    def point(self, size: int) -> Point:
        """Return the time of M of `size` bytes; the number of pieces is doubled while that saves time."""
        best, pieces = self._point(size, 1), 2
        instructions = instruction_count(self.program(1))
        while pieces <= MOST_PIECES and pieces * instructions <= MOST_INSTRUCTIONS:
            point = self._point(size, pieces)
            if point.seconds >= best.seconds:
                break
            best, pieces = point, 2 * pieces
        return best

    def _point(self, size: int, pieces: int) -> Point:
        part = self._simulation(pieces).most_chunks * pieces / self.program(pieces).chunks
        seconds = self.run(size, pieces).seconds
        return point_at(self._schedule, size=size, seconds=seconds, pieces=pieces, part=part)

    def run(self, size: int, pieces: int) -> Timeline:
        """Simulate the program with this number of `pieces` on M of `size` bytes."""
        return self._simulation(pieces).run(size)

    def _simulation(self, pieces: int) -> EventSimulation:
        if pieces not in self._simulations:
            self._simulations[pieces] = EventSimulation(self.program(pieces), self.paths, self._costs)
        return self._simulations[pieces]
