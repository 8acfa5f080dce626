"""A regular network as a list of arcs, before it becomes a `Topology`.

Expansions need parallel arcs and loops, which a `Topology` does not have. A loop is an unused port.
Arc number u * degree + p leaves node u through its port p.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from forestcoll.base.errors import InputError
from forestcoll.design.measure import (
    Cost,
    breadth_first_cost,
    cost_at_first_node,
    diameter,
    distance_sum,
    distance_sum_at_first_node,
)
from forestcoll.schedule.rows import IntArray
from forestcoll.topology import Topology
from forestcoll.topology.builder import TopologyBuilder


@dataclass(frozen=True, eq=False)
class Wiring:
    """A network in which `degree` arcs leave every node and `degree` arcs enter every node.

    Attributes:
        targets: row u holds the targets of the arcs that leave u, port by port. Read-only.
    """

    targets: IntArray

    def __post_init__(self) -> None:
        self.targets.flags.writeable = False

    @staticmethod
    def of_arcs(nodes: int, arcs: Iterable[tuple[int, int]]) -> "Wiring":
        """Return the wiring with these arcs. The ports of a node follow the order of `arcs`.

        Raises:
            InputError: the numbers of arcs that leave or enter the nodes differ.
        """
        ports: list[list[int]] = [[] for _ in range(nodes)]
        entered = [0] * nodes
        for source, target in arcs:
            ports[source].append(target)
            entered[target] += 1
        degree = len(ports[0])
        for node in range(nodes):
            if len(ports[node]) != degree or entered[node] != degree:
                raise InputError(
                    f"node {node} has {len(ports[node])} outgoing and {entered[node]} incoming links, node 0 has "
                    f"{degree} outgoing; give every node the same number: expansions need a regular network"
                )
        return Wiring(np.array(ports, dtype=np.int32).reshape(nodes, degree))

    @staticmethod
    def of_topology(topology: Topology, *, fill_with_loops: bool = False) -> "Wiring":
        """Return the wiring of a network without switches. A link with k times the least bandwidth becomes k arcs.

        Args:
            topology: the network.
            fill_with_loops: add loops to nodes with fewer arcs than others, if equally many arcs leave and enter them.

        Raises:
            InputError: there is a switch, a bandwidth is not a multiple of the least one, or the degrees differ.
        """
        if topology.switches:
            switch = topology.nodes[topology.switches[0]].id
            raise InputError(f"{topology.name}: node {switch!r} is a switch; give a network without switches")
        least = min(link.bandwidth for link in topology.links)
        arcs: list[tuple[int, int]] = []
        for link in topology.links:
            copies = link.bandwidth / least
            if copies.denominator > 1:
                ends = topology.ids([link.source, link.target])
                raise InputError(
                    f"{topology.name}: edge {ends[0]!r} -> {ends[1]!r}: bandwidth {link.bandwidth} is not a multiple "
                    f"of the least bandwidth, {least}; give all links the same bandwidth or multiples of it"
                )
            arcs.extend([(link.source, link.target)] * int(copies))
        if fill_with_loops:
            most = max(topology.egress)
            arcs.extend(
                (node, node) for node, sent in enumerate(topology.egress) for _ in range(int((most - sent) / least))
            )
        try:
            return Wiring.of_arcs(len(topology.nodes), arcs)
        except InputError as error:
            raise InputError(f"{topology.name}: {error}") from None

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.targets)

    @property
    def degree(self) -> int:
        """The number of arcs that leave each node."""
        return int(self.targets.shape[1])

    @cached_property
    def sources_of_arcs(self) -> IntArray:
        """The source of each arc."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), self.degree)

    @cached_property
    def targets_of_arcs(self) -> IntArray:
        """The target of each arc."""
        return self.targets.ravel()

    @cached_property
    def entering_arcs(self) -> IntArray:
        """The arcs that enter each node: row u holds their numbers in increasing order."""
        order = np.argsort(self.targets_of_arcs, kind="stable").astype(np.int32)
        return order.reshape(self.nodes, self.degree)

    @cached_property
    def entering(self) -> IntArray:
        """The sources of the arcs that enter each node, in row u for node u."""
        return self.sources_of_arcs[self.entering_arcs]

    @cached_property
    def pairs(self) -> npt.NDArray[np.int64]:
        """The two ends of each arc as one number, source * nodes + target."""
        return self.sources_of_arcs.astype(np.int64) * self.nodes + self.targets_of_arcs

    @property
    def has_loops(self) -> bool:
        """Whether an arc leads from a node to itself."""
        return bool((self.targets == np.arange(self.nodes)[:, None]).any())

    @cached_property
    def is_simple(self) -> bool:
        """Whether there are neither loops nor parallel arcs."""
        return not self.has_loops and len(np.unique(self.pairs)) == len(self.pairs)

    @cached_property
    def is_bidirectional(self) -> bool:
        """Whether every arc has a twin in the opposite direction."""
        back = self.targets_of_arcs.astype(np.int64) * self.nodes + self.sources_of_arcs
        return bool(np.array_equal(np.sort(back), np.sort(self.pairs)))

    @cached_property
    def branches(self) -> bool:
        """Whether every node has two or more out-neighbours. The line graph's cost is exact then (Theorem 10)."""
        return self.degree > 1 and bool((self.targets.min(axis=1) != self.targets.max(axis=1)).all())

    def transposed(self) -> "Wiring":
        """Return the wiring with every arc reversed."""
        return Wiring(self.entering)

    def renumbered(self, order: IntArray) -> "Wiring":
        """Return the wiring in which node i is node `order[i]` of this one."""
        place = np.empty_like(order)
        place[order] = np.arange(len(order), dtype=order.dtype)
        return Wiring(place[self.targets[order]])

    def with_copies(self, copies: int) -> "Wiring":
        """Return the degree expansion. Copy i of node v is node v * copies + i, port p to copy j is p * copies + j."""
        targets = self.targets[:, :, None] * copies + np.arange(copies)
        return Wiring(np.repeat(targets.reshape(self.nodes, -1), copies, axis=0).astype(np.int32))

    def breadth_first_cost(self, copies: int = 1) -> Cost | None:
        """Return the cost of the best breadth-first allgather on the network, or on its degree expansion by `copies`.

        Returns:
            The cost, or None if the network is not strongly connected.
        """
        return breadth_first_cost(self.entering, copies)

    def cost_at_first_node(self, copies: int = 1) -> Cost:
        """Return `breadth_first_cost` of a strongly connected network if all nodes are equivalent, else a lower bound.

        This takes much less time. The degree is at most `MAX_DEGREE`.
        """
        return cost_at_first_node(self.entering, copies)

    def diameter(self, copies: int = 1) -> int:
        """Return the greatest distance in the network, or in its degree expansion by `copies`.

        The network is strongly connected. If there are two or more copies, it has no loops.
        """
        return diameter(self.entering, copies)

    def distance_sum(self, *, at_first_node: bool = False) -> int:
        """Return the sum of the distances between all ordered pairs of nodes of a strongly connected network.

        Args:
            at_first_node: count at one node, because all nodes are equivalent.
        """
        return distance_sum_at_first_node(self.targets) if at_first_node else distance_sum(self.entering)

    def topology(self, name: str, bandwidth: Fraction = Fraction(1)) -> Topology:
        """Return the network with arcs of `bandwidth`. Parallel arcs become one link, and loops are left out."""
        network = TopologyBuilder(name)
        for node in range(self.nodes):
            network.add_compute(node)
        for source, targets in enumerate(self.targets.tolist()):
            for target in targets:
                if target != source:
                    network.add_link(source, target, bandwidth)
        return network.build()


def is_mirror(wiring: Wiring, image: IntArray) -> bool:
    """Return whether `image` maps the arcs of a network to the arcs of its transpose (Definition 6)."""
    reversed_arcs = image[wiring.targets_of_arcs].astype(np.int64) * wiring.nodes + image[wiring.sources_of_arcs]
    return bool(np.array_equal(np.sort(reversed_arcs), np.sort(wiring.pairs)))


def mirror_of_arcs(wiring: Wiring, image: IntArray) -> IntArray:
    """Return, for each arc from u to w, an arc from image[w] to image[u]. Parallel arcs get different images."""
    reversed_arcs = image[wiring.targets_of_arcs].astype(np.int64) * wiring.nodes + image[wiring.sources_of_arcs]
    matched = np.empty(len(reversed_arcs), dtype=np.int32)
    matched[np.argsort(reversed_arcs, kind="stable")] = np.argsort(wiring.pairs, kind="stable")
    return matched
