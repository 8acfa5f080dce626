"""Degree expansion (§5.2, Definitions 2 and 13): N nodes of degree d become n*N of degree n*d.

Each node becomes n copies, and each arc joins every copy of its source to every copy of its target. The data of a copy
j is sent among the copies j of other nodes, and over the last arc to all copies. After that each copy lacks only the
shards of the other copies of the same node. One more step sends these shards in equal chunks over all arcs. That step
costs M/B * (n-1)/(n*N) (Theorem 11).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from forestcoll.design.constructions import Construction, Expansion
from forestcoll.design.measure import Cost
from forestcoll.design.sends import Columns, Sends, joined
from forestcoll.design.wiring import Wiring
from forestcoll.schedule.rows import IntArray


@dataclass(frozen=True)
class DegreeExpansion(Expansion):
    """The degree expansion base * copies. Copy i of node v is node v * copies + i."""

    copies: int

    in_parentheses: ClassVar[bool] = True

    @staticmethod
    def of(base: Construction, copies: int) -> "DegreeExpansion":
        """Return the degree expansion of `base`. The base has no loops."""
        last = Fraction(copies - 1, copies * base.nodes)
        return DegreeExpansion.like(
            base,
            name=f"{base.factor_name}*{copies}",
            nodes=base.nodes * copies,
            degree=base.degree * copies,
            cost=Cost(base.cost.steps + 1, base.cost.bandwidth_factor + last),
            is_breadth_first=False,
            branches=True,
            copies=copies,
        )

    @cached_property
    def wiring(self) -> Wiring:
        return self.base.wiring.with_copies(self.copies)

    @cached_property
    def diameter(self) -> int:
        """The diameter of the base, or the greatest length of a shortest cycle through a node if it is greater."""
        if self.base.is_bidirectional:
            return max(self.base.diameter, 2)
        return self.base.wiring.diameter(self.copies)

    def sends(self) -> Sends:
        """As `Construction.sends` (Definition 2)."""
        finer, copies = self.base.sends().cut_finer(self.degree), self.copies
        number = np.arange(copies)
        shape = (len(finer), copies, copies)  # send, copy of the source, copy of the target
        shards = np.broadcast_to((finer.shards[:, None] * copies + number)[:, :, None], shape)
        source, port = np.divmod(finer.arcs, self.base.degree)
        from_copy = (source[:, None] * copies + number) * self.degree + port[:, None] * copies
        arcs = from_copy[:, :, None] + number
        same = [np.broadcast_to(each[:, None, None], shape).ravel() for each in (finer.steps, finer.lows, finer.highs)]
        spread = (same[0], shards.ravel(), arcs.ravel(), same[1], same[2])
        return joined(finer.count + 1, finer.parts, [spread, self._among_copies(finer.count, finer.parts)])

    def _among_copies(self, step: int, parts: int) -> Columns:
        """Return the columns of the last step: each copy receives the shards of the others, a chunk over each arc."""
        chunk = parts // self.degree
        shape = (self.nodes, self.copies - 1, self.degree)
        node = np.arange(self.nodes)
        fellow = node[:, None] // self.copies * self.copies + (node[:, None] + np.arange(1, self.copies)) % self.copies
        lows = np.broadcast_to(np.arange(self.degree, dtype=np.int64) * chunk, shape).ravel()
        return (
            np.full(lows.shape, step, dtype=np.int32),
            np.broadcast_to(fellow[:, :, None], shape).ravel(),
            np.broadcast_to(self.wiring.entering_arcs[:, None, :], shape).ravel(),
            lows,
            lows + chunk,
        )

    def expanded_mirror(self, mirror: IntArray) -> IntArray:
        return (mirror[:, None] * self.copies + np.arange(self.copies)).ravel().astype(np.int32)

    def to_document(self) -> dict[str, object]:
        return {"degree_expansion": self.base.to_document(), "copies": self.copies}
