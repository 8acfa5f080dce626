"""The time of a schedule for many sizes of message, by either model."""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from forestcoll.lowering import Options, lower
from forestcoll.program import Program
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.program.events import Timeline, run_in_time
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.steps.times import StepModel
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


def simulate(
    schedule: TreeSchedule | StepSchedule,
    sizes: Sequence[int],
    costs: Costs | None = None,
    model: Model | str = Model.TREES,
) -> tuple[Point, ...]:
    """Return how long `schedule` takes for each of `sizes`, in bytes of the data M, with the best number of pieces.

    Args:
        schedule: a schedule that `verify` finds right.
        sizes: of messages, in bytes.
        costs: what sending costs.
        model: what is simulated.

    Raises:
        InputError: nobody knows the unit of the network's bandwidths.
        NoSolutionError: the schedule cannot be lowered.
    """
    costs = costs or Costs()
    found: ProgramModel | StepModel | TreeModel
    if Model(model) is Model.PROGRAM:
        found = ProgramModel(schedule, costs)
    else:
        found = StepModel.of(schedule, costs) if isinstance(schedule, StepSchedule) else TreeModel.of(schedule, costs)
    return tuple(found.point(size) for size in sizes)


class ProgramModel:
    """The times of the program of a schedule."""

    def __init__(self, schedule: TreeSchedule | StepSchedule, costs: Costs, options: Options | None = None) -> None:
        """Lower `schedule` with `options`, in one piece to begin with; steps are always in one."""
        self._schedule, self._costs = schedule, costs
        self._options = options or Options()
        self._most_pieces = 1 if isinstance(schedule, StepSchedule) else MOST_PIECES
        self.paths = Paths.of(schedule)
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
