"""Shares as whole numbers of chunks.

The shares of a schedule are exact fractions of the data M; a program moves whole chunks of one size. The least number
of chunks that makes every share whole is the common denominator of the shares. If a runtime cannot use that many, or
the caller requests another number, the part of each root stays exact, because the task fixes it. Its trees get whole
numbers of chunks that add up to the part: first by largest remainders, then `rounding` relieves the busiest links. A
tree may get none.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import lcm

import numpy as np

from forestcoll.base.errors import NoSolutionError
from forestcoll.programs.lowering.rounding import LinkCrossings, balanced
from forestcoll.schedule.trees.value import Phase, TreeSchedule

MAX_EXACT_CHUNKS = 2**15 - 1
"""The most chunks that are used by default: MSCCL stores offsets in 16 bits, and files grow with the number."""


@dataclass(frozen=True, slots=True)
class Grid:
    """How the data is cut.

    Attributes:
        chunks: the number of chunks of all data.
        parts: for each rank, the number of chunks of which it is the root, in the order of the ranks.
        trees: for each phase and each of its trees, in order, how many chunks the tree carries, 0 or more.
    """

    chunks: int
    parts: tuple[int, ...]
    trees: tuple[tuple[int, ...], ...]


def grid_for(schedule: TreeSchedule, chunks: int | None, most: int | None = None) -> Grid:
    """Return the grid with `chunks` chunks; by default the smallest one that makes all shares whole, at most `most`.

    `schedule` lists all trees. If the exact grid has more than `most` chunks, shares are rounded. The grid then has the
    greatest power of two, times the number of chunks that the shards need, that is at most `most`.

    Raises:
        NoSolutionError: the shards are not multiples of 1/`chunks`, or of 1/n for any n up to `most`.
    """
    if chunks is None:
        bound = MAX_EXACT_CHUNKS if most is None else min(most, MAX_EXACT_CHUNKS)
        chunks = _chosen(_exact(schedule), unit_of(schedule), bound)
    return Grids(schedule).best(chunks)


class Grids:
    """The best grids of a schedule for several numbers of chunks; what they share is computed once."""

    def __init__(self, schedule: TreeSchedule) -> None:
        """Start with a schedule that lists all trees."""
        self._schedule = schedule
        self._unit = unit_of(schedule)
        self._known: dict[int, Grid] = {}

    def best(self, chunks: int) -> Grid:
        """Return the grid with `chunks` chunks.

        It is the better of the rounded grid, and of the best grid with half as many chunks, each divided into two.

        Raises:
            NoSolutionError: the shards are not multiples of 1/`chunks`.
        """
        if chunks % self._unit:
            raise NoSolutionError(
                f"the shards are no whole numbers of 1/{chunks} of the data; use a multiple of {self._unit} chunks"
            )
        if chunks not in self._known:
            self._known[chunks] = self._better(chunks, self._rounded(chunks))
        return self._known[chunks]

    def _better(self, chunks: int, grid: Grid) -> Grid:
        algbw = achieved(self._schedule, grid)
        if chunks % (2 * self._unit) or algbw == self._schedule.algbw:
            return grid
        half = self.best(chunks // 2)
        doubled = tuple(tuple(2 * count for count in counts) for counts in half.trees)
        other = self._balanced(Grid(chunks, tuple(2 * part for part in half.parts), doubled))
        return other if achieved(self._schedule, other) > algbw else grid

    def _rounded(self, chunks: int) -> Grid:
        parts = rounded(self._totals, chunks)
        phases = range(len(self._schedule.phases))
        return self._balanced(Grid(chunks, parts, tuple(_of_phase(self._schedule, phase, parts) for phase in phases)))

    def _balanced(self, grid: Grid) -> Grid:
        """Return a grid whose busiest link is at most as busy; the same one if it is as fast as the schedule."""
        if achieved(self._schedule, grid) >= self._schedule.algbw:
            return grid
        return replace(grid, trees=balanced(self._crossings, grid.chunks / self._schedule.algbw, grid.trees))

    @cached_property
    def _totals(self) -> Sequence[Fraction]:
        """The share of each root: its shard, or what its trees carry."""
        ranks = {node: rank for rank, node in enumerate(self._schedule.members)}
        totals = [Fraction(0)] * len(ranks)
        for tree in self._schedule.phases[0]:
            totals[ranks[tree.root]] += tree.share
        return totals

    @cached_property
    def _crossings(self) -> LinkCrossings:
        return LinkCrossings(self._schedule)


def unit_of(schedule: TreeSchedule) -> int:
    """Return the least number of chunks that makes every rank's shard whole."""
    if not schedule.collective.has_shards:
        return 1
    if schedule.shards is None:
        return len(schedule.members)
    return lcm(*(shard.denominator for shard in schedule.shards))


def _exact(schedule: TreeSchedule) -> int:
    denominators = {share.denominator for phase in schedule.phases for share in phase.shares}
    common = unit_of(schedule)
    for denominator in denominators:
        common = lcm(common, denominator)
    return common


def _chosen(exact: int, unit: int, bound: int) -> int:
    if exact <= bound:
        return exact
    if unit > bound:
        raise NoSolutionError(f"the shards need {unit} chunks; at most {bound} can be used; give shards rounder sizes")
    return unit << (bound // unit).bit_length() - 1


def _of_phase(schedule: TreeSchedule, number: int, parts: Sequence[int]) -> tuple[int, ...]:
    phase = schedule.phases[number]
    ranks = {node: rank for rank, node in enumerate(schedule.members)}
    trees: dict[int, list[int]] = {}
    for tree, root in enumerate(phase.roots):
        trees.setdefault(ranks[root], []).append(tree)
    counts = [0] * len(phase)
    for rank, listed in trees.items():
        shares = [phase.shares[tree] for tree in listed]
        for tree, count in zip(listed, rounded(shares, parts[rank]), strict=True):
            counts[tree] = count
    return tuple(counts)


def rounded(shares: Sequence[Fraction], total: int) -> tuple[int, ...]:
    """Return integers that add up to `total` in the proportions of `shares`, each rounded up or down."""
    whole = sum(shares, Fraction(0))
    exact = [share * total / whole for share in shares] if whole else [Fraction(0)] * len(shares)
    floors = [int(value) for value in exact]
    order = sorted(range(len(exact)), key=lambda place: (floors[place] - exact[place], place))
    for place in order[: total - sum(floors)]:
        floors[place] += 1
    return tuple(floors)


def achieved(schedule: TreeSchedule, grid: Grid) -> Fraction:
    """Return the algbw of `schedule` with the shares that `grid` gives its trees, in the topology's unit."""
    greatest: dict[Fraction, int] = {}
    for link, load in zip(schedule.topology.links, _link_loads(schedule, grid), strict=True):
        greatest[link.bandwidth] = max(load, greatest.get(link.bandwidth, 0))
    return 1 / max(Fraction(load, grid.chunks) / bandwidth for bandwidth, load in greatest.items())


def with_shares(schedule: TreeSchedule, grid: Grid) -> TreeSchedule:
    """Return `schedule` with the shares that `grid` gives its trees, and without the trees that carry no data."""
    phases = []
    for phase, counts in zip(schedule.phases, grid.trees, strict=True):
        kept = np.flatnonzero(counts)
        phases.append(
            Phase(
                op=phase.op,
                roots=tuple(phase.roots[tree] for tree in kept.tolist()),
                shares=tuple(Fraction(counts[tree], grid.chunks) for tree in kept.tolist()),
                routes=phase.routes.take(kept),
            )
        )
    return replace(schedule, phases=tuple(phases), algbw=achieved(schedule, grid), trees_per_root=None)


def _link_loads(schedule: TreeSchedule, grid: Grid) -> list[int]:
    """Return the chunks that each link carries; of several links with the same ends, the first one carries them."""
    routes = schedule.routes
    of_route = np.zeros(len(routes), dtype=np.int64)
    for phase, counts in zip(schedule.phases, grid.trees, strict=True):
        lengths = np.diff(phase.routes.starts)
        np.add.at(of_route, phase.routes.entries, np.repeat(np.array(counts, dtype=np.int64), lengths))
    hops = np.diff(routes.starts) - 1
    leaves = np.ones(len(routes.entries), dtype=np.bool_)
    leaves[routes.starts[1:] - 1] = False
    sends = np.flatnonzero(leaves)
    nodes = len(schedule.topology.nodes)
    ends = routes.entries[sends].astype(np.int64) * nodes + routes.entries[sends + 1]
    pairs = np.array([link.source * nodes + link.target for link in schedule.topology.links], dtype=np.int64)
    known, of_link = np.unique(pairs, return_inverse=True)
    loads = np.zeros(len(known), dtype=np.int64)
    np.add.at(loads, np.searchsorted(known, ends), np.repeat(of_route, hops))
    listed: list[int] = loads[of_link].tolist()
    return listed
