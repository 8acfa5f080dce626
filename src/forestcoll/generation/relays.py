"""Routes that stop at relays: an idle compute node on the way of a tree keeps what it passes on, and copies it.

Trees are found with idle nodes taken for switches, which only pass data on (or for terminals, `bounds.relays`). In a
schedule a route ends at each of them and another begins there; and where a tree comes to a relay again, what was
brought there first is sent on, so that the links before it carry less. A relay that nothing is sent on from is left.
None of this adds to the load of a link, so the trees stay within what they were given.

Everything here is in the direction in which trees broadcast; cost: linear in the trees that use a relay.
"""

from collections.abc import Sequence
from itertools import chain
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.schedule import Rows

BoolArray: TypeAlias = npt.NDArray[np.bool_]


def stop_at_relays(routes: Rows, trees: Rows, relays: Sequence[int], nodes: int) -> tuple[Rows, Rows]:
    """Return routes and trees that stop at `relays`.

    Args:
        routes: paths between nodes, a row a route.
        trees: rows of numbers of routes, each after one that ends where it starts.
        relays: the numbers of the idle nodes.
        nodes: how many nodes there are.
    """
    is_relay = np.zeros(nodes, dtype=np.bool_)
    is_relay[list(relays)] = True
    if not is_relay[routes.entries].any():
        return routes, trees
    pieces = _Pieces(routes, is_relay)
    touched = _touched(routes, trees, is_relay)
    rows = [pieces.of_tree(row) if is_touched else row for row, is_touched in zip(trees.lists(), touched, strict=True)]
    numbers, kept = np.unique(np.fromiter(chain.from_iterable(rows), dtype=np.int64), return_inverse=True)
    starts = Rows.of(rows).starts
    table = Rows.of([pieces.routes[number] for number in numbers.tolist()])
    return table, Rows(starts, kept.reshape(-1).astype(np.int32))


def _touched(routes: Rows, trees: Rows, is_relay: BoolArray) -> list[bool]:
    """Return of each tree whether one of its routes comes to a relay."""
    on_relay = np.concatenate([[0], np.cumsum(is_relay[routes.entries])])
    of_route = on_relay[routes.starts[1:]] > on_relay[routes.starts[:-1]]
    counts = np.concatenate([[0], np.cumsum(of_route[trees.entries])])
    touched: list[bool] = (counts[trees.starts[1:]] > counts[trees.starts[:-1]]).tolist()
    return touched


class _Pieces:
    """Routes cut at relays: the pieces of each, numbered behind the routes, which keep their numbers if uncut."""

    def __init__(self, routes: Rows, is_relay: BoolArray) -> None:
        self.routes: list[tuple[int, ...]] = list(routes)
        self._is_relay: list[bool] = is_relay.tolist()
        self._known: dict[tuple[int, ...], int] = {}
        self._of_route: dict[int, tuple[int, ...]] = {}

    def _cut(self, route: int) -> tuple[int, ...]:
        """Return the numbers of the pieces of a route."""
        found = self._of_route.get(route)
        if found is None:
            path = self.routes[route]
            stops = [place for place in range(1, len(path) - 1) if self._is_relay[path[place]]]
            bounds = zip([0, *stops], [*stops, len(path) - 1], strict=True)
            found = tuple(self._number(path[first : last + 1]) for first, last in bounds) if stops else (route,)
            self._of_route[route] = found
        return found

    def _number(self, piece: tuple[int, ...]) -> int:
        number = self._known.setdefault(piece, len(self.routes))
        if number == len(self.routes):
            self.routes.append(piece)
        return number

    def of_tree(self, tree: Sequence[int]) -> list[int]:
        """Return the pieces that a tree needs, in the order in which data flows."""
        reached: set[int] = set()
        pieces: list[int] = []
        for route in tree:
            fresh = self._fresh(self._cut(route), reached)
            pieces.extend(fresh)
            reached.update(self.routes[piece][-1] for piece in fresh if self._is_relay[self.routes[piece][-1]])
        return self._without_loose_ends(pieces)

    def _fresh(self, pieces: tuple[int, ...], reached: set[int]) -> tuple[int, ...]:
        """Return the pieces behind the last relay that was reached before."""
        again = [place for place, piece in enumerate(pieces) if self.routes[piece][-1] in reached]
        return pieces[again[-1] + 1 :] if again else pieces

    def _without_loose_ends(self, pieces: Sequence[int]) -> list[int]:
        sending: set[int] = set()
        kept: list[int] = []
        for piece in reversed(pieces):
            path = self.routes[piece]
            if path[-1] in sending or not self._is_relay[path[-1]]:
                sending.add(path[0])
                kept.append(piece)
        return kept[::-1]
