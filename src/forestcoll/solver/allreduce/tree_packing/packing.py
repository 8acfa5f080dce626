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
it finds no tree, by a better one, or exactly if there are few members. So the packing always is valid. It is optimal if
its rate equals the bound, or if no cheaper tree exists; the prices of links are then the proof.

**Smoothing.** The optimal prices change much from one program to the next. So trees are not looked for at these prices
p, but at a mean of p and of the best prices so far, the *centre* (Wentges, 1997). For any prices, the price of all
links divided by the price of the cheapest tree is a bound of the rate; the prices with the least such bound are best.
Cheapest trees are not known exactly, so the quotient only guides the search. If a mean has no tree that is too cheap
at p, the centre counts less, and in the end not at all.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from math import lcm
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from forestcoll.base.exact import as_float
from forestcoll.base.progress import Progress
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.proof.lengths.tree_distances import TreeDistancesProof
from forestcoll.schedule.proof.lengths.tree_lengths import MOST_MEMBERS as MOST_EXACT_MEMBERS
from forestcoll.schedule.proof.lengths.tree_lengths import TreeLengthsProof
from forestcoll.schedule.proof.tree_dual import PHASES, Roles
from forestcoll.solver.allreduce.tree_packing.choice import WeighedTree, lowest_weights
from forestcoll.solver.allreduce.tree_packing.distances import distance_proof
from forestcoll.solver.allreduce.tree_packing.steiner import cheapest_tree, improved, joined
from forestcoll.solver.exact_lp.constraint import Constraint
from forestcoll.solver.exact_lp.linear_program import LinearProgram, Solution
from forestcoll.solver.exact_lp.refinement import Exact
from forestcoll.solver.forests.packed_trees import PackedTree, TreePacking
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology
from forestcoll.topology.graph.least_trees import LeastTrees
from forestcoll.topology.graph.metric import Metric
from forestcoll.topology.symmetry.orbits import Orbits

Floats = npt.NDArray[np.float64]
_Key: TypeAlias = tuple[object, ...]

MOST_NODES = 400
"""The most nodes of a network into which trees are packed. The prices of walks take the cube of their number."""

MOST_ROUNDS = 1000
"""The most linear programs that are solved."""

_SHARES = (0.8, 0.4, 0.2, 0.0)
"""The shares of the centre in the prices at which trees are looked for, one after the other."""

_NEAR = 0.95
"""The part of the least bound that must be reached before the search may end because the rate rises slowly."""

_PATIENCE = 40
"""The number of rounds in which the rate must rise by `_LEAST_RISE`, if cheapest trees are not found exactly."""

_LEAST_RISE = 0.005
"""The relative rise of the rate in `_PATIENCE` rounds; the search ends if the rate rises less."""

_ROWS_PER_COLUMN = 5
"""The number of trees per column of the program at which trees without a weight are removed."""

_STARTS = 12
"""The most members from which a tree is grown for the same prices."""

_IMPROVED = 3
"""The most trees that are improved if no candidate is cheap enough."""

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
    proof: TreeLengthsProof | TreeDistancesProof | None


def packed_trees(topology: Topology, orbits: Orbits, upper: Fraction, progress: Progress) -> Packed:
    """Return the best packing that is found, and a proof if no cheaper tree exists.

    Args:
        topology: the network. All of its compute nodes take part.
        orbits: the orbits of a group of symmetries.
        upper: a bound of the rate, in the unit of the topology. The search ends when it is reached.
        progress: receives the number of rounds.
    """
    progress.begin("packing trees")
    return _PackingSearch(topology, orbits, upper, progress).run()


class _PackingSearch:
    """Column generation on one network."""

    def __init__(self, topology: Topology, orbits: Orbits, upper: Fraction, progress: Progress) -> None:
        self._topology, self._orbits, self._progress = topology, orbits, progress
        scaled = ScaledTopology.of(topology)
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
        self._numbers = topology.link_numbers
        linked = {link.source for link in topology.links} & {link.target for link in topology.links}
        roots = [] if self._one_phase else [node for node in orbits.first_nodes if node in roles.roots & linked]
        self._root_column = {orbits.of_node[root]: len(capacity) + place for place, root in enumerate(roots)}
        self._roots = roots
        self._program = LinearProgram([-each for each in self._capacity] + [0] * len(roots))
        unit = self._program.unit
        self._upper = as_float(upper / scaled.unit / unit)
        self._shares = np.array([as_float(each, unit) for each in self._capacity])
        self._trees: list[tuple[PhaseOp, PackedTree]] = []
        self._keys: list[_Key] = []
        self._known: set[_Key] = set()
        self._centre = np.array([as_float(unit, each) if each else 1.0 for each in self._capacity])
        self._least_bound = np.inf
        self._rates: list[float] = []
        self._rate_at_removal = 0.0

    def run(self) -> Packed:
        """Return the best packing that was found, and a proof if no cheaper tree exists."""
        self._price(self._centre, np.zeros(len(self._capacity)), np.full(len(self._roots), 0.5))
        solution = self._program.solve()
        for number in range(MOST_ROUNDS):
            self._progress.advance(number, 0)
            self._rates.append(-self._program.reached(solution.values))
            if self._rates[-1] >= self._upper * (1 - _TOLERANCE) or self._rises_too_little():
                break
            if not self._add_trees(solution):
                return self._packed(solution, has_proof=True)
            self._remove_trees(solution)
            solution = self._program.solve()
        is_reached = self._rates[-1] >= self._upper * (1 - _TOLERANCE)
        return self._packed(solution, has_proof=not is_reached and not self._is_exact)

    def _packed(self, solution: Solution, *, has_proof: bool) -> Packed:
        """Return the packing of the last solution; `has_proof` says whether its prices prove a bound."""
        exact = self._program.proven(solution)
        return Packed(self._packing(solution, exact), self._proof(exact) if has_proof else None)

    @property
    def _is_exact(self) -> bool:
        """Whether cheapest trees are found exactly."""
        return len(self._topology.compute) <= MOST_EXACT_MEMBERS

    def _rises_too_little(self) -> bool:
        near = min(self._upper, self._least_bound) * _NEAR
        if self._is_exact or len(self._rates) <= _PATIENCE or self._rates[-1] < near:
            return False
        return self._rates[-1] < self._rates[-1 - _PATIENCE] * (1 + _LEAST_RISE)

    def _remove_trees(self, solution: Solution) -> None:
        """Remove trees without a weight if there are many, and if the rate rose, so that no cycle is possible."""
        most = _ROWS_PER_COLUMN * len(self._program.objective)
        if len(self._trees) <= most or self._rates[-1] <= self._rate_at_removal:
            return
        self._rate_at_removal = self._rates[-1]
        tight = set(solution.tight)
        removed = [number for number in range(len(solution.prices)) if number not in tight]
        self._known.difference_update(self._keys[number] for number in removed)
        self._program.remove(removed)
        kept = sorted(set(range(len(self._trees))).difference(removed))
        self._trees, self._keys = [self._trees[each] for each in kept], [self._keys[each] for each in kept]

    def _proof(self, exact: Exact | None) -> TreeLengthsProof | TreeDistancesProof | None:
        """Return the prices of links as a proof: of the optimum, if the cheapest trees were found exactly."""
        if exact is None or not (self._is_exact or self._one_phase):
            return None
        prices = [exact[0][of_link] for of_link in self._class.tolist()]
        if not self._is_exact:
            return distance_proof(self._topology, prices, self._progress)
        whole = lcm(*(price.denominator for price in prices))
        return TreeLengthsProof.of(self._topology, tuple(int(price * whole) for price in prices))

    def _add_trees(self, solution: Solution) -> bool:
        """Add trees that are cheaper than they must be; return whether there are any."""
        classes = len(self._capacity)
        prices, potentials = solution.values[:classes], solution.values[classes:]
        means = (share * self._centre + (1 - share) * prices for share in _SHARES)
        if any(self._price(mean, prices, potentials) for mean in means):
            return True
        found = [
            self._add_if_cheap(phase, tree, prices, potentials)
            for phase, metric in self._metrics(prices).items()
            for tree in (self._cheapest(phase, metric) if self._is_exact else self._improved(phase, metric, prices))
        ]
        return any(found)

    def _metrics(self, prices: Floats) -> dict[PhaseOp, Metric]:
        """Return the least walks at the given prices, for each phase of the program."""
        of_links = np.maximum(prices, 0.0)[self._class]
        positive = of_links + _LEAST_PRICE * as_float(of_links.mean())
        phases = PHASES[1:] if self._one_phase else PHASES
        return {phase: Metric(self._topology, positive, np.inf, backwards=phase is PhaseOp.REDUCE) for phase in phases}

    def _price(self, at: Floats, prices: Floats, potentials: Floats) -> bool:
        """Look for cheap trees at the prices `at`, and add those that are too cheap at `prices`; return if any are."""
        found = [
            (phase, tree) for phase, metric in self._metrics(at).items() for tree in self._candidates(phase, metric)
        ]
        of_root: dict[int, float] = {}
        for place, (phase, tree) in enumerate(found):
            root = place if self._one_phase else tree.root
            of_root[root] = of_root.get(root, 0.0) + self._price_of(phase, tree, at)
        self._centre_at(at, min(of_root.values()))
        added = [self._add_if_cheap(phase, tree, prices, potentials) for phase, tree in found]
        return any(added)

    def _centre_at(self, prices: Floats, cheapest: float) -> None:
        """Make `prices` the centre if their bound is the least one; `cheapest` is the price of the cheapest tree."""
        paid = as_float(prices @ self._shares)
        if cheapest > 0 and paid < self._least_bound * cheapest * (1 - _TOLERANCE):
            self._least_bound, self._centre = paid / cheapest, prices / cheapest

    def _price_of(self, phase: PhaseOp, tree: PackedTree, prices: Floats) -> float:
        return sum(prices.item(of_link) * count for of_link, count in self._uses(phase, tree).items())

    def _improved(self, phase: PhaseOp, metric: Metric, prices: Floats) -> Iterator[PackedTree]:
        """Yield trees that are at least as cheap as the cheapest candidates."""
        price = partial(self._price_of, phase, prices=prices)
        for tree in sorted(self._candidates(phase, metric), key=price)[:_IMPROVED]:
            yield improved(metric, self._copies[phase], tree, self._topology.compute, price)

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
        uses, price, least = self._uses(phase, tree), self._price_of(phase, tree, prices), 1.0
        if not self._one_phase:
            column = self._root_column[self._orbits.of_node[tree.root]]
            potential = potentials.item(column - len(self._capacity))
            least = 1.0 - potential if phase is PhaseOp.REDUCE else potential
            uses[column] = 1 if phase is PhaseOp.REDUCE else -1
        key: _Key = (phase, *sorted(uses.items()))
        if price >= least - _TOLERANCE or key in self._known:
            return False
        self._known.add(key)
        self._keys.append(key)
        self._trees.append((phase, tree))
        self._program.add(Constraint(uses, 0 if not self._one_phase and phase is PhaseOp.BROADCAST else 1, None))
        return True

    def _uses(self, phase: PhaseOp, tree: PackedTree) -> dict[int, int]:
        """Return how often the tree uses each class of links."""
        return Counter(int(self._class[self._numbers[ends]]) for ends in tree.hops(phase))

    def _packing(self, solution: Solution, exact: Exact | None) -> TreePacking:
        """Return the packing with exact weights, of lower trees if their rate is the same, or with rounded weights."""
        if exact is None:
            near = (max(0, round(-as_float(price) * _FINE)) for price in solution.prices)
            return self._weighted([Fraction(each, _FINE) for each in near])
        found = self._weighted([-price for price in exact[1]])
        lowest = lowest_weights(self._weighed(), self._capacity, self._rate(exact[1]))
        chosen = found if lowest is None else self._weighted(lowest)
        return chosen if chosen.algbw(self._topology) == found.algbw(self._topology) else found

    def _rate(self, prices: Sequence[Fraction]) -> Fraction:
        """Return the total weight of the trees of a phase."""
        kept = (price for (phase, _), price in zip(self._trees, prices, strict=True) if phase is PHASES[-1])
        return -sum(kept, Fraction(0))

    def _weighed(self) -> list[WeighedTree]:
        if self._one_phase:
            lowest = ((phase, _centred(tree, self._topology)) for phase, tree in self._trees)
            return [WeighedTree(phase, None, tree.height, self._uses(phase, tree)) for phase, tree in lowest]
        return [
            WeighedTree(phase, self._orbits.of_node[tree.root], tree.height, self._uses(phase, tree))
            for phase, tree in self._trees
        ]

    def _weighted(self, weights: Sequence[Fraction]) -> TreePacking:
        """Return the packing with the given weights of the trees."""
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
    other = orbits.of_reversed(topology)
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
