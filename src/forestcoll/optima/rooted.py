"""The optimum of a broadcast and of a reduce, from each root (ForestColl §5.7; Edmonds' theorem).

What a root r broadcasts, M, must enter every compute node, so algbw <= the least max-flow from r to another compute
node; and where switches take in as much as they give out, spanning trees reach it (Edmonds, after splitting switches
off). A reduce to r is a broadcast from r over the reversed links. The worst root's value is the least cut between any
two compute nodes, which is the cut-set bound of an allreduce too (Theorem 1 of *On the Computation Rate of
All-Reduce*): it is the same for broadcast and reduce.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.optima.cuts import Cut, FlowNetwork
from forestcoll.optima.scaling import ScaledTopology
from forestcoll.progress import SILENT, Progress
from forestcoll.topology import Topology


@dataclass(frozen=True)
class RootedBound:
    """How fast a broadcast from a root, or a reduce to it, can be.

    Attributes:
        root: the number of the root.
        algbw: the bound, in the topology's unit.
        cut: node numbers, rising: all data must leave this set. It holds the root of a broadcast, and misses the root
            of a reduce.
    """

    root: int
    algbw: Fraction
    cut: tuple[int, ...]


def broadcast_bound(topology: Topology, root: int) -> RootedBound:
    """Return the bound of a broadcast from node number `root`: the least max-flow to another compute node."""
    scaled = ScaledTopology.of(topology)
    return _bound(scaled, root, _least_cut(FlowNetwork.of(scaled), topology, root))


def reduce_bound(topology: Topology, root: int) -> RootedBound:
    """Return the bound of a reduce to node number `root`: the least max-flow from another compute node."""
    scaled = ScaledTopology.of(topology)
    entered = _least_cut(FlowNetwork.of(scaled).reversed(), topology, root)
    return _bound(scaled, root, _complement(entered, topology))


def broadcast_bounds(topology: Topology, progress: Progress = SILENT) -> tuple[RootedBound, RootedBound]:
    """Return the bounds of a broadcast from the worst root and from the best; of equal ones the first root's."""
    scaled = ScaledTopology.of(topology)
    return _extremes(scaled, FlowNetwork.of(scaled), lambda cut: cut, progress)


def reduce_bounds(topology: Topology, progress: Progress = SILENT) -> tuple[RootedBound, RootedBound]:
    """Return the bounds of a reduce to the worst root and to the best; of equal ones the first root's."""
    scaled = ScaledTopology.of(topology)
    return _extremes(scaled, FlowNetwork.of(scaled).reversed(), lambda cut: _complement(cut, topology), progress)


def _extremes(
    scaled: ScaledTopology, network: FlowNetwork, turn: Callable[[Cut], Cut], progress: Progress
) -> tuple[RootedBound, RootedBound]:
    """Ask roots until the worst and the best are known.

    A cut that was found bounds every root inside it, so a root that such a bound keeps at or below the best needs no
    question of its own. The least cut of all holds the first root or misses it: one question each way finds it.
    """
    topology = scaled.topology
    limits: dict[int, Cut] = {}
    known: dict[int, Cut] = {}
    _limit(limits, _least_missing_first(network, topology))
    while (root := _next_root(topology.compute, limits, known)) is not None:
        progress.advance(len(known), len(topology.compute))
        known[root] = _least_cut(network, topology, root)
        _limit(limits, known[root])
    best = min(known, key=lambda each: (-known[each].capacity, each))
    worst = min(topology.compute, key=lambda each: (limits[each].capacity, each))
    return _bound(scaled, worst, turn(limits[worst])), _bound(scaled, best, turn(known[best]))


def cut_set_bound(topology: Topology) -> RootedBound:
    """Return the least exit bandwidth of a set that holds a compute node and misses one, and the set (Theorem 1).

    It holds the first compute node, and bounds a broadcast from it, or misses it, and bounds a reduce to it.
    """
    first = topology.compute[0]
    return min(broadcast_bound(topology, first), reduce_bound(topology, first), key=lambda each: each.algbw)


def _least_missing_first(network: FlowNetwork, topology: Topology) -> Cut:
    """Return a set of least exit capacity that holds a compute node and misses the first."""
    return _complement(_least_cut(network.reversed(), topology, topology.compute[0]), topology)


def _limit(limits: dict[int, Cut], found: Cut) -> None:
    for node in found.inside:
        if node not in limits or found.capacity < limits[node].capacity:
            limits[node] = found


def _next_root(compute: Iterable[int], limits: dict[int, Cut], known: dict[int, Cut]) -> int | None:
    """Return a root of which nothing is known, else the most promising one, or None if none can be better."""
    best = max((cut.capacity for cut in known.values()), default=-1)
    unlimited = next((root for root in compute if root not in limits), None)
    if unlimited is not None or not known:
        return unlimited if unlimited is not None else next(iter(compute))
    promising = [root for root in compute if root not in known and limits[root].capacity > best]
    return max(promising, key=lambda root: limits[root].capacity, default=None)


def _least_cut(network: FlowNetwork, topology: Topology, root: int) -> Cut:
    return network.least_cut_from(root, topology.compute)


def _complement(cut: Cut, topology: Topology) -> Cut:
    inside = set(cut.inside)
    return Cut(cut.capacity, tuple(node for node in range(len(topology.nodes)) if node not in inside))


def _bound(scaled: ScaledTopology, root: int, cut: Cut) -> RootedBound:
    return RootedBound(root, cut.capacity * scaled.unit, cut.inside)
