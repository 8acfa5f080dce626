"""Which way packets take through an emulated network.

Data of a schedule leaves by a given link and enters by a given link; between them are only switches, and packets take a
path with the fewest switches. Other traffic, such as that of another library, goes from rank to rank by a path with the
fewest links and, among these, the greatest bandwidth; ranks on the way forward it.

Acknowledgements go back by the same links. A link of one direction has a small rate for them in the other direction,
and data avoids that direction.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.topology import Topology
from forestcoll.topology.graph.walks import cheapest

_AGAINST = 2**20
"""The cost of a direction without bandwidth; one with bandwidth costs 1."""


@dataclass(frozen=True, slots=True)
class Way:
    """The next rank on the way to another one.

    Attributes:
        leaves: the number of the node that the first link leads to.
        rank: the number of the next compute node on the path.
        enters: the number of the node before it.
    """

    leaves: int
    rank: int
    enters: int


class RoutingGraph:
    """The nodes of an emulated network with the neighbours of each.

    Args:
        topology: the network.
    """

    def __init__(self, topology: Topology) -> None:
        back = {(target, source): Fraction(0) for source, target in topology.bandwidths}
        self._bandwidth = back | dict(topology.bandwidths)
        self.neighbours: list[list[int]] = [[] for _ in topology.nodes]
        for source, target in sorted(self._bandwidth):
            self.neighbours[source].append(target)
        self.compute = frozenset(topology.compute)
        self.switches = frozenset(topology.switches)

    def bandwidth(self, source: int, target: int) -> Fraction:
        """Return the bandwidth of a direction; 0 if only acknowledgements take it."""
        return self._bandwidth[source, target]

    def costs_to(self, target: int, inside: Collection[int]) -> dict[int, int]:
        """Return of each node that can reach `target` through the nodes `inside` the cost of its cheapest path."""
        return cheapest(
            {target: 0},
            lambda node, cost: [
                (other, cost + self._cost(other, node)) for other in self.neighbours[node] if other in inside
            ],
        )

    def next_nodes(self, node: int, costs: Mapping[int, int]) -> list[int]:
        """Return the neighbours of `node` that begin a cheapest path, given what `costs_to` returned."""
        return [
            other
            for other in self.neighbours[node]
            if other in costs and costs[other] + self._cost(node, other) == costs[node]
        ]

    def _cost(self, source: int, target: int) -> int:
        return 1 if self._bandwidth[source, target] else _AGAINST


def ports(graph: RoutingGraph, target: int) -> dict[int, list[int]]:
    """Return of each switch that can reach switch `target` through switches the next ones, the widest links only."""
    costs = graph.costs_to(target, graph.switches)
    found: dict[int, list[int]] = {}
    for switch in sorted(costs.keys() - {target}):
        options = graph.next_nodes(switch, costs)
        widest = max(graph.bandwidth(switch, other) for other in options)
        found[switch] = [other for other in options if graph.bandwidth(switch, other) == widest]
    return found


def ways(graph: RoutingGraph, target: int) -> dict[int, Way]:
    """Return of each other compute node its way to the compute node `target`."""
    costs = graph.costs_to(target, graph.compute | graph.switches)
    widths: dict[int, Fraction | None] = {target: None}  # None: no limit
    following: dict[int, int] = {}
    for node in sorted(costs.keys() - {target}, key=lambda node: (costs[node], node)):
        options = {
            other: _narrower(graph.bandwidth(node, other), widths[other]) for other in graph.next_nodes(node, costs)
        }
        following[node] = max(options, key=lambda other: (options[other], -other))
        widths[node] = options[following[node]]
    return {node: _way(graph, node, following) for node in sorted(following.keys() & graph.compute)}


def _narrower(one: Fraction, other: Fraction | None) -> Fraction:
    return one if other is None else min(one, other)


def _way(graph: RoutingGraph, node: int, following: Mapping[int, int]) -> Way:
    leaves = before = following[node]
    if leaves in graph.compute:
        return Way(leaves, leaves, node)
    while following[before] not in graph.compute:
        before = following[before]
    return Way(leaves, following[before], before)
