"""The optimum after a change, computed from that before it.

For a collective of one forest on balanced switches, the optimum is the least ratio of cuts. Cuts that limited the
network before are tried first: the least of them bounds the changed network, and one test of the core says whether the
network reaches that bound. Only if it does not, the bottleneck is searched again, and the new cut is remembered.

All other cases (an allreduce, an all-to-all, a gather, a scatter, unbalanced switches) are solved as the solver does.
"""

from collections import deque
from dataclasses import dataclass, replace
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from forestcoll.base.progress import SILENT
from forestcoll.demand.change import demand_after
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.kernels import core_for
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.solver.flows.search import flow_search
from forestcoll.solver.forests.forest_search import exit_bound
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.solver.problem import OptimumProblem, on_whole
from forestcoll.topology import Topology
from forestcoll.topology.changes import Change
from forestcoll.topology.graph.part import usable_part
from forestcoll.topology.graph.walks import reached_from, unreachable_from, unreachable_pair

_REMEMBERED = 64
"""The most cuts that are remembered."""

_WIDE = 2**62
"""Sums of capacities up to this are exact in NumPy's integers."""

Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Value:
    """The optimum of a changed network.

    Attributes:
        algbw: the algbw that is reached, in the unit of the topology; 0 if nodes that take part cannot all reach each
            other.
        cut: the cut that proves the bound, in node numbers of the network before the change, without nodes that are
            gone. If `algbw` is 0, no link leaves it. Empty if something else proves the bound.
        bound: the bound on the changed network, in its node numbers; None if a cut proves it.
        is_optimal: whether `algbw` equals the bound.
    """

    algbw: Fraction
    cut: tuple[int, ...]
    bound: Bound | None = None
    is_optimal: bool = True

    @property
    def proof(self) -> str:
        """The kind of the proof of the bound."""
        return CutProof.kind if self.bound is None else self.bound.proof.kind


@dataclass(frozen=True)
class Solved:
    """The optimum of a network, with its bound.

    Attributes:
        algbw: the algbw that is reached, in the unit of the topology.
        bound: the bound, with a proof.
    """

    algbw: Fraction
    bound: Bound


def solved(network: Topology, demand: NodeDemand) -> Solved | None:
    """Return the optimum of a network; None if nodes that take part cannot all reach each other.

    The trees themselves are not looked for where the bound is known to be reached.
    """
    if _apart(network, demand) is not None:
        return None
    if demand.collective.is_personalised:
        flows = flow_search(network, demand, paths=False)
        return Solved(flows.algbw, flows.bound)
    members = demand.members(network)
    part = usable_part(network, members)
    if demand.collective is not Collective.ALLREDUCE and part.has_balanced_switches:
        bound = on_whole(network, members, exit_bound(part, replace(demand, ranks=None), SILENT))
        return Solved(bound.algbw, bound)
    best = OptimumProblem.of(network, demand, SILENT).solve()
    return Solved(best.algbw, best.bound)


def value_of(topology: Topology, demand: NodeDemand, change: Change) -> Value:
    """Return the optimum after a change, as if it were a new network."""
    network, kept = change.network(topology), change.kept(topology)
    changed_demand = demand_after(change, topology, demand)
    if changed_demand is None:
        return Value(Fraction(0), ())
    found = solved(network, changed_demand)
    if found is None:
        return Value(Fraction(0), tuple(kept[node] for node in _apart(network, changed_demand) or ()))
    is_optimal, proof = found.algbw == found.bound.algbw, found.bound.proof
    if not isinstance(proof, CutProof):
        return Value(found.algbw, (), found.bound, is_optimal)
    return Value(found.algbw, tuple(kept[node] for node in proof.inside), is_optimal=is_optimal)


def _apart(network: Topology, demand: NodeDemand) -> tuple[int, ...] | None:
    """Return a set that no link leaves and that data must leave, or None if all required data can arrive."""
    members = demand.members(network)
    if demand.root is None:
        pair = unreachable_pair(network, members)
    else:
        inward = demand.collective.only_reduces or demand.collective is Collective.GATHER
        pair = unreachable_from(network, demand.root, members, backwards=inward)
    return None if pair is None else tuple(sorted(reached_from(network, [pair[0]])))


class Evaluator:
    """Computes the optimum of changes of one network, and remembers the cuts that it finds."""

    def __init__(self, topology: Topology, demand: NodeDemand) -> None:
        self.topology, self.demand = topology, demand
        self._fast = _Forest.of(topology, demand)

    def value(self, change: Change) -> Value:
        """Return the optimum after `change`."""
        fast = None if self._fast is None else self._fast.value(change)
        return value_of(self.topology, self.demand, change) if fast is None else fast


@dataclass(frozen=True)
class _Arcs:
    """The links after a change, in the direction in which the search follows them.

    Attributes:
        tails: where each arc begins.
        heads: where each arc ends.
        capacities: the bandwidth of each arc in multiples of `unit`; 0 for a link that is gone.
        unit: the bandwidth of capacity 1, in the unit of the topology.
    """

    tails: Integers
    heads: Integers
    capacities: Integers
    unit: Fraction

    @property
    def live(self) -> Mask:
        """Which arcs are left."""
        return self.capacities > 0


class _Forest:
    """A collective of one forest on a network with balanced switches, with integer capacities."""

    def __init__(self, topology: Topology, demand: NodeDemand, part: Topology) -> None:
        self._topology, self._demand = topology, demand
        self._backwards = demand.collective.only_reduces
        scaled = ScaledTopology.of(part, demand.weights(topology))
        self._unit = scaled.unit
        self._places = part.link_numbers
        self._tails = np.array([link.source for link in part.links], dtype=np.int64)
        self._heads = np.array([link.target for link in part.links], dtype=np.int64)
        if self._backwards:
            self._tails, self._heads = self._heads, self._tails
        self._capacities = np.array(scaled.capacities, dtype=np.int64)
        self._members = demand.members(topology)
        self._weights = np.zeros(len(topology.nodes), dtype=np.int64)
        self._weights[list(self._members)] = demand.weights(topology)
        self._is_switch = np.ones(len(topology.nodes), dtype=np.bool_)
        self._is_switch[list(self._members)] = False
        self._cuts: deque[Mask] = deque(maxlen=_REMEMBERED)

    @staticmethod
    def of(topology: Topology, demand: NodeDemand) -> "_Forest | None":
        """Return the forest, or None if it needs the solver or wide integers."""
        if demand.collective is Collective.ALLREDUCE or demand.collective.is_personalised:
            return None
        part = usable_part(topology, demand.members(topology))
        if not part.has_balanced_switches or len(part.links) < len(topology.links):
            return None
        scaled = ScaledTopology.of(part)
        if scaled.total * (scaled.total + len(part.nodes)) * max(1, sum(demand.weights(topology))) > _WIDE:
            return None
        return _Forest(topology, demand, part)

    def value(self, change: Change) -> Value | None:
        """Return the optimum after the change; None if only the solver can compute it."""
        arcs = self._left(change)
        if arcs is None or not self._is_balanced(arcs):
            return None
        gone = set(change.nodes)
        members = [node for node in self._members if node not in gone]
        weights = self._weights.copy()
        weights[list(gone)] = 0
        if len(members) < 2 or not weights.any():
            return Value(Fraction(0), ())
        apart = self._unreached(members, arcs)
        if apart is not None:
            return Value(Fraction(0), self._given(apart, gone)) if self._demand.root is None else None
        ratio, inside = self._bottleneck(arcs, members, weights)
        return Value(int(weights.sum()) * arcs.unit / ratio, self._given(inside, gone))

    def _left(self, change: Change) -> _Arcs | None:
        """Return the arcs after a change; None if they need wide integers."""
        arcs = _Arcs(self._tails, self._heads, self._capacities.copy(), self._unit)
        capacities = arcs.capacities
        for one, other in change.links:
            for way in ((one, other), (other, one)):
                if way in self._places:
                    capacities[self._places[way]] = 0
        if change.nodes:
            gone = np.zeros(len(self._weights), dtype=np.bool_)
            gone[list(change.nodes)] = True
            capacities[gone[self._tails] | gone[self._heads]] = 0
        return self._with_bandwidths(arcs, change) if change.bandwidths else arcs

    def _with_bandwidths(self, arcs: _Arcs, change: Change) -> _Arcs | None:
        """Return the arcs with other bandwidths, and with new arcs; None if they need wide integers."""
        amounts = [bandwidth / arcs.unit for _, _, bandwidth in change.bandwidths]
        factor = lcm(*(amount.denominator for amount in amounts))
        total = (int(arcs.capacities.sum()) + sum(amounts)) * factor
        if total * (total + len(self._weights)) * max(1, int(self._weights.sum())) > _WIDE:
            return None
        capacities = arcs.capacities * factor
        new: list[tuple[int, int, int]] = []
        for (source, target, _), amount in zip(change.bandwidths, amounts, strict=True):
            place = self._places.get((source, target))
            if place is None:
                ends = (target, source) if self._backwards else (source, target)
                new.append((*ends, int(amount * factor)))
            else:
                capacities[place] = int(amount * factor)
        tails, heads, more = np.array(new, dtype=np.int64).reshape(-1, 3).T
        return _Arcs(
            np.concatenate([arcs.tails, tails]),
            np.concatenate([arcs.heads, heads]),
            np.concatenate([capacities, more]),
            arcs.unit / factor,
        )

    def _is_balanced(self, arcs: _Arcs) -> bool:
        surplus = np.zeros(len(self._weights), dtype=np.int64)
        np.add.at(surplus, arcs.heads, arcs.capacities)
        np.subtract.at(surplus, arcs.tails, arcs.capacities)
        return not surplus[self._is_switch].any()

    def _unreached(self, members: list[int], arcs: _Arcs) -> Mask | None:
        """Return a set with a member inside that no live arc leaves and that misses a member, or None."""
        start, live = members[0], arcs.live
        forward = _reached(start, arcs.tails[live], arcs.heads[live], len(self._weights))
        if not forward[members].all():
            return forward
        backward = _reached(start, arcs.heads[live], arcs.tails[live], len(self._weights))
        return None if backward[members].all() else ~backward

    def _bottleneck(self, arcs: _Arcs, members: list[int], weights: Integers) -> tuple[Fraction, Mask]:
        """Return the greatest ratio of weight to capacity of a cut, and the cut."""
        live = arcs.live
        tails, heads, left = arcs.tails[live].tolist(), arcs.heads[live].tolist(), arcs.capacities[live]
        of_members = weights[members].tolist()
        total, whole = int(left.sum()), sum(of_members)
        known = self._best_known(arcs, members, weights)
        if known is not None:
            ratio, inside = known
            supply, scale = ratio.denominator, ratio.numerator
            core = core_for(total * scale + whole * supply)
            problem = core.Problem(len(weights), tails, heads, (left * scale).tolist(), members, of_members)
            if core.supply_reaches_all(problem, supply):
                return ratio, inside
        core = core_for(whole * total)
        problem = core.Problem(len(weights), tails, heads, left.tolist(), members, of_members)
        weight, leaving, cut = core.bottleneck(problem)
        inside = np.zeros(len(weights), dtype=np.bool_)
        inside[cut] = True
        self._cuts.append(inside)
        return Fraction(weight, leaving), inside

    def _best_known(self, arcs: _Arcs, members: list[int], weights: Integers) -> tuple[Fraction, Mask] | None:
        best: tuple[Fraction, Mask] | None = None
        for inside in self._cuts:
            weight = int(weights[inside].sum())
            if weight and not inside[members].all():
                leaving = int(arcs.capacities[inside[arcs.tails] & ~inside[arcs.heads]].sum())
                if best is None or Fraction(weight, leaving) > best[0]:
                    best = Fraction(weight, leaving), inside
        return best

    def _given(self, inside: Mask, gone: set[int]) -> tuple[int, ...]:
        """Return the cut of the network as it was given: the complement if its links were reversed."""
        chosen = ~inside if self._backwards else inside
        return tuple(node for node in np.flatnonzero(chosen).tolist() if node not in gone)


def _reached(start: int, tails: Integers, heads: Integers, nodes: int) -> Mask:
    """Return which nodes arcs lead to from `start`; each round follows all arcs of the nodes that were just reached."""
    reached = np.zeros(nodes, dtype=np.bool_)
    reached[start] = True
    count = 1
    while True:
        reached[heads[reached[tails]]] = True
        now = int(reached.sum())
        if now == count:
            return reached
        count = now
