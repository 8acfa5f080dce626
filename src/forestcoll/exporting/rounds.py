"""The time of a program of a runtime for any size of the data.

A runtime moves large data in rounds (`simulation/program/rounds.py`). All rounds of one program move the same amount.
So the time is that of some rounds, simulated, plus the same time for each further round: the time by which the last
simulated rounds made the program longer. The result is never below the time that the busiest link needs.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil

from forestcoll.lowering import Options
from forestcoll.program import Program, Protocol
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation.costs import Costs, Point, point_at
from forestcoll.simulation.program.events import EventSimulation
from forestcoll.simulation.program.paths import Paths
from forestcoll.targets.exporting import Target
from forestcoll.targets.msccl_xml.dialects import CONNECTIONS
from forestcoll.units import bytes_per_microsecond

MOST_ROUNDS = 16
"""The most rounds that are simulated."""

MOST_INSTRUCTIONS = 24_000
"""About how many instructions are simulated for one size; two rounds are always simulated."""

TOO_MANY_INSTRUCTIONS = 40_000
"""A program with more instructions in a round is not simulated."""


@dataclass(frozen=True)
class RoundModel:
    """The times of a program for a runtime.

    Attributes:
        schedule: the schedule of the program.
        program: the program.
        chunks: the number of chunks of the file.
        round_bytes: the most bytes of a chunk that a round moves.
        paths: the paths between ranks.
        costs: the parameters of the model.
        algbw: the algbw that the busiest link allows, in the unit of the topology.
    """

    schedule: Schedule
    program: Program
    chunks: int
    round_bytes: int
    paths: Paths
    costs: Costs
    algbw: Fraction

    @property
    def can_be_simulated(self) -> bool:
        """Return whether the program is short enough to be simulated."""
        return self._length <= TOO_MANY_INSTRUCTIONS

    @property
    def work(self) -> int:
        """Return about how many instructions are simulated for a size of many rounds."""
        return self._length * self._simulated * 3 // 2 if self.can_be_simulated else 0

    def points(self, sizes: Sequence[int]) -> tuple[Point, ...]:
        """Return the time for each size of the data M, in bytes; nothing if the program is too long."""
        return tuple(self.point(size) for size in sizes) if self.can_be_simulated else ()

    def point(self, size: int) -> Point:
        """Return the time for M of `size` bytes."""
        rounds = max(1, ceil(size / self.chunks / self.round_bytes))
        most = self._simulated
        if rounds <= most:
            seconds = self._seconds(rounds, size)
        else:
            part = size / rounds
            late, early = self._seconds(most, most * part), self._seconds(most // 2, most // 2 * part)
            seconds = late + (rounds - most) * (late - early) / (most - most // 2)
        unit = float(bytes_per_microsecond(self.schedule.topology.bandwidth_unit) * 10**6)
        seconds = max(seconds, size / (float(self.algbw) * unit))
        return point_at(self.schedule, size=size, seconds=seconds, pieces=rounds, part=1 / self.chunks)

    def _seconds(self, rounds: int, size: float) -> float:
        return self._simulation.run(round(size), rounds).seconds

    @cached_property
    def _simulation(self) -> EventSimulation:
        return EventSimulation(self.program, self.paths, self.costs)

    @cached_property
    def _length(self) -> int:
        """The number of instructions of one round."""
        loops = {loop.times for rank in self.program.ranks for block in rank.blocks for loop in block.loops}
        return sum(1 for _ in self.program.instructions()) // max(loops, default=1)

    @property
    def _simulated(self) -> int:
        """The number of rounds that are simulated."""
        return max(2, min(MOST_ROUNDS, MOST_INSTRUCTIONS // max(1, self._length)))


def round_bytes_of(target: Target, options: Options) -> int:
    """Return the most bytes of a chunk that one round of a runtime moves."""
    if target is Target.MSCCLPP_JSON:
        return 2**62 if options.protocol is Protocol.LL else options.round_bytes
    return CONNECTIONS[options.protocol.value].slot_bytes
