"""A schedule of steps: at each step, parts of shards cross links; frozen, and flat inside.

A *transfer* sends the part [low, high) of one node's shard over one link. What a node sends at a step it held before
the step began. The ends of parts are exact: `Transfers.points` holds the distinct fractions once, rising, and a
transfer names two of them by their places, so that comparing places compares fractions.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import ClassVar, NamedTuple, final

import numpy as np

from forestcoll.collective import PhaseOp
from forestcoll.schedule.rows import IntArray, row_starts
from forestcoll.schedule.schedule import Schedule


class Transfer(NamedTuple):
    """One transfer: `source` sends [`low`, `high`) of the shard of node `shard` over the link to `target`."""

    shard: int
    low: Fraction
    high: Fraction
    source: int
    target: int


@dataclass(frozen=True, eq=False, repr=False)
class Transfers:
    """Transfers, step by step, in flat read-only arrays.

    Attributes:
        starts: where each step begins in the arrays below, and one past the last: from 0, rising.
        shards: of each transfer the node whose shard it sends a part of.
        sources: the node that sends.
        targets: the node that receives.
        lows: the place in `points` where the part begins.
        highs: the place in `points` where it ends.
        points: distinct fractions of a shard, rising.
    """

    starts: IntArray
    shards: IntArray
    sources: IntArray
    targets: IntArray
    lows: IntArray
    highs: IntArray
    points: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        for array in (self.starts, self.shards, self.sources, self.targets, self.lows, self.highs):
            array.flags.writeable = False

    @staticmethod
    def of(steps: Iterable[Iterable[Transfer]]) -> "Transfers":
        """Return the transfers of `steps`, in their order. Raises `OverflowError` if a node does not fit 32 bits."""
        listed = [list(step) for step in steps]
        flat = [transfer for step in listed for transfer in step]
        points = tuple(sorted({point for each in flat for point in (each.low, each.high)}))
        places = {point: place for place, point in enumerate(points)}
        shards, sources, targets, lows, highs = (
            np.fromiter(values, dtype=np.int32, count=len(flat))
            for values in (
                (each.shard for each in flat),
                (each.source for each in flat),
                (each.target for each in flat),
                (places[each.low] for each in flat),
                (places[each.high] for each in flat),
            )
        )
        starts = row_starts(np.fromiter(map(len, listed), dtype=np.int64, count=len(listed)))
        return Transfers(starts, shards, sources, targets, lows, highs, points)

    @staticmethod
    def by_step(  # noqa: PLR0913 (one parameter a column)
        steps: IntArray,
        *,
        count: int,
        shards: IntArray,
        sources: IntArray,
        targets: IntArray,
        lows: IntArray,
        highs: IntArray,
        points: Sequence[Fraction],
    ) -> "Transfers":
        """Return transfers that are given in any order, each with the number of its step, from 0 to `count` - 1.

        Transfers of one step keep their order. `points` may be in any order and repeat; those that no transfer names
        are left out.
        """
        order = np.argsort(steps, kind="stable")
        rising, places = _distinct_points(points, lows, highs)
        starts = row_starts(np.bincount(steps, minlength=count))
        nodes = [each[order].astype(np.int32, copy=False) for each in (shards, sources, targets)]
        return Transfers(starts, nodes[0], nodes[1], nodes[2], places[lows[order]], places[highs[order]], rising)

    def __len__(self) -> int:
        """Return the number of transfers."""
        return len(self.shards)

    def __repr__(self) -> str:
        return f"<Transfers: {len(self)} in {self.steps} steps>"

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return len(self.starts) - 1

    @cached_property
    def step_of(self) -> IntArray:
        """Of each transfer the number of its step, from 0."""
        return np.repeat(np.arange(self.steps, dtype=np.int32), np.diff(self.starts))

    def step(self, number: int) -> Iterator[Transfer]:
        """Yield the transfers of one step."""
        rows = slice(int(self.starts[number]), int(self.starts[number + 1]))
        columns = (self.shards, self.sources, self.targets, self.lows, self.highs)
        for shard, source, target, low, high in zip(*(each[rows].tolist() for each in columns), strict=True):
            yield Transfer(shard, self.points[low], self.points[high], source, target)

    def __iter__(self) -> Iterator[Iterator[Transfer]]:
        return map(self.step, range(self.steps))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Transfers):
            return NotImplemented
        columns = ("starts", "shards", "sources", "targets", "lows", "highs")
        alike = all(np.array_equal(getattr(self, column), getattr(other, column)) for column in columns)
        return alike and self.points == other.points

    __hash__ = None  # type: ignore[assignment]  # equal by value, and arrays have no hash

    def only(self, steps: range) -> "Transfers":
        """Return the transfers of these steps, one after the other, with the points that they name."""
        begin, end = int(self.starts[steps.start]), int(self.starts[steps.stop])
        if len(steps) == self.steps:
            return self
        rows = slice(begin, end)
        points, places = _distinct_points(self.points, self.lows[rows], self.highs[rows])
        return Transfers(
            row_starts(np.diff(self.starts[steps.start : steps.stop + 1])),
            self.shards[rows].copy(),
            self.sources[rows].copy(),
            self.targets[rows].copy(),
            places[self.lows[rows]],
            places[self.highs[rows]],
            points,
        )

    def backwards(self) -> "Transfers":
        """Return the transfers from the last step to the first, every one the other way (Definition 5)."""
        ranges = [np.arange(begin, end) for begin, end in pairwise(self.starts.tolist())]
        order = np.concatenate([*reversed(ranges), np.zeros(0, dtype=np.int64)]).astype(np.int64)
        return Transfers(
            row_starts(np.diff(self.starts)[::-1]),
            self.shards[order],
            self.targets[order],
            self.sources[order],
            self.lows[order],
            self.highs[order],
            self.points,
        )

    def renamed(self, image: IntArray) -> "Transfers":
        """Return the transfers with node number `image[v]` in place of v (Definition 7)."""
        shards, sources, targets = (image[each] for each in (self.shards, self.sources, self.targets))
        return replace(self, shards=shards, sources=sources, targets=targets)


def _distinct_points(
    points: Sequence[Fraction], lows: IntArray, highs: IntArray
) -> tuple[tuple[Fraction, ...], IntArray]:
    """Return the points that are named, once each and rising, and the new place of each of `points`."""
    used = np.zeros(len(points), dtype=np.bool_)
    used[lows] = True
    used[highs] = True
    rising = tuple(sorted({points[place] for place in np.flatnonzero(used).tolist()}))
    place_of = {point: place for place, point in enumerate(rising)}
    places = np.fromiter((place_of.get(point, 0) for point in points), dtype=np.int32, count=len(points))
    return rising, places


@dataclass(frozen=True)
class StepPhase:
    """Transfers that spread shards or gather sums.

    Attributes:
        op: BROADCAST, what is sent is copied and every node ends with all shards; or REDUCE, what is sent is the sum of
            what the sender has of that part so far, and the receiver adds it to its own.
        transfers: what is sent, step by step.
    """

    op: PhaseOp
    transfers: Transfers


@final
@dataclass(frozen=True, repr=False)
class StepSchedule(Schedule):
    """Steps for a collective on a network without switches. `verify` says whether they are right.

    In an allgather the shard of v starts on v, in a reduce-scatter it is what ends there, and in an allreduce it is
    what v adds up and sends out. M is the data of the collective as in `Collective`.

    Attributes:
        collective: an allgather, a reduce-scatter or an allreduce.
        phases: one, after which an allreduce has another: it reduces first, and then broadcasts.
        shards: as `Schedule.shards`; an allreduce may have them too.
        ranks: None, for all compute nodes take part.
    """

    kind: ClassVar[str] = "steps"

    phases: tuple[StepPhase, ...]
    ranks: None = field(default=None, init=False)

    @property
    def shard_sizes(self) -> tuple[Fraction, ...]:
        """Of each node, compute node or not, its part of M."""
        compute = self.topology.compute
        shards = self.shards or (Fraction(1, len(compute)),) * len(compute)
        sizes = [Fraction(0)] * len(self.topology.nodes)
        for node, shard in zip(compute, shards, strict=True):
            sizes[node] = shard
        return tuple(sizes)

    @property
    def steps(self) -> int:
        """How many steps there are: T_L in hops."""
        return sum(phase.transfers.steps for phase in self.phases)

    @property
    def size(self) -> str:
        """As `Schedule.size`."""
        return f"{self.steps} steps, {len(self)} transfers"

    def __len__(self) -> int:
        """Return the number of transfers."""
        return sum(len(phase.transfers) for phase in self.phases)
