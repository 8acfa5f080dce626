"""A bound from the prices of links, for packings with too many members to find least trees.

For given lengths of links, the length of every tree is at least the greatest total weight of sets under the conditions
of `proof.tree_distances`. This is a linear program with a condition for each pair of nodes that may branch. Its dual is
solved: the cheapest amounts of walks such that every set with the first member and without another one is left once
(Wong 1984). Max-flows find sets that are left less often, and their conditions are added. The weights of any such
program are valid, so the search can end at any time.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np

from forestcoll.base.progress import Progress
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.proof.lengths.tree_distances import TreeDistancesProof
from forestcoll.schedule.proof.tree_dual import Roles
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import Floats, LinearProgram
from forestcoll.solver.forests.cuts import FlowNetwork
from forestcoll.topology import Topology
from forestcoll.topology.graph.metric import Metric

MOST_BRANCHING = 48
"""The most nodes that may branch; the linear program has a column for each pair of them."""

_MOST_ROUNDS = 200
"""The most linear programs that are solved."""

_WHOLE = 2**30
"""The greatest length, and the number that stands for 1 in max-flows."""

_TOLERANCE = 1e-6
"""The part of 1 that may be missing at a set."""


def distance_proof(topology: Topology, prices: Sequence[Fraction], progress: Progress) -> TreeDistancesProof | None:
    """Return a proof with lengths in proportion to `prices`, the same for opposite links; None if it is too large.

    Args:
        topology: a full duplex network whose nodes copy if and only if they add up. All compute nodes take part.
        prices: a price for each link, 0 or more and not all 0.
        progress: receives the number of linear programs.
    """
    passive = Roles.in_network(topology).passive[PhaseOp.BROADCAST]
    linked = {link.source for link in topology.links}
    nodes = [node for node in range(len(topology.nodes)) if node not in passive and node in linked]
    if len(nodes) > MOST_BRANCHING:
        return None
    lengths = _integers(prices)
    weights = _DistanceProgram(topology, lengths, nodes).weights(progress)
    if not weights:
        return None
    found = TreeDistancesProof.of(topology, tuple(lengths))
    return TreeDistancesProof(found.ends, found.lengths, weights)


def _integers(prices: Sequence[Fraction]) -> list[int]:
    """Return the prices times a common factor: exactly, or rounded if the integers would be long."""
    whole = lcm(*(price.denominator for price in prices))
    if max(prices) * whole <= _WHOLE:
        return [int(price * whole) for price in prices]
    return [round(price / max(prices) * _WHOLE) for price in prices]


class _DistanceProgram:
    """The dual program, with the sets found so far. Nodes are numbered by their places in `nodes`; 0 is the root."""

    def __init__(self, topology: Topology, lengths: Sequence[int], nodes: Sequence[int]) -> None:
        self._nodes = sorted(nodes, key=lambda node: (node != topology.compute[0], node))
        self._members = [place for place, node in enumerate(self._nodes) if topology.nodes[node].is_compute and place]
        metric = Metric(topology, np.array(lengths, dtype=np.int64), sum(lengths) + 1)
        between = metric.distances[np.ix_(self._nodes, self._nodes)]
        self._arcs = [
            (one, other)
            for one in range(len(nodes))
            for other in range(1, len(nodes))
            if one != other and not _is_passed(between, one, other)
        ]
        self._program = LinearProgram([-int(between[arc]) for arc in self._arcs])
        self._sets: list[frozenset[int]] = []

    def weights(self, progress: Progress) -> tuple[tuple[tuple[int, ...], Fraction], ...]:
        """Return the sets with their weights; empty if the last basis is not solved exactly."""
        everything = frozenset(range(len(self._nodes)))
        self._add(frozenset({0}))
        for member in self._members:
            self._add(everything - {member})
        solution = self._program.solve()
        for number in range(_MOST_ROUNDS):
            progress.advance(number, 0)
            if not self._add_broken(solution.values):
                break
            solution = self._program.solve()
        exact = self._program.exact(solution)
        if exact is None or max(exact[1]) > 0:
            return ()
        return tuple(
            (tuple(sorted(self._nodes[place] for place in inside)), -price)
            for inside, price in zip(self._sets, exact[1], strict=True)
            if price
        )

    def _add_broken(self, values: Floats) -> bool:
        """Add the sets that are left less than once; return whether there are any."""
        capacities = [max(0, int(value * _WHOLE)) for value in values]
        tails, heads = np.array(self._arcs).T
        network = FlowNetwork(len(self._nodes), tails, heads, capacities)
        added = False
        for member in self._members:
            cut = network.least_cut(0, member)
            if cut.capacity < _WHOLE * (1 - _TOLERANCE):
                added |= self._add(frozenset(cut.inside))
        return added

    def _add(self, inside: frozenset[int]) -> bool:
        if inside in self._sets:
            return False
        self._sets.append(inside)
        leaving = (place for place, (one, other) in enumerate(self._arcs) if one in inside and other not in inside)
        self._program.add(Constraint(dict.fromkeys(leaving, 1), 1, None))
        return True


def _is_passed(between: np.ndarray[tuple[int, ...], np.dtype[np.int64]], one: int, other: int) -> bool:
    """Return whether a shortest walk passes a third node, at some distance from both. Then its parts are enough."""
    through = between[one] + between[:, other] == between[one, other]
    return bool((through & (between[one] > 0) & (between[:, other] > 0)).any())
