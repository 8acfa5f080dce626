"""The best program of a schedule for a runtime, by search with the simulator of programs.

The search starts from the least number of chunks that loses little. It changes one option at a time, with what has to
change with it: `message_choices` and `plan_choices` have the options and their values. It keeps a change if the program
becomes faster by more than `GAIN` in the simulator, and begins with the first option again. For slow plans of MSCCL++,
slow programs of flows and slow programs in strands, `GAIN_OF_SLOW` is enough. It ends when the program is within
`ENOUGH` of the schedule, or no change helps. If it is still slow, it is compared with the result of another search
(`_Descent._other`). Of the programs that are within `GAIN` of the fastest, and not slow unless it is, it returns
the one that is fastest at the smaller sizes.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.programs.formats import mscclpp
from forestcoll.programs.lowering import Lowering, Options, Style
from forestcoll.programs.targets.target import RuntimeTarget
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Point
from forestcoll.simulation.simulate import paths_of
from forestcoll.tuning.programs.candidates import MAKING, Candidates, Objective, ProgramCandidate
from forestcoll.tuning.programs.first import first_candidate
from forestcoll.tuning.programs.moves import Move, moves_for
from forestcoll.tuning.programs.other_schedules import (
    shortened,
    with_few_peers,
    with_less_scratch,
    with_one_peer,
    with_other_number_of_trees,
    with_two_peers,
)
from forestcoll.tuning.programs.parts import parts_of
from forestcoll.tuning.programs.rounds import RoundModel

ENOUGH = 0.97
"""The search ends when a program reaches this part of the algbw of the schedule."""

GAIN = 1.005
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
        schedule: the schedule that was lowered: the given one, or another one of the same demand.
        refused: why another program that was tried does not fit; None if all fit.
    """

    options: Options
    lowering: Lowering
    points: tuple[Point, ...]
    tried: int
    model: RoundModel
    schedule: Schedule
    refused: str | None = None


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
    if target.style is Style.ONE_SIDED:
        _check_ways_back(schedule)
    objective = objective or Objective()
    progress.begin("choosing the program")
    candidates = Candidates(schedule, target, objective, progress)
    needs_less = _needs_less_scratch(candidates, first_candidate(candidates))
    if needs_less and (small := _in_less_scratch(candidates)) is not None:
        return small
    best, used = _Descent(candidates).run(), schedule
    if not needs_less and _needs_less_scratch(candidates, best) and (small := _in_less_scratch(candidates)) is not None:
        return small
    refused, tried = None if candidates.problem is None else str(candidates.problem), len(candidates.known)
    if "chunks" not in target.given and best.is_slow:
        in_plans = candidates.in_plans
        other = with_other_number_of_trees(schedule) if in_plans else _for_messages(schedule)
        if other is not None and other.algbw > GAIN * best.algbw:
            progress.begin("choosing the program of another schedule")
            candidates = candidates.of(other)
            found = _Descent(candidates).run_or_none()
            tried += len(candidates.known)
            if found is not None and found.algbw > (GAIN) * best.algbw:
                best, used = found.instead_of(best, other), other
    points = best.model.points(objective.sizes)
    return Chosen(best.options, best.lowering, points, tried, best.model, used, refused)


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


def _for_messages(schedule: Schedule) -> TreeSchedule | FlowSchedule | None:
    """Return another schedule of which programs of messages may be faster, or None."""
    if isinstance(schedule, FlowSchedule):
        return with_few_peers(schedule)
    if schedule.collective.has_root:
        return shortened(schedule)
    return with_one_peer(schedule) or with_two_peers(schedule)


def _needs_less_scratch(candidates: Candidates, found: ProgramCandidate) -> bool:
    """Return whether a plan for a reduce needs so much scratch that it does not match the greatest size."""
    if not candidates.in_plans or candidates.schedule.collective is not Collective.REDUCE:
        return False
    most = mscclpp.most_bytes(found.lowering.program)
    return "chunks" not in candidates.given and most < candidates.objective.most_bytes


def _in_less_scratch(candidates: Candidates) -> Chosen | None:
    """Return a program of the same reduce with other trees that matches the greatest size and is not slow, or None."""
    first, tried = first_candidate(candidates), len(candidates.known)
    for other in with_less_scratch(candidates.schedule, in_place=first.options.in_place):
        candidates.progress.begin("choosing the program with less scratch")
        others = candidates.of(other)
        found = _Descent(others).run_or_none()
        tried += len(others.known)
        if found is None or _needs_less_scratch(others, found):
            continue
        best = found.instead_of(first, other)
        if not best.is_slow:
            points = best.model.points(candidates.objective.sizes)
            refused = None if others.problem is None else str(others.problem)
            return Chosen(best.options, best.lowering, points, tried, best.model, other, refused)
    return None


class _Descent:
    """A search for the best program of a schedule."""

    def __init__(self, candidates: Candidates) -> None:
        self.candidates, self.moves = candidates, moves_for(candidates)

    def run(self) -> ProgramCandidate:
        """Return the best candidate. Raises `NoSolutionError` if none fits."""
        best, before = first_candidate(self.candidates), None
        while best is not before and not self._is_enough(best):
            before = best
            for move in self.moves:
                best = self._along(best, move)
        return best

    def run_or_none(self) -> ProgramCandidate | None:
        """Return the best candidate; None if none fits."""
        try:
            return self.run()
        except NoSolutionError:
            return None

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
        enough = best.algbw >= ENOUGH * best.lowering.schedule_algbw
        return not best.algbw or enough or best.model.busy_at(self.candidates.size) >= ENOUGH

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
