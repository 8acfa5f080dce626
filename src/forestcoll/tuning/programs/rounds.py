"""The time of a program of a runtime for any size of the data.

A runtime moves large data in rounds (`simulation/program/rounds.py`). All of them are simulated if they have at most
`MOST_SIMULATED`. All rounds of one program move the same amount. So the time of a longer program, and that of an
estimate, is the time of some rounds plus the same time for each further round: the time by which the last simulated
rounds made the program longer. The result is never below the time that the busiest link needs.

MSCCL sends the chunks of an instruction in messages that fit a slot, as many chunks at once as fit, and forwards each
slice of a message when it has arrived.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import NamedTuple

from forestcoll.base.units import bytes_per_microsecond
from forestcoll.programs.formats.msccl_xml.dialects import joined_bytes
from forestcoll.programs.model import Program, Protocol
from forestcoll.simulation.costs import Costs, OnNetwork, Point, point_at
from forestcoll.simulation.program.events import EventSimulation
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.program.rounds import Messages

LEAST_ROUNDS = 4
"""The least rounds that are simulated: with fewer, the last one does not overlap with others as later ones do."""

MOST_SIMULATED = 20_000_000
"""About how many instructions are simulated for one size. The trees of loops get out of step after many rounds."""

FEW_INSTRUCTIONS = 24_000
"""The same for an estimate of a program of messages."""

FEW_INSTRUCTIONS_IN_LOOPS = 400_000
"""The same for an estimate of a program of loops; it may be some percent too fast."""

MEASURED_INSTRUCTIONS = 200_000
"""The same where programs are compared with measured ones, which takes 0.1 s: the result is that of all within 1 %."""

LEAST_SLICE = 2**15
"""The least bytes of a slice with Simple: a 32th part of the greatest (`sliceSize` in `prims_simple.h` of NCCL)."""

TOO_MANY_INSTRUCTIONS = 40_000
"""A program with more instructions in a round is not simulated, unless it has messages and many ranks."""

MANY_OF_RANK = 3_000
"""A program of messages with at most so many instructions for each rank, on average, is simulated."""

MANY_OF_RANK_WITH_ROOT = 6_000
"""The same with one root. Lanes, whose timetables take long, are not tried then."""

MANY_RANKS = 64
"""With more ranks, no more instructions are simulated."""


class _Run(NamedTuple):
    """What a runtime does with data of one size: its rounds, and its messages in a round if it has messages."""

    rounds: int
    messages: Messages | None


@dataclass(frozen=True)
class RoundModel:
    """The times of a program for a runtime.

    Attributes:
        schedule: the schedule of the program, or the collective on a network that it is for.
        program: the program.
        chunks: the number of chunks of the file.
        round_bytes: the most bytes of a chunk that a round moves and, for programs of messages, of a message.
        paths: the paths between ranks.
        costs: the parameters of the model.
        algbw: the algbw that the busiest link allows, in the unit of the topology.
        slices: the most slices of a message; 0 if the runtime has no messages.
    """

    schedule: OnNetwork
    program: Program
    chunks: int
    round_bytes: int
    paths: Paths
    costs: Costs
    algbw: Fraction
    slices: int = 0
    _simulations: list[EventSimulation] = field(default_factory=list, repr=False, compare=False, init=False)
    """At most one, which models of the same program in other rounds share."""
    _points: dict[tuple[int, tuple[int, ...]], Point] = field(
        default_factory=dict, repr=False, compare=False, init=False
    )
    _busy: dict[int, float] = field(default_factory=dict, repr=False, compare=False, init=False)

    @property
    def can_be_simulated(self) -> bool:
        """Return whether the program is short enough to be simulated."""
        return self.length <= self._most_instructions

    @property
    def _most_instructions(self) -> int:
        return most_instructions(self.schedule, messages=self.slices > 0)

    @property
    def length(self) -> int:
        """Return the number of instructions of a round."""
        return self._length(None)

    def points(self, sizes: Sequence[int]) -> tuple[Point, ...]:
        """Return the time for each size of the data M, in bytes; nothing if the program is too long."""
        return tuple(self.point(size) for size in sizes) if self.can_be_simulated else ()

    def point(self, size: int, most: int | None = None) -> Point:
        """Return the time for M of `size` bytes, of which about `most` instructions are simulated, once.

        If `most` is None, these are `MOST_SIMULATED`.
        """
        return self._point(size, MOST_SIMULATED if most is None else most)

    def busy_at(self, size: int) -> float:
        """Return the part of the time that was simulated last for `size` bytes in which the busiest link is busy."""
        return self._busy.get(size, 0.0)

    def algbw_at(self, size: int, *, least: float) -> float:
        """Return the algbw for M of `size` bytes, or an estimate of it that is less than `least`."""
        estimate = self._point(size, self._few).algbw
        return estimate if estimate < least else self.point(size).algbw

    def work_at(self, size: int) -> int:
        """Return how many instructions are simulated for the estimate of `algbw_at`."""
        whole = self._run(size)
        return sum(self._simulated_rounds(whole, self._few)) * self._length(whole.messages)

    @property
    def _few(self) -> int:
        return FEW_INSTRUCTIONS if self.slices else FEW_INSTRUCTIONS_IN_LOOPS

    def _point(self, size: int, most: int) -> Point:
        """Return the time for M of `size` bytes, of which about `most` instructions are simulated."""
        whole = self._run(size)
        rounds = self._simulated_rounds(whole, most)
        if (size, rounds) not in self._points:
            self._points[size, rounds] = self._simulated(size, whole, rounds)
        return self._points[size, rounds]

    def _simulated_rounds(self, whole: _Run, most: int) -> tuple[int, ...]:
        """Return the numbers of rounds to simulate: all, or some and half of these, for the time of a further round."""
        rounds = max(LEAST_ROUNDS, most // max(1, self._length(whole.messages)))
        return (whole.rounds,) if rounds >= whole.rounds else (rounds, rounds // 2)

    def _simulated(self, size: int, whole: _Run, rounds: tuple[int, ...]) -> Point:
        """Return the time for M of `size` bytes, by a simulation of these numbers of rounds."""
        part = size / whole.rounds
        runs = [self._simulation.run(round(each * part), each, whole.messages) for each in rounds]
        times = [run.seconds for run in runs]
        seconds = times[0]
        self._busy[size] = max(runs[0].link_seconds, default=0.0) / seconds if seconds else 0.0
        if len(rounds) > 1:
            seconds += (whole.rounds - rounds[0]) * (times[0] - times[1]) / (rounds[0] - rounds[1])
        unit = float(bytes_per_microsecond(self.schedule.topology.bandwidth_unit) * 10**6)
        seconds = max(seconds, size / (float(self.algbw) * unit))
        return point_at(self.schedule, size=size, seconds=seconds, pieces=whole.rounds, part=1 / self.chunks)

    def in_rounds_of(self, round_bytes: int) -> "RoundModel":
        """Return the model of the same program with rounds of another size."""
        model = replace(self, round_bytes=round_bytes)
        model._simulations.extend(self._simulations)  # noqa: SLF001 (another model of this class)
        return model

    @property
    def _simulation(self) -> EventSimulation:
        if not self._simulations:
            self._simulations.append(EventSimulation(self.program, self.paths, self.costs))
        return self._simulations[0]

    def _run(self, size: int) -> _Run:
        """Return what the runtime does with `size` bytes; a long program has larger messages, which are slower."""
        chunk = size / self.chunks
        rounds = max(1, ceil(chunk / self.round_bytes))
        if not self.slices:
            return _Run(rounds, None)
        joined = joined_bytes(self.program.protocol.value, has_root=self.schedule.collective.has_root)
        chunks = min(max(self.program.slot_chunks, int(joined / max(chunk, 1))), self.most_chunks)
        least = LEAST_SLICE if self.program.protocol is Protocol.SIMPLE else 1
        slices = max(1, min(self.slices, int(chunks * min(chunk, self.round_bytes) / least)))
        messages = Messages(chunks, slices)
        most = 2 * self._most_instructions
        while self._length(messages) > most and (messages.slices > 1 or messages.chunks < self.most_chunks):
            more = messages.chunks if messages.slices > 1 else 2 * messages.chunks
            messages = Messages(more, 1)
        return _Run(rounds, messages)

    @cached_property
    def _counts(self) -> Mapping[int, int]:
        """How many instructions move each number of chunks."""
        return Counter(each.count for _, _, _, each in self.program.instructions())

    @property
    def most_chunks(self) -> int:
        """The most chunks that an instruction moves."""
        return max(1, *self._counts)

    def _length(self, messages: Messages | None) -> int:
        """Return the number of instructions of one round of these messages, or of one message for each instruction."""
        if messages is not None:
            parts = ((-(-count // messages.chunks) or 1, number) for count, number in self._counts.items())
            return messages.slices * sum(each * number for each, number in parts)
        loops = {loop.times for rank in self.program.ranks for block in rank.blocks for loop in block.loops}
        return sum(self._counts.values()) // max(loops, default=1)


def most_instructions(schedule: OnNetwork, *, messages: bool) -> int:
    """Return the most instructions in a round with which a program is simulated; `messages`: it has messages."""
    if not messages:
        return TOO_MANY_INSTRUCTIONS
    of_rank = MANY_OF_RANK_WITH_ROOT if schedule.collective.has_root else MANY_OF_RANK
    return max(TOO_MANY_INSTRUCTIONS, of_rank * min(len(schedule.members), MANY_RANKS))
