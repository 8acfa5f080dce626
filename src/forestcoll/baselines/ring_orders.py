"""Orders of the members of a box for rings: closed ones for a single box, and open ones between given ends.

On a full mesh with an even number of members, the open orders are the rows of a row-complete Latin square, which use
each link once. On other direct links, orders are searched with a limit, and each search prefers links that earlier
orders have used least.
"""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

from forestcoll.baselines.baseline import DoesNotApplyError, Problem
from forestcoll.baselines.routes import Routes

Order = tuple[int, ...]

MOST_STEPS = 100_000
"""The most steps of the search for one order."""


def closed_orders(problem: Problem, box: Sequence[int]) -> list[Order]:
    """Return orders of a single box whose last member sends to the first.

    A switch needs one order. On direct links, there are as many orders as a member has links, so that all can be used.

    Raises:
        DoesNotApplyError: no order was found.
    """
    hops = _Hops(problem, box)
    count = 1 if hops.cross_switches else max(len(hops.next[node]) for node in box)
    found = [order for order in (hops.search(box[0], None) for _ in range(count)) if order is not None]
    if not found:
        raise DoesNotApplyError("no ring through all compute nodes of the box was found")
    return found


def open_orders(problem: Problem, box: Sequence[int], ends: Sequence[tuple[int, int]]) -> list[Order]:
    """Return an order of the box from the first to the second of each of `ends`.

    Raises:
        DoesNotApplyError: no order was found for some ends.
    """
    hops = _Hops(problem, box)
    if len(box) == 1:
        return [tuple(box)] * len(ends)
    if hops.cross_switches:
        return [_through_switch(box, *each) for each in ends]
    if hops.are_mesh and len(box) % 2 == 0 and len(ends) == len(box):
        return _latin_rows(box)
    found = []
    for entry, leaving in ends:
        order = hops.search(entry, leaving)
        if order is None:
            raise DoesNotApplyError("no path through all compute nodes of a box was found between two of its NICs")
        found.append(order)
    return found


def _through_switch(box: Sequence[int], entry: int, leaving: int) -> Order:
    """Return the members in cyclic order, downwards from `entry`, with `leaving` as the last."""
    place = box.index(entry)
    around = [*box[place::-1], *box[:place:-1]]
    return (*(node for node in around if node != leaving), leaving)


def _latin_rows(box: Sequence[int]) -> list[Order]:
    """Return the rows of a row-complete Latin square: row i is i + (0, n-1, 1, n-2, 2, ...) modulo n."""
    size = len(box)
    zigzag = [step // 2 if step % 2 == 0 else size - 1 - step // 2 for step in range(size)]
    return [tuple(box[(row + step) % size] for step in zigzag) for row in range(size)]


class _Hops:
    """The hops between members of a box over its own links, and how much earlier orders use them."""

    def __init__(self, problem: Problem, box: Sequence[int]) -> None:
        routes = Routes(problem.topology, _usable(problem, box))
        widths = {(link.source, link.target): link.bandwidth for link in problem.topology.links}
        self.next: dict[int, list[int]] = {node: [] for node in box}
        self._width: dict[tuple[int, int], Fraction] = {}
        self._used: dict[tuple[int, int], int] = {}
        self.cross_switches = True
        for node in box:
            for target in box:
                route = routes.find(node, target) if node != target else None
                self.cross_switches &= node == target or (route is not None and len(route) > 2)
                if route is not None:
                    self.next[node].append(target)
                    self._width[node, target] = min(widths[hop] for hop in pairwise(route))
        self.are_mesh = all(len(each) == len(box) - 1 for each in self.next.values())

    def search(self, first: int, last: int | None) -> Order | None:
        """Return an order of all members from `first` to `last`, or back to `first` if `last` is None."""
        order = next(self._extend([first], last, _limit(MOST_STEPS)), None)
        if order is None:
            return None
        for hop in zip(order, order[1:] if last is not None else (*order[1:], first), strict=False):
            self._used[hop] = self._used.get(hop, 0) + 1
        return order

    def _extend(self, path: list[int], last: int | None, may_go_on: Callable[[], bool]) -> Iterator[Order]:
        if len(path) == len(self.next):
            if last is None and path[0] not in self.next[path[-1]]:
                return
            yield tuple(path)
            return
        for node in sorted(self.next[path[-1]], key=lambda each: self._price(path[-1], each)):
            is_early = node == last and len(path) + 1 < len(self.next)
            if node in path or is_early or not may_go_on():
                continue
            path.append(node)
            yield from self._extend(path, last, may_go_on)
            path.pop()

    def _price(self, source: int, target: int) -> tuple[Fraction, int]:
        """Return the use of a hop after one more order, per bandwidth."""
        return (self._used.get((source, target), 0) + 1) / self._width[source, target], target


def _usable(problem: Problem, box: Sequence[int]) -> set[int]:
    nodes = problem.topology.nodes
    return {each for each in problem.boxes.inside(box[0]) if each in box or not nodes[each].is_compute}


def _limit(most: int) -> Callable[[], bool]:
    left = [most]

    def may_go_on() -> bool:
        left[0] -= 1
        return left[0] >= 0

    return may_go_on
