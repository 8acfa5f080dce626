"""The best program of a schedule for a runtime, by a descent with the simulator of programs.

The descent starts from a program that is computed (`first.py`), and tries moves along few axes (`moves.py`) in their
order. It keeps a move, and repeats it, if the program becomes faster by more than `GAIN` in the simulator. It ends when
the program is within `ENOUGH` of the schedule, when the busiest link is busy for `ENOUGH` of the time, or when no move
helps. A schedule is never replaced by another one here; `for_runtime.py` does that for a network.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.programs.lowering import Lowering, Options, Style, excess_of_trees, trees_of_steps
from forestcoll.programs.targets.target import RuntimeTarget
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Point
from forestcoll.simulation.simulate import paths_of
from forestcoll.tuning.programs.candidates import MAKING, SLOW, Candidates, Objective, ProgramCandidate
from forestcoll.tuning.programs.estimate import announce_search, check_given
from forestcoll.tuning.programs.first import first_candidate
from forestcoll.tuning.programs.moves import Move, moves_for
from forestcoll.tuning.programs.parts import parts_of
from forestcoll.tuning.programs.rounds import RoundModel

ENOUGH = 0.97
"""The search ends when a program reaches this part of the algbw of the schedule."""

BUSY = 0.9
"""The search also ends when a link is busy for this part of the time, if it carries so much more than in the schedule
that the program would be slow without any waiting."""

GAIN = 1.002
"""A move is kept if the program becomes faster by this factor."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The best program of a schedule for a runtime.

    Attributes:
        options: the options of the lowering.
        lowering: the program, and what it loses.
        points: the expected times for the requested sizes, in their order; empty if the program is too long to be
            simulated.
        tried: the number of programs that were compared.
        model: the times of the program for any size.
        schedule: the schedule that was lowered.
        refused: why another program that was tried does not fit; None if all fit.
    """

    options: Options
    lowering: Lowering
    points: tuple[Point, ...]
    tried: int
    model: RoundModel
    schedule: Schedule
    refused: str | None = None

    @property
    def algbw(self) -> float:
        """The expected algbw at the greatest size; 0 if the program is too long to be simulated."""
        return self.points[-1].algbw if self.points else 0.0

    @property
    def is_slow(self) -> bool:
        """Whether the program is slower than it should be; one that is too long to be simulated is not known to be."""
        return 0 < self.algbw < SLOW * self.lowering.schedule_algbw


def best_program(
    schedule: Schedule,
    target: RuntimeTarget,
    *,
    objective: Objective | None = None,
    progress: Progress = SILENT,
) -> Chosen:
    """Return the program of `schedule` that is fastest for the last size of `objective` within the limits of a runtime.

    Args:
        schedule: a schedule of trees, steps or flows that `verify` accepts.
        target: the format, with options of the lowering that are not searched. `chunks` is the most chunks, and the
            number with the best algbw is used.
        objective: the sizes and the costs; the defaults of `Objective` if None.
        progress: receives the stages, and how much of the work of a search is done.

    Raises:
        InputError: schedules of this kind have no programs for the runtime; an option is invalid; the shards need
            more chunks than allowed; or, for MSCCL++, a rank that receives cannot signal the rank that sends.
        NoSolutionError: no program fits the runtime.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.programs.targets.msccl_xml import MscclXml
        >>> chosen = best_program(generate("dgx-a100:boxes=1"), MscclXml(dialect="rccl"))
        >>> 2**30 % chosen.lowering.program.chunks, chosen.points[-1].algbw > 330
        (0, True)
    """
    lowered = trees_of_steps(schedule) if isinstance(schedule, StepSchedule) else schedule
    if target.style is Style.ONE_SIDED:
        _check_ways_back(lowered)
        _check_trees(lowered, target)
    objective = objective or Objective()
    check_given(schedule, target, objective.least_bytes)
    progress.begin("choosing the program")
    candidates = Candidates(lowered, target, objective, progress)
    best = _Descent(candidates).run()
    refused = None if candidates.problem is None else str(candidates.problem)
    points = best.model.points(objective.sizes)
    lowering = best.lowering
    if isinstance(schedule, StepSchedule):
        lowering = replace(lowering, schedule_algbw=step_shape(schedule).algbw or lowering.algbw)
    return Chosen(best.options, lowering, points, len(candidates.known), best.model, schedule, refused)


def _check_trees(schedule: Schedule, target: RuntimeTarget) -> None:
    """Raise `NoSolutionError` at once if the trees of a schedule say that no program of it fits."""
    limits = target.limits(len(schedule.topology.compute))
    if isinstance(schedule, TreeSchedule) and (excess := excess_of_trees(schedule, limits)) is not None:
        raise NoSolutionError(f"{schedule.topology.name}: no program fits {limits.name}: {excess}")


def _check_ways_back(schedule: Schedule) -> None:
    """Check for a plan of MSCCL++ that each rank that receives reaches the rank that sends to it, which it signals.

    Raises:
        InputError: a rank that receives does not reach the rank that sends to it.
    """
    ends = schedule.topology.link_numbers
    if all((target, source) in ends for source, target in ends):
        return
    try:
        paths_of(schedule).check_ways_back()
    except InputError as error:
        raise InputError(f"{error}, and in MSCCL++ the receiver signals the sender; export to msccl-xml") from None


class _Descent:
    """A search for the best program of a schedule."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates, self.moves = candidates, moves_for(candidates)

    def run(self) -> ProgramCandidate:
        """Return the best candidate. Raises `NoSolutionError` if none fits."""
        best, before = first_candidate(self.candidates), None
        if not self._is_enough(best):
            announce_search(self.candidates)
        while best is not before and not self._is_enough(best):
            before = best
            for move in self.moves:
                best = self._along(best, move)
        return best

    def _along(self, best: ProgramCandidate, move: Move) -> ProgramCandidate:
        """Return the candidate after a move, repeated as long as the program becomes faster."""
        while not self._is_enough(best):
            changed = move.of(best, self.candidates)
            found = None if changed is None or self._is_too_long(best, changed) else self.candidates.evaluate(changed)
            if found is None or found.algbw <= GAIN * best.algbw:
                break
            best = found
        return best

    def _is_enough(self, best: ProgramCandidate) -> bool:
        """Return whether a program is near its schedule, keeps a link busy all the time, or is too long to simulate."""
        bound, busy = float(best.lowering.schedule_algbw), best.model.busy_at(self.candidates.size)
        if not best.algbw or best.algbw >= ENOUGH * bound or busy >= ENOUGH:
            return True
        return busy >= BUSY and best.algbw < SLOW * bound * busy

    def _is_too_long(self, best: ProgramCandidate, changed: Options) -> bool:
        """Return whether a program with more parts or pieces would take too long to make or to simulate.

        The timetable of lanes makes other programs.
        """
        space = self.candidates
        if changed.lanes is not None:
            return False
        if space.share is not None:
            length = best.model.length * parts_of(changed, space.share) // parts_of(best.options, space.share)
            return space.work + MAKING * length > space.most_work
        before, after = (Fraction(each.scale, each.step_chunks or 1) for each in (best.options, changed))
        return not space.in_plans and best.model.length * after > space.most_instructions * before
