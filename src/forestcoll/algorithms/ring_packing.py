"""Rings through a box on direct links that share the links as well as possible, for the rings of NCCL.

The rings are columns of a packing program: the rates of all rings that use a link add up to its bandwidth or less.
Rings are found one after the other. The prices of the links in the last program make full links expensive, and
a search with a limit finds a ring with a price below 1, which improves the program (column generation). The program is
solved exactly. NCCL searches in a similar way, but with equal rates, so this is an upper limit of what it finds.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import TypeAlias

from forestcoll.base.exact import as_float
from forestcoll.solver.exact_lp.exact_simplex import packing_optimum

Order: TypeAlias = tuple[int, ...]
"""All members of a box, in the order of a ring."""

Links: TypeAlias = tuple[tuple[int, int], ...]
"""The links of a path."""

MOST_RINGS = 256
"""The most rings in a program, about."""

MOST_STEPS = 20000
"""The most steps of one search."""


@dataclass(frozen=True)
class RingHops:
    """The sends of rings through a box, and what limits them.

    Attributes:
        routes: for each pair of members with a route inside the box, the links of the route.
        arrivals: for each member where rings may enter the box, the links over which they do; none if the rings stay
            inside the box.
        departures: for each member where rings may leave the box, the links over which they do.
        bandwidths: the bandwidth of each link.
    """

    routes: Mapping[tuple[int, int], Links]
    arrivals: Mapping[int, Links]
    departures: Mapping[int, Links]
    bandwidths: Mapping[tuple[int, int], Fraction]

    def column(self, order: Order) -> dict[tuple[int, int], Fraction]:
        """Return the time of each link for one unit of data along a ring."""
        hops = pairwise(order) if self.arrivals else zip(order, (*order[1:], order[0]), strict=True)
        links = [link for hop in hops for link in self.routes[hop]]
        links += (*self.arrivals.get(order[0], ()), *self.departures.get(order[-1], ()))
        return {link: count / self.bandwidths[link] for link, count in Counter(links).items()}


def packed_rings(members: Sequence[int], hops: RingHops) -> list[tuple[Fraction, Order]]:
    """Return rings and their parts of the data, which add up to 1; none if no ring was found.

    Boxes that are alike have the same rings, which are computed once.
    """
    numbers: dict[int, int] = {}

    def place(node: int) -> int:
        return numbers.setdefault(node, len(numbers))

    def places(links: Links) -> Links:
        return tuple((place(source), place(target)) for source, target in links)

    for member in members:
        place(member)
    alike = _packed(
        len(members),
        tuple(((place(one), place(other)), places(links)) for (one, other), links in hops.routes.items()),
        tuple((place(member), places(links)) for member, links in hops.arrivals.items()),
        tuple((place(member), places(links)) for member, links in hops.departures.items()),
        tuple(((place(one), place(other)), bandwidth) for (one, other), bandwidth in hops.bandwidths.items()),
    )
    return [(part, tuple(members[number] for number in order)) for part, order in alike]


@lru_cache(maxsize=16)
def _packed(
    size: int,
    routes: tuple[tuple[tuple[int, int], Links], ...],
    arrivals: tuple[tuple[int, Links], ...],
    departures: tuple[tuple[int, Links], ...],
    bandwidths: tuple[tuple[tuple[int, int], Fraction], ...],
) -> list[tuple[Fraction, Order]]:
    """Return the rings of a box whose members have the numbers from 0 to `size` - 1."""
    return _packing(range(size), RingHops(dict(routes), dict(arrivals), dict(departures), dict(bandwidths)))


def _packing(members: Sequence[int], hops: RingHops) -> list[tuple[Fraction, Order]]:
    columns: dict[Order, dict[tuple[int, int], Fraction]] = {}
    places: dict[tuple[int, int], int] = {}
    prices, rates = dict.fromkeys(hops.bandwidths, 0.0), [Fraction(0)]
    while len(columns) < MOST_RINGS:
        fresh = [order for order in _RingSearch(members, hops, prices).best() if order not in columns]
        if not fresh:
            break
        columns.update((order, hops.column(order)) for order in fresh)
        for link in (link for order in fresh for link in columns[order]):
            places.setdefault(link, len(places))
        by_place = [{places[link]: time for link, time in column.items()} for column in columns.values()]
        rates, duals = packing_optimum(by_place, len(places))
        prices = {
            link: as_float(duals[places[link]] / bandwidth) if link in places else 0.0
            for link, bandwidth in hops.bandwidths.items()
        }
    total = sum(rates)
    return [(rate / total, order) for rate, order in zip(rates, columns, strict=False) if rate]


class _RingSearch:
    """A search for the rings with the lowest price, from each end."""

    def __init__(self, members: Sequence[int], hops: RingHops, prices: Mapping[tuple[int, int], float]) -> None:
        self._members = members
        self._into, self._out_of = (
            {member: sum(prices[link] for link in links) for member, links in ends.items()}
            for ends in (hops.arrivals, hops.departures)
        )
        self._next: dict[int, list[tuple[float, int]]] = {member: [] for member in members}
        for (source, target), route in hops.routes.items():
            self._next[source].append((sum(prices[link] for link in route), target))
        for each in self._next.values():
            each.sort()
        self._least = min((price for each in self._next.values() for price, _ in each), default=0.0)
        self._steps = 0
        self._found: Order = ()
        self._limit = 1.0

    def best(self) -> list[Order]:
        """Return the best ring from each start whose price is below 1, the cheapest first."""
        rings = []
        for start in self._into or self._members[:1]:
            self._begin()
            self._extend([start], self._into.get(start, 0.0))
            if self._found:
                rings.append((self._limit, self._found))
        return [order for _, order in sorted(rings)]

    def _begin(self) -> None:
        self._steps, self._found, self._limit = MOST_STEPS, (), 1 - 1e-9

    def _extend(self, path: list[int], price: float) -> None:
        left = len(self._members) - len(path)
        if not left:
            self._close(path, price)
            return
        for hop, node in self._next[path[-1]]:
            if price + hop + (left - 1) * self._least >= self._limit or self._steps <= 0:
                return
            if node not in path:
                self._steps -= 1
                path.append(node)
                self._extend(path, price + hop)
                path.pop()

    def _close(self, path: Sequence[int], price: float) -> None:
        last = path[-1]
        if self._into:
            price += self._out_of.get(last, self._limit)
        else:
            price += next((hop for hop, node in self._next[last] if node == path[0]), self._limit)
        if price < self._limit:
            self._limit, self._found = price, tuple(path)
