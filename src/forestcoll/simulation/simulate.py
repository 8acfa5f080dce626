"""The time of a schedule for many sizes of message, by either model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Protocol

from forestcoll.lowering import Options, lower, lowerer_for
from forestcoll.program import Program
from forestcoll.schedule.schedule import Schedule, entry_for
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.loads import FloatArray, Loads
from forestcoll.simulation.program.events import Timeline, run_in_time
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.series.loads import parts_of as parts_of_series
from forestcoll.simulation.series.times import SeriesModel
from forestcoll.simulation.steps.loads import parts_of as parts_of_steps
from forestcoll.simulation.steps.times import StepModel
from forestcoll.simulation.trees.loads import parts_of as parts_of_trees
from forestcoll.simulation.trees.times import TreeModel

MOST_PIECES = 16
"""The most pieces that a program is tried with; runtimes cut finer by themselves."""
MOST_INSTRUCTIONS = 40_000
"""The most instructions of a program that is run with several pieces."""


class Model(StrEnum):
    """What is simulated."""

    TREES = "trees"
    """The trees, each link shared by what they send over it, or the steps, one after the other: closed forms."""
    PROGRAM = "program"
    """The program that the schedule is lowered to, event by event, links shared fairly by what is under way."""


class TimeModel(Protocol):
    """The times of a schedule with some costs."""

    def point(self, size: int) -> Point:
        """Return what M of `size` bytes takes."""


@dataclass(frozen=True)
class Simulation:
    """How schedules of one kind are simulated.

    Attributes:
        times: returns the closed form of their times, by a schedule and costs.
        parts: returns the part of M that crosses each link.
        paths: returns the ways between ranks, for their programs.
    """

    times: Callable[[Any, Costs], TimeModel]
    parts: Callable[[Any], FloatArray]
    paths: Callable[[Any], Paths] = Paths.shortest


SIMULATIONS: dict[type[Schedule], Simulation] = {
    TreeSchedule: Simulation(TreeModel.of, parts_of_trees, Paths.of),
    StepSchedule: Simulation(StepModel.of, parts_of_steps),
    SeriesSchedule: Simulation(SeriesModel.of, parts_of_series),
}
"""How schedules are simulated, of each kind that can be."""


def loads_of(schedule: Schedule) -> Loads:
    """Return how much of the data `schedule` sends over each link.

    Raises:
        InputError: nobody knows the unit of the network's bandwidths, or schedules of this kind are not simulated.
    """
    return Loads.of_parts(schedule.topology, _simulation(schedule).parts(schedule))


def _simulation(schedule: Schedule) -> Simulation:
    return entry_for(SIMULATIONS, schedule, "simulated")


def simulate(
    schedule: Schedule,
    sizes: Sequence[int],
    costs: Costs | None = None,
    model: Model | str = Model.TREES,
) -> tuple[Point, ...]:
    """Return how long `schedule` takes for each of `sizes`, in bytes of the data M, with the best number of pieces.

    Args:
        schedule: a schedule of any kind that `verify` finds right; M of a series is one large message.
        sizes: of messages, in bytes.
        costs: what sending costs.
        model: what is simulated.

    Raises:
        InputError: nobody knows the unit of the network's bandwidths, or schedules of this kind are not simulated or
            have no programs.
        NoSolutionError: no program of the schedule fits.

    Example:
        >>> from forestcoll import build_topology, generate
        >>> [point.size for point in simulate(generate(build_topology("ring:nodes=4")), [1000, 2000])]
        [1000, 2000]
    """
    costs, entry = costs or Costs(), _simulation(schedule)
    is_program = Model(model) is Model.PROGRAM
    found: TimeModel = ProgramModel(schedule, costs) if is_program else entry.times(schedule, costs)
    return tuple(found.point(size) for size in sizes)


class ProgramModel:
    """The times of the program of a schedule."""

    def __init__(self, schedule: Schedule, costs: Costs, options: Options | None = None) -> None:
        """Lower `schedule` with `options`, in one piece to begin with."""
        self._schedule, self._costs = schedule, costs
        self._options = options or Options()
        self._most_pieces = MOST_PIECES if lowerer_for(schedule).in_pieces else 1
        self.paths = _simulation(schedule).paths(schedule)
        self._programs: dict[int, Program] = {}

    def program(self, pieces: int) -> Program:
        """Return the program whose trees' parts are cut into so many pieces."""
        if pieces not in self._programs:
            options = replace(self._options, pieces=pieces)
            self._programs[pieces] = lower(self._schedule, options).program
        return self._programs[pieces]

    def point(self, size: int) -> Point:
        """Return what M of `size` bytes takes with the best number of pieces: doubled as long as that helps."""
        best, pieces = self._point(size, 1), 2
        instructions = sum(1 for _ in self.program(1).instructions())
        while pieces <= self._most_pieces and pieces * instructions <= MOST_INSTRUCTIONS:
            point = self._point(size, pieces)
            if point.seconds >= best.seconds:
                break
            best, pieces = point, 2 * pieces
        return best

    def _point(self, size: int, pieces: int) -> Point:
        program = self.program(pieces)
        part = max(each.count for *_, each in program.instructions()) * pieces / program.chunks
        seconds = self.run(size, pieces).seconds
        return point_at(self._schedule, size=size, seconds=seconds, pieces=pieces, part=part)

    def run(self, size: int, pieces: int) -> Timeline:
        """Return the run of the program with so many pieces."""
        return run_in_time(self.program(pieces), self.paths, size, self._costs)
