"""Cartesian power (§5.3, Definition 14): N nodes of degree d become N^n of degree n*d.

A node is a word of n base nodes, and an arc changes one letter. Each shard is cut into n equal parts. Part i passes
through the dimensions in turn, starting with dimension i, and follows the base schedule in each of them. At every step
the parts use different dimensions. T_L is multiplied by n, and T_B grows with the amount of data (Theorem 12).
"""

from fractions import Fraction

import numpy as np

from forestcoll.design.expansions.cartesian_product import product_mirror, product_wiring
from forestcoll.design.measure import Cost
from forestcoll.design.sends import Sends, joined
from forestcoll.design.wiring import Wiring
from forestcoll.schedule.rows import IntArray


def cartesian_power(base: Wiring, exponent: int) -> Wiring:
    """Return the power. Words are in row-major order, and the ports of the first letter come first."""
    return product_wiring([base] * exponent)


def cartesian_power_cost(base: Cost, nodes: int, exponent: int) -> Cost:
    """Return the cost on the power of a base of `nodes` nodes."""
    whole = nodes**exponent
    growth = Fraction(nodes, nodes - 1) * Fraction(whole - 1, whole)
    return Cost(base.steps * exponent, base.bandwidth_factor * growth)


def cartesian_power_sends(base: Wiring, sends: Sends, exponent: int) -> Sends:
    """Return the expanded schedule (Definition 14)."""
    parts = sends.parts * exponent
    pieces = []
    for part in range(exponent):
        for turn in range(exponent):
            done = [(part + earlier) % exponent for earlier in range(turn)]
            steps, shards, arcs, lows, highs = _along(base, sends, exponent, (part + turn) % exponent, done)
            start = part * sends.parts
            pieces.append((steps + turn * sends.count, shards, arcs, lows + start, highs + start))
    return joined(exponent * sends.count, parts, pieces)


def _along(
    base: Wiring, sends: Sends, exponent: int, dimension: int, done: list[int]
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:
    """Return the columns of the base's sends along `dimension`, by all nodes that have the shard after `done`.

    In the dimensions of `done`, the letters of the shard and of the sender may differ. In the remaining dimensions they
    are equal.
    """
    nodes = base.nodes
    place = [nodes ** (exponent - 1 - letter) for letter in range(exponent)]
    shard_rest, sender_rest = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    letters = np.arange(nodes, dtype=np.int64)
    for letter in range(exponent):
        if letter == dimension:
            continue
        mine = letters * place[letter]
        if letter in done:
            shard_rest = (shard_rest[:, None] + np.repeat(mine, nodes)).ravel()
            sender_rest = (sender_rest[:, None] + np.tile(mine, nodes)).ravel()
        else:
            shard_rest = (shard_rest[:, None] + mine).ravel()
            sender_rest = (sender_rest[:, None] + mine).ravel()
    source, port = np.divmod(sends.arcs.astype(np.int64), base.degree)
    shards = (sends.shards.astype(np.int64)[:, None] * place[dimension] + shard_rest).ravel()
    senders = source[:, None] * place[dimension] + sender_rest
    arcs = (senders * (exponent * base.degree) + dimension * base.degree + port[:, None]).ravel()
    repeated = [np.repeat(each, len(shard_rest)) for each in (sends.steps, sends.lows, sends.highs)]
    return repeated[0], shards, arcs, repeated[1], repeated[2]


def cartesian_power_mirror(mirror: IntArray, exponent: int) -> IntArray:
    """Return an isomorphism from the power to its transpose, made from a mirror of the base."""
    return product_mirror([mirror] * exponent)
