"""Local search that makes trees of equal weight fit into the time of the ports.

A move replaces the arc into one node in one tree by another arc into this node from a node that is not below it, so the
tree stays a tree. Each step takes an overloaded port and makes the move of one of its arcs that reduces the total
overload most, or increases it least. The arc that was replaced may not return for some steps (tabu search, Glover
1986). So spare time at a distant port can move to an overloaded port step by step.

The search uses floating point. The caller checks the result exactly. A step costs the number of arcs into the nodes
behind the port, times the height of the trees.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from forestcoll.base.exact import as_float
from forestcoll.oneport.platform.logical import logical_arcs, outwards
from forestcoll.oneport.platform.platform import Platform

MAX_STEPS = 3000
"""The maximum number of moves of one search."""

_PATIENCE = 600
"""The maximum number of moves without a new least overload."""

_CLOSE = 1e-9
"""The overload that counts as rounding."""

_TENURE = 10
"""The minimum number of steps for which an arc that was replaced may not return."""

Routes = tuple[tuple[int, ...], ...]
Route = tuple[int, ...]


def exchanged(platform: Platform, trees: Sequence[Routes], throughput: float) -> list[Routes] | None:
    """Return trees that carry `throughput` with equal weights, found by local search from `trees`.

    Args:
        platform: the network with its source.
        trees: the start of the search. A tree may occur more than once.
        throughput: messages per unit of time, of all trees together.

    Returns:
        As many trees as given, or None if the search ends without success.
    """
    search = _ExchangeSearch(platform, trees, throughput / len(trees))
    least, reached = float("inf"), 0
    for step in range(MAX_STEPS):
        if not search.overloaded:
            return [outwards(tree.values(), platform.source) for tree in search.trees]
        if search.overload < least - _CLOSE:
            least, reached = search.overload, step
        if step - reached > _PATIENCE:
            break
        search.move(step)
    return None


@dataclass(frozen=True, slots=True)
class _Move:
    """The arc into `node` in tree `tree` is replaced by `route`. `overload` is the increase of the total overload."""

    overload: float
    last: int
    tree: int
    node: int
    route: Route


class _ExchangeSearch:
    """Trees as the route into each node, and the load of each port, of which 1 is the most."""

    def __init__(self, platform: Platform, trees: Sequence[Routes], weight: float) -> None:
        self._platform, self._weight = platform, weight
        self._place = {port: number for number, port in enumerate(platform.all_ports)}
        self.trees = [{route[-1]: route for route in tree} for tree in trees]
        self._into: dict[int, list[Route]] = {node: [] for node in platform.destinations}
        for route in logical_arcs(platform, platform.costs).routes:
            self._into[route[-1]].append(route)
        self._times: dict[Route, Mapping[int, float]] = {}
        self._loads = [0.0] * len(self._place)
        self._users: list[dict[tuple[int, int], None]] = [{} for _ in self._place]
        self.overloaded: dict[int, None] = {}
        self._forbidden: dict[tuple[int, Route], int] = {}
        self._changed: dict[tuple[int, int], int] = {}
        for number, tree in enumerate(self.trees):
            for node, route in tree.items():
                self._enter(number, node, route)

    def _of(self, route: Route) -> Mapping[int, float]:
        """Return the load of each port for a tree with this route."""
        known = self._times.get(route)
        if known is None:
            times: dict[int, float] = {}
            for link in self._platform.links_of(route):
                for port, part in self._platform.uses[link]:
                    place = self._place[port]
                    times[place] = times.get(place, 0.0) + as_float(part * self._platform.costs[link]) * self._weight
            known = self._times[route] = times
        return known

    def _enter(self, tree: int, node: int, route: Route) -> None:
        for port, time in self._of(route).items():
            self._users[port][tree, node] = None
            self._add(port, time)

    def _leave(self, tree: int, node: int, route: Route) -> None:
        for port, time in self._of(route).items():
            del self._users[port][tree, node]
            self._add(port, -time)

    @property
    def overload(self) -> float:
        """The sum of the overload of all ports."""
        return sum(self._loads[port] - 1 for port in self.overloaded)

    def _add(self, port: int, time: float) -> None:
        self._loads[port] += time
        if self._loads[port] > 1 + _CLOSE:
            self.overloaded[port] = None
        else:
            self.overloaded.pop(port, None)

    def move(self, step: int) -> None:
        """Make the best move that relieves an overloaded port: in turn the busiest one and one of the others."""
        ports = list(self.overloaded)
        port = ports[step // 2 % len(ports)] if step % 2 else max(ports, key=self._loads.__getitem__)
        moves = (move for user in self._users[port] for move in self._moves(*user, step))
        best = min(moves, key=lambda move: (move.overload, move.last), default=None)
        if best is None:
            return
        before = self.trees[best.tree][best.node]
        self._leave(best.tree, best.node, before)
        self._enter(best.tree, best.node, best.route)
        self.trees[best.tree][best.node] = best.route
        self._forbidden[best.tree, before] = step + _TENURE + step * 7 % _TENURE
        self._changed[best.tree, best.node] = step

    def _moves(self, tree: int, node: int, step: int) -> list[_Move]:
        before = self.trees[tree][node]
        last = self._changed.get((tree, node), -1)
        return [
            _Move(self._overload(before, route), last, tree, node, route)
            for route in self._into[node]
            if route != before
            and self._forbidden.get((tree, route), -1) < step
            and not self._is_below(tree, node, route[0])
        ]

    def _is_below(self, tree: int, node: int, other: int) -> bool:
        """Return whether `other` is `node` or receives from it in the tree."""
        parents = self.trees[tree]
        while other != node:
            if other == self._platform.source:
                return False
            other = parents[other][0]
        return True

    def _overload(self, before: Route, after: Route) -> float:
        """Return the increase of the total overload if `after` replaces `before`."""
        change = {port: -time for port, time in self._of(before).items()}
        for port, time in self._of(after).items():
            change[port] = change.get(port, 0.0) + time
        return sum(
            max(0.0, self._loads[port] + more - 1) - max(0.0, self._loads[port] - 1) for port, more in change.items()
        )
