"""An allgather on a wiring: which part of which shard is sent over which arc at which step, in flat arrays.

`Sends` becomes the `Transfers` of a step schedule in the end. It names arcs instead of links because expansions
distinguish parallel arcs. The parts of a shard are multiples of 1/`parts`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.base.errors import InternalError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.design.wiring import Wiring
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfers
from forestcoll.topology import Topology

_MOST_PARTS = 2**40

Columns = tuple[IntArray, IntArray, IntArray, IntArray, IntArray]
"""The columns of sends, from `steps` to `highs`."""


@dataclass(frozen=True, eq=False)
class Sends:
    """Sends in any order. The arrays have one entry per send.

    Attributes:
        count: the number of steps.
        parts: the number of equal parts of a shard.
        steps: the step of the send, from 0.
        shards: the node whose shard is sent.
        arcs: the arc over which the send goes.
        lows: the first part that is sent.
        highs: one more than the last part that is sent.
    """

    count: int
    parts: int
    steps: IntArray
    shards: IntArray
    arcs: IntArray
    lows: IntArray
    highs: IntArray

    def __len__(self) -> int:
        """Return the number of sends."""
        return len(self.steps)

    def cut_finer(self, factor: int) -> "Sends":
        """Return the same sends with each part cut into `factor`."""
        if self.parts * factor > _MOST_PARTS:
            raise InternalError(f"a shard would be cut into {self.parts * factor} parts")
        return replace(self, parts=self.parts * factor, lows=self.lows * factor, highs=self.highs * factor)


def joined(count: int, parts: int, pieces: Sequence[Columns]) -> Sends:
    """Return the sends of all `pieces`, each the five columns from `steps` to `highs`."""
    columns = [np.concatenate(column) for column in zip(*pieces, strict=True)]
    steps, shards, arcs = (column.astype(np.int32, copy=False) for column in columns[:3])
    return Sends(count, parts, steps, shards, arcs, *(column.astype(np.int64, copy=False) for column in columns[3:]))


def step_schedule(wiring: Wiring, sends: Sends, topology: Topology) -> StepSchedule:
    """Return the allgather as a step schedule on `topology`, the topology of the wiring.

    Parts that are sent over the same link remain separate transfers.
    """
    numerators, places = np.unique(np.concatenate([sends.lows, sends.highs]), return_inverse=True)
    lows, highs = np.split(places.astype(np.int32), 2)
    transfers = Transfers.by_step(
        sends.steps,
        count=sends.count,
        shards=sends.shards,
        sources=wiring.sources_of_arcs[sends.arcs],
        targets=wiring.targets_of_arcs[sends.arcs],
        lows=lows,
        highs=highs,
        points=[Fraction(numerator, sends.parts) for numerator in numerators.tolist()],
    )
    return StepSchedule(topology, Collective.ALLGATHER, (StepPhase(PhaseOp.BROADCAST, transfers),))


def sends_of(wiring: Wiring, schedule: StepSchedule) -> Sends:
    """Return an allgather schedule of the wiring's topology, arc by arc.

    Parallel arcs send equal parts of each transfer.
    """
    transfers = schedule.phases[0].transfers
    order = np.argsort(wiring.pairs, kind="stable")
    distinct, first, copies = np.unique(wiring.pairs[order], return_index=True, return_counts=True)
    wanted = transfers.sources.astype(np.int64) * wiring.nodes + transfers.targets
    links = np.searchsorted(distinct, wanted)
    finer = lcm(*copies.tolist())
    denominator = lcm(*(point.denominator for point in transfers.points))
    parts = denominator * finer
    if parts > _MOST_PARTS:
        raise InternalError(f"a shard would be cut into {parts} parts")
    points = np.array([int(point * parts) for point in transfers.points], dtype=np.int64)
    repeats = copies[links]
    rank = np.arange(int(repeats.sum())) - np.repeat(np.cumsum(repeats) - repeats, repeats)
    lows, highs = np.repeat(points[transfers.lows], repeats), np.repeat(points[transfers.highs], repeats)
    share = (highs - lows) // np.repeat(repeats, repeats)
    columns = (
        np.repeat(transfers.step_of, repeats),
        np.repeat(transfers.shards, repeats),
        order[np.repeat(first[links], repeats) + rank],
        lows + rank * share,
        lows + (rank + 1) * share,
    )
    return joined(transfers.steps, parts, [columns])
