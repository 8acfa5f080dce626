"""The expansions of networks as expressions: each makes a larger network, with its allgather, of smaller ones.

The cost of an expression follows from the theorems.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from forestcoll.base.errors import InternalError
from forestcoll.design.breadth_first import breadth_first_cost_of, breadth_first_sends
from forestcoll.design.constructions import Construction
from forestcoll.design.expansions import cartesian_power, degree_expansion, line_graph, parallel_links
from forestcoll.design.expansions.bidirectional import bidirectional, bidirectional_sends
from forestcoll.design.expansions.cartesian_product import product_cost, product_mirror, product_wiring
from forestcoll.design.measure import MAX_DEGREE, Cost, least_factor
from forestcoll.design.sends import Sends
from forestcoll.design.wiring import Wiring
from forestcoll.schedule.rows import IntArray

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class Expansion(Construction):
    """An expansion of one network, `base`."""

    base: Construction

    @property
    def nodes_are_equivalent(self) -> bool:
        """As `Construction.nodes_are_equivalent`. The symmetries of the base are symmetries of the expansion."""
        return self.base.nodes_are_equivalent

    def mirror(self) -> IntArray | None:
        """As `Construction.mirror`, from the mirror of the base."""
        mirror = self.base.mirror()
        return None if mirror is None else self.expanded_mirror(mirror)

    def expanded_mirror(self, mirror: IntArray) -> IntArray:
        """Return the mirror of this network, of a mirror of the base."""
        return mirror


@dataclass(frozen=True)
class LineGraph(Expansion):
    """L(base)."""

    @staticmethod
    def of(base: Construction) -> "LineGraph":
        """Return the line graph of `base`. Each node of `base` has two or more out-neighbours."""
        times, inner = 1, base
        while isinstance(inner, LineGraph):
            times, inner = times + 1, inner.base
        power = "" if times == 1 else str(times).translate(_SUPERSCRIPTS)
        return LineGraph(
            name=f"L{power}({inner.name})",
            nodes=base.nodes * base.degree,
            degree=base.degree,
            cost=line_graph.line_graph_cost(base.cost, base.nodes),
            is_bidirectional=False,
            is_breadth_first=base.is_breadth_first,
            is_simple=not base.has_loops,  # parallel arcs become different nodes
            has_loops=base.has_loops,
            branches=base.degree > 1,
            base=base,
        )

    @property
    def nodes_are_equivalent(self) -> bool:
        """As `Construction.nodes_are_equivalent`. The nodes of a line graph are links, which may differ."""
        return False

    @cached_property
    def wiring(self) -> Wiring:
        """As `Construction.wiring`."""
        return line_graph.line_graph(self.base.wiring)

    @cached_property
    def diameter(self) -> int:
        """One more than the diameter of the base, because the first arc leads into the base."""
        return self.base.diameter + 1

    @cached_property
    def reduce_scatter_cost(self) -> Cost:
        """As `Construction.reduce_scatter_cost`. The transpose of L(G) is L(transpose of G) (Theorem 10)."""
        if self.is_breadth_first and self.base.wiring.transposed().branches:
            return line_graph.line_graph_cost(self.base.reduce_scatter_cost, self.base.nodes)
        return super().reduce_scatter_cost

    def sends(self) -> Sends:
        """As `Construction.sends`."""
        return line_graph.line_graph_sends(self.base.wiring, self.base.sends())

    def expanded_mirror(self, mirror: IntArray) -> IntArray:
        """As `Expansion.expanded_mirror`."""
        return line_graph.line_graph_mirror(self.base.wiring, mirror)

    def to_document(self) -> dict[str, object]:
        """As `Construction.to_document`."""
        return {"line_graph": self.base.to_document()}


@dataclass(frozen=True)
class DegreeExpansion(Expansion):
    """The degree expansion base * copies."""

    copies: int

    @staticmethod
    def of(base: Construction, copies: int) -> "DegreeExpansion":
        """Return the degree expansion of `base`. The base has no loops."""
        return DegreeExpansion(
            name=f"{_factor_name(base)}*{copies}",
            nodes=base.nodes * copies,
            degree=base.degree * copies,
            cost=degree_expansion.degree_expansion_cost(base.cost, base.nodes, copies),
            is_bidirectional=base.is_bidirectional,
            is_breadth_first=False,
            is_simple=base.is_simple,
            has_loops=False,
            branches=True,
            base=base,
            copies=copies,
        )

    @cached_property
    def wiring(self) -> Wiring:
        """As `Construction.wiring`."""
        return degree_expansion.degree_expansion(self.base.wiring, self.copies)

    @cached_property
    def diameter(self) -> int:
        """The diameter of the base, or the greatest length of a shortest cycle through a node if it is greater."""
        if self.base.is_bidirectional:
            return max(self.base.diameter, 2)
        return self.base.wiring.diameter(self.copies)

    def sends(self) -> Sends:
        """As `Construction.sends`."""
        return degree_expansion.degree_expansion_sends(self.base.wiring, self.base.sends(), self.copies)

    def expanded_mirror(self, mirror: IntArray) -> IntArray:
        """As `Expansion.expanded_mirror`."""
        return degree_expansion.degree_expansion_mirror(mirror, self.copies)

    def to_document(self) -> dict[str, object]:
        """As `Construction.to_document`."""
        return {"degree_expansion": self.base.to_document(), "copies": self.copies}


@dataclass(frozen=True)
class CartesianPower(Expansion):
    """The Cartesian power base□exponent."""

    exponent: int

    @staticmethod
    def of(base: Construction, exponent: int) -> "CartesianPower":
        """Return the Cartesian power of `base`."""
        return CartesianPower(
            name=f"{_factor_name(base)}□{exponent}",
            nodes=base.nodes**exponent,
            degree=base.degree * exponent,
            cost=cartesian_power.cartesian_power_cost(base.cost, base.nodes, exponent),
            is_bidirectional=base.is_bidirectional,
            is_breadth_first=False,
            is_simple=base.is_simple,
            has_loops=base.has_loops,
            branches=base.branches or (exponent > 1 and not base.has_loops),
            base=base,
            exponent=exponent,
        )

    @cached_property
    def wiring(self) -> Wiring:
        """As `Construction.wiring`."""
        return cartesian_power.cartesian_power(self.base.wiring, self.exponent)

    @cached_property
    def diameter(self) -> int:
        """The diameter of the base times `exponent`."""
        return self.base.diameter * self.exponent

    def sends(self) -> Sends:
        """As `Construction.sends`."""
        return cartesian_power.cartesian_power_sends(self.base.wiring, self.base.sends(), self.exponent)

    def expanded_mirror(self, mirror: IntArray) -> IntArray:
        """As `Expansion.expanded_mirror`."""
        return cartesian_power.cartesian_power_mirror(mirror, self.exponent)

    def to_document(self) -> dict[str, object]:
        """As `Construction.to_document`."""
        return {"cartesian_power": self.base.to_document(), "exponent": self.exponent}


@dataclass(frozen=True)
class CartesianProduct(Construction):
    """A product with its best breadth-first schedule.

    The factors are simple and have bandwidth-optimal breadth-first schedules (Theorem 13), or the cost is counted.
    """

    factors: tuple[Construction, ...]

    @staticmethod
    def of(factors: tuple[Construction, ...]) -> "CartesianProduct":
        """Return the product. Its schedule is a BFB schedule."""
        nodes, degree = 1, 0
        for factor in factors:
            nodes, degree = nodes * factor.nodes, degree + factor.degree
        return CartesianProduct(
            name=_product_name(factors),
            nodes=nodes,
            degree=degree,
            cost=product_cost([(factor.nodes, factor.cost) for factor in factors]),
            is_bidirectional=all(factor.is_bidirectional for factor in factors),
            is_breadth_first=True,
            is_simple=True,
            has_loops=False,
            branches=degree > 1,
            factors=factors,
        )

    @staticmethod
    def counted(factors: tuple[Construction, ...]) -> "CartesianProduct":
        """Return the product of any factors. If Theorem 13 does not give the cost, it is counted."""
        product = CartesianProduct.of(factors)
        if all(each.is_simple and each.is_breadth_first and each.is_bandwidth_optimal for each in factors):
            return product
        wiring = product.wiring
        return replace(
            product, cost=breadth_first_cost_of(wiring), is_simple=wiring.is_simple, has_loops=wiring.has_loops
        )

    @property
    def nodes_are_equivalent(self) -> bool:
        """As `Construction.nodes_are_equivalent`."""
        return all(factor.nodes_are_equivalent for factor in self.factors)

    @cached_property
    def wiring(self) -> Wiring:
        """As `Construction.wiring`."""
        return product_wiring([factor.wiring for factor in self.factors])

    @cached_property
    def reduce_scatter_cost(self) -> Cost:
        """As `Construction.reduce_scatter_cost`. The transpose is the product of the transposes (Theorem 13)."""
        costs = [(factor.nodes, factor.reduce_scatter_cost) for factor in self.factors]
        fit = self.is_simple and all(factor.is_breadth_first for factor in self.factors)
        if fit and all(cost.bandwidth_factor == least_factor(nodes) for nodes, cost in costs):
            return product_cost(costs)
        return super().reduce_scatter_cost

    def sends(self) -> Sends:
        """As `Construction.sends`."""
        return breadth_first_sends(self.wiring)

    def mirror(self) -> IntArray | None:
        """As `Construction.mirror`."""
        mirrors = [factor.mirror() for factor in self.factors]
        known = [mirror for mirror in mirrors if mirror is not None]
        return product_mirror(known) if len(known) == len(mirrors) else None

    def to_document(self) -> dict[str, object]:
        """As `Construction.to_document`."""
        return {"cartesian_product": [factor.to_document() for factor in self.factors]}


@dataclass(frozen=True)
class Parallel(Expansion):
    """The network in which each link of the base is repeated `copies` times (F.4)."""

    copies: int

    @staticmethod
    def of(base: Construction, copies: int) -> "Parallel":
        """Return `base` with `copies` parallel links instead of each link. Copies of copies are counted together."""
        if isinstance(base, Parallel):
            return Parallel.of(base.base, base.copies * copies)
        return Parallel(
            name=f"{copies}·{_factor_name(base)}",
            nodes=base.nodes,
            degree=base.degree * copies,
            cost=base.cost,
            is_bidirectional=base.is_bidirectional,
            is_breadth_first=base.is_breadth_first,
            is_simple=False,
            has_loops=base.has_loops,
            branches=base.branches,
            base=base,
            copies=copies,
        )

    @cached_property
    def wiring(self) -> Wiring:
        """As `Construction.wiring`."""
        return parallel_links.parallel_links(self.base.wiring, self.copies)

    @cached_property
    def diameter(self) -> int:
        """The diameter of the base."""
        return self.base.diameter

    @cached_property
    def reduce_scatter_cost(self) -> Cost:
        """As `Construction.reduce_scatter_cost`. Parallel links do not change the cost."""
        return self.base.reduce_scatter_cost

    def sends(self) -> Sends:
        """As `Construction.sends`."""
        return parallel_links.parallel_links_sends(self.base.sends(), self.copies)

    def to_document(self) -> dict[str, object]:
        """As `Construction.to_document`."""
        return {"parallel_links": self.base.to_document(), "copies": self.copies}


@dataclass(frozen=True)
class Bidirectional(Expansion):
    """A one-way network to which a twin for each link was added (A.6)."""

    @staticmethod
    def of(base: Construction) -> "Bidirectional":
        """Return the bidirectional network of `base`. A mirror of `base` is known."""
        return Bidirectional(
            name=f"Bi({base.name})",
            nodes=base.nodes,
            degree=2 * base.degree,
            cost=base.cost,
            is_bidirectional=True,
            is_breadth_first=False,
            is_simple=base.is_simple and bidirectional(base.wiring).is_simple,
            has_loops=base.has_loops,
            branches=base.branches or bidirectional(base.wiring).branches,
            base=base,
        )

    @cached_property
    def wiring(self) -> Wiring:
        """As `Construction.wiring`."""
        return bidirectional(self.base.wiring)

    def sends(self) -> Sends:
        """As `Construction.sends`."""
        mirror = self.base.mirror()
        if mirror is None:
            raise InternalError(f"{self.base.name}: no mirror is known")
        return bidirectional_sends(self.base.wiring, self.base.sends(), mirror)

    def mirror(self) -> IntArray | None:
        """As `Construction.mirror`."""
        return _identity(self.nodes)

    def to_document(self) -> dict[str, object]:
        """As `Construction.to_document`."""
        return {"made_both_ways": self.base.to_document()}


@dataclass(frozen=True)
class BreadthFirst(Expansion):
    """The network of an expression, with the breadth-first schedule instead of the expanded schedule."""

    @staticmethod
    def least_cost(base: Construction) -> Cost:
        """Return a lower bound on the cost of the best breadth-first schedule, counted at one node.

        The degree of `base`, or of the base of a degree expansion, is at most `MAX_DEGREE`.
        """
        known = _breadth_first_formula(base)
        if known is not None:
            return known
        if isinstance(base, DegreeExpansion):
            return base.base.wiring.cost_at_first_node(base.copies)
        return base.wiring.cost_at_first_node()

    @staticmethod
    def of(base: Construction) -> "BreadthFirst":
        """Return the network of `base` with its best breadth-first schedule."""
        return BreadthFirst(
            name=f"BFB({base.name})",
            nodes=base.nodes,
            degree=base.degree,
            cost=_breadth_first_cost(base),
            is_bidirectional=base.is_bidirectional,
            is_breadth_first=True,
            is_simple=base.is_simple,
            has_loops=base.has_loops,
            branches=base.branches,
            base=base,
        )

    @cached_property
    def wiring(self) -> Wiring:
        """As `Construction.wiring`."""
        return self.base.wiring

    def sends(self) -> Sends:
        """As `Construction.sends`."""
        return breadth_first_sends(self.wiring)

    def to_document(self) -> dict[str, object]:
        """As `Construction.to_document`."""
        return {"rescheduled": self.base.to_document()}


def _breadth_first_cost(construction: Construction) -> Cost:
    """Return the cost of the best breadth-first allgather on the network of an expression."""
    known = _breadth_first_formula(construction)
    if known is not None:
        return known
    inner, copies = construction, 1
    if isinstance(construction, DegreeExpansion):
        inner, copies = construction.base, construction.copies
    if construction.nodes_are_equivalent and inner.degree <= MAX_DEGREE:
        return inner.wiring.cost_at_first_node(copies)
    return breadth_first_cost_of(inner.wiring, copies)


def _breadth_first_formula(construction: Construction) -> Cost | None:
    """Return the cost of the best breadth-first allgather on a degree expansion, if it is known without counting.

    The degree expansion of a bidirectional network with a bandwidth-optimal breadth-first schedule is bandwidth-optimal
    too. At each step the links share their work equally, and the shards of the other copies of a node come at step 2
    over all its links.
    """
    if not isinstance(construction, DegreeExpansion):
        return None
    base = construction.base
    if base.is_bidirectional and base.is_breadth_first and base.is_bandwidth_optimal:
        return Cost(max(base.cost.steps, 2), least_factor(construction.nodes))
    return None


def _factor_name(construction: Construction) -> str:
    """Return the name of a factor in a product. The name of a product is put into parentheses."""
    joined = isinstance(construction, CartesianProduct | CartesianPower | DegreeExpansion | Parallel)
    return f"({construction.name})" if joined else construction.name


def _product_name(factors: Sequence[Construction]) -> str:
    """Return the name of a product. Adjacent equal factors are written as a power."""
    runs: list[tuple[str, int]] = []
    for name in map(_factor_name, factors):
        if runs and runs[-1][0] == name:
            runs[-1] = (name, runs[-1][1] + 1)
        else:
            runs.append((name, 1))
    return "□".join(name if times == 1 else f"{name}□{times}" for name, times in runs)


def _identity(nodes: int) -> IntArray:
    return np.arange(nodes, dtype=np.int32)
