"""Parallel links (F.4): each link of a network is repeated, so that the degree d becomes k*d. The cost stays the same.

Each of the k parallel arcs sends one k-th of the data of the arc. B, the bandwidth of all outgoing links of a node
together, is divided among k times as many links, so T_L and T_B do not change.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from forestcoll.design.constructions import Construction, Expansion
from forestcoll.design.measure import Cost
from forestcoll.design.sends import Sends, joined
from forestcoll.design.wiring import Wiring


@dataclass(frozen=True)
class Parallel(Expansion):
    """The network in which each link of the base is repeated `copies` times."""

    copies: int

    in_parentheses: ClassVar[bool] = True

    @staticmethod
    def of(base: Construction, copies: int) -> "Parallel":
        """Return `base` with `copies` parallel links instead of each link. Copies of copies are counted together."""
        if isinstance(base, Parallel):
            return Parallel.of(base.base, base.copies * copies)
        name = f"{copies}·{base.factor_name}"
        return Parallel.like(base, name=name, degree=base.degree * copies, is_simple=False, copies=copies)

    @cached_property
    def wiring(self) -> Wiring:
        """As `Construction.wiring`. Port p becomes the ports p * copies and following."""
        return Wiring(np.repeat(self.base.wiring.targets, self.copies, axis=1))

    @cached_property
    def diameter(self) -> int:
        """The diameter of the base."""
        return self.base.diameter

    @cached_property
    def reduce_scatter_cost(self) -> Cost:
        """As `Construction.reduce_scatter_cost`. Parallel links do not change the cost."""
        return self.base.reduce_scatter_cost

    def sends(self) -> Sends:
        """As `Construction.sends`. Each send is divided equally among the parallel arcs."""
        finer = self.base.sends().cut_finer(self.copies)
        share = (finer.highs - finer.lows) // self.copies
        pieces = []
        for copy in range(self.copies):
            lows = finer.lows + copy * share
            pieces.append((finer.steps, finer.shards, finer.arcs * self.copies + copy, lows, lows + share))
        return joined(finer.count, finer.parts, pieces)

    def to_document(self) -> dict[str, object]:
        return {"parallel_links": self.base.to_document(), "copies": self.copies}
