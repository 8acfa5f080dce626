"""The best program of a schedule for a runtime, by search with the simulator of programs.

The search starts from the least number of chunks that loses little. It changes one option at a time, with what has to
change with it: `message_choices` and `plan_choices` have the options and their values. It keeps a change if the program
becomes faster by more than `GAIN` in the simulator, and begins with the first option again. For slow plans of MSCCL++,
`GAIN_OF_SLOW_PLANS` is enough. It ends when the program is within `ENOUGH` of the schedule, or no change helps. If it
is still slow, it is compared with the result of another search (`_Search._other`). Of the programs that are within
`GAIN` of the fastest, and not slow unless it is, it returns the one that is fastest at the smaller sizes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, inf, log2, prod
from typing import Any

from forestcoll.errors import NoSolutionError
from forestcoll.exporting.divisible import LEAST_BYTES, LOSSES, Count, counts_for, least_with
from forestcoll.exporting.machines import machine_of
from forestcoll.exporting.message_choices import MOST_INSTANCES, MessageChoices
from forestcoll.exporting.other_trees import with_other_trees
from forestcoll.exporting.plan_choices import MESSAGE, OTHER_ORDERS, OtherPlanChoices, PlanChoices
from forestcoll.exporting.rounds import MANY_RANKS, RoundModel, most_instructions, round_bytes_of, slices_of
from forestcoll.lowering import COMFORTABLE_BLOCKS, Lowering, Options, Style, lower, lowerer_for
from forestcoll.program import Program, Protocol
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Costs, Point
from forestcoll.simulation.loads import bytes_per_second
from forestcoll.simulation.simulate import paths_of
from forestcoll.targets.exporting import (
    DEFAULT_DIALECT,
    Target,
    check_style,
    least_instructions,
    limits_of,
    target_named,
    usual_options,
)
from forestcoll.targets.sizes import ALIGNMENT, chunks_of_file
from forestcoll.units import bytes_per_microsecond

SIZES = (10**6, 64 * 10**6, 10**9)
"""The sizes of M for which a report states the expected algbw, in bytes; programs are chosen for the last one."""

ENOUGH = 0.97
"""The search ends when a program reaches this part of the algbw of the schedule."""

ENOUGH_IN_LANES = 0.95
"""The same for a program in lanes: each takes seconds to make, and few reach more."""

GOOD_IN_LANES = 0.85
"""A program in lanes that reaches this part is not compared with programs without lanes, which rarely reach more."""

SLOW = 0.95
"""A program that reaches less than this part of the algbw of its schedule is slow."""

GAIN = 1.01
"""A change is kept if the program becomes faster by this factor."""

GAIN_OF_SLOW_PLANS = 1.002
"""The same for slow plans of MSCCL++. For programs of messages, small gains often lead away from large ones."""

MOST_WORK = 2_000_000
"""The search ends when it has simulated about this many instructions, which takes about ten seconds."""

WORK_OF_RANK = 125_000
"""For programs of messages of more than 16 ranks, the search simulates about this many instructions for each rank."""

MOST_WORK_OF_PLANS = 16_000_000
"""The same as `MOST_WORK` for plans of MSCCL++ made of trees, whose rounds are simulated faster."""

ENOUGH_OF_PLANS = 0.985
"""The same as `ENOUGH` for plans of MSCCL++ whose blocks send to one rank at a time."""

MAKING = 8
"""Making an instruction takes as long as simulating so many."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What a program is chosen for.

    Attributes:
        sizes: the sizes of M in bytes for which the result states the expected times; the program is chosen for the
            last one.
        least_bytes: the least size of M for which the runtime can use the program.
        costs: the parameters of the model; if None, those of `Costs`, with the bandwidth of a block of the machine.
    """

    sizes: tuple[int, ...] = SIZES
    least_bytes: int = LEAST_BYTES
    costs: Costs | None = None


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
        schedule: the schedule that was lowered: the given one, or one with another number of trees per root.
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
    target: Target | str,
    dialect: str = DEFAULT_DIALECT,
    *,
    aim: "Aim | None" = None,
    given: Mapping[str, Any] | None = None,
) -> Chosen:
    """Return the program of `schedule` that is fastest for the last size of `aim` within the limits of a runtime.

    Args:
        schedule: a schedule of trees, steps or flows that `verify` accepts.
        target: the format: MSCCL XML or a plan of MSCCL++.
        dialect: for MSCCL XML, the runtime.
        aim: the sizes and the costs; the defaults of `Aim` if None.
        given: options of the lowering that are not searched, by their names. `chunks` is the most chunks, and the
            number with the best algbw is used; None is the number that makes all shares exact.

    Raises:
        InputError: schedules of this kind have no programs for the runtime; an option is invalid; or the shards need
            more chunks than allowed.
        NoSolutionError: no program fits the runtime.

    Example:
        >>> from forestcoll import generate
        >>> chosen = best_program(generate("dgx-a100:boxes=1"), "msccl-xml", "rccl")
        >>> 2**30 % chosen.lowering.program.chunks, chosen.points[-1].algbw > 330
        (0, True)
    """
    target = target_named(target)
    check_style(schedule, target)
    aim, given = aim or Aim(), dict(given or {})
    search = _Search(schedule, target, dialect, aim, given)
    best, used = search.run(), schedule
    refused, tried = None if search.problem is None else str(search.problem), len(search.known)
    if target is Target.MSCCLPP_JSON and "chunks" not in given and best.is_slow:
        other = with_other_trees(schedule)
        if other is not None and other.algbw > GAIN * best.algbw:
            another = _Search(other, target, dialect, aim, given)
            found = another.run_or_none()
            tried += len(another.known)
            if found is not None and found.algbw > GAIN_OF_SLOW_PLANS * best.algbw:
                best, used = found.instead_of(best, other.trees_per_root), other
    points = best.model.points(aim.sizes)
    return Chosen(best.options, best.lowering, points, tried, best.model, used, refused)


@dataclass(frozen=True, slots=True)
class _Candidate:
    options: Options
    lowering: Lowering
    model: RoundModel
    algbw: float
    """The expected algbw at the greatest size, or an estimate that is below that of another candidate; 0 if the program
    is too long to be simulated."""

    @property
    def is_slow(self) -> bool:
        """Whether the program is slower than it should be; one that is too long to be simulated is not known to be."""
        return 0 < self.algbw < SLOW * self.lowering.schedule_algbw

    def instead_of(self, known: "_Candidate", trees: int | None) -> "_Candidate":
        """Return this candidate, which has `trees` trees per root, with its loss against the schedule of `known`."""
        loss = 1 - self.lowering.algbw / known.lowering.schedule_algbw
        return replace(self, lowering=replace(self.lowering, loss=loss, trees_left_out=0, other_trees=trees))


@dataclass
class _Search:
    schedule: Schedule
    target: Target
    dialect: str
    aim: Aim
    given: dict[str, Any]
    known: dict[Options, _Candidate | None] = field(default_factory=dict)
    problem: NoSolutionError | None = None
    highest: float = 0.0
    work: int = 0

    def __post_init__(self) -> None:
        machine = machine_of(self.schedule.topology)
        self.machine = machine
        self.costs = self.aim.costs or Costs(block_gbps=machine.block_gbps if machine else None)
        self.limits = limits_of(self.target, self.dialect, len(self.schedule.topology.compute))
        self.counts = self._counts()
        self.choices = self._choices()

    def _choices(self) -> PlanChoices | OtherPlanChoices | MessageChoices:
        """Return the options to choose from."""
        blocks = self._most_blocks()
        if self.target is not Target.MSCCLPP_JSON:
            return MessageChoices(
                schedule=self.schedule,
                counts=self.counts,
                given=self.given,
                size=self.aim.sizes[-1],
                blocks=blocks,
                most_instructions=self._most_instructions,
                finest=self._finest,
            )
        packets = self.given.get("protocol") == Protocol.LL
        if isinstance(self.schedule, TreeSchedule) and not packets:
            return PlanChoices.of(self.schedule, self.counts, self.aim.least_bytes // ALIGNMENT, self.given)
        in_rounds = lowerer_for(self.schedule).in_pieces
        return OtherPlanChoices(self.counts, in_rounds, blocks, frozenset(self.given))

    def _counts(self) -> tuple[Count, ...]:
        """Return the numbers of chunks to choose from; none for steps, flows and exact shares."""
        if not isinstance(self.schedule, TreeSchedule) or self.given.get("chunks", 0) is None:
            return ()
        asked = self.given.get("chunks")
        if asked is not None:
            counts = counts_for(self.schedule, asked)
            return (min(counts, key=lambda each: (each.loss, each.chunks)),)
        return counts_for(self.schedule, self._finest)

    @property
    def _finest(self) -> int:
        """The most chunks of a program."""
        most = self.aim.least_bytes // ALIGNMENT
        return most if self.limits.chunks is None else min(most, self.limits.chunks)

    def run(self) -> _Candidate:
        """Return the best candidate. Raises `NoSolutionError` if none fits."""
        return self._best_of_small_sizes(self._fastest())

    def run_or_none(self) -> _Candidate | None:
        """Return the best candidate; None if none fits."""
        try:
            return self.run()
        except NoSolutionError:
            return None

    def _fastest(self) -> _Candidate:
        """Return the result of the search, or that of another search if it is faster; only slow ones are compared."""
        first = self._first()
        best = self._improved(first)
        if not best.is_slow:
            return best
        return max(best, self._other(first, best) or best, key=lambda each: each.algbw)

    def _other(self, first: _Candidate, best: _Candidate) -> _Candidate | None:
        """Return the result of another search.

        Plans are searched in other orders of choices. Programs whose best one has lanes are searched without lanes if
        it is slow. Other programs of messages begin with other levels: with one root, through, so that high trees are
        filled in less time; with several roots, one level, so that a block that sends to a rank takes turns between the
        data of its own rank and data that it sends on.
        """
        choices = self.choices
        if isinstance(choices, PlanChoices):
            return max((self._in_order(choices, first, order) for order in OTHER_ORDERS), key=lambda each: each.algbw)
        if isinstance(choices, OtherPlanChoices) or not self.counts or "levels" in self.given:
            return None
        if best.options.lanes and best.algbw >= GOOD_IN_LANES * best.lowering.schedule_algbw:
            return None
        self.choices, self.work = replace(choices, with_lanes=False), 0
        levels = 0 if self.schedule.collective.has_root else 1
        start = first if best.options.lanes else self._evaluate(replace(first.options, levels=levels))
        return None if start is None else self._improved(start)

    def _in_order(self, choices: PlanChoices, first: _Candidate, order: tuple[str, ...]) -> _Candidate:
        self.choices, self.work = replace(choices, order=order), MOST_WORK_OF_PLANS // 2
        return self._improved(first)

    def _improved(self, start: _Candidate) -> _Candidate:
        best, before = start, None
        while best is not before and not self._is_enough(best):
            before = best
            for name, values in self.choices.values(best.options, best.model.most_chunks):
                best = self._better(best, name, values)
                if best is not before:
                    break  # the values to try follow from the best options
        return best

    def _best_of_small_sizes(self, fastest: _Candidate) -> _Candidate:
        """Return the candidate that is fastest at the other sizes, of those about as fast as the fastest one."""
        best, sizes = fastest, self.aim.sizes[:-1]
        if not fastest.algbw or not sizes:
            return fastest
        enough = min(fastest.algbw, max(fastest.algbw / GAIN, SLOW * fastest.lowering.schedule_algbw))
        for each in self.known.values():
            if each is not None and each.algbw >= enough:
                faster = prod(each.model.point(size).algbw / best.model.point(size).algbw for size in sizes)
                is_fast = faster > GAIN and each.model.point(self.aim.sizes[-1]).algbw >= enough
                best = each if is_fast else best
        return best

    def _is_enough(self, best: _Candidate) -> bool:
        enough = ENOUGH if best.options.lanes is None else ENOUGH_IN_LANES
        if isinstance(self.choices, PlanChoices):
            enough = ENOUGH_OF_PLANS
        return not best.algbw or best.algbw >= enough * best.lowering.schedule_algbw

    def _first(self) -> _Candidate:
        start = self._start()
        for options in (start, *self._retreats(start)):
            if (found := self._evaluate(options)) is not None:
                return found if found.algbw or found.options.children is None else self._shorter(found)
        raise self.problem or NoSolutionError(f"{self.schedule.topology.name}: no program fits {self.limits.name}")

    def _shorter(self, long: _Candidate) -> _Candidate:
        """Return a program with fewer chunks that can be simulated, or `long` if there is none."""
        fewer = [each.chunks for each in reversed(self.counts) if each.chunks < (long.options.chunks or 0)]
        tried = (self._evaluate(replace(long.options, chunks=chunks)) for chunks in fewer)
        return next((each for each in tried if each is not None and each.algbw), long)

    def _start(self) -> Options:
        usual = usual_options(self.schedule, self.target, self.dialect)
        chunks = {"chunks": least_with(self.counts, LOSSES[1]).chunks} if self.counts else {}
        choices = self.choices
        if isinstance(choices, MessageChoices):
            steps = {"step_chunks": choices.chunks_of_message(chunks["chunks"])} if chunks else {}
            return replace(usual, **steps | self.given | chunks)
        start: dict[str, Any] = {"round_bytes": MESSAGE, "instances": self._instances(), "style": Style.ONE_SIDED}
        if self.given.get("protocol") == Protocol.LL:
            start["pieces"] = 1
        if isinstance(self.schedule, FlowSchedule):
            start["blocks"] = self._most_blocks()  # so that pairs of ranks do not wait for each other
        if isinstance(choices, PlanChoices) and least_instructions(self.schedule) <= self._most_instructions:
            start |= {"children": 1, "blocks": self._most_blocks(), "instances": self._blocks_of_edge(choices)}
        options = replace(usual, **start | self.given | chunks)
        return choices.with_parts(options, options.instances, MESSAGE) if isinstance(choices, PlanChoices) else options

    def _blocks_of_edge(self, plans: PlanChoices) -> int:
        """Return the least number of blocks that together move as much as the greatest tree sends over an edge."""
        topology = self.schedule.topology
        if self.costs.block_gbps is None or self.schedule.algbw is None:
            return 1
        gbps = float(plans.share * self.schedule.algbw * bytes_per_microsecond(topology.bandwidth_unit)) * 1e-3
        return max(1, ceil(gbps / self.costs.block_gbps))

    def _instances(self) -> int:
        """Return the least power of two of blocks that together move as much as the links of a rank.

        A block sends over one link at a time. For a large network it is less, so that the program can be simulated.
        Flows have blocks for each pair of ranks.
        """
        if not isinstance(self.schedule, TreeSchedule):
            return 1
        topology, members = self.schedule.topology, set(self.schedule.members)
        sent: dict[int, list[float]] = {member: [0.0] for member in members}
        for link, bandwidth in zip(topology.links, bytes_per_second(topology).tolist(), strict=True):
            if link.source in members:
                sent[link.source].append(bandwidth)
        block = inf if self.costs.block_gbps is None else self.costs.block_gbps * 1e9
        blocks = max(sum(each) / min(block, max(each)) for each in sent.values() if max(each))
        simulated = self._most_instructions // max(1, least_instructions(self.schedule))
        return int(min(MOST_INSTANCES, 2 ** ceil(log2(max(1.0, blocks))), 1 << max(1, simulated).bit_length() - 1))

    def _retreats(self, start: Options) -> Iterator[Options]:
        """Yield options to try if the first program does not fit: other numbers of chunks, with fewer instances."""
        plans = self.choices if isinstance(self.choices, PlanChoices) else None
        instances = [start.instances if plans is None else plans.parts(start)]
        while instances[-1] > 1 and "instances" not in self.given:
            instances.append(instances[-1] // 2)
        for each in instances:
            parts = replace(start, instances=each) if plans is None else plans.with_parts(start, each, MESSAGE)
            numbers = [start.chunks, *(count.chunks for count in reversed(self.counts))]
            yield from (replace(parts, chunks=chunks) for chunks in dict.fromkeys(numbers))

    @property
    def _most_instructions(self) -> int:
        """The most instructions of a program that can be simulated."""
        return most_instructions(len(self.schedule.members), messages=self.target is not Target.MSCCLPP_JSON)

    @property
    def _most_work(self) -> int:
        if isinstance(self.choices, PlanChoices):
            return MOST_WORK_OF_PLANS
        ranks = min(len(self.schedule.members), MANY_RANKS)
        return MOST_WORK if self.target is Target.MSCCLPP_JSON else max(MOST_WORK, WORK_OF_RANK * ranks)

    def _most_blocks(self) -> int:
        processors = self.machine.processors if self.machine else 104
        return min(processors, self.limits.blocks or processors)

    def _better(self, best: _Candidate, name: str, values: Sequence[int]) -> _Candidate:
        """Return the best candidate with one of these values of an option, or `best`."""
        if name == "fine" and best.algbw >= ENOUGH * best.lowering.schedule_algbw:
            return best  # it gains little then, and takes long to search
        is_slow_plan = self.target is Target.MSCCLPP_JSON and best.is_slow
        gain = GAIN_OF_SLOW_PLANS if is_slow_plan else GAIN
        for value in values:
            if name == "blocks" and value == self.limits.blocks and _most_blocks_used(best) > COMFORTABLE_BLOCKS:
                break  # it may use so many already
            changed = list(self.choices.changed(best.options, name, value))
            tried = [None if self._grows_too_long(best, each) else self._evaluate(each) for each in changed]
            found = max((each for each in tried if each is not None), key=lambda each: each.algbw, default=None)
            if found is not None and found.algbw > gain * best.algbw:
                best = found
            elif name == "instances" or (found is None and name == "pieces"):
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

    def _grows_too_long(self, best: _Candidate, changed: Options) -> bool:
        """Return whether more pieces or instances of a program of messages cannot be simulated."""
        if self.target is Target.MSCCLPP_JSON or changed.lanes is not None:
            return False
        before, after = (Fraction(each.scale, each.step_chunks or 1) for each in (best.options, changed))
        return best.model.length * after > self._most_instructions * before

    def _evaluate(self, options: Options) -> _Candidate | None:
        skipped = self.work > self._most_work or self._is_too_long(options)
        if options not in self.known and skipped and any(self.known.values()):
            return None
        if options not in self.known:
            self.known[options] = self._candidate(options) if self._divides(options) else None
        return self.known[options]

    def _is_too_long(self, options: Options) -> bool:
        """Return whether a program cannot be simulated, by the number of its trees or flows; it could not be chosen."""
        if not isinstance(self.schedule, TreeSchedule | FlowSchedule):
            return False
        ranks = len(self.schedule.members)
        phases = len(self.schedule.phases) if isinstance(self.schedule, TreeSchedule) else 1
        least = phases * (1 if self.schedule.collective.has_root else ranks)
        trees = next((each.trees for each in self.counts if each.chunks == options.chunks), least)
        one_sided = self.target is Target.MSCCLPP_JSON
        parts = self.choices.parts(options) if isinstance(self.choices, PlanChoices) else options.instances
        copies = parts if one_sided else options.scale // (options.step_chunks or 1)
        return 2 * (ranks - 1) * trees * copies > self._most_instructions

    def _divides(self, options: Options) -> bool:
        """Return whether the program can be used for the least size."""
        if not self.counts or "chunks" in self.given:
            return True
        pieces = 1 if self.target is Target.MSCCLPP_JSON else options.pieces
        chunks = (options.chunks or 1) * options.instances * pieces
        if chunks * ALIGNMENT <= self.aim.least_bytes:
            return True
        self.problem = self.problem or NoSolutionError(
            f"{self.schedule.topology.name}: {self.aim.least_bytes} bytes cannot be divided into {chunks} chunks of "
            f"{ALIGNMENT} bytes; give --chunks or fewer --instances"
        )
        return False

    def _candidate(self, options: Options) -> _Candidate | None:
        try:
            lowering = lower(self.schedule, options, self.limits)
        except NoSolutionError as error:
            self.problem = error
            return None
        chunks = chunks_of_file(lowering.program)
        if any(self.known.values()) and chunks * ALIGNMENT > self.aim.least_bytes and "chunks" not in self.given:
            return None
        round_bytes = round_bytes_of(self.target, options)
        slices = slices_of(self.target, options)
        model = self._model_of(lowering.program, round_bytes) or RoundModel(
            schedule=self.schedule,
            program=lowering.program,
            chunks=chunks,
            round_bytes=round_bytes,
            paths=paths_of(lowering.schedule),
            costs=self.costs,
            algbw=lowering.algbw,
            slices=slices,
        )
        before = model.work
        algbw = model.algbw_at(self.aim.sizes[-1], least=self.highest) if model.can_be_simulated else 0.0
        self.highest = max(self.highest, algbw)
        self.work += model.work - before + MAKING * model.length
        return _Candidate(options, lowering, model, algbw)

    def _model_of(self, program: Program, round_bytes: int) -> RoundModel | None:
        """Return the model of a program that was made before, with other options."""
        models = (each.model for each in self.known.values() if each is not None)
        return next((each for each in models if each.round_bytes == round_bytes and each.program == program), None)


def _most_blocks_used(candidate: _Candidate) -> int:
    return max(len(rank.blocks) for rank in candidate.lowering.program.ranks)
