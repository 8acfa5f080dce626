"""Optima and bounds by definition. Every set of nodes is tried, so networks must be small."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import floor

from forestcoll.demand.collective import Collective
from forestcoll.solver.forests.value import Optimum
from forestcoll.topology import Topology

Arc = tuple[int, int]


def subsets(nodes: Sequence[int]) -> Iterator[frozenset[int]]:
    """Yield every set of `nodes`."""
    sizes = (combinations(nodes, size) for size in range(len(nodes) + 1))
    return (frozenset(each) for each in chain.from_iterable(sizes))


def exit_of(inside: frozenset[int], capacities: Mapping[Arc, int]) -> int:
    """Return the capacity that leaves `inside`."""
    return sum(capacity for (tail, head), capacity in capacities.items() if tail in inside and head not in inside)


def bandwidths_of(topology: Topology) -> dict[Arc, Fraction]:
    return {(link.source, link.target): link.bandwidth for link in topology.links}


def exit_bandwidth(topology: Topology, inside: frozenset[int]) -> Fraction:
    leaving = [link for link in topology.links if link.source in inside and link.target not in inside]
    return sum((link.bandwidth for link in leaving), Fraction(0))


def algbw_of_cut(best: Optimum) -> Fraction:
    """Return the upper bound on algbw by the cut of an optimum."""
    inside, members = set(best.cut), best.members
    shards = dict(zip(members, best.demand.parts(best.topology), strict=True))
    reduces = best.collective.only_reduces
    leaves = sum((part for node, part in shards.items() if (node in inside) != reduces), Fraction(0))
    if best.collective is Collective.ALLREDUCE:
        leaves = Fraction(1)
    return exit_bandwidth(best.topology, frozenset(inside)) / leaves


def check_bound(best: Optimum) -> None:
    """Check the proof, that the optimum is at most the bound, and the stated properties of the cut."""
    assert best.bound.collective is best.collective
    assert best.bound.proof.algbw(best.topology, best.demand) == best.bound.algbw
    assert best.algbw <= best.bound.algbw <= algbw_of_cut(best)
    assert list(best.cut) == sorted(set(best.cut))
    assert best.compute_inside == len(set(best.cut).intersection(best.members))
    assert 0 < best.compute_inside < len(best.members)
    assert best.exit_bandwidth == exit_bandwidth(best.topology, frozenset(best.cut))


def best_allgather(topology: Topology) -> Fraction:
    """Return N times the least B+(S) / |S & compute| over all sets S that miss a compute node."""
    return best_from(topology, dict.fromkeys(topology.compute, Fraction(1, len(topology.compute))))


def best_from(topology: Topology, shards: Mapping[int, Fraction]) -> Fraction:
    """Return the least B+(S) / (shards inside S) over all sets S that miss a compute node and hold data."""
    ratios = [
        exit_bandwidth(topology, inside) / held
        for inside in _proper_sets(topology)
        if (held := sum((shards[node] for node in shards if node in inside), Fraction(0)))
    ]
    return min(ratios)


def best_towards(topology: Topology, shards: Mapping[int, Fraction]) -> Fraction:
    """Return the least B+(S) / (shards outside S) over all sets S with a compute node that miss shards."""
    ratios = [
        exit_bandwidth(topology, inside) / wanted
        for inside in _proper_sets(topology)
        if (wanted := sum((shards[node] for node in shards if node not in inside), Fraction(0)))
    ]
    return min(ratios)


def least_exit(topology: Topology, ranks: Sequence[int] | None = None) -> Fraction:
    """Return the least B+(S) over all sets S with some but not all compute nodes, or ranks."""
    return min(exit_bandwidth(topology, inside) for inside in _proper_sets(topology, ranks))


def best_of_group(
    topology: Topology, ranks: Sequence[int], shards: Mapping[int, Fraction], *, reduces: bool
) -> Fraction:
    """Return the least B+(S) / (what must leave S) over all sets S with some but not all `ranks`."""
    ratios = []
    for inside in _proper_sets(topology, ranks):
        leaves = sum((shard for node, shard in shards.items() if (node in inside) != reduces), Fraction(0))
        if leaves:
            ratios.append(exit_bandwidth(topology, inside) / leaves)
    return min(ratios)


def _proper_sets(topology: Topology, ranks: Sequence[int] | None = None) -> Iterator[frozenset[int]]:
    compute = frozenset(topology.compute if ranks is None else ranks)
    sets = subsets(range(len(topology.nodes)))
    return (inside for inside in sets if inside & compute and not compute <= inside)


def can_feed(
    nodes: int, capacities: Mapping[Arc, int], terminals: Sequence[int], supply: int | Mapping[int, int]
) -> bool:
    """Return whether every set of nodes without some terminal has enough exit capacity for the supplies inside it.

    `supply` is one number for all terminals, or a number for each.
    """
    compute = frozenset(terminals)
    supplies = dict.fromkeys(terminals, supply) if isinstance(supply, int) else supply
    return all(
        exit_of(inside, capacities) >= sum(supplies[node] for node in inside & compute)
        for inside in subsets(range(nodes))
        if not compute <= inside
    )


def rounded(topology: Topology, scale: Fraction) -> dict[Arc, int]:
    """Return every bandwidth times `scale`, rounded down."""
    return {arc: floor(scale * bandwidth) for arc, bandwidth in bandwidths_of(topology).items()}


def best_scale(topology: Topology, trees: int) -> Fraction:
    """Return the least U for which the bandwidths U b, rounded down, allow `trees` trees from every compute node."""
    return best_scale_of(topology, dict.fromkeys(topology.compute, trees))


def best_scale_of(topology: Topology, supplies: Mapping[int, int]) -> Fraction:
    """Return the least U for which the bandwidths U b, rounded down, allow the supply of each compute node.

    Tries all values j/b in increasing order: the rounded bandwidths change only at these values.
    """
    enough = sum(supplies.values())  # with this capacity on every link, all trees fit
    bandwidths = {link.bandwidth for link in topology.links}
    scales = sorted({count / bandwidth for bandwidth in bandwidths for count in range(1, enough + 1)})
    nodes = len(topology.nodes)
    return next(scale for scale in scales if can_feed(nodes, rounded(topology, scale), topology.compute, supplies))


def overdrawn_switches(topology: Topology, capacities: Mapping[Arc, int]) -> set[int]:
    """Return the switches whose outgoing `capacities` add up to more than the incoming ones."""
    surplus = dict.fromkeys(range(len(topology.nodes)), 0)
    for (tail, head), capacity in capacities.items():
        surplus[tail] -= capacity
        surplus[head] += capacity
    return {switch for switch in topology.switches if surplus[switch] < 0}


def most_split(
    nodes: int,
    capacities: Mapping[Arc, int],
    terminals: Sequence[int],
    supply: int | Mapping[int, int],
    *,
    path: tuple[int, int, int],
    amount: int,
) -> int:
    """Return how much of u -> w -> t, at most `amount`, can become u -> t while `can_feed` stays true."""
    u, w, t = path
    compute = frozenset(terminals)
    supplies = dict.fromkeys(terminals, supply) if isinstance(supply, int) else supply
    slacks = [
        exit_of(inside, capacities) - sum(supplies[node] for node in inside & compute)
        for inside in subsets(range(nodes))
        if not compute <= inside and ((w in inside) != (u in inside)) and ((w in inside) != (t in inside))
    ]
    return min([amount, *slacks])


def most_copies(
    nodes: int,
    capacities: Mapping[Arc, int],
    others: Sequence[int],
    *,
    reached: frozenset[int],
    arc: Arc,
    multiplicity: int,
) -> int:
    """Return mu by its definition (formula 3 of ForestColl's appendix E.3).

    All other trees consist only of their roots: `others[v]` trees have the root v.
    """
    tail, head = arc
    slacks = [
        exit_of(inside, capacities) - sum(others[node] for node in inside)
        for inside in subsets(range(nodes))
        if tail in inside and head not in inside and not reached <= inside
    ]
    return max(0, min([multiplicity, capacities.get(arc, 0), *slacks]))


def distances_of(topology: Topology) -> list[list[int]]:
    """Return the distance from each node to each other, by the algorithm of Floyd and Warshall."""
    nodes = range(len(topology.nodes))
    distances = [[0 if one == other else 99 for other in nodes] for one in nodes]
    for link in topology.links:
        distances[link.source][link.target] = 1
    for middle in nodes:
        for one in nodes:
            for other in nodes:
                through = distances[one][middle] + distances[middle][other]
                distances[one][other] = min(distances[one][other], through)
    return distances
