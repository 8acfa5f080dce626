"""The time of a program, by a simulation of its events in the native core.

`native/simulation/event_run.h` says what the model is, `limits.py` how fast transfers may be, and `tables.py` makes the
tables of a program.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from forestcoll.base.errors import InputError
from forestcoll.kernels.events import EventColumns, EventProgram, event_program
from forestcoll.programs.model import Program, block_counts
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.loads import bytes_per_second
from forestcoll.simulation.program.paths import Paths
from forestcoll.simulation.program.rounds import Messages, chunks_in_rounds, tables_in_messages, tables_in_rounds
from forestcoll.simulation.program.tables import COLUMNS, Encoder


@dataclass(frozen=True, slots=True)
class Action:
    """An executed instruction that moves data, with its begin and its end in seconds."""

    rank: int
    block: int
    instruction: int
    begin: float
    end: float


@dataclass(frozen=True)
class Timeline:
    """The result of a simulation of a program.

    Attributes:
        seconds: the time at which the last block is done.
        link_seconds: for each link of the network, the data that it carried, as seconds at its full bandwidth.
    """

    seconds: float
    link_seconds: tuple[float, ...]
    _columns: EventColumns = field(repr=False)
    _blocks: tuple[tuple[int, int], ...] = field(repr=False)

    @cached_property
    def actions(self) -> tuple[Action, ...]:
        """The executed instructions that move data, in the order in which they ended."""
        blocks, instructions, begins, ends = (each.tolist() for each in self._columns[3:])
        return tuple(
            Action(rank, block, instruction, begin, end)
            for (rank, block), instruction, begin, end in zip(
                (self._blocks[each] for each in blocks), instructions, begins, ends, strict=True
            )
        )


class EventSimulation:
    """A program that can be simulated with data of several sizes."""

    def __init__(self, program: Program, paths: Paths, costs: Costs) -> None:
        """Prepare the simulation.

        Args:
            program: a program in which the interpreter finds no fault.
            paths: the paths between its ranks.
            costs: the parameters of the model.

        Raises:
            InputError: the size in bytes of the network's bandwidth unit is not known, or no path connects two ranks
                between which the program sends.
        """
        self._program, self._paths, self._costs = program, paths, costs
        encoder = Encoder(program, paths, costs)
        self._tables = encoder.tables()
        self._multipaths = [flow.path(paths) for flow in encoder.flows]
        self._blocks = tuple(
            (rank, block) for rank, count in enumerate(block_counts(program)) for block in range(count)
        )

    @cached_property
    def most_chunks(self) -> int:
        """The most chunks of an instruction."""
        return int(self._tables["instructions"][::COLUMNS].max())

    def run(self, size: int, rounds: int | None = None, messages: Messages | None = None) -> Timeline:
        """Simulate the program on `size` bytes of data M.

        Args:
            size: the size of M in bytes.
            rounds: the number of rounds in which a runtime moves the data; see `rounds.py`. If None, the program runs
                as it is. In several rounds, the numbers of instructions are those of all rounds of a block.
            messages: how a runtime sends the chunks of an instruction; the overhead is then that of a message. If None,
                each instruction sends its chunks at once.

        Raises:
            InputError: the program stops before its end.
        """
        chunks = self._program.chunks if rounds is None else chunks_in_rounds(self._program, rounds)
        slices = 1 if messages is None else messages.slices
        columns = self._native(rounds, messages).run(
            launch=self._costs.launch_us * 1e-6,
            overhead=self._costs.overhead_us / slices * 1e-6,
            reduction=self._costs.reduction_us_per_mb * 1e-12,
            chunk_bytes=size / (chunks * slices),
        )
        complete, seconds, flow_bytes = columns[:3]
        if not complete:
            raise InputError(f"{self._program.name}: the program stops before its end; verify says why")
        bandwidths = bytes_per_second(self._paths.topology)
        carried = np.zeros(len(bandwidths))
        for multipath, sent in zip(self._multipaths, flow_bytes.tolist(), strict=True):
            for link, weight in zip(multipath.links, multipath.weights, strict=True):
                carried[link] += sent * weight
        return Timeline(seconds, tuple((carried / bandwidths).tolist()), columns, self._blocks)

    def _native(self, rounds: int | None, messages: Messages | None) -> EventProgram:
        tables = self._tables
        if messages is not None:
            tables = tables_in_messages(tables, messages)
        if rounds is not None:
            tables = tables_in_rounds(self._program, tables, rounds)
        return event_program(tables)


def run_in_time(program: Program, paths: Paths, size: int, costs: Costs) -> Timeline:
    """Simulate a program on `size` bytes of data M, once. As for `EventSimulation`."""
    return EventSimulation(program, paths, costs).run(size)
