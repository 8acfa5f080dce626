"""Bidirectional networks from one-way networks (A.6): the degree d becomes 2*d, and the cost stays the same.

Every arc gets a twin in the opposite direction. Half of each shard follows the schedule over the arcs. The other half
follows, over the twins, the image of the schedule under an isomorphism from the network to its transpose (a mirror).
Each half sends half of the data over links of half the bandwidth, so that the cost does not change.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from forestcoll.base.errors import InternalError
from forestcoll.design.constructions import Construction, Expansion
from forestcoll.design.sends import Sends, joined
from forestcoll.design.wiring import Wiring, mirror_of_arcs
from forestcoll.schedule.rows import IntArray


@dataclass(frozen=True)
class Bidirectional(Expansion):
    """A one-way network to which a twin for each link was added."""

    @staticmethod
    def of(base: Construction) -> "Bidirectional":
        """Return the bidirectional network of `base`. A mirror of `base` is known."""
        return Bidirectional.like(
            base,
            name=f"Bi({base.name})",
            degree=2 * base.degree,
            is_bidirectional=True,
            is_breadth_first=False,
            is_simple=base.is_simple and _with_twins(base.wiring).is_simple,
            branches=base.branches or _with_twins(base.wiring).branches,
        )

    @cached_property
    def wiring(self) -> Wiring:
        return _with_twins(self.base.wiring)

    def sends(self) -> Sends:
        mirror = self.base.mirror()
        if mirror is None:
            raise InternalError(f"{self.base.name}: no mirror is known")
        wiring, sends = self.base.wiring, self.base.sends()
        node, port = np.divmod(sends.arcs, wiring.degree)
        forward = (sends.steps, sends.shards, node * self.degree + port, sends.lows, sends.highs)
        arcs = self._twins()[mirror_of_arcs(wiring, mirror)[sends.arcs]]
        backward = (sends.steps, mirror[sends.shards], arcs, sends.lows + sends.parts, sends.highs + sends.parts)
        return joined(sends.count, 2 * sends.parts, [forward, backward])

    def _twins(self) -> IntArray:
        """Return, for each arc of the base, the number of its twin."""
        degree = self.base.degree
        twins = np.empty(self.nodes * degree, dtype=np.int32)
        ports = np.arange(self.nodes)[:, None] * self.degree + degree + np.arange(degree)
        twins[self.base.wiring.entering_arcs.ravel()] = ports.ravel()
        return twins

    def mirror(self) -> IntArray | None:
        return np.arange(self.nodes, dtype=np.int32)

    def to_document(self) -> dict[str, object]:
        return {"made_both_ways": self.base.to_document()}


def _with_twins(base: Wiring) -> Wiring:
    """Return the base with a twin for each arc. The ports of the arcs come first, then the ports of the twins."""
    return Wiring(np.concatenate([base.targets, base.entering], axis=1).astype(np.int32))
