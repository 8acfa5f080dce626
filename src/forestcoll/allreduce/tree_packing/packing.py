"""The fractional packing of Steiner trees with the greatest rate, by column generation.

An allreduce along trees adds up data towards the root of each tree and copies it back. Members and switches that copy
or add up may branch; other switches only forward data.

**One phase.** On a full duplex network whose nodes copy if and only if they add up, the optimum is the fractional
packing of undirected trees that join all members, where each pair of opposite links has the bandwidth of one of them.
A packing gives an allreduce: choose any root for each tree; the reduce loads one direction of each pair, and the
broadcast the other. Conversely, take the mean of an allreduce and of the one with its reduce and broadcast trees
exchanged and reversed. It is an allreduce whose broadcast trees alone fit into pairs of links.

**Two phases.** In general, in-trees and out-trees share each link, and each root has as many of both.

The dual has a price of each orbit of links (and of each orbit of roots); each tree is a condition that its price is at
least 1. The program starts with a few trees. If a tree is cheaper than 1 under the optimal prices, its condition is
added. The weights of the trees are the prices of the conditions. Trees are found by `steiner`: by a heuristic and, if
it finds no tree and there are few members, exactly. So the packing always is valid. It is optimal if its rate equals
the bound, or if no cheaper tree exists; the prices of links are then the proof.
"""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from forestcoll.allreduce.tree_packing.steiner import cheapest_tree, joined
from forestcoll.collective import PhaseOp
from forestcoll.exact_lp.linear_program import LinearProgram, Row, Solution
from forestcoll.forest_optimum.packed_trees import PackedTree, TreePacking
from forestcoll.forest_optimum.scaling import ScaledTopology
from forestcoll.progress import Progress
from forestcoll.proof.tree_dual import PHASES, Roles
from forestcoll.proof.tree_lengths import MOST_MEMBERS as MOST_EXACT_MEMBERS
from forestcoll.proof.tree_lengths import TreeLengthsProof
from forestcoll.topology import Topology
from forestcoll.topology.least_trees import LeastTrees
from forestcoll.topology.metric import Metric
from forestcoll.topology.orbits import Orbits

Floats = npt.NDArray[np.float64]

MOST_NODES = 400
"""The most nodes of a network into which trees are packed. The prices of walks take the cube of their number."""

MOST_ROUNDS = 200
"""The most linear programs that are solved."""

_STARTS = 12
"""The most members from which a tree is grown for the same prices."""

_TOLERANCE = 1e-9
"""The relative difference below which floating-point rates and prices are equal."""

_LEAST_PRICE = 1e-7
"""The part of the mean price that is added to each price. With prices of 0, walks could contain cycles."""

_FINE = 2**30
"""The denominator of weights if the basis is not solved exactly."""


@dataclass(frozen=True)
class Packed:
    """The result of a search.

    Attributes:
        packing: the best packing that was found.
        proof: a proof of a bound that the packing nearly or exactly reaches; None if the search did not find one.
    """

    packing: TreePacking
    proof: TreeLengthsProof | None


def packed_trees(topology: Topology, orbits: Orbits, upper: Fraction, progress: Progress) -> Packed:
    """Return the best packing that is found, and a proof if no cheaper tree exists.

    Args:
        topology: the network. All of its compute nodes take part.
        orbits: the orbits of a group of symmetries.
        upper: a bound of the rate, in the unit of the topology. The search ends when it is reached.
        progress: receives the number of rounds.
    """
    progress.begin("packing trees")
    return _Search(topology, orbits, upper, progress).run()


class _Search:
    """Column generation on one network."""

    def __init__(self, topology: Topology, orbits: Orbits, upper: Fraction, progress: Progress) -> None:
        self._topology, self._orbits, self._progress = topology, orbits, progress
        scaled = ScaledTopology.of(topology)
        self._upper = float(upper / scaled.unit)
        roles = Roles.in_network(topology)
        self._copies = {phase: _others(len(topology.nodes), roles.passive[phase]) for phase in PHASES}
        self._one_phase = topology.is_full_duplex and bool(
            np.array_equal(self._copies[PhaseOp.REDUCE], self._copies[PhaseOp.BROADCAST])
        )
        self._class = _merged_with_reverse(topology, orbits) if self._one_phase else np.array(orbits.of_link)
        capacity = [0] * (int(self._class.max()) + 1)
        for of_link, each in zip(self._class.tolist(), scaled.capacities, strict=True):
            capacity[of_link] += each
        self._capacity = [each // 2 for each in capacity] if self._one_phase else capacity
        self._numbers = {(link.source, link.target): place for place, link in enumerate(topology.links)}
        linked = {link.source for link in topology.links} & {link.target for link in topology.links}
        roots = [] if self._one_phase else [node for node in orbits.first_nodes if node in roles.roots & linked]
        self._root_column = {orbits.of_node[root]: len(capacity) + place for place, root in enumerate(roots)}
        self._roots = roots
        self._program = LinearProgram([-each for each in self._capacity] + [0] * len(roots))
        self._trees: list[tuple[PhaseOp, PackedTree]] = []
        self._known: set[tuple[object, ...]] = set()

    def run(self) -> Packed:
        """Return the best packing that was found, and a proof if no cheaper tree exists."""
        self._price(np.array([1.0 / each if each else 1.0 for each in self._capacity]), np.ones(len(self._roots)))
        solution = self._program.solve()
        for number in range(MOST_ROUNDS):
            self._progress.advance(number, 0)
            rate = -float(np.array(self._program.objective, dtype=np.float64) @ solution.values)
            if rate >= self._upper * (1 - _TOLERANCE):
                break
            classes = len(self._capacity)
            if not self._price(solution.values[:classes], solution.values[classes:]):
                return Packed(self._packing(solution), self._proof(solution))
            solution = self._program.solve()
        return Packed(self._packing(solution), None)

    def _proof(self, solution: Solution) -> TreeLengthsProof | None:
        """Return the prices of links as a proof, if the cheapest trees were found exactly."""
        if len(self._topology.compute) > MOST_EXACT_MEMBERS:
            return None
        exact = self._program.exact(solution)
        if exact is None or min(exact[0]) < 0:
            return None
        prices = [exact[0][of_link] for of_link in self._class.tolist()]
        whole = lcm(*(price.denominator for price in prices))
        return TreeLengthsProof.of(self._topology, tuple(int(price * whole) for price in prices))

    def _price(self, prices: Floats, potentials: Floats) -> bool:
        """Add trees that are cheaper than they must be; return whether there are any."""
        of_links = np.maximum(prices, 0.0)[self._class]
        positive = of_links + _LEAST_PRICE * float(of_links.mean())
        metrics = {
            phase: Metric(self._topology, positive, np.inf, backwards=phase is PhaseOp.REDUCE)
            for phase in (PHASES[1:] if self._one_phase else PHASES)
        }
        added = False
        for phase, metric in metrics.items():
            for tree in self._candidates(phase, metric):
                added |= self._add_if_cheap(phase, tree, prices, potentials)
        if not added and len(self._topology.compute) <= MOST_EXACT_MEMBERS:
            for phase, metric in metrics.items():
                for tree in self._cheapest(phase, metric):
                    added |= self._add_if_cheap(phase, tree, prices, potentials)
        return added

    def _cheapest(self, phase: PhaseOp, metric: Metric) -> Iterator[PackedTree]:
        members, copies = self._topology.compute, self._copies[phase]
        least = LeastTrees(metric.distances, np.flatnonzero(copies).tolist(), members)
        for root in members[:1] if self._one_phase else self._roots:
            yield cheapest_tree(metric, copies, least, root)

    def _candidates(self, phase: PhaseOp, metric: Metric) -> Iterator[PackedTree]:
        members = self._topology.compute
        roots: Sequence[int] = members[:: max(1, len(members) // _STARTS)] if self._one_phase else self._roots
        for root in roots:
            yield joined(metric, self._copies[phase], root, members)

    def _add_if_cheap(self, phase: PhaseOp, tree: PackedTree, prices: Floats, potentials: Floats) -> bool:
        uses = self._uses(phase, tree)
        price = sum(float(prices[of_link]) * count for of_link, count in uses.items())
        least = 1.0
        if not self._one_phase:
            column = self._root_column[self._orbits.of_node[tree.root]]
            potential = float(potentials[column - len(self._capacity)])
            least = 1.0 - potential if phase is PhaseOp.REDUCE else potential
            uses[column] = 1 if phase is PhaseOp.REDUCE else -1
        key = (phase, *sorted(uses.items()))
        if price >= least - _TOLERANCE or key in self._known:
            return False
        self._known.add(key)
        self._trees.append((phase, tree))
        self._program.add(Row(uses, 0 if not self._one_phase and phase is PhaseOp.BROADCAST else 1, None))
        return True

    def _uses(self, phase: PhaseOp, tree: PackedTree) -> dict[int, int]:
        """Return how often the tree uses each class of links."""
        uses: dict[int, int] = {}
        for arc in tree.arcs:
            walk = arc if phase is PhaseOp.BROADCAST else arc[::-1]
            for ends in itertools.pairwise(walk):
                of_link = int(self._class[self._numbers[ends]])
                uses[of_link] = uses.get(of_link, 0) + 1
        return uses

    def _packing(self, solution: Solution) -> TreePacking:
        exact = self._program.exact(solution)
        if exact is not None and max(exact[1]) <= 0:
            weights = [-price for price in exact[1]]
        else:
            weights = [Fraction(max(0, round(-float(price) * _FINE)), _FINE) for price in solution.prices]
        trees = [
            (phase, replace(tree, weight=weight))
            for (phase, tree), weight in zip(self._trees, weights, strict=True)
            if weight
        ]
        if self._one_phase:
            both = self._images([_centred(tree, self._topology) for _, tree in trees])
            return TreePacking(both, both)
        of_phase = {phase: self._images([tree for each, tree in trees if each is phase]) for phase in PHASES}
        return _balanced(of_phase[PhaseOp.REDUCE], of_phase[PhaseOp.BROADCAST])

    def _images(self, trees: Sequence[PackedTree]) -> tuple[PackedTree, ...]:
        """Return the images of the trees under the group. Equal images are one tree."""
        group = self._orbits.symmetry
        found: dict[tuple[object, ...], PackedTree] = {}
        for element in group.elements(len(self._topology.nodes)):
            image = element.tolist()
            for tree in trees:
                arcs = tuple(tuple(image[node] for node in arc) for arc in tree.arcs)
                moved = PackedTree(image[tree.root], arcs, tree.weight / group.order)
                key = (moved.root, *sorted(arcs))
                known = found.get(key)
                found[key] = moved if known is None else replace(known, weight=known.weight + moved.weight)
        return tuple(found.values())


def _others(count: int, nodes: frozenset[int]) -> npt.NDArray[np.bool_]:
    others = np.ones(count, dtype=np.bool_)
    others[list(nodes)] = False
    return others


def _merged_with_reverse(topology: Topology, orbits: Orbits) -> npt.NDArray[np.int64]:
    """Return a number for each link, equal for the links of an orbit and for the reverses of these links."""
    numbers = {(link.source, link.target): orbit for link, orbit in zip(topology.links, orbits.of_link, strict=True)}
    other = dict(sorted((orbit, numbers[target, source]) for (source, target), orbit in numbers.items()))
    merged = [min(orbit, other[orbit]) for orbit in orbits.of_link]
    order = {number: place for place, number in enumerate(sorted(set(merged)))}
    return np.array([order[number] for number in merged])


def _centred(tree: PackedTree, topology: Topology) -> PackedTree:
    """Return the tree with the compute node as its root that makes it lowest; the first of equal ones."""
    return min((tree.rerooted(node) for node in topology.compute), key=lambda each: each.height)


def _balanced(reduce: Sequence[PackedTree], broadcast: Sequence[PackedTree]) -> TreePacking:
    """Return the packing in which the trees of a root have the lesser one of its two total weights in both phases."""
    totals = [_totals(reduce), _totals(broadcast)]
    least = {root: min(each.get(root, Fraction(0)) for each in totals) for root in {**totals[0], **totals[1]}}
    return TreePacking(
        *(
            tuple(
                replace(tree, weight=tree.weight * least[tree.root] / total[tree.root])
                for tree in trees
                if least[tree.root]
            )
            for trees, total in zip((reduce, broadcast), totals, strict=True)
        )
    )


def _totals(trees: Sequence[PackedTree]) -> dict[int, Fraction]:
    totals: dict[int, Fraction] = {}
    for tree in trees:
        totals[tree.root] = totals.get(tree.root, Fraction(0)) + tree.weight
    return totals
