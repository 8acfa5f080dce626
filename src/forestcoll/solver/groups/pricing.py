"""Trees of groups that cost less than their demand is worth, for given prices of links.

Trees are first grown from several roots, member by member. If that finds none, the shortest trees are computed or, for
groups with many members, least arborescences.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import lcm

import numpy as np
import numpy.typing as npt

from forestcoll.base.exact import as_float
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.proof.lengths.group_lengths import least_trees, trees_from
from forestcoll.solver.allreduce.tree_packing.steiner import cheapest_tree, joined
from forestcoll.solver.forests.packed_trees import PackedTree
from forestcoll.solver.groups.master import Commodity, Master
from forestcoll.topology import Topology
from forestcoll.topology.graph.least_arborescences import LeastArborescences
from forestcoll.topology.graph.least_trees import LeastTrees
from forestcoll.topology.graph.metric import Lengths, Metric

Floats = npt.NDArray[np.float64]

_STARTS = 12
"""The most members from which a tree with any root is grown for the same prices."""

_LEAST_PRICE = 1e-7
"""The part of the mean price that is added to each price. With prices of 0, walks could contain cycles."""


class Pricing:
    """Finds cheap trees.

    Args:
        master: the linear program.
        topology: the whole network.
        relays: whether trees may pass through compute nodes outside their group.
    """

    def __init__(self, master: Master, topology: Topology, *, relays: bool) -> None:
        self._master, part = master, master.part
        self._numbers = part.link_numbers
        self._relays = np.array([node.is_compute for node in topology.nodes])
        self._own: dict[int, Topology] = {}
        for place in master.orbits.first_groups:
            members = master.groups[place].members(part)
            self._own[place] = part if relays else _without(part, set(topology.compute).difference(members))

    def metrics(self, prices: Floats) -> "Metrics":
        """Return the walks for prices of classes of links."""
        of_links = np.maximum(prices, 0.0)[self._master.of_link]
        return Metrics(self._own, of_links + _LEAST_PRICE * as_float(of_links.mean()), self._numbers)

    def exact_metrics(self, prices: Sequence[Fraction]) -> "Metrics":
        """Return the walks for exact prices of classes of links; of equal walks, those over the fewest links."""
        of_links = [prices[number] for number in self._master.of_link.tolist()]
        whole = lcm(*(price.denominator for price in of_links))
        more = len(self._master.part.nodes) ** 2  # than the links of any tree
        lengths = np.array([int(price * whole) * more + 1 for price in of_links], dtype=object)
        return Metrics(self._own, lengths, self._numbers, far=sum(lengths.tolist()) + 1)

    def candidates(self, part: Commodity, metrics: "Metrics") -> Iterator[PackedTree]:
        """Yield trees that are grown member by member."""
        members = self._members(part)
        starts = members[:: max(1, len(members) // _STARTS)] if part.root is None else [part.root]
        holders = self._holders(part)
        metric = metrics.of(part)
        copies = self._master.copies(part.op) if part.target is None else self._relays
        for root in starts:
            if (metric.distances[np.ix_([root, *holders], members)].min(axis=0) < metrics.far).all():
                yield joined(metric, copies, root, members, holders).pruned(members)

    def shortest(self, part: Commodity, metrics: "Metrics") -> Iterator[PackedTree]:
        """Yield a shortest tree or, if the group has many members, a least arborescence."""
        if part.target is not None:
            return  # the candidate is a shortest path
        members, holders = self._members(part), self._holders(part)
        metric, copies = metrics.of(part), self._master.copies(part.op)
        least = metrics.least(part, copies, members, holders)
        root = members[0] if part.root is None else part.root
        if least.length(root) < metrics.far:
            yield cheapest_tree(metric, copies, least, root, holders).pruned(members)

    def uses(self, part: Commodity, tree: PackedTree) -> dict[int, int]:
        """Return how often a tree uses each class of links."""
        of_link = self._master.of_link
        return Counter(int(of_link[self._numbers[ends]]) for ends in tree.hops(part.op))

    def _members(self, part: Commodity) -> tuple[int, ...]:
        """Return the nodes that a tree must reach."""
        if part.target is not None:
            return (part.target,)
        return self._master.groups[part.group].demand.joined(self._master.part, part.op)

    def _holders(self, part: Commodity) -> tuple[int, ...]:
        """Return the nodes that have the data of a tree, if there are several."""
        return self._master.groups[part.group].demand.holders or ()


class Metrics:
    """The walks and the shortest trees for one price of each link, each computed on first use.

    Attributes:
        far: the length of a walk or a tree that does not exist.
    """

    def __init__(
        self, own: dict[int, Topology], prices: Lengths, numbers: Mapping[tuple[int, int], int], far: float = np.inf
    ) -> None:
        self._own, self._prices, self._numbers, self.far = own, prices, numbers, far
        self._metrics: dict[tuple[int, PhaseOp], Metric] = {}
        self._least: dict[tuple[object, ...], LeastTrees | LeastArborescences] = {}

    def of(self, part: Commodity) -> Metric:
        """Return the walks for trees of a part."""
        network = self._own[part.group]
        key = (id(network), part.op)  # the networks live as long as this object
        if key not in self._metrics:
            prices = self._prices[[self._numbers[link.source, link.target] for link in network.links]]
            self._metrics[key] = Metric(network, prices, self.far, backwards=part.op is PhaseOp.REDUCE)
        return self._metrics[key]

    def least(
        self, part: Commodity, copies: npt.NDArray[np.bool_], members: tuple[int, ...], holders: tuple[int, ...]
    ) -> LeastTrees | LeastArborescences:
        """Return the shortest trees to members or, if they are many, least arborescences.

        The root stands for all holders. Groups on the same network with the same members and holders share the trees.
        """
        key = (id(self._own[part.group]), part.op, members, holders)
        if key not in self._least:
            distances, able = self.of(part).distances, np.flatnonzero(copies).tolist()
            found = trees_from(holders, distances, able, members) if holders else least_trees(distances, able, members)
            self._least[key] = found
        return self._least[key]


def _without(part: Topology, nodes: set[int]) -> Topology:
    """Return the network without the links of some nodes."""
    links = tuple(link for link in part.links if link.source not in nodes and link.target not in nodes)
    return replace(part, links=links)
