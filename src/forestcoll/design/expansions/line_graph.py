"""Line graph expansion (§5.1, Definitions 1 and 12): N nodes of degree d become d*N of the same degree.

Every arc becomes a node. Its out-neighbours are the arcs that start at the end of the arc. Node v'v first sends its
shard to all its neighbours vu. Then the data follows the routes of shard v in the base schedule, from arc to arc, one
step later. The first step costs M/B * 1/N, and the other steps cost the same as in the base (Theorem 7; by Theorem 10
the cost is exact if every node has two or more out-neighbours).
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from forestcoll.design.constructions import Construction, Expansion
from forestcoll.design.measure import Cost
from forestcoll.design.sends import Sends, joined
from forestcoll.design.wiring import Wiring, mirror_of_arcs
from forestcoll.schedule.rows import IntArray

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True)
class LineGraph(Expansion):
    """L(base). Node a is arc a of `base`."""

    @staticmethod
    def of(base: Construction) -> "LineGraph":
        """Return the line graph of `base`. Each node of `base` has two or more out-neighbours."""
        times, inner = 1, base
        while isinstance(inner, LineGraph):
            times, inner = times + 1, inner.base
        power = "" if times == 1 else str(times).translate(_SUPERSCRIPTS)
        return LineGraph.like(
            base,
            name=f"L{power}({inner.name})",
            nodes=base.nodes * base.degree,
            cost=_cost(base.cost, base.nodes),
            is_bidirectional=False,
            is_simple=not base.has_loops,  # parallel arcs become different nodes
            branches=base.degree > 1,
        )

    @property
    def nodes_are_equivalent(self) -> bool:
        """As `Construction.nodes_are_equivalent`. The nodes of a line graph are links, which may differ."""
        return False

    @cached_property
    def wiring(self) -> Wiring:
        targets = self.base.wiring.targets_of_arcs[:, None] * self.degree + np.arange(self.degree, dtype=np.int32)
        return Wiring(targets.astype(np.int32))

    @cached_property
    def diameter(self) -> int:
        """One more than the diameter of the base, because the first arc leads into the base."""
        return self.base.diameter + 1

    @cached_property
    def reduce_scatter_cost(self) -> Cost:
        """As `Construction.reduce_scatter_cost`. The transpose of L(G) is L(transpose of G) (Theorem 10)."""
        if self.is_breadth_first and self.base.wiring.transposed().branches:
            return _cost(self.base.reduce_scatter_cost, self.base.nodes)
        return super().reduce_scatter_cost

    def sends(self) -> Sends:
        """As `Construction.sends` (Definition 1)."""
        sends, entering = self.base.sends(), self.base.wiring.entering_arcs
        sources, targets = self.wiring.sources_of_arcs, self.wiring.targets_of_arcs
        arcs = np.flatnonzero(targets != sources)
        whole = np.full(len(arcs), sends.parts, dtype=np.int64)
        first = (np.zeros(len(arcs), np.int32), sources[arcs], arcs, np.zeros_like(whole), whole)

        shape = (len(sends), self.degree, self.degree)  # send, arc into the node of the shard, outgoing arc
        shards = np.broadcast_to(entering[sends.shards][:, :, None], shape)
        crossed = np.broadcast_to((sends.arcs[:, None] * self.degree + np.arange(self.degree))[:, None, :], shape)
        kept = shards != targets[crossed]
        steps, lows, highs = (
            np.broadcast_to(each[:, None, None], shape)[kept] for each in (sends.steps + 1, sends.lows, sends.highs)
        )
        return joined(sends.count + 1, sends.parts, [first, (steps, shards[kept], crossed[kept], lows, highs)])

    def expanded_mirror(self, mirror: IntArray) -> IntArray:
        return mirror_of_arcs(self.base.wiring, mirror)

    def to_document(self) -> dict[str, object]:
        return {"line_graph": self.base.to_document()}


def _cost(base: Cost, nodes: int) -> Cost:
    """Return the cost on the line graph of a base of `nodes` nodes."""
    return Cost(base.steps + 1, base.bandwidth_factor + Fraction(1, nodes))
