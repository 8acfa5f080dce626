"""A network with its nodes in the order of their ids, so that a search does not depend on the order in a file.

Linear programs have several solutions, and trimming tries paths in some order. Both then depend on the numbers of
nodes, and the number of trees depends on them. With nodes in the order of their ids, the same network has the same
number of trees, whatever the order of its nodes in the file.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology
from forestcoll.topology.model import Link, NodeId

OfLink = TypeVar("OfLink")


@dataclass(frozen=True)
class NodeOrder:
    """A network in the order of its ids, and the way back.

    Attributes:
        scaled: the network in that order.
        numbers: the number in `scaled` of each node of the given network.
        given: the number in the given network of each node of `scaled`.
        links: the number in `scaled` of each link of the given network.
    """

    scaled: ScaledTopology
    numbers: tuple[int, ...]
    given: tuple[int, ...]
    links: tuple[int, ...]

    @staticmethod
    def of(scaled: ScaledTopology) -> "NodeOrder":
        """Return the network in the order of its ids."""
        topology = scaled.topology
        given = sorted(range(len(topology.nodes)), key=lambda node: id_key(topology.nodes[node].id))
        numbers = [0] * len(given)
        for number, node in enumerate(given):
            numbers[node] = number
        moved = [
            Link(numbers[link.source], numbers[link.target], link.bandwidth, link.latency_us) for link in topology.links
        ]
        order = sorted(range(len(moved)), key=lambda link: (moved[link].source, moved[link].target))
        links = [0] * len(order)
        for number, link in enumerate(order):
            links[link] = number
        weight = dict(zip(topology.compute, scaled.weights, strict=True))
        sorted_scaled = replace(
            scaled,
            topology=replace(
                topology,
                nodes=tuple(topology.nodes[node] for node in given),
                links=tuple(moved[link] for link in order),
            ),
            capacities=tuple(scaled.capacities[link] for link in order),
            weights=tuple(weight[node] for node in given if node in weight),
        )
        return NodeOrder(sorted_scaled, tuple(numbers), tuple(given), tuple(links))

    def of_links(self, values: Sequence[OfLink]) -> tuple[OfLink, ...]:
        """Return a value for each link of the given network, from those for the links of `scaled`."""
        return tuple(values[link] for link in self.links)

    def nodes(self, given: Collection[int]) -> frozenset[int]:
        """Return the numbers in `scaled` of nodes of the given network."""
        return frozenset(self.numbers[node] for node in given)

    def restored(self, topology: Topology) -> Topology:
        """Return a network on the nodes of `scaled` with the nodes in the given order."""
        given = self.given
        links = [
            Link(given[link.source], given[link.target], link.bandwidth, link.latency_us) for link in topology.links
        ]
        links.sort(key=lambda link: (link.source, link.target))
        return replace(topology, nodes=tuple(topology.nodes[number] for number in self.numbers), links=tuple(links))


def id_key(identity: NodeId) -> tuple[bool, NodeId]:
    """Return the key by which ids are sorted: integers first."""
    return isinstance(identity, str), identity
