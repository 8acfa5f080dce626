"""The strength of a network, and a partition that proves it.

On a full duplex network of compute nodes, an allreduce along trees is a fractional packing of undirected spanning trees
(`allreduce.tree_packing`). By the theorem of Tutte and Nash-Williams, its greatest rate is the *strength*: the least

    b(P) / (|P| - 1)

over all partitions P of the nodes, where b(P) is the bandwidth between parts, each pair of opposite links once.

The method is Newton's: for a rate r, find a partition with the least b(P) - r (|P| - 1). If it is negative, the next
rate is the quotient of this partition; if not, r is the strength. Each step raises |P| - 1 or lowers b(P), as in the
argument of Dinkelbach. The least partition is found by a greedy algorithm (Cunningham 1985, Barahona 1992). Twice its
value is the sum over parts S of g(S) = b(links out of S) - 2 r, plus 2 r. Each node v receives the greatest y_v
for which y(S) <= g(S) for all sets S of nodes up to v. A least cut finds y_v and a set with equality. Sets with
equality that have a common node are joined; in the end they are the parts.

Cost: one max-flow for each node and each step; there are a few steps. Exact, in integers.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from forestcoll.base.progress import Progress
from forestcoll.schedule.proof.partition import PartitionProof
from forestcoll.solver.forests.cuts import FlowNetwork
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology

MOST_NODES = 512
"""The most nodes of a network whose strength is computed; this many take less than a second."""

_Parts = list[frozenset[int]]


def strength(topology: Topology, cut: Sequence[int], progress: Progress) -> PartitionProof | None:
    """Return a partition that proves the strength of `topology`; None if its optimum is not its strength, or is large.

    Args:
        topology: the network. All of its compute nodes take part.
        cut: a set with the least exit bandwidth, the first partition that is tried.
        progress: receives the number of nodes that are done in each step.
    """
    nodes = sorted({link.source for link in topology.links})
    if not topology.is_full_duplex or len(nodes) > MOST_NODES or set(nodes) != set(topology.compute):
        return None
    progress.begin("finding the partition with the least bandwidth")
    search = _PartitionSearch(ScaledTopology.of(topology), nodes, progress)
    inside = frozenset(cut).intersection(nodes)
    first: list[_Parts] = [[frozenset({node}) for node in nodes], [inside, frozenset(nodes) - inside]]
    parts = min(first, key=search.rate)
    while search.rate(better := search.least(search.rate(parts))) < search.rate(parts):
        parts = better
    rest = set(range(len(topology.nodes))).difference(nodes)
    whole = [sorted(parts[0] | rest), *map(sorted, parts[1:])]
    return PartitionProof(tuple(sorted(map(tuple, whole))))


class _PartitionSearch:
    """The search for the least partition at a rate, on one network."""

    def __init__(self, scaled: ScaledTopology, nodes: Sequence[int], progress: Progress) -> None:
        self._nodes, self._progress = nodes, progress
        place = {node: number for number, node in enumerate(nodes)}
        self._arcs = [
            (place[link.source], place[link.target], capacity)
            for link, capacity in zip(scaled.topology.links, scaled.capacities, strict=True)
        ]

    def rate(self, parts: _Parts) -> Fraction:
        """Return b(P) / (|P| - 1), or the bandwidth of all links if there is only one part."""
        part_of = {node: number for number, part in enumerate(parts) for node in part}
        between = sum(
            capacity
            for source, target, capacity in self._arcs
            if len(parts) == 1 or part_of[self._nodes[source]] != part_of[self._nodes[target]]
        )
        return Fraction(between, 2 * max(1, len(parts) - 1))

    def least(self, rate: Fraction) -> _Parts:
        """Return a partition with the least b(P) - rate (|P| - 1)."""
        received: list[int] = []
        parts: _Parts = []
        for last in range(len(self._nodes)):
            self._progress.advance(last, len(self._nodes))
            tight, value = self._tight_set(received, rate)
            received.append(value)
            joined = [part for part in parts if part & tight]
            parts = [part for part in parts if not part & tight]
            parts.append(tight.union(*joined))
        return [frozenset(self._nodes[place] for place in part) for part in parts]

    def _tight_set(self, received: Sequence[int], rate: Fraction) -> tuple[frozenset[int], int]:
        """Return a set with equality that contains the next node, and what this node receives.

        All numbers are multiplied by the denominator of `rate`.
        """
        last, sink = len(received), len(received) + 1
        arcs = [
            (source, min(target, sink), capacity * rate.denominator)
            for source, target, capacity in self._arcs
            if source <= last
        ]
        arcs += [(last, node, value) for node, value in enumerate(received) if value > 0]
        arcs += [(node, sink, -value) for node, value in enumerate(received) if value < 0]
        tails, heads, capacities = zip(*arcs, strict=True)
        network = FlowNetwork(sink + 1, np.array(tails), np.array(heads), capacities)
        cut = network.least_cut(last, sink)
        paid = sum(value for value in received if value > 0)
        return frozenset(cut.inside), cut.capacity - paid - 2 * rate.numerator
