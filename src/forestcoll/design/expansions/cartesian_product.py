"""Cartesian product (§5.3, Definition 3): sizes multiply, degrees add.

A node is a word with one letter from each factor, and an arc changes one letter. The schedule is the breadth-first
broadcast of the product. It is bandwidth-optimal if all factors are simple graphs with bandwidth-optimal breadth-first
schedules (Theorem 13). Its number of steps is the sum of the steps of the factors.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from math import prod
from typing import ClassVar

import numpy as np

from forestcoll.design.breadth_first import breadth_first_cost_of, breadth_first_sends
from forestcoll.design.constructions import Construction
from forestcoll.design.measure import Cost, least_factor
from forestcoll.design.sends import Sends
from forestcoll.design.wiring import Wiring
from forestcoll.schedule.rows import IntArray


@dataclass(frozen=True)
class CartesianProduct(Construction):
    """A product with its best breadth-first schedule.

    The factors are simple and have bandwidth-optimal breadth-first schedules (Theorem 13), or the cost is counted.
    """

    factors: tuple[Construction, ...]

    in_parentheses: ClassVar[bool] = True

    @staticmethod
    def of(factors: tuple[Construction, ...]) -> "CartesianProduct":
        """Return the product. Its schedule is a BFB schedule."""
        degree = sum(factor.degree for factor in factors)
        return CartesianProduct(
            name=_product_name(factors),
            nodes=prod(factor.nodes for factor in factors),
            degree=degree,
            cost=_cost([(factor.nodes, factor.cost) for factor in factors]),
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
        return all(factor.nodes_are_equivalent for factor in self.factors)

    @cached_property
    def wiring(self) -> Wiring:
        return product_wiring([factor.wiring for factor in self.factors])

    @cached_property
    def reduce_scatter_cost(self) -> Cost:
        """As `Construction.reduce_scatter_cost`. The transpose is the product of the transposes (Theorem 13)."""
        costs = [(factor.nodes, factor.reduce_scatter_cost) for factor in self.factors]
        fit = self.is_simple and all(factor.is_breadth_first for factor in self.factors)
        if fit and all(cost.bandwidth_factor == least_factor(nodes) for nodes, cost in costs):
            return _cost(costs)
        return super().reduce_scatter_cost

    def sends(self) -> Sends:
        return breadth_first_sends(self.wiring)

    def mirror(self) -> IntArray | None:
        mirrors = [factor.mirror() for factor in self.factors]
        known = [mirror for mirror in mirrors if mirror is not None]
        return product_mirror(known) if len(known) == len(mirrors) else None

    def to_document(self) -> dict[str, object]:
        return {"cartesian_product": [factor.to_document() for factor in self.factors]}


def product_wiring(factors: Sequence[Wiring]) -> Wiring:
    """Return the product. Words are in row-major order, and the ports of the first factor come first."""
    nodes = prod(factor.nodes for factor in factors)
    words = np.arange(nodes)
    columns = []
    stride = nodes
    for factor in factors:
        stride //= factor.nodes
        letter = words // stride % factor.nodes
        columns.append(words[:, None] + (factor.targets[letter] - letter[:, None]) * stride)
    return Wiring(np.concatenate(columns, axis=1).astype(np.int32))


def product_mirror(mirrors: Sequence[IntArray]) -> IntArray:
    """Return an isomorphism from the product to its transpose, made from a mirror of each factor."""
    image = np.zeros(1, dtype=np.int64)
    for mirror in mirrors:
        image = (image[:, None] * len(mirror) + mirror).ravel()
    return image.astype(np.int32)


def _cost(factors: Sequence[tuple[int, Cost]]) -> Cost:
    """Return the cost on a product of simple factors, of the sizes and costs of their bandwidth-optimal schedules."""
    return Cost(sum(cost.steps for _, cost in factors), least_factor(prod(nodes for nodes, _ in factors)))


def _product_name(factors: Sequence[Construction]) -> str:
    """Return the name of a product. Adjacent equal factors are written as a power."""
    runs = [(name, len(list(run))) for name, run in groupby(factor.factor_name for factor in factors)]
    return "□".join(name if times == 1 else f"{name}□{times}" for name, times in runs)
