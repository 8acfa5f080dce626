"""The best single tree for all messages (§3.2). Finding it is NP-hard (Theorem 1).

A tree whose busiest port needs the time B per message has throughput 1/B. Three cases are distinguished:

- On a small platform a mixed-integer program minimises B, with an integer number of uses of each link. Every set of
  nodes that a tree must enter gives a constraint. The program starts with a few constraints and adds the violated ones.
- On a larger platform there are heuristics. The start trees are the trees of the optimum and a tree that grows by the
  link whose sender is free earliest. Local search then moves one node to another parent.
- If nodes use all their links at the same time and there are no switches, the best tree is the one whose slowest link
  is as fast as possible. It is easy to find.

The optimum of the series is an upper bound for all trees, so the gap is known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import InternalError
from forestcoll.base.exact import as_float
from forestcoll.base.progress import SILENT, Progress
from forestcoll.oneport.platform.logical import logical_arcs, outwards
from forestcoll.oneport.platform.packing import packed_trees
from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.series.optimum import SteadyOptimum
from forestcoll.schedule.proof.prices import Port
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.solver.exact_lp.integer_program import IntegerProgram, IntegerSolution
from forestcoll.topology.graph.walks import reached

MAX_SEARCHED_LINKS = 120
"""The maximum number of links of a platform for the integer program."""

_MAX_NODES = 2000
"""The maximum number of nodes in each search tree of the integer program."""

_MAX_SEARCHES = 40

_CLOSE = 1e-7
"""The relative gap below which a tree counts as the best, because floating point cannot distinguish more."""

Routes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class BestTree:
    """The best tree that was found, and a bound on all trees.

    Attributes:
        tree: the tree, with its throughput as weight.
        bound: an upper bound on the throughput of any tree.
        optimal: whether the tree is known to be the best: it reaches `bound`, or the integer program was solved
            completely.
    """

    tree: SeriesTree
    bound: Fraction
    optimal: bool

    @property
    def throughput(self) -> Fraction:
        """Messages per unit of time."""
        return self.tree.weight


def best_tree(best: SteadyOptimum, progress: Progress = SILENT, *, search: bool = True) -> BestTree:
    """Return the best single tree on the platform of `best`, or a good one.

    Args:
        best: the optimum of the series.
        progress: receives the progress.
        search: whether to run the integer program. Without it a good tree is found quickly.
    """
    platform = best.platform
    progress.begin("searching for the best tree")
    if not platform.has_node_ports and not platform.topology.switches:
        widest = _widest_tree(platform)
        throughput = _throughput(platform, widest)
        return BestTree(SeriesTree(throughput, widest), throughput, optimal=True)
    found = _local_search(platform, min((tree.routes for tree in best.trees), key=lambda each: _period(platform, each)))
    grown = _local_search(platform, _greedy_tree(platform))
    found = min(found, grown, key=lambda each: _period(platform, each))
    complete = False
    search = search and len(platform.topology.links) <= MAX_SEARCHED_LINKS
    if search and _throughput(platform, found) < best.throughput:
        found, complete = _integer_search(best, found, progress)
    throughput = _throughput(platform, found)
    return BestTree(SeriesTree(throughput, found), best.throughput, optimal=complete or throughput == best.throughput)


def tree_throughput(platform: Platform, tree: SeriesTree) -> Fraction:
    """Return TP(T), the number of messages per unit of time that `tree` alone can carry (1)."""
    return _throughput(platform, tree.routes)


def _throughput(platform: Platform, routes: Routes) -> Fraction:
    return 1 / _period(platform, routes)


def _period(platform: Platform, routes: Routes) -> Fraction:
    return max(_loads(platform, routes).values())


def _loads(platform: Platform, routes: Iterable[tuple[int, ...]]) -> dict[Port, Fraction]:
    loads: dict[Port, Fraction] = {}
    for route in routes:
        for link in platform.links_of(route):
            for port, part in platform.uses[link]:
                loads[port] = loads.get(port, Fraction(0)) + part * platform.costs[link]
    return loads


def _widest_tree(platform: Platform) -> Routes:
    """Return a tree whose slowest link is as fast as possible. Each link is its own port."""
    links = sorted(range(len(platform.costs)), key=lambda link: platform.costs[link])
    leaving: dict[int, list[int]] = {}
    parent: dict[int, int] = {platform.source: platform.source}
    for link in links:
        ends = platform.topology.links[link]
        leaving.setdefault(ends.source, []).append(ends.target)
        frontier = [ends.source] if ends.source in parent else []
        while frontier:
            node = frontier.pop()
            for target in leaving.get(node, []):
                if target not in parent:
                    parent[target] = node
                    frontier.append(target)
        if len(parent) == len(platform.topology.nodes):
            break
    return outwards(((parent[node], node) for node in platform.destinations), platform.source)


def _greedy_tree(platform: Platform) -> Routes:
    """Return a tree that grows from the source, each time by the route that keeps the busiest port least busy."""
    listed = logical_arcs(platform, platform.costs)
    leaving: dict[int, list[int]] = {}
    for place, (tail, _) in enumerate(listed.arcs):
        leaving.setdefault(tail, []).append(place)
    loads: dict[Port, Fraction] = {}
    reached = [platform.source]
    routes: list[tuple[int, ...]] = []
    while len(reached) < len(platform.topology.compute):
        inside = set(reached)
        candidates = [
            listed.routes[place]
            for node in reached
            for place in leaving.get(node, [])
            if listed.arcs[place][1] not in inside
        ]
        route = min(candidates, key=lambda each: (_busiest_with(platform, loads, each), each))
        routes.append(route)
        reached.append(route[-1])
        _add_load(platform, loads, route, 1)
    return tuple(routes)


def _busiest_with(platform: Platform, loads: dict[Port, Fraction], route: tuple[int, ...]) -> Fraction:
    added = _loads(platform, [route])
    return max(loads.get(port, Fraction(0)) + load for port, load in added.items())


def _add_load(platform: Platform, loads: dict[Port, Fraction], route: tuple[int, ...], sign: int) -> None:
    for port, load in _loads(platform, [route]).items():
        loads[port] = loads.get(port, Fraction(0)) + sign * load


def _local_search(platform: Platform, routes: Routes) -> Routes:
    """Return the tree after local search: move a node to another parent as long as that relieves the busiest port."""
    entering: dict[int, list[tuple[int, ...]]] = {}
    for route in logical_arcs(platform, platform.costs).routes:
        entering.setdefault(route[-1], []).append(route)
    current = {route[-1]: route for route in routes}
    loads = _loads(platform, current.values())
    while (change := _replacement(platform, current, loads, entering)) is not None:
        _add_load(platform, loads, current[change[-1]], -1)
        _add_load(platform, loads, change, 1)
        current[change[-1]] = change
    return outwards(current.values(), platform.source)


def _replacement(
    platform: Platform,
    current: dict[int, tuple[int, ...]],
    loads: dict[Port, Fraction],
    entering: dict[int, list[tuple[int, ...]]],
) -> tuple[int, ...] | None:
    """Return a replacement for a route over a busiest port that makes no port as busy, or None."""
    most = max(loads.values())
    busiest = min(port for port, load in loads.items() if load == most)
    for node, old in sorted(current.items()):
        if busiest not in _loads(platform, [old]):
            continue
        freed = dict(loads)
        _add_load(platform, freed, old, -1)
        below = _subtree(current, node)
        choices = [route for route in entering[node] if route != old and route[0] not in below]
        better = [route for route in choices if _busiest_with(platform, freed, route) < most]
        if better:
            return min(better, key=lambda each: (_busiest_with(platform, freed, each), each))
    return None


def _subtree(current: dict[int, tuple[int, ...]], node: int) -> set[int]:
    children: dict[int, list[int]] = {}
    for route in current.values():
        children.setdefault(route[0], []).append(route[-1])
    return reached([node], lambda parent: children.get(parent, []))


def _integer_search(best: SteadyOptimum, known: Routes, progress: Progress) -> tuple[Routes, bool]:
    """Return the best tree that the integer program finds, and whether it is proven to be the best."""
    search = _TreeSearch(best, _period(best.platform, known))
    for number in range(_MAX_SEARCHES):
        progress.advance(number, 0)
        solution = search.solve()
        if solution.values is None:
            return known, False
        uses = search.uses(solution)
        if search.add_violated_constraint(uses):
            continue
        found = _tree_of(best.platform, uses)
        period = min(_period(best.platform, found), _period(best.platform, known))
        kept = found if _period(best.platform, found) == period else known
        return kept, solution.complete and search.in_units(period) <= solution.bound * (1 + _CLOSE)
    return known, False


class _TreeSearch:
    """The integer program. Columns: the time of the busiest port, then the number of uses of each link."""

    def __init__(self, best: SteadyOptimum, known: Fraction) -> None:
        self._platform = platform = best.platform
        self._unit = 1 / best.throughput
        self._program = IntegerProgram()
        self._period = self._program.add_column(cost=1.0, upper=self.in_units(known))
        switched = bool(platform.topology.switches)
        most = len(platform.topology.compute) - 1 if switched else 1
        self._uses = [self._program.add_column(upper=as_float(most), whole=True) for _ in platform.topology.links]
        self._add_ports()
        for switch in platform.topology.switches:
            self._program.add_row(self._crossing({switch}, both=True), 0.0, 0.0)
        for node in platform.destinations:
            one = None if switched else 1.0
            self._enter({node}, most=one)
        for _, cut in best.certificate.cuts:
            if not switched:
                self._enter(set(cut))
        self._program.add_row({self._period: 1.0}, lower=1.0)  # no tree is better than the optimum of the series

    def in_units(self, period: Fraction) -> float:
        """Return `period` in the unit of the program, in which the optimum of the series is 1."""
        return as_float(period / self._unit)

    def _add_ports(self) -> None:
        rows: dict[Port, dict[int, float]] = {}
        for number, uses in enumerate(self._platform.uses):
            for port, part in uses:
                time = self.in_units(part * self._platform.costs[number])
                rows.setdefault(port, {self._period: -1.0})[self._uses[number]] = time
        for port in sorted(rows):
            self._program.add_row(rows[port], upper=0.0)

    def _crossing(self, inside: set[int], *, both: bool = False) -> dict[int, float]:
        row = {}
        for column, link in zip(self._uses, self._platform.topology.links, strict=True):
            if link.target in inside and link.source not in inside:
                row[column] = 1.0
            elif both and link.source in inside and link.target not in inside:
                row[column] = -1.0
        return row

    def _enter(self, inside: set[int], most: float | None = None) -> None:
        self._program.add_row(self._crossing(inside), 1.0, *([] if most is None else [most]))

    def solve(self) -> IntegerSolution:
        """Search."""
        return self._program.solve(_MAX_NODES)

    def uses(self, solution: IntegerSolution) -> list[int]:
        """Return the number of uses of each link in a solution."""
        return [] if solution.values is None else [round(as_float(solution.values[column])) for column in self._uses]

    def add_violated_constraint(self, uses: Sequence[int]) -> bool:
        """Add the constraint that a link enters the nodes that `uses` miss. Return whether there are such nodes."""
        topology = self._platform.topology
        entered = reached(
            [self._platform.source],
            lambda node: [topology.links[link].target for link in topology.leaving[node] if uses[link]],
        )
        missed = set(range(len(topology.nodes))) - entered
        if missed.isdisjoint(topology.compute):
            return False
        self._enter(missed)
        return True


def _tree_of(platform: Platform, uses: Sequence[int]) -> Routes:
    """Return a tree within `uses`. At each switch, `uses` are balanced."""
    found = packed_trees(platform, [Fraction(count) for count in uses], Fraction(1))
    if found is None:
        raise InternalError("a single tree needs longer integers than the native core has")
    return found[0].routes
