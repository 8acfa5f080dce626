"""The bound of a broadcast from each root, and of a reduce to it (ForestColl §5.7; Edmonds' theorem).

The data M that a root r broadcasts must enter every compute node, so algbw <= the least max-flow from r to another
compute node. If all switches are balanced, spanning trees reach this bound (Edmonds' theorem, after edge splitting). A
reduce to r is a broadcast from r over the reversed links. The bound of the worst root is the least cut between any two
compute nodes, so it is the same for broadcast and reduce. It is also the cut-set bound of an allreduce (Theorem 1 of
*On the Computation Rate of All-Reduce*).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from forestcoll.base.progress import SILENT, Progress
from forestcoll.solver.forests.cuts import Cut, FlowNetwork
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.registry import load_topology


@dataclass(frozen=True)
class RootedBound:
    """The greatest algbw of a broadcast from a root, or of a reduce to it.

    Attributes:
        root: the number of the root.
        algbw: the bound, in the unit of the topology.
        cut: the set of nodes that all data must leave, node numbers in rising order. It contains the root of a
            broadcast, and misses the root of a reduce.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.solver import broadcast_bound
        >>> bound = broadcast_bound(load_topology("ring:nodes=3"), root=0)
        >>> bound.root, str(bound.algbw), bound.cut
        (0, '2', (0, 2))
    """

    root: int
    algbw: Fraction
    cut: tuple[int, ...]


def broadcast_bound(topology: TopologyLike, root: int) -> RootedBound:
    """Return the bound of a broadcast from a root: the least max-flow to another compute node.

    Args:
        topology: the network.
        root: the number of the root, a compute node.

    Returns:
        The bound, in the unit of the topology, with the cut that proves it.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.solver import broadcast_bound
        >>> str(broadcast_bound(load_topology("dgx-a100:boxes=2"), root=0).algbw)
        '200'
    """
    return _Cuts.of(load_topology(topology)).bound_of(root)


def reduce_bound(topology: TopologyLike, root: int) -> RootedBound:
    """Return the bound of a reduce to a root: the least max-flow from another compute node.

    Args:
        topology: the network.
        root: the number of the root, a compute node.

    Returns:
        The bound, in the unit of the topology, with the cut that proves it.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.solver import reduce_bound
        >>> str(reduce_bound(load_topology("dgx-a100:boxes=2"), root=0).algbw)
        '200'
    """
    return _Cuts.of(load_topology(topology), reverses=True).bound_of(root)


def broadcast_bounds(topology: Topology, progress: Progress = SILENT) -> tuple[RootedBound, RootedBound]:
    """Return the bounds of a broadcast from the worst and the best root; of equal roots, the first."""
    return _Cuts.of(topology).extremes(progress)


def reduce_bounds(topology: Topology, progress: Progress = SILENT) -> tuple[RootedBound, RootedBound]:
    """Return the bounds of a reduce to the worst and the best root; of equal roots, the first."""
    return _Cuts.of(topology, reverses=True).extremes(progress)


@dataclass(frozen=True, eq=False)
class _Cuts:
    """The least cuts of the roots of a broadcast, or of a reduce, which is a broadcast over the reversed links.

    Attributes:
        scaled: the topology.
        reverses: whether the links are reversed.
    """

    scaled: ScaledTopology
    reverses: bool

    @staticmethod
    def of(topology: Topology, *, reverses: bool = False) -> "_Cuts":
        return _Cuts(ScaledTopology.of(topology), reverses)

    @property
    def compute(self) -> tuple[int, ...]:
        return self.scaled.topology.compute

    @cached_property
    def network(self) -> FlowNetwork:
        network = FlowNetwork.of(self.scaled)
        return network.reversed() if self.reverses else network

    def bound_of(self, root: int) -> RootedBound:
        """Return the bound of one root."""
        return self._bound(root, self._least(root))

    def extremes(self, progress: Progress) -> tuple[RootedBound, RootedBound]:
        """Find the least cuts of roots until the worst and the best root are known.

        A cut bounds every root inside it. So no cut is computed for a root whose limit is not above the best value so
        far. The least cut of all either contains the first root or misses it: one cut is computed for each case.
        """
        limits: dict[int, Cut] = {}
        known: dict[int, Cut] = {}
        _limit(limits, self._least_missing_first())
        while (root := _next_root(self.compute, limits, known)) is not None:
            progress.advance(len(known), len(self.compute))
            known[root] = self._least(root)
            _limit(limits, known[root])
        best = min(known, key=lambda each: (-known[each].capacity, each))
        worst = min(self.compute, key=lambda each: (limits[each].capacity, each))
        return self._bound(worst, limits[worst]), self._bound(best, known[best])

    def _least(self, root: int) -> Cut:
        """Return a set of `network` with the least exit capacity that contains `root` and misses a compute node."""
        return self.network.least_cut_from(root, self.compute)

    def _least_missing_first(self) -> Cut:
        """Return a set with the least exit capacity of all that contain a compute node and miss the first one."""
        return self._complement(self.network.reversed().least_cut_from(self.compute[0], self.compute))

    def _complement(self, cut: Cut) -> Cut:
        inside = set(cut.inside)
        return Cut(cut.capacity, tuple(node for node in range(self.network.nodes) if node not in inside))

    def _bound(self, root: int, cut: Cut) -> RootedBound:
        """Return the bound that a set of `network` proves, with the set that the data leaves in the topology itself."""
        left = self._complement(cut) if self.reverses else cut
        return RootedBound(root, left.capacity * self.scaled.unit, left.inside)


def cut_set_bound(topology: Topology) -> RootedBound:
    """Return the least exit bandwidth of a set with some but not all compute nodes, and the set (Theorem 1).

    If the set contains the first compute node, it bounds a broadcast from that node; if not, a reduce to it.
    """
    first = topology.compute[0]
    return min(broadcast_bound(topology, first), reduce_bound(topology, first), key=lambda each: each.algbw)


def _limit(limits: dict[int, Cut], found: Cut) -> None:
    for node in found.inside:
        if node not in limits or found.capacity < limits[node].capacity:
            limits[node] = found


def _next_root(compute: Iterable[int], limits: dict[int, Cut], known: dict[int, Cut]) -> int | None:
    """Return a root without a limit, else the root with the greatest limit, or None if none can be the best."""
    best = max((cut.capacity for cut in known.values()), default=-1)
    unlimited = next((root for root in compute if root not in limits), None)
    if unlimited is not None or not known:
        return unlimited if unlimited is not None else next(iter(compute))
    promising = [root for root in compute if root not in known and limits[root].capacity > best]
    return max(promising, key=lambda root: limits[root].capacity, default=None)
