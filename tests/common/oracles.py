"""Optima and bounds by definition. Every set of nodes is tried, so networks must be small."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations
from math import floor, lcm

from forestcoll.demand.collective import Collective
from forestcoll.solver.forests.value import TreeOptimum
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


def is_full_duplex(topology: Topology) -> bool:
    bandwidths = bandwidths_of(topology)
    return all(bandwidths.get(arc[::-1]) == bandwidth for arc, bandwidth in bandwidths.items())


def exit_bandwidth(topology: Topology, inside: frozenset[int]) -> Fraction:
    leaving = [link for link in topology.links if link.source in inside and link.target not in inside]
    return sum((link.bandwidth for link in leaving), Fraction(0))


def algbw_of_cut(best: TreeOptimum) -> Fraction:
    """Return the upper bound on algbw by the cut of an optimum."""
    inside, members = set(best.cut), best.members
    shards = dict(zip(members, best.demand.parts(best.topology), strict=True))
    reduces = best.collective.only_reduces
    leaves = sum((part for node, part in shards.items() if (node in inside) != reduces), Fraction(0))
    if best.collective is Collective.ALLREDUCE:
        leaves = Fraction(1)
    return exit_bandwidth(best.topology, frozenset(inside)) / leaves


def check_bound(best: TreeOptimum) -> None:
    """Check the proof, that the optimum is at most the bound, and the stated properties of the cut."""
    assert best.bound.collective is best.collective
    assert best.bound.proof.algbw(best.topology, best.demand) == best.bound.algbw
    assert best.algbw <= best.bound.algbw <= algbw_of_cut(best)
    assert list(best.cut) == sorted(set(best.cut))
    assert best.compute_inside == len(set(best.cut).intersection(best.members))
    assert 0 < best.compute_inside < len(best.members)
    assert best.exit_bandwidth == exit_bandwidth(best.topology, frozenset(best.cut))


def sums(amounts: Iterable[int]) -> list[int]:
    """Return the sum of amounts over each set of nodes; bit v of the set's number stands for node v."""
    found = [0]
    for amount in amounts:
        found += [each + amount for each in found]
    return found


def exits(nodes: int, capacities: Mapping[Arc, int]) -> list[int]:
    """Return the capacity that leaves each set of nodes, numbered as in `sums`.

    A node adds all that leaves it to a set of lower nodes, less what is between them, in both directions.
    """
    found, leaving = [0], [0] * nodes
    both_ways = [[0] * nodes for _ in range(nodes)]
    for (tail, head), capacity in capacities.items():
        leaving[tail] += capacity
        both_ways[tail][head] += capacity
        both_ways[head][tail] += capacity
    for node, out in enumerate(leaving):
        between = sums(both_ways[node][:node])
        found += [each + out - less for each, less in zip(found, between, strict=True)]
    return found


def number_of(nodes: Iterable[int]) -> int:
    """Return the number of a set of nodes."""
    return sum(1 << node for node in set(nodes))


def best_allgather(topology: Topology) -> Fraction:
    """Return N times the least B+(S) / |S & compute| over all sets S that miss a compute node."""
    return best_from(topology, dict.fromkeys(topology.compute, Fraction(1, len(topology.compute))))


def best_from(topology: Topology, shards: Mapping[int, Fraction]) -> Fraction:
    """Return the least B+(S) / (shards inside S) over all sets S that miss a compute node and hold data."""
    return best_of_group(topology, topology.compute, shards, reduces=False)


def best_towards(topology: Topology, shards: Mapping[int, Fraction]) -> Fraction:
    """Return the least B+(S) / (shards outside S) over all sets S with a compute node that miss shards."""
    return best_of_group(topology, topology.compute, shards, reduces=True)


def least_exit(topology: Topology, ranks: Sequence[int] | None = None) -> Fraction:
    """Return the least B+(S) over all sets S with some but not all compute nodes, or ranks."""
    members = number_of(topology.compute if ranks is None else ranks)
    capacities, unit = _in_units(topology)
    found = enumerate(exits(len(topology.nodes), capacities))
    return min(out for inside, out in found if 0 < inside & members < members) * unit


def best_of_group(
    topology: Topology, ranks: Sequence[int], shards: Mapping[int, Fraction], *, reduces: bool
) -> Fraction:
    """Return the least B+(S) / (what must leave S) over all sets S with some but not all `ranks`."""
    members, whole = number_of(ranks), lcm(*(shard.denominator for shard in shards.values()))
    capacities, unit = _in_units(topology)
    held = sums(int(shards.get(node, Fraction(0)) * whole) for node in range(len(topology.nodes)))
    least: dict[int, int] = {}
    for inside, (out, data) in enumerate(zip(exits(len(topology.nodes), capacities), held, strict=True)):
        leaves = held[-1] - data if reduces else data
        if leaves and 0 < inside & members < members:
            least[leaves] = min(out, least.get(leaves, out))
    return min(Fraction(out, leaves) for leaves, out in least.items()) * unit * whole


def _in_units(topology: Topology) -> tuple[dict[Arc, int], Fraction]:
    """Return all bandwidths as integers, and their unit."""
    unit = Fraction(1, lcm(*(link.bandwidth.denominator for link in topology.links)))
    return {arc: int(bandwidth / unit) for arc, bandwidth in bandwidths_of(topology).items()}, unit


def can_feed(
    nodes: int, capacities: Mapping[Arc, int], terminals: Sequence[int], supply: int | Mapping[int, int]
) -> bool:
    """Return whether every set of nodes without some terminal has enough exit capacity for the supplies inside it.

    `supply` is one number for all terminals, or a number for each.
    """
    compute, supplies = number_of(terminals), _of_each(nodes, terminals, supply)
    found = enumerate(zip(exits(nodes, capacities), sums(supplies), strict=True))
    return all(out >= wanted for inside, (out, wanted) in found if inside & compute != compute)


def _of_each(nodes: int, terminals: Sequence[int], supply: int | Mapping[int, int]) -> list[int]:
    supplies = dict.fromkeys(terminals, supply) if isinstance(supply, int) else supply
    return [supplies.get(node, 0) for node in range(nodes)]


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
    compute, supplies = number_of(terminals), _of_each(nodes, terminals, supply)
    u, w, t = (1 << node for node in path)
    slacks = [
        out - wanted
        for inside, (out, wanted) in enumerate(zip(exits(nodes, capacities), sums(supplies), strict=True))
        if inside & compute != compute and bool(inside & u) == bool(inside & t) != bool(inside & w)
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
    tail, head, tree = 1 << arc[0], 1 << arc[1], number_of(reached)
    slacks = [
        out - wanted
        for inside, (out, wanted) in enumerate(zip(exits(nodes, capacities), sums(others), strict=True))
        if inside & tail and not inside & head and tree & ~inside
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
