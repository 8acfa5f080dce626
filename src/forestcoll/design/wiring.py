"""Who is joined to whom: a regular network as arcs, before it becomes a `Topology`.

Expansions need what the file format has not: parallel arcs kept apart, and loops, which stand for ports without use.
Arc number u * degree + p leaves node u by its port p.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
import numpy.typing as npt

from forestcoll.design.measure import Cost, breadth_first_cost
from forestcoll.errors import InputError
from forestcoll.schedule.rows import IntArray
from forestcoll.topology import Topology
from forestcoll.topology.builder import TopologyBuilder


@dataclass(frozen=True, eq=False)
class Wiring:
    """A network in which `degree` arcs leave every node and enter it.

    Attributes:
        targets: row u holds the target of each arc that leaves u, port by port. Read-only.
    """

    targets: IntArray

    def __post_init__(self) -> None:
        self.targets.flags.writeable = False

    @staticmethod
    def of_arcs(nodes: int, arcs: Iterable[tuple[int, int]]) -> "Wiring":
        """Return the wiring with these arcs, the ports of a node in their order.

        Raises:
            InputError: nodes differ in how many arcs leave or enter them.
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
                    f"node {node} has {len(ports[node])} links out and {entered[node]} in, node 0 has {degree} out; "
                    "expansions and the finder take regular networks: give every node the same number"
                )
        return Wiring(np.array(ports, dtype=np.int32).reshape(nodes, degree))

    @staticmethod
    def of_topology(topology: Topology, *, fill_with_loops: bool = False) -> "Wiring":
        """Return the wiring of a network without switches: a link of k times the least bandwidth is k arcs.

        Args:
            topology: the network.
            fill_with_loops: give nodes that send as much as they receive, but less than others, loops for the rest.

        Raises:
            InputError: there is a switch, a bandwidth is no multiple of the least, or nodes differ in degree.
        """
        if topology.switches:
            switch = topology.nodes[topology.switches[0]].id
            raise InputError(f"{topology.name}: node {switch!r} is a switch; give a network of compute nodes alone")
        least = min(link.bandwidth for link in topology.links)
        arcs: list[tuple[int, int]] = []
        for link in topology.links:
            copies = link.bandwidth / least
            if copies.denominator > 1:
                ends = topology.ids([link.source, link.target])
                raise InputError(
                    f"{topology.name}: edge {ends[0]!r} -> {ends[1]!r}: bandwidth {link.bandwidth} is no multiple of "
                    f"the least, {least}; give links of one bandwidth, or multiples of it"
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
        """How many nodes there are."""
        return len(self.targets)

    @property
    def degree(self) -> int:
        """How many arcs leave each node."""
        return int(self.targets.shape[1])

    @cached_property
    def sources_of_arcs(self) -> IntArray:
        """Of each arc the node that it leaves."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), self.degree)

    @cached_property
    def targets_of_arcs(self) -> IntArray:
        """Of each arc the node that it enters."""
        return self.targets.ravel()

    @cached_property
    def entering_arcs(self) -> IntArray:
        """Row u holds the numbers of the arcs that enter u, rising."""
        order = np.argsort(self.targets_of_arcs, kind="stable").astype(np.int32)
        return order.reshape(self.nodes, self.degree)

    @cached_property
    def entering(self) -> IntArray:
        """Row u holds the sources of the arcs that enter u."""
        return self.sources_of_arcs[self.entering_arcs]

    @cached_property
    def pairs(self) -> npt.NDArray[np.int64]:
        """Of each arc its ends as one number, source * nodes + target."""
        return self.sources_of_arcs.astype(np.int64) * self.nodes + self.targets_of_arcs

    @property
    def has_loops(self) -> bool:
        """Whether an arc ends where it begins."""
        return bool((self.targets == np.arange(self.nodes)[:, None]).any())

    @cached_property
    def is_simple(self) -> bool:
        """Whether there are neither loops nor parallel arcs."""
        return not self.has_loops and len(np.unique(self.pairs)) == len(self.pairs)

    @cached_property
    def is_both_ways(self) -> bool:
        """Whether every arc has a twin that leads back."""
        back = self.targets_of_arcs.astype(np.int64) * self.nodes + self.sources_of_arcs
        return bool(np.array_equal(np.sort(back), np.sort(self.pairs)))

    @cached_property
    def branches(self) -> bool:
        """Whether every node has two out-neighbours or more, as the line graph's exact cost asks (Theorem 10)."""
        return self.degree > 1 and bool((self.targets.min(axis=1) != self.targets.max(axis=1)).all())

    def transposed(self) -> "Wiring":
        """Return the wiring with every arc turned round."""
        return Wiring(self.entering)

    def breadth_first_cost(self) -> Cost | None:
        """Return what the best breadth-first allgather costs, or None if the network falls apart."""
        return breadth_first_cost(self.entering)

    def topology(self, name: str, bandwidth: Fraction = Fraction(1)) -> Topology:
        """Return the network with links of `bandwidth`; parallel arcs add up, and loops are left out."""
        network = TopologyBuilder(name)
        for node in range(self.nodes):
            network.add_compute(node)
        for source, targets in enumerate(self.targets.tolist()):
            for target in targets:
                if target != source:
                    network.add_link(source, target, bandwidth)
        return network.build()


def is_mirror(wiring: Wiring, image: IntArray) -> bool:
    """Return whether `image` sends the arcs of a network to those of its transpose (Definition 6)."""
    turned = image[wiring.targets_of_arcs].astype(np.int64) * wiring.nodes + image[wiring.sources_of_arcs]
    return bool(np.array_equal(np.sort(turned), np.sort(wiring.pairs)))


def mirror_of_arcs(wiring: Wiring, image: IntArray) -> IntArray:
    """Return for each arc from u to w one from image[w] to image[u], parallel arcs in turn."""
    turned = image[wiring.targets_of_arcs].astype(np.int64) * wiring.nodes + image[wiring.sources_of_arcs]
    matched = np.empty(len(turned), dtype=np.int32)
    matched[np.argsort(turned, kind="stable")] = np.argsort(wiring.pairs, kind="stable")
    return matched
