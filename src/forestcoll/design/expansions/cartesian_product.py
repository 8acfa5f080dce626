"""Cartesian product (§5.3, Definition 3): sizes multiply, degrees add.

A node is a word with one letter from each factor, and an arc changes one letter. The schedule is the breadth-first
broadcast of the product. It is bandwidth-optimal if all factors are simple graphs with bandwidth-optimal breadth-first
schedules (Theorem 13). Its number of steps is the sum of the steps of the factors.
"""

from collections.abc import Sequence

import numpy as np

from forestcoll.design.measure import Cost, least_factor
from forestcoll.design.wiring import Wiring
from forestcoll.schedule.rows import IntArray


def product_wiring(factors: Sequence[Wiring]) -> Wiring:
    """Return the product. Words are in row-major order, and the ports of the first factor come first."""
    sizes = [factor.nodes for factor in factors]
    nodes = int(np.prod(sizes))
    words = np.arange(nodes)
    columns = []
    stride = nodes
    for factor, size in zip(factors, sizes, strict=True):
        stride //= size
        letter = words // stride % size
        columns.append(words[:, None] + (factor.targets[letter] - letter[:, None]) * stride)
    return Wiring(np.concatenate(columns, axis=1).astype(np.int32))


def product_cost(factors: Sequence[tuple[int, Cost]]) -> Cost:
    """Return the cost on a product of simple factors.

    Args:
        factors: for each factor, the number of nodes and the cost of its bandwidth-optimal BFB schedule.
    """
    nodes = 1
    for size, _ in factors:
        nodes *= size
    return Cost(sum(cost.steps for _, cost in factors), least_factor(nodes))


def product_mirror(mirrors: Sequence[IntArray]) -> IntArray:
    """Return an isomorphism from the product to its transpose, made from a mirror of each factor."""
    image = np.zeros(1, dtype=np.int64)
    for mirror in mirrors:
        image = (image[:, None] * len(mirror) + mirror).ravel()
    return image.astype(np.int32)
