"""The search for a forest on a network with unbalanced switches (ForestColl §5.6, appendix H).

If all switches are balanced, trees in which switches only forward data reach the bound of all schedules, and copying on
switches cannot make them faster. If not, such trees reach the largest balanced use of the switches (`balancing`). No
trees do better if no switch can copy. A switch that can copy (or add up, if data is reduced) may send more than it
receives, and so may an idle compute node that serves as a relay: trees can then be faster.

To find the best trees that copy on any switch is hard: packing Steiner trees is a special case. So each able switch
gets one of two roles. It only forwards data, or it is a *copying* switch, which is treated as a compute node without
data: all data must reach it, and it may send any data that it has. In the end, a tree that does not need the switch
leaves it out. The search tries the other role for one switch after the other.

The algbw that is found is reached. It is proven optimal among all schedules if it equals the bound of the bottleneck
cut, and optimal among trees if no switch can copy.
"""

from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.demand import NodeDemand
from forestcoll.schedule.proof.bound import Bound
from forestcoll.schedule.proof.cut import CutProof
from forestcoll.schedule.proof.tree_dual import TreeDualProof
from forestcoll.solver.forests.balancing import balanced_use
from forestcoll.solver.forests.bottleneck import plan_with_trees_trimmed
from forestcoll.solver.forests.forest_search import ForestSearch, exit_bound
from forestcoll.solver.forests.interface import ForestChoice
from forestcoll.solver.forests.node_order import id_key
from forestcoll.solver.forests.plan import ForestPlan
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import reached_from

MOST_TRIED = 64
"""The most choices of copying nodes that are tried; each is one linear program."""

_FEW_TREES, _MOST_LINKS_FOR_FEW_TREES = 5, 1000
"""Up to so many trees per root are tried, too, on networks of at most so many links; each number is a search."""

_MOST_LINKS = 16_000
"""The most links of all linear programs together: on large networks fewer choices are tried, but at least two."""


@dataclass(frozen=True)
class UnbalancedSwitchSearch:
    """The search for a forest on a network with unbalanced switches.

    Attributes:
        topology: the network.
        search: the search on the best balanced use found, in which copying switches are compute nodes.
        bound: the bound of all schedules, or of all schedules of trees.
        cut: the bottleneck cut, node numbers in rising order.
    """

    topology: Topology
    search: ForestSearch
    bound: Bound
    cut: tuple[int, ...]

    @staticmethod
    def of(topology: Topology, demand: NodeDemand, progress: Progress) -> "UnbalancedSwitchSearch":
        """Return the search on the best balanced use found.

        Raises:
            NoSolutionError: a linear program could not be solved exactly.
        """
        exit_of_cut = exit_bound(topology, demand, progress)
        progress.begin("balancing switches")
        able = _able(topology, demand)
        best = _Choice(topology, demand, exit_of_cut.algbw / _whole(topology, demand), progress).best_of(able)
        found = ForestSearch.of(best.topology, _demand_on(best.topology, topology, demand), progress)
        bound = exit_of_cut
        if not able and found.best.algbw < bound.algbw:
            bound = Bound(demand.collective, found.best.algbw, _proof_of_demand(best.proof, topology, demand))
        cut = exit_of_cut.proof.inside if isinstance(exit_of_cut.proof, CutProof) else ()
        return UnbalancedSwitchSearch(topology, found, bound, cut)

    def candidates(self, trees: int | None = None, progress: Progress = SILENT) -> tuple[ForestChoice, ...]:
        """Return one candidate or, for a given number of trees, up to two; see `Search.candidates`.

        For a given number of trees, bandwidths are rounded on the balanced use, and also on the whole network, which
        is then trimmed. Where the search may have missed the optimum, a few trees may be better, so they are candidates
        too.
        """
        plans = self._best(progress) if trees is None else self._with_trees(trees, progress)
        return tuple(ForestChoice(plan.algbw, (plan,)) for plan in plans)

    def _best(self, progress: Progress) -> list[ForestPlan]:
        plans = [self.search.best]
        if plans[0].algbw < self.bound.algbw and len(self.topology.links) <= _MOST_LINKS_FOR_FEW_TREES:
            for trees in range(1, _FEW_TREES + 1):
                with suppress(NoSolutionError):
                    plans += self._with_trees(trees, progress)
        return plans

    def _with_trees(self, trees: int, progress: Progress) -> list[ForestPlan]:
        found: list[ForestPlan] = []
        refusals: list[NoSolutionError] = []
        for attempt in (partial(self.search.restricted, trees, progress), partial(self._trimmed, trees)):
            try:
                found.append(attempt())
            except NoSolutionError as error:
                refusals.append(error)
        if not found:
            raise refusals[0]
        return found

    def _trimmed(self, trees: int) -> ForestPlan:
        used, backwards = self.search.scaled, self.search.scaled.backwards
        nodes = used.topology.nodes
        whole = replace(self.topology.transposed() if backwards else self.topology, nodes=nodes)
        scaled = ScaledTopology.of(whole, used.weights, backwards=backwards)
        found = plan_with_trees_trimmed(scaled, self.search.found, trees)
        return found.transposed() if backwards else found


def _proof_of_demand(proof: TreeDualProof, topology: Topology, demand: NodeDemand) -> TreeDualProof:
    """Return the proof for `demand` on `topology`. `proof` is for a broadcast, on the transpose if data is reduced.

    Nodes that no data can pass through are left out of the proof, so links between them cost nothing.
    """
    of_demand = proof.transposed() if demand.collective.only_reduces else proof
    return of_demand.restricted(_between_compute_nodes(topology))


def _whole(topology: Topology, demand: NodeDemand) -> int:
    return sum(demand.weights(topology))


def _able(topology: Topology, demand: NodeDemand) -> tuple[int, ...]:
    """Return the switches between compute nodes that can copy or, if data is reduced, add up.

    The switches that can gain the most are first: those with the greatest exit bandwidth minus entering bandwidth, or
    the least if data is reduced.
    """
    reduces = demand.collective.only_reduces
    between = _between_compute_nodes(topology)
    able = [
        switch
        for switch in topology.switches
        if switch in between and (topology.nodes[switch].aggregation if reduces else topology.nodes[switch].multicast)
    ]
    surplus = {switch: topology.egress[switch] - topology.ingress[switch] for switch in able}
    return tuple(
        sorted(
            able,
            key=lambda switch: (surplus[switch] if reduces else -surplus[switch], id_key(topology.nodes[switch].id)),
        )
    )


def _between_compute_nodes(topology: Topology) -> set[int]:
    """Return the nodes that a compute node reaches and that reach a compute node."""
    return reached_from(topology, topology.compute) & reached_from(topology, topology.compute, backwards=True)


def _demand_on(used: Topology, topology: Topology, demand: NodeDemand) -> NodeDemand:
    """Return `demand` for the network `used`, in which copying switches are compute nodes without data."""
    if demand.root is not None or used.compute == topology.compute:
        return demand
    parts = dict(zip(topology.compute, demand.parts(topology), strict=True))
    return replace(demand, shards=tuple(parts.get(node, Fraction(0)) for node in used.compute))


@dataclass(frozen=True)
class _Use:
    """The best balanced use for a choice of copying switches.

    Attributes:
        copying: the switches that copy.
        topology: the network with the bandwidths that can be used.
        rate: the rate for a weight of 1, in the unit of the topology.
        proof: the proof that this choice allows no greater rate.
    """

    copying: frozenset[int]
    topology: Topology
    rate: Fraction
    proof: TreeDualProof


class _Choice:
    """The search for the best choice of copying switches."""

    def __init__(self, topology: Topology, demand: NodeDemand, bound: Fraction, progress: Progress) -> None:
        self._topology, self._demand, self._bound, self._progress = topology, demand, bound, progress
        self._tried: set[frozenset[int]] = set()
        self._most = max(2, min(MOST_TRIED, _MOST_LINKS // max(1, len(topology.links))))
        self._best = _Use(frozenset(), topology, Fraction(0), TreeDualProof((), {}))

    def best_of(self, able: Collection[int]) -> _Use:
        """Try no copying switches and all able ones, then change the role of one at a time until no change helps."""
        self._try(())
        if able and self._wants_more:
            self._try(able)
        improved = bool(able)
        while improved and self._wants_more:
            before = self._best.rate
            for switch in able:
                if self._wants_more:
                    self._try(self._best.copying ^ {switch})
            improved = self._best.rate > before
        return self._best

    @property
    def _wants_more(self) -> bool:
        return self._best.rate < self._bound and len(self._tried) < self._most

    def _try(self, switches: Collection[int]) -> None:
        copying = frozenset(switches)
        if copying in self._tried:
            return
        self._tried.add(copying)
        network = self._topology.sharing([link.bandwidth for link in self._topology.links], copying)
        weights, backwards = _demand_on(network, self._topology, self._demand).weights(network), self._reduces
        scaled = ScaledTopology.of(network.transposed() if backwards else network, weights, backwards=backwards)
        found = balanced_use(scaled, self._progress)
        if found.rate > self._best.rate:
            used = found.topology.transposed() if backwards else found.topology
            self._best = _Use(copying, used, found.rate, found.proof)

    @property
    def _reduces(self) -> bool:
        return self._demand.collective.only_reduces
