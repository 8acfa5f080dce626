"""What tuning uses of the lowering, the formats and the simulation of programs: all of it is called here.

A candidate is lowered within the limits of MSCCL XML, and its time is that of the program (`simulate --model program`).
The chunks of a program must divide the data: a call of M bytes is possible if every chunk has a multiple of
`CHUNK_BYTES`. So the number of chunks is the number of shards times a power of two, if shares that are rounded to it
lose little bandwidth.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import chain
from math import lcm
from types import MappingProxyType

from forestcoll.base.errors import InputError, NoSolutionError, plural
from forestcoll.base.units import bytes_per_microsecond, size_name
from forestcoll.programs.formats import msccl_xml, mscclpp
from forestcoll.programs.lowering import Options, Placement, Style, lower, usual_placement
from forestcoll.programs.lowering.fitting import excess_of
from forestcoll.programs.lowering.grid import Grids, achieved
from forestcoll.programs.lowering.stolen_hops import with_stolen_hops
from forestcoll.programs.model import Message, Program, Protocol
from forestcoll.programs.model.limits import Limits
from forestcoll.programs.targets.msccl_xml import proven as proven_algorithm
from forestcoll.programs.targets.mscclpp_json import proven as proven_plan
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.simulation import Costs
from forestcoll.simulation.program.events import EventSimulation
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.simulate import times_of
from forestcoll.tuning.costs import ProgramCosts
from forestcoll.tuning.streams import stream_program
from forestcoll.verification import certified, verify

CHUNK_BYTES = 16
"""The least size of a chunk, and what its size is a multiple of: the alignment of MSCCL++, and whole elements."""

MOST_BLOCKS = 104
"""The most thread blocks of a rank: all must be on the GPU at the same time, and an A100 has 108 processors."""

_SHORT = 2000
"""The most instructions of a program that is made with two numbers of blocks."""

_CHUNKS_OF_TREE = 32
"""The most chunks for each tree; more of them would make shares more exact, and small messages impossible."""

_LEAST_PART = Fraction(99, 100)
"""The part of the bandwidth of a schedule that is kept when its shares are rounded, if that is possible."""

_CONNECTION_SLOTS = {Protocol.SIMPLE: 2, Protocol.LL: 8, Protocol.LL128: 8}
"""The messages that a connection of MSCCL holds (`msccl_xml.dialects.CONNECTIONS`)."""


@dataclass(frozen=True)
class Timed:
    """A program of a candidate, with what its time depends on.

    Attributes:
        variant: how the program is made of the candidate, such as `4 pieces`.
        program: the program.
        paths: the paths between its ranks.
        costs: the costs of its protocol.
        same_trees: whether programs in other numbers of pieces have the same trees.
    """

    variant: str
    program: Program
    paths: Paths
    costs: Costs
    same_trees: bool = True

    def fits(self, size: int) -> bool:
        """Return whether M of `size` bytes is divided into chunks of a sufficient size."""
        return size >= CHUNK_BYTES * self.program.chunks

    def run(self, size: int) -> tuple[float, float]:
        """Return the time for M of `size` bytes, and the time for which the busiest link is busy, in microseconds."""
        if size not in self._times:
            timeline = self.simulation.run(size)
            self._times[size] = timeline.seconds * 1e6, max(timeline.link_seconds) * 1e6
        return self._times[size]

    @cached_property
    def _times(self) -> dict[int, tuple[float, float]]:
        return {}

    @cached_property
    def simulation(self) -> EventSimulation:
        """The simulation of the program. Raises `InputError` if a message or a signal has no path."""
        return EventSimulation(self.program, self.paths, self.costs)

    def microseconds(self, size: int) -> float:
        """Return the time for M of `size` bytes."""
        return self.run(size)[0]

    @property
    def latency(self) -> float:
        """The time for the least size, which no program in more pieces goes below for any size."""
        return self.microseconds(CHUNK_BYTES * self.program.chunks)

    @cached_property
    def instructions(self) -> int:
        """The number of instructions that send or receive. Those that only copy do not grow with the pieces."""
        listed = (chain(each.sources, each.targets) for *_, each in self.program.instructions())
        return sum(any(isinstance(place, Message) for place in places) for places in listed)


@dataclass(frozen=True)
class Lowerings:
    """How programs are made for one runtime.

    Attributes:
        dialect: the dialect of MSCCL XML.
        ranks: the number of ranks.
        costs: the costs of the protocols that programs may use.
    """

    dialect: msccl_xml.Dialect
    ranks: int
    costs: ProgramCosts

    @property
    def limits(self) -> Limits:
        """The limits of a program."""
        return msccl_xml.limits(self.dialect, self.ranks)

    @property
    def _blocks(self) -> int:
        return min(MOST_BLOCKS, self.limits.blocks or MOST_BLOCKS)

    def _options(self, schedule: Schedule) -> Options:
        """Return the options of all programs: as many blocks as fit."""
        placement = usual_placement(schedule.collective) if self.dialect.one_place else Placement.BOTH
        return Options(placement=placement, blocks=self._blocks)

    def of_schedule(self, schedule: Schedule, pieces: int) -> list[Timed]:
        """Return the programs of a schedule in this number of pieces, for each protocol.

        There is one with as many blocks as fit, in which little work waits for other work. If it is short, there is
        also one with the number of blocks that the lowering chooses, because fewer blocks are sometimes faster.

        Raises:
            InputError: the schedule has no programs.
            NoSolutionError: no program fits the limits.
        """
        options = replace(self._options(schedule), chunks=_chunks(schedule), pieces=pieces)
        lowering = lower(schedule, options, self.limits)
        program, paths = lowering.program, self._paths(lowering.schedule)
        found = self._timed(program, paths, plural(pieces, "piece"))
        if found[0].instructions > _SHORT:
            return found
        other = lower(schedule, replace(options, blocks=None), self.limits).program
        if other == program:
            return found
        return found + self._timed(other, paths, f"{plural(pieces, 'piece')}, few blocks")

    def of_streams(self, schedule: TreeSchedule, pieces: int) -> list[Timed]:
        """Return the programs in which each tree has its own blocks, for each protocol; none if they exceed limits."""
        program = stream_program(schedule, pieces)
        if program is None:
            return []
        return self._fitting(self._placed(program, schedule), self._paths(schedule), plural(pieces, "piece"))

    def of_lanes(self, schedule: TreeSchedule, lanes: int, pieces: int) -> list[Timed]:
        """Return the programs whose hops follow a timetable, for each protocol; none if they exceed the limits.

        In one piece, they have two chunks for each rank, so shares are rounded more than in several pieces. Timetables
        are for large data.
        """
        return self._in_lanes(schedule, replace(self._options(schedule), lanes=lanes), pieces, plural(lanes, "lane"))

    def of_small_chunks(
        self, schedule: TreeSchedule, lanes: int, growth: int, pieces: int, *, steals: bool = False
    ) -> list[Timed]:
        """Return the programs of `of_lanes` with timetables for small chunks.

        Args:
            schedule: a schedule.
            lanes: the lanes of a pair of ranks.
            growth: the size of a chunk in bytes, as a multiple of the number of chunks.
            pieces: the number of pieces.
            steals: whether links that would be idle steal hops, so that the trees are others.
        """
        chunks = _chunks_in_lanes(schedule) * pieces
        size = chunks * chunks * growth
        text = f"{plural(lanes, 'lane')} for chunks of {size_name(chunks * growth)}"
        if steals:
            schedule = with_stolen_hops(schedule, chunks, lanes, self._overhead(schedule, size))
            certified(verify(schedule))
            text = f"stolen hops, {text}"
        options = replace(self._options(schedule), lanes=lanes, lane_overhead=self._overhead(schedule, size))
        found = self._in_lanes(schedule, options, pieces, text)
        return [replace(each, same_trees=not steals) for each in found]

    def _in_lanes(self, schedule: TreeSchedule, options: Options, pieces: int, text: str) -> list[Timed]:
        options = replace(options, chunks=_chunks_in_lanes(schedule) * pieces, step_chunks=1)
        try:
            lowering = lower(schedule, options, self.limits)
        except NoSolutionError:
            return []
        text = f"{text}, {lowering.program.chunks} chunks"
        return self._timed(lowering.program, self._paths(lowering.schedule), text)

    def _overhead(self, schedule: TreeSchedule, size: int) -> float:
        """Return the overhead of a message as a part of the time that a schedule takes for M of `size` bytes."""
        costs = self.costs.protocols[Protocol.SIMPLE]
        busy = size / float(schedule.algbw * bytes_per_microsecond(schedule.topology.bandwidth_unit))
        return min(1.0, costs.overhead_us / busy) or Options().lane_overhead

    def of_program(self, program: Program, schedule: Schedule, pieces: int) -> list[Timed]:
        """Return a program that is no program of a schedule, for each protocol; none if it exceeds the limits."""
        paths = Paths.shortest(self._on_network(schedule))
        return self._fitting(self._placed(program, schedule), paths, plural(pieces, "piece"))

    def _placed(self, program: Program, schedule: Schedule) -> Program:
        """Return the program in the placement of the runtime; it is for both."""
        options = self._options(schedule)
        return replace(program, in_place=options.in_place, out_of_place=options.out_of_place)

    def closed_form(self, schedule: Schedule | None, sizes: Sequence[int]) -> dict[int, float]:
        """Return the time of a schedule for each size by its closed form, in microseconds; none without a schedule."""
        if schedule is None:
            return {}
        times = times_of(self._on_network(schedule))
        models = [times(costs) for costs in self.costs.protocols.values()]
        return {size: 1e6 * min(model.point(size).seconds for model in models) for size in sizes}

    @property
    def protocols_of_plans(self) -> list[Protocol]:
        """The protocols of plans of MSCCL++."""
        return [each for each in self.costs.protocols if each is not Protocol.LL128]

    def plan_of(self, schedule: Schedule, protocol: Protocol, pieces: int) -> Timed | None:
        """Return the program of a schedule for MSCCL++ in this number of pieces; None if there is none."""
        options = Options(
            style=Style.ONE_SIDED,
            placement=usual_placement(schedule.collective),
            chunks=_chunks(schedule),
            pieces=pieces,
            protocol=protocol,
        )
        try:
            lowering = lower(schedule, options, mscclpp.limits())
            paths = self._paths(lowering.schedule)
            timed = Timed(plural(pieces, "piece"), lowering.program, paths, self.costs.protocols[protocol])
            _ = timed.simulation  # links that lead one way have no path back for the signals of a plan
        except (InputError, NoSolutionError):
            return None
        return timed

    def _paths(self, schedule: Schedule) -> Paths:
        schedule = self._on_network(schedule)
        return Paths.of(schedule) if isinstance(schedule, TreeSchedule) else Paths.shortest(schedule)

    def _on_network(self, schedule: Schedule) -> Schedule:
        return replace(schedule, topology=self.costs.network(schedule.topology))

    def _fitting(self, program: Program, paths: Paths, text: str) -> list[Timed]:
        limited = replace(self.limits, blocks=self._blocks)
        return [] if excess_of(program, limited) is not None else self._timed(program, paths, text)

    def _timed(self, program: Program, paths: Paths, text: str) -> list[Timed]:
        return [
            Timed(
                text if protocol is Protocol.SIMPLE else f"{text}, {protocol.value}",
                replace(program, protocol=protocol, slots=_CONNECTION_SLOTS[protocol]),
                paths,
                costs,
            )
            for protocol, costs in self.costs.protocols.items()
        ]


def _chunks_in_lanes(schedule: TreeSchedule) -> int:
    """Return the number of chunks of a program in lanes, in one piece."""
    ranks = len(schedule.members)
    return 2 * ranks if schedule.collective.has_shards else 2 ** (2 * ranks - 1).bit_length()


def _chunks(schedule: Schedule) -> int | None:
    """Return the number of chunks before pieces: a power of two, times the shards if they are no power of two.

    None is the exact number, for schedules of steps and flows.
    """
    if not isinstance(schedule, TreeSchedule):
        return None
    listed = expanded(schedule)
    shares = [share for phase in listed.phases for share in phase.shares]
    shards = len(listed.members) if listed.collective.has_shards else 1
    exact = lcm(shards, *(share.denominator for share in shares))
    if exact % shards == 0 and (exact // shards).bit_count() == 1:
        return exact
    most = _CHUNKS_OF_TREE * max(len(phase) for phase in listed.phases)
    chunks, grids = shards, Grids(listed)
    while chunks < most and achieved(listed, grids.best(chunks)) < schedule.algbw * _LEAST_PART:
        chunks *= 2
    return chunks


def xml_text(program: Program, dialect: msccl_xml.Dialect, least: int, most: int) -> str:
    """Return the MSCCL XML of a program for calls of `least` to `most` bytes, which are M; it is read back and proven.

    Raises:
        InputError: the format cannot express the program.
    """
    made = msccl_xml.from_program(program, dialect)
    above = most + 1 if dialect.one_place else most  # microsoft/msccl excludes maxBytes
    attributes = dict(made.attributes) | {"minBytes": str(least), "maxBytes": str(above)}
    made = replace(made, attributes=MappingProxyType(attributes))
    return proven_algorithm(made, dialect, program.root)[0]


def is_for(program: Program, least: int) -> bool:
    """Return whether the plan of a program can be for calls of `least` bytes."""
    return mscclpp.most_bytes(program) >= least


def plan_text(program: Program, least: int, most: int) -> str:
    """Return the plan of MSCCL++ for calls of `least` to `most` bytes, which are M; it is read back and proven.

    At `most`, its pipelines have as many rounds as the program has pieces.

    Raises:
        InputError: the format cannot express the program.
    """
    unit = most // program.chunks // CHUNK_BYTES * CHUNK_BYTES
    made = mscclpp.from_program(program, unit_bytes=max(CHUNK_BYTES, unit))
    made = replace(made, least_bytes=least, most_bytes=min(most, made.most_bytes))
    return proven_plan(made, program.root)[0]
