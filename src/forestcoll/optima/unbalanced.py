"""Networks whose switches take in more than they give out, or less (ForestColl §5.6, appendix H).

Where every switch takes in as much as it gives out, plain trees reach what no schedule beats, and copying on switches
cannot make them faster. Elsewhere they reach the best balanced use of the switches (`optima.balancing`): exactly, for
what cannot copy. What can copy, or add up where data is reduced, may do better: a switch that is able, or an idle
compute node that serves as a relay, may give out more than it takes in. To find the best trees that copy anywhere is
hard (it contains the packing of Steiner trees). So each is taken for one of two things: a switch that only passes data
on, or a node that is *enlisted*, treated as a compute node without data: all data must get to it, and it may send on
what it has; a tree that does not need it leaves it out in the end. Of one after the other it is tried which is better.

What is found is reached. That nothing else is faster is proven where the cut that bounds every schedule agrees, and of
trees where nothing can copy.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial

from forestcoll.errors import NoSolutionError
from forestcoll.optima import spanning
from forestcoll.optima.balancing import balanced_use
from forestcoll.optima.forest_search import ForestSearch, exit_bound
from forestcoll.optima.scaling import ScaledTopology
from forestcoll.optima.value import Optimum, unused_links
from forestcoll.progress import SILENT, Progress
from forestcoll.request import Demand
from forestcoll.topology import Topology
from forestcoll.topology.reach import reached_from

MOST_TRIED = 64
"""How many choices of nodes that copy are tried at most, each a linear program."""

_MOST_LINKS = 16_000
"""Of large networks so many fewer are tried that the links of all programs together are no more, but two at least."""


@dataclass(frozen=True)
class UnbalancedSearch:
    """The search for a forest on a network some of whose switches are not balanced.

    Attributes:
        topology: the network.
        demand: what is asked.
        search: the search on what of the network can be used, in which the enlisted switches are compute nodes.
        bound: what no schedule can beat.
        cut: the set of nodes that proves it.
        is_proven: whether no trees are faster than those that are found.
    """

    topology: Topology
    demand: Demand
    search: ForestSearch
    bound: Fraction
    cut: tuple[int, ...]
    is_proven: bool

    @staticmethod
    def of(topology: Topology, demand: Demand, progress: Progress) -> "UnbalancedSearch":
        """Return the search on the best use of the switches that is found.

        Raises:
            NoSolutionError: a linear program could not be solved in fractions.
        """
        bound, cut = exit_bound(topology, demand, progress)
        progress.begin("balancing switches")
        able = _able(topology, demand)
        best = _Choice(topology, demand, bound / _whole(topology, demand), progress).best_of(able)
        found = ForestSearch.of(best.topology, _asked(best.topology, topology, demand), progress)
        is_proven = not able or found.best.algbw == bound
        return UnbalancedSearch(topology, demand, found, bound, cut, is_proven)

    @property
    def best(self) -> Optimum:
        """The fewest trees that reach what is found."""
        return self._on_network(self.search.best)

    def restricted(self, trees: int, progress: Progress = SILENT) -> Optimum:
        """Return the best that is found for `trees` trees for each weight of 1.

        Rounded is what can be used with any number of trees, or the network itself, which is then trimmed.

        Raises:
            NoSolutionError: neither is possible with so many trees.
        """
        found: list[Optimum] = []
        refusals: list[NoSolutionError] = []
        for attempt in (partial(self.search.restricted, trees, progress), partial(self._trimmed, trees)):
            try:
                found.append(attempt())
            except NoSolutionError as error:
                refusals.append(error)
        if not found:
            raise refusals[0]
        return self._on_network(max(found, key=lambda each: each.algbw))

    def _trimmed(self, trees: int) -> Optimum:
        used, backwards = self.search.scaled, self.search.scaled.backwards
        nodes = used.topology.nodes
        whole = replace(self.topology.transposed() if backwards else self.topology, nodes=nodes)
        scaled = ScaledTopology.of(whole, used.weights, backwards=backwards)
        found = spanning.with_trees_trimmed(scaled, self.search.found, trees)
        return found.transposed() if backwards else found

    def _on_network(self, found: Optimum) -> Optimum:
        return replace(
            found,
            topology=self.topology,
            optimal_algbw=self.bound,
            cut=self.cut,
            unused=(),
            shards=self.demand.shards,
            phases=(found,),
            tree_bound=found.optimal_algbw if self.is_proven else None,
            spare=unused_links(self.topology, [self.search.best.topology]),
        )


def _whole(topology: Topology, demand: Demand) -> int:
    return sum(demand.weights(topology))


def _able(topology: Topology, demand: Demand) -> tuple[int, ...]:
    """Return the switches on the way that can do what trees need: add where data is reduced, else copy.

    Those of which most comes out for what goes in are first.
    """
    reduces = demand.collective.only_reduces
    fed = reached_from(topology, topology.compute)
    on_the_way = fed & reached_from(topology, topology.compute, backwards=True)
    able = [
        switch
        for switch in topology.switches
        if switch in on_the_way
        and (topology.nodes[switch].aggregation if reduces else topology.nodes[switch].multicast)
    ]
    surplus = {switch: topology.egress[switch] - topology.ingress[switch] for switch in able}
    return tuple(sorted(able, key=lambda switch: (surplus[switch] if reduces else -surplus[switch], switch)))


def _asked(used: Topology, topology: Topology, demand: Demand) -> Demand:
    """Return `demand` for a network with enlisted switches, which have no data."""
    if demand.root is not None or used.compute == topology.compute:
        return demand
    parts = dict(zip(topology.compute, demand.parts(topology), strict=True))
    return replace(demand, shards=tuple(parts.get(node, Fraction(0)) for node in used.compute))


@dataclass(frozen=True)
class _Use:
    """What can be used if some switches are enlisted, at which rate for a weight of 1."""

    enlisted: frozenset[int]
    topology: Topology
    rate: Fraction


class _Choice:
    """The choice of the switches that are enlisted."""

    def __init__(self, topology: Topology, demand: Demand, bound: Fraction, progress: Progress) -> None:
        self._topology, self._demand, self._bound, self._progress = topology, demand, bound, progress
        self._tried: set[frozenset[int]] = set()
        self._most = max(2, min(MOST_TRIED, _MOST_LINKS // max(1, len(topology.links))))
        self._best = _Use(frozenset(), topology, Fraction(0))

    def best_of(self, able: Collection[int]) -> _Use:
        """Enlist none, or all that are able, then change each by itself until none of that helps."""
        self._try(())
        if able and self._wants_more:
            self._try(able)
        improved = bool(able)
        while improved and self._wants_more:
            before = self._best.rate
            for switch in able:
                if self._wants_more:
                    self._try(self._best.enlisted ^ {switch})
            improved = self._best.rate > before
        return self._best

    @property
    def _wants_more(self) -> bool:
        return self._best.rate < self._bound and len(self._tried) < self._most

    def _try(self, switches: Collection[int]) -> None:
        enlisted = frozenset(switches)
        if enlisted in self._tried:
            return
        self._tried.add(enlisted)
        network = self._topology.sharing([link.bandwidth for link in self._topology.links], enlisted)
        weights, backwards = _asked(network, self._topology, self._demand).weights(network), self._reduces
        scaled = ScaledTopology.of(network.transposed() if backwards else network, weights, backwards=backwards)
        found = balanced_use(scaled, self._progress)
        if found.rate > self._best.rate:
            used = found.topology.transposed() if backwards else found.topology
            self._best = _Use(enlisted, used, found.rate)

    @property
    def _reduces(self) -> bool:
        return self._demand.collective.only_reduces
