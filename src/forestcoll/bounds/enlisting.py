"""Unbalanced networks whose switches can copy or add: the switches as receivers (ForestColl §5.6, appendix H).

Where every switch takes in as much as it gives out, copying on switches cannot make an allgather or a broadcast faster:
plain trees reach what no schedule beats. Else it can: of what a switch takes in once it may give out more. A switch is
*enlisted* by being treated as a compute node without data: all data must get to it, and it may send on what it has; a
tree that does not need it leaves it out in the end. So all switches that are able are enlisted at first, and those that
turn out to be what limits the rate are let go as long as what is left is balanced.

What is found is reached. That nothing else is faster is proven only where the cut that bounds every schedule agrees.
"""

from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.bounds.cuts import FlowNetwork
from forestcoll.bounds.demand import Demand
from forestcoll.bounds.forest_search import ForestSearch, exit_bound
from forestcoll.bounds.optimum import Optimum
from forestcoll.bounds.scaling import ScaledTopology
from forestcoll.progress import SILENT, Progress
from forestcoll.topology import Topology


@dataclass(frozen=True)
class EnlistedSearch:
    """The search for a forest in which switches copy or add.

    Attributes:
        topology: the network.
        demand: what is asked.
        search: the search on the network in which the enlisted switches are compute nodes.
        bound: what no schedule can beat.
        cut: the set of nodes that proves it.
    """

    topology: Topology
    demand: Demand
    search: ForestSearch
    bound: Fraction
    cut: tuple[int, ...]

    @staticmethod
    def of(topology: Topology, demand: Demand, progress: Progress) -> "EnlistedSearch | None":
        """Return the search with the best switches, or None if some switch that is not able is not balanced."""
        progress.begin("choosing the switches that take part")
        enlisted = _able(topology, demand)
        best: ForestSearch | None = None
        while enlisted and _is_balanced(topology, enlisted):
            search = _search(topology, demand, enlisted, progress)
            if best is None or search.best.algbw > best.best.algbw:
                best = search
            limiting = _limiting(topology, enlisted, search.best)
            if not limiting:
                break
            enlisted -= limiting
        return None if best is None else EnlistedSearch(topology, demand, best, *exit_bound(topology, demand, progress))

    @property
    def best(self) -> Optimum:
        """The fewest trees that reach the optimum."""
        return self._on_network(self.search.best)

    def restricted(self, trees: int, progress: Progress = SILENT) -> Optimum:
        """Return the best that `trees` trees for each weight of 1 allow.

        Raises:
            NoSolutionError: a switch becomes unbalanced for good when bandwidths are rounded to so many trees.
        """
        return self._on_network(self.search.restricted(trees, progress))

    def _on_network(self, found: Optimum) -> Optimum:
        return replace(
            found,
            topology=self.topology,
            optimal_algbw=self.bound,
            cut=self.cut,
            unused=(),
            shards=self.demand.shards,
            phases=(found,),
        )


def _able(topology: Topology, demand: Demand) -> frozenset[int]:
    """Return the switches that data can get to and that can do what trees need: add where it is reduced, else copy."""
    nodes, network = topology.nodes, FlowNetwork.of(ScaledTopology.of(topology))
    if demand.collective.only_reduces:
        able = {switch for switch in topology.switches if nodes[switch].aggregation}
        network = network.reversed()
    else:
        able = {switch for switch in topology.switches if nodes[switch].multicast}
    return frozenset(able & network.reached(topology.compute[0]))


def _is_balanced(topology: Topology, enlisted: frozenset[int]) -> bool:
    return all(topology.ingress[each] == topology.egress[each] for each in topology.switches if each not in enlisted)


def _search(topology: Topology, demand: Demand, enlisted: frozenset[int], progress: Progress) -> ForestSearch:
    network = topology.sharing([link.bandwidth for link in topology.links], enlisted)
    of_nodes = dict(zip(topology.compute, demand.parts(topology), strict=True))
    shards = tuple(of_nodes.get(node, Fraction(0)) for node in network.compute)
    asked = demand if demand.root is not None else replace(demand, shards=shards)
    return ForestSearch.of(network, asked, progress)


def _limiting(topology: Topology, enlisted: frozenset[int], found: Optimum) -> frozenset[int]:
    """Return the enlisted switches that a bottleneck without a compute node on the far side parts from the data."""
    inside = frozenset(found.cut)
    if found.collective.only_reduces:
        inside = frozenset(range(len(topology.nodes))) - inside
    return enlisted - inside if inside.issuperset(topology.compute) else frozenset()
