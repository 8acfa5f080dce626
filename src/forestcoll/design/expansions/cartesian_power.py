"""Cartesian power (§5.3, Definition 14): N nodes of degree d become N^n of degree n*d.

A node is a word of n base nodes, and an arc changes one letter. Each shard is cut into n equal parts. Part i passes
through the dimensions in turn, starting with dimension i, and follows the base schedule in each of them. At every step
the parts use different dimensions. T_L is multiplied by n, and T_B grows with the amount of data (Theorem 12).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from forestcoll.design.constructions import Construction, Expansion
from forestcoll.design.expansions.cartesian_product import product_mirror, product_wiring
from forestcoll.design.measure import Cost
from forestcoll.design.sends import Columns, Sends, joined
from forestcoll.design.wiring import Wiring
from forestcoll.schedule.rows import IntArray


@dataclass(frozen=True)
class CartesianPower(Expansion):
    """The Cartesian power base□exponent."""

    exponent: int

    in_parentheses: ClassVar[bool] = True

    @staticmethod
    def of(base: Construction, exponent: int) -> "CartesianPower":
        """Return the Cartesian power of `base`."""
        nodes = base.nodes**exponent
        growth = Fraction(base.nodes, base.nodes - 1) * Fraction(nodes - 1, nodes)
        return CartesianPower.like(
            base,
            name=f"{base.factor_name}□{exponent}",
            nodes=nodes,
            degree=base.degree * exponent,
            cost=Cost(base.cost.steps * exponent, base.cost.bandwidth_factor * growth),
            is_breadth_first=False,
            branches=base.branches or (exponent > 1 and not base.has_loops),
            exponent=exponent,
        )

    @cached_property
    def wiring(self) -> Wiring:
        return product_wiring([self.base.wiring] * self.exponent)

    @cached_property
    def diameter(self) -> int:
        """The diameter of the base times `exponent`."""
        return self.base.diameter * self.exponent

    def sends(self) -> Sends:
        """As `Construction.sends` (Definition 14)."""
        sends, exponent = self.base.sends(), self.exponent
        pieces = []
        for part in range(exponent):
            for turn in range(exponent):
                done = [(part + earlier) % exponent for earlier in range(turn)]
                steps, shards, arcs, lows, highs = self._along(sends, (part + turn) % exponent, done)
                start = part * sends.parts
                pieces.append((steps + turn * sends.count, shards, arcs, lows + start, highs + start))
        return joined(exponent * sends.count, sends.parts * exponent, pieces)

    def _along(self, sends: Sends, dimension: int, done: list[int]) -> Columns:
        """Return the columns of the base's sends along `dimension`, by all nodes that have the shard after `done`.

        In the dimensions of `done`, the letters of the shard and of the sender may differ. In the remaining dimensions
        they are equal.
        """
        nodes = self.base.nodes
        place = [nodes ** (self.exponent - 1 - letter) for letter in range(self.exponent)]
        shard_rest, sender_rest = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
        letters = np.arange(nodes, dtype=np.int64)
        for letter in range(self.exponent):
            if letter == dimension:
                continue
            mine = letters * place[letter]
            if letter in done:
                shard_rest = (shard_rest[:, None] + np.repeat(mine, nodes)).ravel()
                sender_rest = (sender_rest[:, None] + np.tile(mine, nodes)).ravel()
            else:
                shard_rest = (shard_rest[:, None] + mine).ravel()
                sender_rest = (sender_rest[:, None] + mine).ravel()
        source, port = np.divmod(sends.arcs.astype(np.int64), self.base.degree)
        shards = (sends.shards.astype(np.int64)[:, None] * place[dimension] + shard_rest).ravel()
        senders = source[:, None] * place[dimension] + sender_rest
        arcs = (senders * self.degree + dimension * self.base.degree + port[:, None]).ravel()
        steps, lows, highs = (np.repeat(each, len(shard_rest)) for each in (sends.steps, sends.lows, sends.highs))
        return steps, shards, arcs, lows, highs

    def expanded_mirror(self, mirror: IntArray) -> IntArray:
        return product_mirror([mirror] * self.exponent)

    def to_document(self) -> dict[str, object]:
        return {"cartesian_power": self.base.to_document(), "exponent": self.exponent}
