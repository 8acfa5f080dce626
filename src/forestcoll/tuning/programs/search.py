"""The best program of a schedule for a runtime, by search with the simulator of programs.

The search starts from the least number of chunks that loses little. It changes one option at a time, with what has to
change with it: `message_choices` and `plan_choices` have the options and their values. It keeps a change if the program
becomes faster by more than `GAIN` in the simulator, and begins with the first option again. For slow plans of MSCCL++,
slow programs of flows and slow programs in strands, `GAIN_OF_SLOW` is enough. It ends when the program is within
`ENOUGH` of the schedule, or no change helps. If it is still slow, it is compared with the result of another search
(`_OptionSearch._other`). Of the programs that are within `GAIN` of the fastest, and not slow unless it is, it returns
the one that is fastest at the smaller sizes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.programs.formats import mscclpp
from forestcoll.programs.lowering import COMFORTABLE_BLOCKS, Lowering, Options, Style
from forestcoll.programs.targets.target import RuntimeTarget
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Point
from forestcoll.simulation.simulate import paths_of
from forestcoll.tuning.programs.candidates import MOST_WORK_OF_PLANS, SLOW, Candidates, Objective, ProgramCandidate
from forestcoll.tuning.programs.first_candidate import first_candidate
from forestcoll.tuning.programs.other_schedules import (
    MOST_RANKS,
    shortened,
    with_few_peers,
    with_less_scratch,
    with_one_peer,
    with_other_number_of_trees,
    with_two_peers,
)
from forestcoll.tuning.programs.plan_choices import OTHER_ORDERS, OtherPlanChoices, PlanChoices
from forestcoll.tuning.programs.rounds import RoundModel

ENOUGH = 0.97
"""The search ends when a program reaches this part of the algbw of the schedule."""

ENOUGH_IN_LANES = 0.95
"""The same for a program in lanes: each takes seconds to make, and few reach more."""

GOOD_IN_LANES = 0.85
"""A program in lanes that reaches this part is not compared with programs without lanes, which rarely reach more."""

GOOD_OF_MANY_RANKS = 0.85
"""The search among programs of another schedule of many ranks ends at this part: each takes seconds to make."""

GAIN = 1.01
"""A change is kept if the program becomes faster by this factor."""

GAIN_OF_SLOW = 1.002
"""The same for slow plans of MSCCL++, slow programs of flows, and slow programs in strands. For other programs of
messages, small gains often lead away from large ones."""

ENOUGH_OF_PLANS = 0.985
"""The same as `ENOUGH` for plans of MSCCL++ whose blocks send to one rank at a time."""


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
    best, used = _OptionSearch(candidates).run(), schedule
    if not needs_less and _needs_less_scratch(candidates, best) and (small := _in_less_scratch(candidates)) is not None:
        return small
    refused, tried = None if candidates.problem is None else str(candidates.problem), len(candidates.known)
    if "chunks" not in target.given and best.is_slow:
        in_plans = candidates.in_plans
        other = with_other_number_of_trees(schedule) if in_plans else _for_messages(schedule)
        if other is not None and other.algbw > GAIN * best.algbw:
            progress.begin("choosing the program of another schedule")
            candidates = candidates.of(other)
            is_large = len(other.members) > MOST_RANKS
            found = _OptionSearch(candidates, GOOD_OF_MANY_RANKS if is_large else None).run_or_none()
            tried += len(candidates.known)
            if found is not None and found.algbw > (GAIN_OF_SLOW if in_plans else GAIN) * best.algbw:
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
        found = _OptionSearch(others).run_or_none()
        tried += len(others.known)
        if found is None or _needs_less_scratch(others, found):
            continue
        best = found.instead_of(first, other)
        if not best.is_slow:
            points = best.model.points(candidates.objective.sizes)
            refused = None if others.problem is None else str(others.problem)
            return Chosen(best.options, best.lowering, points, tried, best.model, other, refused)
    return None


class _OptionSearch:
    """A search for the best program; `choices` are the options that it varies.

    It ends with a program that reaches the part `enough` of the algbw; by default, the part depends on the program.
    """

    def __init__(self, candidates: Candidates, enough: float | None = None) -> None:
        self.candidates, self.enough = candidates, enough
        self.choices = candidates.choices

    def run(self) -> ProgramCandidate:
        """Return the best candidate. Raises `NoSolutionError` if none fits."""
        return self._best_of_small_sizes(self._fastest())

    def run_or_none(self) -> ProgramCandidate | None:
        """Return the best candidate; None if none fits."""
        try:
            return self.run()
        except NoSolutionError:
            return None

    def _fastest(self) -> ProgramCandidate:
        """Return the result of the search, or that of another search if it is faster; only slow ones are compared."""
        first = first_candidate(self.candidates)
        best = self._improved(first)
        if not best.is_slow or self._is_enough(best):
            return best
        return max(best, self._other(first, best) or best, key=lambda each: each.algbw)

    def _other(self, first: ProgramCandidate, best: ProgramCandidate) -> ProgramCandidate | None:
        """Return the result of another search.

        Plans are searched in other orders of choices. Programs whose best one has lanes are searched without lanes if
        it is slow. Other programs of messages begin with other levels. With one root, they begin with through, as those
        of high trees always do, so that they are filled in less time. With several roots, they have one level, so that
        a block that sends to a rank takes turns between the data of its own rank and data that it sends on.
        """
        choices = self.choices
        if isinstance(choices, PlanChoices):
            return max((self._in_order(choices, first, order) for order in OTHER_ORDERS), key=lambda each: each.algbw)
        if isinstance(choices, OtherPlanChoices) or not self.candidates.counts or "levels" in self.candidates.given:
            return None
        is_good = best.options.lanes and best.algbw >= GOOD_IN_LANES * best.lowering.schedule_algbw
        if is_good or first.options.levels == 0:
            return None
        self.choices, self.candidates.work = replace(choices, with_lanes=False), 0
        levels = 0 if self.candidates.schedule.collective.has_root else 1
        start = first if best.options.lanes else self.candidates.evaluate(replace(first.options, levels=levels))
        return None if start is None else self._improved(start)

    def _in_order(self, choices: PlanChoices, first: ProgramCandidate, order: tuple[str, ...]) -> ProgramCandidate:
        self.choices, self.candidates.work = replace(choices, order=order), MOST_WORK_OF_PLANS // 2
        return self._improved(first)

    def _improved(self, start: ProgramCandidate) -> ProgramCandidate:
        best, before = start, None
        while best is not before and not self._is_enough(best):
            before = best
            for name, values in self.choices.values(best.options, best.model.most_chunks):
                best = self._better(best, name, values)
                if best is not before:
                    break  # the values to try follow from the best options
        return best

    def _best_of_small_sizes(self, fastest: ProgramCandidate) -> ProgramCandidate:
        """Return the candidate that is fastest at the other sizes, of those about as fast as the fastest one."""
        best, sizes = fastest, self.candidates.objective.sizes[:-1]
        if not fastest.algbw or not sizes:
            return fastest
        enough = min(fastest.algbw, max(fastest.algbw / GAIN, SLOW * fastest.lowering.schedule_algbw))
        for each in self.candidates.known.values():
            if each is not None and each.algbw >= enough:
                faster = prod(each.model.point(size).algbw / best.model.point(size).algbw for size in sizes)
                is_fast = faster > GAIN and each.model.point(self.candidates.objective.sizes[-1]).algbw >= enough
                best = each if is_fast else best
        return best

    def _is_enough(self, best: ProgramCandidate) -> bool:
        enough = self.enough
        if enough is None and isinstance(self.choices, PlanChoices):
            enough = ENOUGH_OF_PLANS
        elif enough is None:
            enough = ENOUGH if best.options.lanes is None else ENOUGH_IN_LANES
        return not best.algbw or best.algbw >= enough * best.lowering.schedule_algbw

    def _better(self, best: ProgramCandidate, name: str, values: Sequence[int]) -> ProgramCandidate:
        """Return the best candidate with one of these values of an option, or `best`."""
        if name == "fine" and best.algbw >= ENOUGH * best.lowering.schedule_algbw:
            return best  # it gains little then, and takes long to search
        is_small = (
            self.candidates.in_plans
            or isinstance(self.candidates.schedule, FlowSchedule)
            or name in {"strands", "more_steps"}
        )
        gain = GAIN_OF_SLOW if best.is_slow and is_small else GAIN
        for value in values:
            if (
                name == "blocks"
                and value == self.candidates.limits.blocks
                and _most_blocks_used(best) > COMFORTABLE_BLOCKS
            ):
                break  # it may use so many already
            changed = list(self.choices.changed(best.options, name, value))
            tried = [None if self._grows_too_long(best, each) else self.candidates.evaluate(each) for each in changed]
            found = max((each for each in tried if each is not None), key=lambda each: each.algbw, default=None)
            if found is not None and found.algbw > gain * best.algbw:
                best = found
            elif name == "instances" or (found is None and name in {"pieces", "more_steps"}):
                break  # more do not help or do not fit either
            elif (
                name == "step_chunks"
                and found
                and found.model is best.model
                and value > (best.options.step_chunks or 1)
            ):
                break  # no step becomes longer
            if name == "halves" and None not in tried:
                break  # larger steps are for programs with too many
        return best

    def _grows_too_long(self, best: ProgramCandidate, changed: Options) -> bool:
        """Return whether more pieces or instances of a program of messages cannot be simulated."""
        if self.candidates.in_plans or changed.lanes is not None:
            return False
        before, after = (Fraction(each.scale, each.step_chunks or 1) for each in (best.options, changed))
        return best.model.length * after > self.candidates.most_instructions * before


def _most_blocks_used(candidate: ProgramCandidate) -> int:
    return max(len(rank.blocks) for rank in candidate.lowering.program.ranks)
