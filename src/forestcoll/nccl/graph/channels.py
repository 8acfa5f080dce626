"""The fewest channels of one speed that carry as much as rings or chains can: what a graph file of NCCL can say.

NCCL gives all channels of a graph one speed s, and a link of bandwidth b holds floor(b/s) of them. Of the best rings
with any shares, whose total is R (a linear program), it is asked for which s and how few channels n the product n s is
R. Only speeds matter at which some link is full, so s = b/j for a link and an integer j. Speeds are tried in the order
of what they can reach at most: s times the least of 32, R/s, and for each GPU the channels that its links hold. For
each, an integer program (HiGHS) finds the most channels; its answer is checked in fractions.

Boxes of up to eight GPUs: all their rings and chains are columns, so no set of channels is better. In larger ones, and
between NICs, the columns are the rings of the linear program and their reverses, so fewer channels may exist.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice, pairwise
from typing import TypeAlias

from forestcoll.algorithms.ring_packing import Order, RingHops, packed_rings
from forestcoll.nccl.graph.file import MAX_WRITTEN
from forestcoll.solver.exact_lp.exact_simplex import packing_optimum

Link: TypeAlias = tuple[int, int]
Columns: TypeAlias = Mapping[Order, Mapping[Link, int]]
"""How often each order uses each link."""

MOST_ORDERS = 5040
"""The most orders that are all columns: those of the rings of eight GPUs."""

_MOST_GPUS = 8
"""The most GPUs of a box whose orders are all columns."""

_MOST_SPEEDS, _SEARCHED = 40, 2000
"""The most speeds that are tried, and the most nodes of one search."""


@dataclass(frozen=True)
class Channels:
    """Channels of one speed.

    Attributes:
        orders: the order of the GPUs of each channel.
        speed: what each carries, in the unit of the network.
        optimum: what channels of any speeds would carry together; None if it is not known.
        is_proven: whether no fewer channels carry as much.
    """

    orders: tuple[Order, ...]
    speed: Fraction
    optimum: Fraction | None
    is_proven: bool

    @property
    def total(self) -> Fraction:
        """What all channels carry together."""
        return self.speed * len(self.orders)


def closed_channels(
    members: Sequence[int], hops: RingHops, fastest: Fraction | None, count: int | None = None
) -> Channels | None:
    """Return the fewest channels that carry as much as rings inside a box can; None if there is no ring.

    Args:
        members: the GPUs of the box.
        hops: the sends inside the box; without arrivals and departures.
        fastest: the most that a channel carries; None for no limit.
        count: how many channels there must be; None for the fewest.
    """
    packed = packed_rings(members, hops)
    if not packed:
        return None
    first = [order for _, found in packed for order in (found, found[::-1])]
    best = 1 / max(_loads(packed, hops).values())
    every = _all_orders(members, hops, closed=True)
    tried = [_columns(orders, hops, closed=True) for orders in (first, every) if orders]
    return _fewest(_Search(tried, hops.bandwidths, best, fastest, count, is_complete=bool(every)))


def chain_channels(members: Sequence[int], hops: RingHops, fastest: Fraction | None) -> Channels | None:
    """Return the fewest channels that carry as much as chains inside a box can, each in both directions.

    None if there is no chain, or so many that not all can be tried. The arguments are those of `closed_channels`.
    """
    orders = [order for order in _all_orders(members, hops, closed=False) if order[0] < order[-1]]
    columns = _columns(orders, hops, closed=False)
    found = open_channels(columns, hops.bandwidths, fastest) if columns else None
    return None if found is None else replace(found, is_proven=found.total == found.optimum)


def open_channels(
    columns: Columns, bandwidths: Mapping[Link, Fraction], fastest: Fraction | None, count: int | None = None
) -> Channels | None:
    """Return the fewest channels that carry as much as these orders can; None if none carries anything.

    Args:
        columns: how often each order uses each link. Each order enters and leaves the same GPUs.
        bandwidths: the bandwidth of each link.
        fastest: the most that a channel carries; None for no limit.
        count: how many channels there must be; None for the fewest.
    """
    places = {link: place for place, link in enumerate({link: None for each in columns.values() for link in each})}
    times = [{places[link]: uses / bandwidths[link] for link, uses in each.items()} for each in columns.values()]
    best = sum(packing_optimum(times, len(places))[0], Fraction(0))
    return _fewest(_Search([columns], bandwidths, best, fastest, count, is_complete=False))


def _loads(packed: Sequence[tuple[Fraction, Order]], hops: RingHops) -> dict[Link, Fraction]:
    """Return the time of each link for one unit of data along all rings together."""
    loads: dict[Link, Fraction] = {}
    for part, order in packed:
        for link, time in hops.column(order).items():
            loads[link] = loads.get(link, Fraction(0)) + part * time
    return loads


def _columns(orders: Sequence[Order], hops: RingHops, *, closed: bool) -> Columns:
    """Return one order for each way to use the links: rings, or chains in both directions."""
    first: dict[frozenset[tuple[Link, int]], Order] = {}
    for order in orders:
        sends = [*pairwise(order), (order[-1], order[0])] if closed else [*pairwise(order), *pairwise(order[::-1])]
        if all(send in hops.routes for send in sends):
            column = Counter(link for send in sends for link in hops.routes[send])
            first.setdefault(frozenset(column.items()), order)
    return {order: dict(column) for column, order in first.items()}


def _all_orders(members: Sequence[int], hops: RingHops, *, closed: bool) -> list[Order]:
    """Return all orders of the members along hops; none if there are too many. Closed ones begin at the first."""
    following: dict[int, list[int]] = {}
    for source, target in hops.routes:
        following.setdefault(source, []).append(target)

    def extended(path: Order) -> Iterator[Order]:
        if len(path) == len(members):
            yield path
            return
        for target in following.get(path[-1], ()):
            if target not in path:
                yield from extended((*path, target))

    if len(members) > _MOST_GPUS:
        return []
    starts = members[:1] if closed else members
    found = list(islice((order for start in starts for order in extended((start,))), MOST_ORDERS + 1))
    return found if len(found) <= MOST_ORDERS else []


@dataclass(frozen=True)
class _Search:
    """What channels are made of, and what limits them.

    Attributes:
        tried: the columns, first those of a few orders, then more.
        bandwidths: the bandwidth of each link.
        best: what channels of any speeds carry together.
        fastest: the most that a channel carries; None for no limit.
        count: how many channels there must be; None for the fewest.
        is_complete: whether the last columns are all there are.
    """

    tried: Sequence[Columns]
    bandwidths: Mapping[Link, Fraction]
    best: Fraction
    fastest: Fraction | None
    count: int | None
    is_complete: bool

    def capacities(self) -> dict[Link, Fraction]:
        """Return the bandwidth of each link that an order uses."""
        used = {link for columns in self.tried for column in columns.values() for link in column}
        return {link: self.bandwidths[link] for link in sorted(used)}


def _fewest(search: _Search) -> Channels | None:
    """Return the fewest channels of one speed that carry most, or the fastest channels of a given number."""
    capacities, is_complete = search.capacities(), search.is_complete
    found: Channels | None = None
    for most, speed in _bounds(search, capacities)[:_MOST_SPEEDS]:
        if found is not None and most <= found.total:
            break
        held = {link: int(capacity // speed) for link, capacity in capacities.items()}
        wanted = int(most / speed)
        for columns in search.tried:
            orders, is_exact = _most_orders(columns, held, wanted)
            if len(orders) == wanted:
                break
        is_complete = is_complete and is_exact
        if search.count not in {None, len(orders)}:
            continue
        if orders and (found is None or len(orders) * speed > found.total):
            found = Channels(orders, speed, search.best, is_complete)
    return found


def _bounds(search: _Search, capacities: Mapping[Link, Fraction]) -> list[tuple[Fraction, Fraction]]:
    """Return (the most that channels of a speed carry together, the speed), the best first; of equals the fastest."""
    fastest, limit = search.fastest, search.count or MAX_WRITTEN
    speeds = {capacity / part for capacity in set(capacities.values()) for part in range(1, MAX_WRITTEN + 1)}
    if fastest is not None:
        speeds = {speed for speed in (*speeds, fastest) if speed <= fastest}
    every = _visited(search.tried[-1])
    found = []
    for speed in speeds:
        ways = Counter[tuple[int, int]]()
        for (source, target), capacity in capacities.items():
            ways[source, 0] += capacity // speed
            ways[target, 1] += capacity // speed
        held = min(count for (node, _), count in ways.items() if node in every)
        count = min(limit, search.best // speed, held)
        if count and search.count in {None, count}:
            found.append((speed * count, speed))
    return sorted(found, reverse=True)


def _visited(columns: Columns) -> set[int]:
    """Return the nodes that every order enters and leaves: the GPUs, and switches that all pass."""
    return set.intersection(*({end for link in column for end in link} for column in columns.values()))


def _most_orders(columns: Columns, held: Mapping[Link, int], most: int) -> tuple[tuple[Order, ...], bool]:
    """Return as many orders as links hold, at most `most`, and whether no more are possible."""
    if len(columns) == 1:
        order, column = next(iter(columns.items()))
        return (order,) * min(most, *(held[link] // count for link, count in column.items())), True
    from forestcoll.solver.exact_lp.integer_program import IntegerProgram  # here, as it takes long to import

    program, orders = IntegerProgram(), list(columns)
    for column in columns.values():
        program.add_column(cost=-1.0, upper=min(held[link] // count for link, count in column.items()), whole=True)
    program.add_row(dict.fromkeys(range(len(orders)), 1.0), upper=most)
    users: dict[Link, dict[int, float]] = {}
    for place, column in enumerate(columns.values()):
        for link, count in column.items():
            users.setdefault(link, {})[place] = float(count)
    for link, counts in users.items():
        program.add_row(counts, upper=held[link])
    solution = program.solve(_SEARCHED)
    if solution.values is None:
        return (), False
    chosen = tuple(order for order, value in zip(orders, solution.values, strict=True) for _ in range(round(value)))
    loads = Counter(link for order in chosen for link, count in columns[order].items() for _ in range(count))
    fits = all(load <= held[link] for link, load in loads.items())
    return (chosen if fits else ()), fits and (solution.complete or len(chosen) == most)
