"""The cuts that are known to limit a network: the cut of its optimum, and the images of it under symmetries.

All of them must get better before the optimum does. So a change that leaves one of them as it is gains nothing, and no
optimum has to be computed to know that.
"""

from collections import deque
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from forestcoll.schedule.proof.cut import CutProof
from forestcoll.topology import Topology
from forestcoll.topology.link_classes import Ends
from forestcoll.what_if.classes import Symmetries
from forestcoll.what_if.value import Value

_MOST_CUTS = 512

Masks = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LimitingCuts:
    """Cuts that limit a network.

    Attributes:
        base: the optimum of the network.
        inside: of each cut, whether each node is inside; no rows if the optimum is not proven by a cut.
    """

    base: Value
    inside: Masks

    @staticmethod
    def of(topology: Topology, base: Value, symmetries: Symmetries) -> "LimitingCuts":
        """Return the cut of the optimum and images of it, up to a fixed number."""
        nodes = len(topology.nodes)
        if base.proof != CutProof.kind or not base.is_optimal:
            return LimitingCuts(base, np.zeros((0, nodes), dtype=np.bool_))
        first = np.zeros(nodes, dtype=np.bool_)
        first[list(base.cut)] = True
        found, waiting = {first.tobytes(): first}, deque([first])
        while waiting and len(found) < _MOST_CUTS:
            cut = waiting.popleft()
            for image in symmetries.images:
                moved = cut[image]
                if moved.tobytes() not in found and len(found) < _MOST_CUTS:
                    found[moved.tobytes()] = moved
                    waiting.append(moved)
        return LimitingCuts(base, np.array(list(found.values())))

    def uncrossed(self, links: list[Ends]) -> tuple[int, ...] | None:
        """Return the nodes inside a cut that none of the links crosses, or None if each cut is crossed."""
        one, other = (np.array(ends, dtype=np.int64) for ends in zip(*links, strict=True))
        free = np.flatnonzero((self.inside[:, one] == self.inside[:, other]).all(axis=1))
        return tuple(np.flatnonzero(self.inside[free[0]]).tolist()) if len(free) else None

    def crossing_pairs(self) -> list[Ends]:
        """Return the pairs of nodes of which each cut has one inside and one outside, the smaller number first.

        The column of a node says in which cuts it is inside. The columns of such a pair are complements of each other,
        so partners can be looked up.
        """
        nodes = self.inside.shape[1]
        if not len(self.inside):
            return list(combinations(range(nodes), 2))
        by_rows: dict[bytes, list[int]] = {}
        for node in range(nodes):
            by_rows.setdefault(self.inside[:, node].tobytes(), []).append(node)
        found = []
        for node in range(nodes):
            partners = by_rows.get((~self.inside[:, node]).tobytes(), ())
            found += [(node, partner) for partner in partners if partner > node]
        return found
