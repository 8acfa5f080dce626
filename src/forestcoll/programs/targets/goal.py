"""GOAL: schedules for LogGOPSim and ATLAHS."""

from dataclasses import dataclass

from forestcoll.base.errors import InputError
from forestcoll.base.progress import Progress
from forestcoll.programs.formats import goal
from forestcoll.programs.lowering import Lowering, Options, Placement
from forestcoll.programs.targets._simulator import SimulatorTarget
from forestcoll.programs.targets.target import EXPORTED, Export, certify, certify_program, targets
from forestcoll.schedule.schedule import Schedule


@targets.add("goal", summary="a schedule for LogGOPSim and ATLAHS")
@dataclass(frozen=True)
class Goal(SimulatorTarget):
    """A GOAL schedule. Its text takes longer than traces, so that fewer instructions are divided into pieces."""

    endings = (".goal",)
    most_in_pieces = 200_000

    def check(self, schedule: Schedule, options: Options) -> None:
        super().check(schedule, options)
        if options.placement is not Placement.OUT_OF_PLACE:
            raise InputError("GOAL schedules are for out of place only; leave the placement out")

    def exported(self, lowering: Lowering, options: Options, progress: Progress) -> Export:  # noqa: ARG002
        progress.begin("writing the file and reading it back")
        text = "".join(goal.emit(goal.from_program(lowering.program, self.bytes)))
        read = goal.parse_goal(text, where=EXPORTED)
        certify(goal.goal_fault(read))
        progress.begin("checking")
        certify_program(goal.to_program(read))
        return Export(self, lowering, text)
