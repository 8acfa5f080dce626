"""Better rounding: moves chunks between the trees of a root until the busiest link cannot be relieved.

Largest remainders keep every tree within one chunk of its share, but they do not look at links: a link may get all the
chunks that were rounded up. This local search starts from them. It takes the busiest link and moves one chunk of a tree
that crosses it to another tree of the same root and phase, if all links of the other tree stay below the greatest load.
So the greatest load never rises, and with every move it falls, or fewer links have it. The search ends when no such
move exists, when every share is exact, or after `MOST_WORK` visits of links.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from math import lcm

from forestcoll.schedule.trees.value import TreeSchedule

MOST_WORK = 4_000_000
"""The most visits of links by the search, which take about a second."""


class LinkCrossings:
    """Which links the trees of a schedule cross. A cost is the time of a chunk on a link, as an integer.

    Attributes:
        scale: the costs of a second, in the unit of bandwidths.
        costs: the cost of each link.
        rows: for each tree of all phases, how often it crosses each link.
        siblings: for each tree, the other trees of its root and phase.
        crossing: for each link, the trees that cross it.
    """

    def __init__(self, schedule: TreeSchedule) -> None:
        """Start with a schedule that lists all trees."""
        links = schedule.topology.links
        self.scale = lcm(*(link.bandwidth.numerator for link in links))
        self.costs = [int(self.scale / link.bandwidth) for link in links]
        self.rows = list(_rows(schedule, schedule.topology.link_numbers))
        self.siblings = _siblings(schedule)
        self.crossing: list[list[int]] = [[] for _ in links]
        for tree, row in enumerate(self.rows):
            for link in row:
                self.crossing[link].append(tree)


def balanced(crossings: LinkCrossings, least: Fraction, counts: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    """Return numbers of chunks for all trees, whose busiest link is at most as busy as with `counts`.

    Args:
        crossings: the links that the trees cross.
        least: the load of the busiest link with the exact shares, in chunks by bandwidth.
        counts: for each phase and each of its trees, the number of chunks; the sums over the trees of a root are kept.
    """
    search = _RoundingSearch(crossings, counts)
    search.run(least)
    return search.phases(counts)


class _RoundingSearch:
    """The state of the search: the chunks of all trees, and the load of each link as an integer."""

    def __init__(self, crossings: LinkCrossings, counts: Sequence[Sequence[int]]) -> None:
        self.scale, self.costs, self.rows = crossings.scale, crossings.costs, crossings.rows
        self.siblings, self.crossing = crossings.siblings, crossings.crossing
        self.counts = [count for listed in counts for count in listed]
        self.loads = [0] * len(self.costs)
        self.work = 0
        for row, count in zip(self.rows, self.counts, strict=True):
            for link, times in row.items():
                self.loads[link] += times * self.costs[link] * count

    def run(self, least: Fraction) -> None:
        """Move chunks while that helps, and the greatest load is above `least` (in chunks by bandwidth)."""
        while self.work < MOST_WORK:
            greatest = max(self.loads)
            if greatest <= least * self.scale or not self._relieve(self.loads.index(greatest), greatest):
                return

    def _relieve(self, link: int, greatest: int) -> bool:
        """Move a chunk away from `link`, and return whether that was possible."""
        for tree in self.crossing[link]:
            if not self.counts[tree]:
                continue
            for other in self.siblings[tree]:
                if self._fits(tree, other, greatest):
                    self._move(tree, other)
                    return True
        return False

    def _fits(self, tree: int, other: int, greatest: int) -> bool:
        """Return whether all links stay below the greatest load if a chunk of `tree` moves to `other`."""
        before = self.rows[tree]
        for link, times in self.rows[other].items():
            self.work += 1
            more = times - before.get(link, 0)
            if self.loads[link] + more * self.costs[link] >= greatest and (more > 0 or self.loads[link] == greatest):
                return False
        return True

    def _move(self, tree: int, other: int) -> None:
        for each, sign in ((tree, -1), (other, 1)):
            self.counts[each] += sign
            for link, times in self.rows[each].items():
                self.loads[link] += sign * times * self.costs[link]

    def phases(self, counts: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
        """Return the chunks of all trees by phase."""
        listed = iter(self.counts)
        return tuple(tuple(next(listed) for _ in phase) for phase in counts)


def _rows(schedule: TreeSchedule, numbers: Mapping[tuple[int, int], int]) -> Iterator[dict[int, int]]:
    """Yield, for each tree of all phases, how often it crosses each link."""
    paths = [[numbers[hop] for hop in pairwise(path)] for path in schedule.routes]
    for phase in schedule.phases:
        for routes in phase.routes:
            row: dict[int, int] = {}
            for route in routes:
                for link in paths[route]:
                    row[link] = row.get(link, 0) + 1
            yield row


def _siblings(schedule: TreeSchedule) -> list[list[int]]:
    """Return, for each tree of all phases, the other trees of its root and phase."""
    groups: dict[tuple[int, int], list[int]] = {}
    keys = [(number, root) for number, phase in enumerate(schedule.phases) for root in phase.roots]
    for tree, key in enumerate(keys):
        groups.setdefault(key, []).append(tree)
    return [[other for other in groups[key] if other != tree] for tree, key in enumerate(keys)]
