"""Programs of a schedule for a runtime, made with different options and simulated: the candidates of a search."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.programs.formats.msccl_xml.dialects import CONNECTIONS
from forestcoll.programs.formats.sizes import ALIGNMENT, chunks_of_file
from forestcoll.programs.lowering import Lowering, Options, Style, lower
from forestcoll.programs.lowering.options import MOST
from forestcoll.programs.model import Protocol
from forestcoll.programs.targets.target import RuntimeTarget
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.shape import tree_shape
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.simulate import paths_of
from forestcoll.topology.gpus import gpu_of
from forestcoll.tuning.programs.divisible import LEAST_BYTES, LOSSES, ChunkCount, counts_for, numbers_of_chunks
from forestcoll.tuning.programs.parts import parts_of
from forestcoll.tuning.programs.rounds import MANY_RANKS, RoundModel, most_instructions

SIZES = (10**6, 64 * 10**6, 10**9)
"""The sizes of M for which a report states the expected algbw, in bytes; programs are chosen for the last one."""

MOST_BYTES = 2**32
"""The size of M up to which a program is made by default: 4 GiB."""

SLOW = 0.95
"""A program that reaches less than this part of the algbw of its schedule is slow."""

WORK_OF_RANK = 300_000
"""The search ends when it has simulated about this many instructions for each rank, in about a third of a second."""

HIGH = 4
"""Trees are high if they have this height on average: data often waits."""

SLOT = CONNECTIONS[Options().protocol.value].slot_bytes
"""The bytes of the greatest message of MSCCL."""

WORK_WITH_ROOT = 4
"""With one root, a search of programs of messages makes so many times as many: they have many steps."""

FEW_RANKS = 16
"""With fewer ranks, as much is simulated as with so many."""

MAKING = 40
"""Making an instruction takes as long as simulating so many."""


@dataclass(frozen=True, slots=True)
class Objective:
    """What a program is chosen for.

    Attributes:
        sizes: the sizes of M in bytes for which the result states the expected times; the program is chosen for the
            last one.
        least_bytes: the least size of M for which the runtime can use the program.
        most_bytes: the size of M up to which the runtime should be able to use the program.
        costs: the parameters of the model; if None, those of `Costs`, with the bandwidth of a block of the machine.
    """

    sizes: tuple[int, ...] = SIZES
    least_bytes: int = LEAST_BYTES
    most_bytes: int = MOST_BYTES
    costs: Costs | None = None


@dataclass(frozen=True, slots=True)
class ProgramCandidate:
    """A program of a schedule, with its expected speed.

    Attributes:
        options: the options of the lowering.
        lowering: the program, and what it loses.
        model: the times of the program for any size.
        algbw: the expected algbw at the greatest size, or an estimate that is below that of another candidate; 0 if the
            program is too long to be simulated.
    """

    options: Options
    lowering: Lowering
    model: RoundModel
    algbw: float

    @property
    def most_blocks(self) -> int:
        """The most blocks of a rank."""
        return max(len(rank.blocks) for rank in self.lowering.program.ranks)


@dataclass
class Candidates:
    """The programs of a schedule for a runtime, each made and simulated once.

    Attributes:
        schedule: the schedule.
        target: the format, with the options that are not chosen.
        objective: the sizes and the costs.
        progress: receives how much of the work of a search is done, in percent.
        known: the candidates by their options; None for options that do not fit.
        lowered: the programs by their options with the least rounds.
        problem: why the last candidate that does not fit does not; None if all fit.
        highest: the greatest algbw of a candidate.
        work: about how many instructions were simulated.
    """

    schedule: Schedule
    target: RuntimeTarget
    objective: Objective
    progress: Progress = SILENT
    known: dict[Options, ProgramCandidate | None] = field(default_factory=dict)
    lowered: dict[Options, Lowering] = field(default_factory=dict)
    problem: NoSolutionError | None = None
    highest: float = 0.0
    work: int = 0

    def __post_init__(self) -> None:
        self.progress.advance(0, 100)
        self.given: dict[str, Any] = self.target.given
        self.in_plans = self.target.style is Style.ONE_SIDED
        machine = gpu_of(self.schedule.topology)
        self.machine = machine
        self.costs = self.objective.costs or Costs(block_gbps=machine.block_gbps if machine else None)
        self.limits = self.target.limits(len(self.schedule.topology.compute))
        self.counts = self._counts()
        self.numbers = () if "chunks" in self.given else tuple(numbers_of_chunks(self.counts, LOSSES))
        self.size = self.objective.sizes[-1]
        self.share = self._share()

    def _share(self) -> Fraction | None:
        """Return the greatest share of a tree of a plan that has parts of trees; None for other programs."""
        packets = self.given.get("protocol") == Protocol.LL
        if not self.in_plans or packets or not isinstance(self.schedule, TreeSchedule):
            return None
        return greatest_share(self.schedule)

    def _counts(self) -> tuple[ChunkCount, ...]:
        """Return the numbers of chunks to choose from; none for steps, flows and exact shares."""
        if not isinstance(self.schedule, TreeSchedule) or self.given.get("chunks", 0) is None:
            return ()
        asked = self.given.get("chunks")
        if asked is not None:
            counts = counts_for(self.schedule, min(asked, self.objective.most_bytes // ALIGNMENT))
            return (min(counts, key=lambda each: (each.loss, each.chunks)),)
        return counts_for(self.schedule, self.finest)

    @property
    def finest(self) -> int:
        """The most chunks of a program."""
        most = self.objective.least_bytes // ALIGNMENT
        return most if self.limits.chunks is None else min(most, self.limits.chunks)

    @property
    def most_instructions(self) -> int:
        """The most instructions of a program that can be simulated."""
        return most_instructions(self.schedule, messages=not self.in_plans)

    @property
    def most_work(self) -> int:
        """How many instructions a search simulates."""
        work = WORK_OF_RANK * max(FEW_RANKS, min(len(self.schedule.members), MANY_RANKS))
        return work if self.in_plans or not self.schedule.collective.has_root else WORK_WITH_ROOT * work

    @cached_property
    def has_high_trees(self) -> bool:
        """Whether data often waits on its way along trees."""
        return isinstance(self.schedule, TreeSchedule) and tree_shape(self.schedule).mean_height >= HIGH

    def chunks_of_message(self, chunks: int) -> int:
        """Return how many chunks a step moves first: as many as fit in a message with the greatest size.

        With more, the last ones only wait for each other. There are more if the program could not be simulated else:
        on average, each tree has half a step more, because its chunks are not a multiple of those of a step.
        """
        hops = 2 * (len(self.schedule.members) - 1) * (2 if self.schedule.collective is Collective.ALLREDUCE else 1)
        trees = tree_shape(self.schedule).trees if isinstance(self.schedule, TreeSchedule) else 0
        least = ceil(hops * chunks / max(1, self.most_instructions - hops * trees // 2))
        return max(1, min(MOST, SLOT * chunks // self.size), least)

    @property
    def most_blocks(self) -> int:
        """The most blocks of a rank."""
        processors = self.machine.processors if self.machine else 104
        return min(processors, self.limits.blocks or processors)

    def evaluate(self, options: Options) -> ProgramCandidate | None:
        """Return the candidate with these options; None if it does not fit, or the work for the search is done."""
        skipped = self.work > self.most_work or self._is_too_long(options)
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
        parts = options.instances if self.share is None else parts_of(options, self.share)
        copies = parts if self.in_plans else max(options.instances, options.scale // (options.step_chunks or 1))
        return 2 * (ranks - 1) * trees * copies > self.most_instructions

    def _divides(self, options: Options) -> bool:
        """Return whether the program can be used for the least size."""
        if not self.counts or "chunks" in self.given:
            return True
        pieces = 1 if self.in_plans else options.pieces
        return (options.chunks or 1) * options.instances * pieces * ALIGNMENT <= self.objective.least_bytes

    def _candidate(self, options: Options) -> ProgramCandidate | None:
        try:
            lowering = self._lowered(options)
        except NoSolutionError as error:
            self.problem = error
            return None
        chunks = chunks_of_file(lowering.program)
        if any(self.known.values()) and chunks * ALIGNMENT > self.objective.least_bytes and "chunks" not in self.given:
            return None
        round_bytes = self.target.round_bytes(options)
        alike = [each.model for each in self.known.values() if each and each.model.program == lowering.program]
        known = next((each for each in alike if each.round_bytes == round_bytes), None)
        model = known or (
            alike[0].in_rounds_of(round_bytes)
            if alike
            else RoundModel(
                schedule=self.schedule,
                program=lowering.program,
                chunks=chunks,
                round_bytes=round_bytes,
                paths=paths_of(lowering.schedule),
                costs=self.costs,
                algbw=lowering.algbw,
                slices=self.target.slices(options),
            )
        )
        self.work += MAKING * model.length
        algbw = 0.0
        if model.can_be_simulated:
            size = self.objective.sizes[-1]
            algbw = model.algbw_at(size, least=self.highest)
            self.highest = max(self.highest, algbw)
            self.work += model.work_at(size) if known is None else 0
        self.progress.advance(min(100, 100 * self.work // self.most_work), 100)
        return ProgramCandidate(options, lowering, model, algbw)

    def _lowered(self, options: Options) -> Lowering:
        """Return the program with these options; the size of rounds does not change it."""
        alike = replace(options, round_bytes=ALIGNMENT)
        if alike not in self.lowered:
            self.lowered[alike] = lower(self.schedule, options, self.limits)
        return self.lowered[alike]


def greatest_share(schedule: Schedule) -> Fraction:
    """Return the greatest share of a tree; 1 for other schedules."""
    if not isinstance(schedule, TreeSchedule):
        return Fraction(1)
    return max(share for phase in schedule.phases for share in phase.shares)
