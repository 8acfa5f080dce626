"""The best factors of Cartesian products: for each size and degree, the fit network with the fewest steps.

A network is fit if it is simple and its breadth-first schedule is bandwidth-optimal (Theorem 13). It is

- a base network,
- a product of two fit networks, which again is fit,
- the degree expansion of a fit network, if its breadth-first schedule is bandwidth-optimal.

All fit networks of a size and degree have the same T_B. So only the one with the fewest steps is needed, and the search
compares numbers of steps. The expression is made once, for the best network. A degree expansion is measured only if its
least possible number of steps is less than that of the best known network.
"""

from collections.abc import Callable, Iterable
from math import gcd

from forestcoll.design.constructions import Construction
from forestcoll.design.expansions.breadth_first import BreadthFirst
from forestcoll.design.expansions.cartesian_product import CartesianProduct
from forestcoll.design.expansions.degree_expansion import DegreeExpansion
from forestcoll.design.measure import MAX_DEGREE, least_factor
from forestcoll.design.search.divisors import divisors


class Factors:
    """A table of the best factors, filled on demand.

    Args:
        bases: returns the base networks of a number of nodes and a degree that may be fit.
    """

    def __init__(self, bases: Callable[[int, int], Iterable[Construction]]) -> None:
        self._bases = bases
        self._best: dict[tuple[int, int], Construction | None] = {}
        self._products: dict[tuple[int, int], CartesianProduct | None] = {}

    def best(self, nodes: int, degree: int) -> Construction | None:
        """Return the fit network with the fewest steps, or None if none is known."""
        key = (nodes, degree)
        if key not in self._best:
            self._best[key] = self._search(nodes, degree)
        return self._best[key]

    def best_product(self, nodes: int, degree: int) -> CartesianProduct | None:
        """Return the product of two fit networks with the fewest steps, or None if there is none."""
        key = (nodes, degree)
        if key not in self._products:
            self._products[key] = self._search_product(nodes, degree)
        return self._products[key]

    def _search_product(self, nodes: int, degree: int) -> CartesianProduct | None:
        fewest, found = 0, None
        for size in divisors(nodes)[1:]:
            if size * size > nodes:
                break
            for ports in range(1, degree):
                if size * size == nodes and 2 * ports > degree:
                    break
                one = self.best(size, ports)
                other = self.best(nodes // size, degree - ports) if one is not None else None
                if one is None or other is None:
                    continue
                steps = one.cost.steps + other.cost.steps
                if found is None or steps < fewest:
                    fewest, found = steps, (one, other)
        if found is None:
            return None
        return CartesianProduct.of((*_parts(found[0]), *_parts(found[1])))

    def _search(self, nodes: int, degree: int) -> Construction | None:
        known = [base for base in self._bases(nodes, degree) if _is_fit(base)]
        product = self.best_product(nodes, degree)
        best = min([*known, *([] if product is None else [product])], key=lambda each: each.cost.steps, default=None)
        for copies in divisors(gcd(nodes, degree))[1:]:
            base = self.best(nodes // copies, degree // copies) if copies < nodes else None
            if base is None or base.degree > MAX_DEGREE or isinstance(base, BreadthFirst):
                continue  # an expansion of an expansion is an expansion by more copies
            if best is not None and best.cost.steps <= max(base.cost.steps, 2):
                continue
            expansion = DegreeExpansion.of(base, copies)
            least = BreadthFirst.least_cost(expansion)
            if least.bandwidth_factor > least_factor(nodes) or (best is not None and best.cost.steps <= least.steps):
                continue
            expanded = BreadthFirst.of(expansion)
            best = expanded if _is_fit(expanded) and _is_better(expanded, best) else best
        return best


def _is_better(one: Construction, other: Construction | None) -> bool:
    return other is None or one.cost.steps < other.cost.steps


def _is_fit(construction: Construction) -> bool:
    return construction.is_simple and construction.is_breadth_first and construction.is_bandwidth_optimal


def _parts(construction: Construction) -> tuple[Construction, ...]:
    return construction.factors if isinstance(construction, CartesianProduct) else (construction,)
