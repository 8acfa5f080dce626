"""The exact maximum throughput of a series of broadcasts, with the trees that reach it and the prices that prove it.

The linear program SSB(G) (§5.2) has a flow for each destination. By Edmonds' branching theorem (§5.3) its optimum
equals the optimum of a program over trees, with a rate for each tree. No port may be busy for more than all the time:

    maximise the sum of the rates,   for each port: sum over trees of rate * time of the tree at the port <= 1.

The dual program has a price for each port. Every tree must cost at least 1, and the sum of the prices is minimised.
There are too many trees to list, but Edmonds' algorithm finds the cheapest tree for given prices. So a tree is added
when it is found to cost less than 1 (column generation by Dantzig and Wolfe, cutting planes of the dual). The dual is
the program that is solved. In addition to the prices of ports it has a price for each link, which keeps all
coefficients short. A basis has at most as many trees as there are ports, 2|V|, while §5.3 has |V|^3 + |E|. If nodes use
all their links at the same time, the tree generator of this package finds the trees (`all_ports`).

Half-duplex nodes on a cycle of an odd number of nodes also need the constraints of odd sets (`odd_sets`). Sets that the
optimum violates are added like ports, and the program is solved again.

The program starts with the trees of a quick search (`fewer_trees`). If the search reaches the bound of a single port,
no program is needed.

Prices are smoothed towards the best prices so far (Wentges 1997), which reduces the number of rounds. When floating
point finds no better tree, the basis is solved in fractions. All further steps are exact: rates must be 0 or more and
fit into every port, and the cheapest tree at the exact prices is computed. If this tree costs less than 1, it is added.
If the bandwidths differ so much that the basis of floating point does not fit, the rates of the trees found so far are
computed again with integers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.base.errors import InternalError
from forestcoll.base.exact import as_float
from forestcoll.base.progress import SILENT, Progress
from forestcoll.oneport.platform.link_prices import LinkPrices
from forestcoll.oneport.platform.logical import LogicalArcs, logical_arcs, outwards
from forestcoll.oneport.platform.odd_sets import violated_odd_sets
from forestcoll.oneport.platform.platform import Cuts, Platform
from forestcoll.oneport.series.all_ports import trees_by_links
from forestcoll.oneport.series.fewer_trees import MAX_CHOSEN, equal_trees
from forestcoll.schedule.proof.prices import Port, PricesProof, end_ports
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.exact_simplex import packing_optimum
from forestcoll.solver.exact_lp.linear_program import Floats, LinearProgram, Solution
from forestcoll.topology.graph.arborescence import CheapestTree, cheapest_tree

_TOLERANCE = 1e-9
"""The relative gap at which the floating-point search stops."""

_SMOOTHING = 0.5
"""The weight of the best prices so far in the smoothed prices."""


Routes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class SteadyOptimum:
    """The optimum of a series of broadcasts.

    Attributes:
        platform: the network with its source.
        throughput: messages per unit of time, exact.
        trees: trees whose weights add up to the throughput and that fit into the time of every port.
        certificate: the proof that no greater throughput is possible.
        rounds: the number of linear programs that were solved, 0 if none was needed.
    """

    platform: Platform
    throughput: Fraction
    trees: tuple[SeriesTree, ...]
    certificate: PricesProof
    rounds: int


def steady_optimum(platform: Platform, progress: Progress = SILENT) -> SteadyOptimum:
    """Return the optimum of `platform`: SSB(G) of §5.2 and trees as in §5.3.

    Raises:
        InternalError: a defect of this package.
    """
    if not platform.has_node_ports and (found := trees_by_links(platform, progress)) is not None:
        trees, certificate = found
        return SteadyOptimum(platform, certificate.throughput, trees, certificate, 0)
    progress.begin("finding the optimum of the series")
    single = busiest_port(platform)
    chosen: tuple[Routes, ...] = ()
    if single is not None:
        quick = equal_trees(platform, single.throughput, single, MAX_CHOSEN, reachable=False)
        fits = quick.trees is not None and len(quick.trees) <= len(platform.all_ports)
        if quick.trees is not None and fits and not violated_odd_sets(platform, quick.trees):
            return SteadyOptimum(platform, single.throughput, quick.trees, single, 0)
        chosen = quick.chosen
    best = _within_odd_sets(platform, progress, chosen)
    if single is not None and best.throughput == single.throughput:
        return best
    fewer = equal_trees(best.platform, best.throughput, best.certificate, len(best.trees) - 1).trees
    return best if fewer is None or violated_odd_sets(best.platform, fewer) else replace(best, trees=fewer)


def _within_odd_sets(platform: Platform, progress: Progress, start: Sequence[Routes]) -> SteadyOptimum:
    """Return the optimum of the linear program, with the odd sets of half-duplex nodes that it needs."""
    best = optimum_by_prices(platform, progress, start)
    while found := violated_odd_sets(best.platform, best.trees):
        trees = [*start, *(tree.routes for tree in best.trees)]
        best = optimum_by_prices(best.platform.with_odd_sets(found), progress, trees)
    return best


def busiest_port(platform: Platform) -> PricesProof | None:
    """Return the best bound by a single port: the port by which the source sends, or by which another node receives.

    The source sends every message at least once, and every other node receives it. The result is None if nodes have
    neither of these ports.
    """
    ends = platform.topology.links
    sending, receiving = end_ports(platform.topology)
    found = []
    if sending is not None:
        leaving = [cost for link, cost in zip(ends, platform.costs, strict=True) if link.source == platform.source]
        found.append((min(leaving), Port(sending, platform.source), platform.destinations))
    if receiving is not None:
        for node in platform.destinations:
            entering = [cost for link, cost in zip(ends, platform.costs, strict=True) if link.target == node]
            found.append((min(entering), Port(receiving, node), (node,)))
    if not found:
        return None
    cost, port, cut = min(found, key=lambda each: (-each[0], each[1]))
    return PricesProof(((port, 1 / cost),), ((Fraction(1), cut),))


def optimum_by_prices(platform: Platform, progress: Progress = SILENT, start: Sequence[Routes] = ()) -> SteadyOptimum:
    """Return the optimum by linear programming, with the trees of a basis.

    This also works if nodes use all their links at the same time.

    Args:
        platform: the network with its source.
        progress: receives the progress.
        start: the first trees of the program. Good ones save most of the linear programs.

    Raises:
        InternalError: a defect of this package.
    """
    return _PriceProgram(platform, progress).run(start)


class _PriceProgram:
    """The dual with the trees found so far.

    The columns are the prices of ports, then the prices of links. The objective is minus the sum of the port prices.
    """

    def __init__(self, platform: Platform, progress: Progress) -> None:
        self._platform, self._progress = platform, progress
        self._ports = platform.all_ports
        self._unit = min(platform.costs)
        self._uses = _uses(platform, self._unit)
        links = len(platform.topology.links)
        self._program = LinearProgram([-1] * len(self._ports) + [0] * links)
        self._link_rows: dict[int, int] = {}
        self._trees: dict[Routes, int] = {}
        self._prices = LinkPrices(platform, self._unit)

    def run(self, start: Sequence[Routes]) -> SteadyOptimum:
        for tree in start:
            self._add_tree(tuple(sorted(tree)))
        self._add_tree(self._cheapest(self._prices.of_links(np.ones(len(self._ports)))))
        rounds = 0
        while True:
            solution, passed = self._solve_in_floats()
            rounds += passed
            solved = (solution and self._solve_basis(solution)) or self._solve_with_integers()
            routes, cuts = self._exactly_cheapest(solved.prices)
            if not _proves_optimum(cuts) and routes in self._trees:
                solved = self._solve_with_integers()
                routes, cuts = self._exactly_cheapest(solved.prices)
            if _proves_optimum(cuts):
                self._progress.note({"linear_programs": rounds, "trees_priced": len(self._trees)})
                return self._optimum(solved, cuts, rounds)
            if not self._add_tree(routes):
                raise InternalError("a tree of the program is cheaper than the exact prices allow")

    def _solve_in_floats(self) -> tuple[Solution | None, int]:
        """Add trees until floating point finds no better tree. Return the last solution, or None, and the rounds."""
        best, center = float("inf"), np.zeros(len(self._ports))
        rounds = 0
        while True:
            solution = self._program.attempt()
            rounds += 1
            if solution is None:
                return None, rounds
            self._progress.advance(rounds, 0)
            current = np.maximum(solution.values[: len(self._ports)], 0.0)
            reached = as_float(current.sum())
            smoothed = current if rounds == 1 else _SMOOTHING * center + (1 - _SMOOTHING) * current
            for prices in (smoothed, current):
                routes, cost = self._cheapest_at(prices)
                if cost > 0 and prices.sum() / cost < best:
                    best, center = as_float(prices.sum()) / cost, prices / cost
                if best <= reached * (1 + _TOLERANCE):
                    return solution, rounds
                if self._add_tree(routes):
                    break
            else:
                return solution, rounds

    def _cheapest_at(self, prices: Floats) -> tuple[Routes, float]:
        of_links = self._prices.of_links(prices)
        routes = self._cheapest(of_links)
        return routes, sum(of_links.item(link) for route in routes for link in self._platform.links_of(route))

    def _cheapest(self, of_links: Floats) -> Routes:
        listed = logical_arcs(self._platform, of_links.tolist())
        return _routes(listed, _cheapest_tree_of(self._platform, listed))

    def _add_tree(self, routes: Routes) -> bool:
        """Add a tree, and a row for each of its links without a row. Return whether the tree is new."""
        if routes in self._trees:
            return False
        row: dict[int, int] = {}
        for route in routes:
            for link in self._platform.links_of(route):
                self._add_link(link)
                column = len(self._ports) + link
                row[column] = row.get(column, 0) + 1
        self._trees[routes] = len(self._program.rows)
        self._program.add(Constraint(row, 1, None))
        return True

    def _add_link(self, link: int) -> None:
        """Add the row that limits the price of `link` to the price of its time at its ports."""
        if link in self._link_rows:
            return
        self._link_rows[link] = len(self._program.rows)
        scale = lcm(*(time.denominator for _, time in self._uses[link]))
        row = {len(self._ports) + link: scale}
        for place, time in self._uses[link]:
            row[place] = -int(time * scale)
        self._program.add(Constraint(row, None, 0))

    def _exactly_cheapest(self, prices: Sequence[Fraction]) -> tuple[Routes, Cuts]:
        """Return the cheapest tree and the cuts that prove it, computed with integers."""
        times = (time.denominator for uses in self._uses for _, time in uses)
        whole = lcm(*(price.denominator for price in prices), *times)
        of_links = [sum(int(time * whole) * int(prices[place] * whole) for place, time in uses) for uses in self._uses]
        listed = logical_arcs(self._platform, of_links)
        found = _cheapest_tree_of(self._platform, listed)
        return _routes(listed, found), tuple((Fraction(weight, whole**2), cut) for weight, cut in found.cuts)

    def _solve_basis(self, solution: Solution) -> "_ExactSolution | None":
        """Return the exact prices of ports and rates of trees of a basis, or None if the exact rates do not fit."""
        exact = self._program.exact(solution)
        if exact is None:
            return None
        values, duals = exact
        prices = values[: len(self._ports)]
        rates = {routes: -duals[row] for routes, row in self._trees.items() if duals[row]}
        if not rates or min(rates.values()) < 0 or min(prices) < 0:
            return None
        busy = [Fraction(0)] * len(self._ports)
        for routes, rate in rates.items():
            for place, time in self._times(routes).items():
                busy[place] += rate * time
        return _ExactSolution(prices, rates) if max(busy) <= 1 else None

    def _solve_with_integers(self) -> "_ExactSolution":
        """Return the exact prices and rates of the best basis, computed with integers. Many ports make this slow."""
        self._progress.remark(
            f"{self._platform.topology.name}: floating point is not precise enough to find the best trees; "
            "continuing with integers, which takes longer"
        )
        trees = list(self._trees)
        values, prices = packing_optimum([self._times(routes) for routes in trees], len(self._ports))
        return _ExactSolution(prices, {routes: value for routes, value in zip(trees, values, strict=True) if value})

    def _times(self, routes: Routes) -> dict[int, Fraction]:
        """Return the time that a message along a tree needs at each port, by the index of the port."""
        times: dict[int, Fraction] = {}
        for route in routes:
            for link in self._platform.links_of(route):
                for place, time in self._uses[link]:
                    times[place] = times.get(place, Fraction(0)) + time
        return times

    def _optimum(self, solved: "_ExactSolution", cuts: Cuts, rounds: int) -> SteadyOptimum:
        prices = zip(self._ports, solved.prices, strict=True)
        trees = tuple(
            SeriesTree(rate / self._unit, outwards(routes, self._platform.source))
            for routes, rate in sorted(solved.rates.items(), key=lambda each: (-each[1], each[0]))
        )
        throughput = sum((tree.weight for tree in trees), Fraction(0))
        certificate = self._platform.proof({port: price / self._unit for port, price in prices if price}, cuts)
        if certificate.throughput != throughput:
            raise InternalError(f"trees reach {throughput}, and prices prove {certificate.throughput}")
        return SteadyOptimum(self._platform, throughput, trees, certificate, rounds)


def _uses(platform: Platform, unit: Fraction) -> list[list[tuple[int, Fraction]]]:
    """Return the ports that each link uses, by their indices, with the times of a message in units of `unit`."""
    place = {port: number for number, port in enumerate(platform.all_ports)}
    return [
        [(place[port], part * cost / unit) for port, part in uses]
        for uses, cost in zip(platform.uses, platform.costs, strict=True)
    ]


@dataclass(frozen=True)
class _ExactSolution:
    """Exact prices of ports, and the positive rates of trees."""

    prices: list[Fraction]
    rates: dict[Routes, Fraction]


def _proves_optimum(cuts: Cuts) -> bool:
    """Return whether the cuts prove that every tree costs at least 1."""
    return sum((weight for weight, _ in cuts), Fraction(0)) >= 1


def _cheapest_tree_of(platform: Platform, listed: LogicalArcs) -> CheapestTree:  # type: ignore[type-arg]
    return cheapest_tree(platform.topology.compute, listed.arcs, listed.costs, platform.source)


def _routes(listed: LogicalArcs, tree: CheapestTree) -> Routes:  # type: ignore[type-arg]
    return tuple(sorted(listed.routes[place] for place in tree.arcs))
