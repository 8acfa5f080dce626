"""A local search for an order with a small cost: segments of the order are reversed or moved, the best change first.

The cost of an order is the sum of weights times distances over pairs of its places. Segments begin and end where two
hosts that follow one another are not as near as hosts can be; in short orders, anywhere. Each round costs the number of
changes times the number of pairs; the search ends at an order that no change improves, or when the work is done.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice

import numpy as np

from forestcoll.nccl.order.fabric import Integers

_SHORT = 48
"""Orders of so many hosts are changed at all places."""

_LONGEST_MOVED = 3
"""The most hosts that move together."""

_WORK = 100_000_000
"""The most distances that are looked up: 1 to 2 seconds."""

_TOGETHER = 1024
"""The changes that are tried together."""


@dataclass(frozen=True)
class Pairs:
    """Places of an order between which data is sent.

    Attributes:
        sources: the places that send.
        targets: the places that receive.
        weights: how often each pair counts.
    """

    sources: Integers
    targets: Integers
    weights: Integers

    def cost(self, distances: Integers, orders: Integers) -> Integers:
        """Return the cost of each order: the last axis has the hosts."""
        found: Integers = (distances[orders[..., self.sources], orders[..., self.targets]] * self.weights).sum(axis=-1)
        return found


def combined(parts: Iterable[tuple[Pairs, int]]) -> Pairs:
    """Return all pairs of several parts; the weights of each are multiplied by its number."""
    each = [(pairs.sources, pairs.targets, pairs.weights * factor) for pairs, factor in parts]
    return Pairs(*map(np.concatenate, zip(*each, strict=True)))


def improved(distances: Integers, order: Integers, pairs: Pairs) -> Integers:
    """Return an order whose cost no change makes less, or the one that was found when the work was done.

    Example:
        >>> line = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
        >>> around = np.arange(4)
        >>> pairs = Pairs(around, (around + 1) % 4, np.ones(4, dtype=np.int64))
        >>> improved(line, np.array([0, 2, 1, 3]), pairs).tolist()
        [2, 0, 1, 3]
    """
    cost, work = int(pairs.cost(distances, order)), 0
    while True:
        changes, best = _changes(distances, order), None
        while work < _WORK and (some := list(islice(changes, _TOGETHER))):
            costs = pairs.cost(distances, order[np.array(some)])
            work += costs.size * len(pairs.weights)
            place = int(costs.argmin())
            if costs[place] < cost:
                cost, best = int(costs[place]), order[some[place]]
        if best is None:
            return order
        order = best


def _changes(distances: Integers, order: Integers) -> Iterator[Integers]:
    """Yield the places of an order after each change."""
    size = len(order)
    places = np.arange(size)
    lengths = distances[order, np.roll(order, -1)]
    is_end = lengths > distances[distances > 0].min() if size > _SHORT else np.ones(size, dtype=bool)
    cuts = sorted({0, size, *(np.flatnonzero(is_end) + 1).tolist()})
    for start, end in combinations(cuts, 2):
        if end - start > 1:
            yield np.concatenate((places[:start], places[start:end][::-1], places[end:]))
    moved = {(cut, cut + length) for cut in cuts for length in range(1, _LONGEST_MOVED + 1)}
    moved |= {(cut - length, cut) for cut in cuts for length in range(1, _LONGEST_MOVED + 1)}
    for start, end in sorted(moved):
        if start >= 0 and end <= size:
            left = np.concatenate((places[:start], places[end:]))
            for cut in cuts:
                if not start <= cut <= end:
                    at = cut if cut < start else cut - (end - start)
                    yield np.concatenate((left[:at], places[start:end], left[at:]))
