"""The native simulation of programs: the types of what it takes and returns."""

from typing import Protocol, TypeAlias, TypedDict, cast

import numpy as np
import numpy.typing as npt

from forestcoll.kernels._native import events
from forestcoll.kernels.interface import ReportProgress

Numbers: TypeAlias = npt.NDArray[np.int32]
Reals: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = tuple[Numbers, Numbers]
"""Lists of numbers, one for each row: where each begins in the second array, and the end of the last; the numbers."""


class EventTables(TypedDict):
    """A program as tables; `native/simulation/event_program.h` says what their columns are."""

    ranks: int
    barriers: int
    cells: int
    block_starts: Numbers
    loops: Rows
    instructions: Numbers
    channels: Numbers
    channel_latencies: Reals
    flow_targets: Numbers
    flow_latencies: Reals
    flow_delays: Reals
    semaphores: Numbers
    after: Rows
    waits: Rows
    signals: Rows
    flushes: Rows
    acquires: Rows
    releases: Rows
    received: Rows
    sent: Rows
    reads: Rows
    writes: Rows
    transfers: Rows
    links: Rows
    weights: Reals
    bandwidths: Reals


EventColumns: TypeAlias = tuple[bool, float, Reals, Numbers, Numbers, Reals, Reals]
"""Whether all blocks came to their ends; the time of the last event; the bytes of each flow; and for each instruction
that moved data, its block, its number in the block, its begin and its end."""


class EventProgram(Protocol):
    """A program that can be simulated."""

    def run(
        self,
        *,
        launch: float,
        overhead: float,
        reduction: float,
        chunk_bytes: float,
        progress: ReportProgress = None,
    ) -> EventColumns:
        """Simulate the program. Times are in seconds; `reduction` is for each byte that is added."""


def event_program(tables: EventTables) -> EventProgram:
    """Return the program of these tables. Raises `ValueError` if a number in them is out of range."""
    return cast("EventProgram", events.EventProgram(**tables))


class HopTables(TypedDict):
    """Hops as tables; `native/simulation/hop_run.h` says what their columns are."""

    pairs: Numbers
    sizes: Reals
    after: Rows
    lanes: Numbers
    places: Numbers
    links: Rows
    weights: Reals
    bandwidths: Reals


class HopProgram(Protocol):
    """Hops that can be run in several orders."""

    def run(
        self, *, order: Numbers, overhead: float, latency: float, progress: ReportProgress = None
    ) -> tuple[Reals, Reals, Numbers]:
        """Return the begin, the end and the lane of each hop; `order` has the place of each among those that wait."""

    def replay(
        self,
        *,
        order: Numbers,
        lanes: Numbers,
        sums: Numbers,
        slots: int,
        overhead: float,
        latency: float,
        progress: ReportProgress = None,
    ) -> float:
        """Return the time of a program whose blocks do the hops in an order; infinity if it does not end."""


def hop_program(tables: HopTables) -> HopProgram:
    """Return the hops of these tables. Raises `ValueError` if a number in them is out of range."""
    return cast("HopProgram", events.HopProgram(**tables))
