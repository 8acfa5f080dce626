"""Networks whose switches take in more than they send on, or less (ForestColl §5.6, appendix H).

Where every switch takes in as much as it sends on, plain trees reach what no schedule beats, and copying on switches
cannot make them faster. Elsewhere they reach the best balanced use of the switches (`optima.balancing`): exactly, for
switches that cannot copy. A switch that can copy, or add up where data is reduced, may do better, and so may an idle
compute node that serves as a relay: it may send more than it takes in. To find the best trees that copy anywhere is
hard (it contains the packing of Steiner trees). So each able switch has one of two roles: it only passes data on, or
it is a *copying* switch, treated as a compute node without data. All data must get to a copying switch, and it may
send on what it has; in the end, a tree that does not need it leaves it out. The better role is tried for one switch
after the other.

What is found is reached. That nothing else is faster is proven where the cut that bounds every schedule agrees, and of
trees where no switch can copy.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from forestcoll.errors import NoSolutionError
from forestcoll.optima import spanning
from forestcoll.optima.balancing import balanced_use
from forestcoll.optima.forest_search import ForestSearch, exit_bound
from forestcoll.optima.plan import ForestPlan
from forestcoll.optima.scaling import ScaledTopology
from forestcoll.optima.search import Candidate
from forestcoll.progress import SILENT, Progress
from forestcoll.proof.bound import Bound
from forestcoll.proof.cut import CutProof
from forestcoll.proof.tree_dual import TreeDualProof
from forestcoll.request import Demand
from forestcoll.topology import Topology
from forestcoll.topology.reach import reached_from

MOST_TRIED = 64
"""How many choices of nodes that copy are tried at most, each a linear program."""

_MOST_LINKS = 16_000
"""Of large networks so many fewer are tried that the links of all programs together are no more, but two at least."""


@dataclass(frozen=True)
class UnbalancedSwitchSearch:
    """The search for a forest on a network some of whose switches take in more than they send on, or less.

    Attributes:
        topology: the network.
        search: the search on what of the network can be used, in which the copying switches are compute nodes.
        bound: what no schedule beats, or no schedule of trees.
        cut: the bottleneck cut, node numbers, rising.
    """

    topology: Topology
    search: ForestSearch
    bound: Bound
    cut: tuple[int, ...]

    @staticmethod
    def of(topology: Topology, demand: Demand, progress: Progress) -> "UnbalancedSwitchSearch":
        """Return the search on the best use of the switches that is found.

        Raises:
            NoSolutionError: a linear program could not be solved in fractions.
        """
        exit_of_cut = exit_bound(topology, demand, progress)
        progress.begin("balancing switches")
        able = _able(topology, demand)
        best = _Choice(topology, demand, exit_of_cut.algbw / _whole(topology, demand), progress).best_of(able)
        found = ForestSearch.of(best.topology, _asked(best.topology, topology, demand), progress)
        bound = exit_of_cut
        if not able and found.best.algbw < bound.algbw:
            bound = Bound(demand.collective, found.best.algbw, _stated(best.proof, topology, demand))
        cut = exit_of_cut.proof.inside if isinstance(exit_of_cut.proof, CutProof) else ()
        return UnbalancedSwitchSearch(topology, found, bound, cut)

    def candidates(self, trees: int | None = None, progress: Progress = SILENT) -> tuple[Candidate, ...]:
        """As `Search.candidates`: one for any number of trees, and up to two for a given number.

        Bandwidths are rounded to trees on what can be used with any number of trees, or on the network itself, which
        is then trimmed.
        """
        plans = [self.search.best] if trees is None else self._with_trees(trees, progress)
        return tuple(Candidate(plan.algbw, (plan,)) for plan in plans)

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
        found = spanning.with_trees_trimmed(scaled, self.search.found, trees)
        return found.transposed() if backwards else found


def _stated(proof: TreeDualProof, topology: Topology, demand: Demand) -> TreeDualProof:
    """Return `proof`, which is that of a broadcast on the network where data flows outwards, for what was asked.

    Nodes that no data can pass through are left out, so that links between them cost nothing.
    """
    of_demand = proof.transposed() if demand.collective.only_reduces else proof
    return of_demand.restricted(_on_the_way(topology))


def _whole(topology: Topology, demand: Demand) -> int:
    return sum(demand.weights(topology))


def _able(topology: Topology, demand: Demand) -> tuple[int, ...]:
    """Return the switches on the way that can do what trees need: add where data is reduced, else copy.

    Those of which most comes out for what goes in are first.
    """
    reduces = demand.collective.only_reduces
    on_the_way = _on_the_way(topology)
    able = [
        switch
        for switch in topology.switches
        if switch in on_the_way
        and (topology.nodes[switch].aggregation if reduces else topology.nodes[switch].multicast)
    ]
    surplus = {switch: topology.egress[switch] - topology.ingress[switch] for switch in able}
    return tuple(sorted(able, key=lambda switch: (surplus[switch] if reduces else -surplus[switch], switch)))


def _on_the_way(topology: Topology) -> set[int]:
    """Return the nodes that compute nodes reach and that reach compute nodes."""
    return reached_from(topology, topology.compute) & reached_from(topology, topology.compute, backwards=True)


def _asked(used: Topology, topology: Topology, demand: Demand) -> Demand:
    """Return `demand` for a network with copying switches, which have no data."""
    if demand.root is not None or used.compute == topology.compute:
        return demand
    parts = dict(zip(topology.compute, demand.parts(topology), strict=True))
    return replace(demand, shards=tuple(parts.get(node, Fraction(0)) for node in used.compute))


@dataclass(frozen=True)
class _Use:
    """What can be used if some switches copy, and at which rate for a weight of 1.

    Attributes:
        copying: the switches that copy.
        topology: the network with the bandwidths that can be used.
        rate: the rate, in the topology's unit.
        proof: why these roles allow no better rate.
    """

    copying: frozenset[int]
    topology: Topology
    rate: Fraction
    proof: TreeDualProof


class _Choice:
    """The choice of the switches that copy."""

    def __init__(self, topology: Topology, demand: Demand, bound: Fraction, progress: Progress) -> None:
        self._topology, self._demand, self._bound, self._progress = topology, demand, bound, progress
        self._tried: set[frozenset[int]] = set()
        self._most = max(2, min(MOST_TRIED, _MOST_LINKS // max(1, len(topology.links))))
        self._best = _Use(frozenset(), topology, Fraction(0), TreeDualProof((), {}))

    def best_of(self, able: Collection[int]) -> _Use:
        """Let none copy, or all that are able, then change each by itself until none of that helps."""
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
        weights, backwards = _asked(network, self._topology, self._demand).weights(network), self._reduces
        scaled = ScaledTopology.of(network.transposed() if backwards else network, weights, backwards=backwards)
        found = balanced_use(scaled, self._progress)
        if found.rate > self._best.rate:
            used = found.topology.transposed() if backwards else found.topology
            self._best = _Use(copying, used, found.rate, found.proof)

    @property
    def _reduces(self) -> bool:
        return self._demand.collective.only_reduces
