"""The order of hosts, and so of ranks, with which NCCL's rings and trees pass the fewest links of the fabric.

NCCL's rings go from host to host in the order of the ranks, and its trees join hosts by their places in this order.
NCCL does not know the fabric. Orders are compared by the links that rings pass, and among equal ones by those of trees.
The order of the network, and that in which near hosts follow one another, are the start; a local search improves the
better one where the bound of `fabric.py` is not reached.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from forestcoll.algorithms.nccl_tree import box_trees
from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import UNROOTED, Collective, collective_named
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.groups.layout import Layout
from forestcoll.nccl.algorithms import algbw_of
from forestcoll.nccl.order.fabric import Hosts, Integers, hosts_of, ring_bound, tree_bound
from forestcoll.nccl.order.grid import grid_ring
from forestcoll.nccl.order.search import Pairs, combined, improved
from forestcoll.solver.forests.scaling import require_all_ports
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.registry import load_topology

TREES = "trees"
"""What the links of trees are called."""

_MOST_RANKS = 4096
"""The most ranks of a network whose rings are made to state their bandwidth."""


@dataclass(frozen=True)
class Crossed:
    """How many links of the fabric NCCL's rings or trees pass, once around or over all edges.

    Attributes:
        what: `rings`, `trees`, or the rings of a dimension, as `dp`.
        given: the links in the order of the network.
        best: the links in the order that was found.
        bound: no order passes fewer.
    """

    what: str
    given: int
    best: int
    bound: int

    @property
    def is_proven(self) -> bool:
        """Whether no order passes fewer links."""
        return self.best == self.bound


@dataclass(frozen=True, repr=False)
class RankOrder(Displayed):
    """An order of the hosts of a network for NCCL.

    Attributes:
        topology: the network.
        collective: the collective.
        hosts: the names of the hosts in this order, and the numbers of the compute nodes of each.
        crossed: what rings and trees pass.
        given_algbw: the algbw of NCCL's rings in the order of the network; None where it is not computed.
        algbw: the algbw in this order.
    """

    topology: Topology
    collective: Collective
    hosts: tuple[tuple[str, tuple[int, ...]], ...]
    crossed: tuple[Crossed, ...]
    given_algbw: Fraction | None = None
    algbw: Fraction | None = None

    @property
    def is_given(self) -> bool:
        """Whether it is the order of the network."""
        firsts = [members[0] for _, members in self.hosts]
        return firsts == sorted(firsts)

    @property
    def is_proven(self) -> bool:
        """Whether no order has rings that pass fewer links."""
        return all(each.is_proven for each in self.crossed if each.what != TREES)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The compute node of each rank."""
        return tuple(node for _, members in self.hosts for node in members)


def rank_order(
    topology: TopologyLike,
    collective: Collective | str = Collective.ALLREDUCE,
    *,
    layout: Layout | str | None = None,
    progress: Progress = SILENT,
) -> RankOrder:
    """Return the order of hosts with which NCCL's rings and trees pass the fewest links of the fabric.

    Args:
        topology: as for `optimum`.
        collective: an allgather, a reduce-scatter, or an allreduce, which has trees, too.
        layout: the dimensions of parallel training, such as `tp=8,dp=4`: then the rings of all groups count, those of
            the first dimension most, and no trees. None if all ranks are one group.
        progress: receives the stages of the work.

    Raises:
        InputError: an argument is not valid, or a layout is given and hosts have different numbers of GPUs.

    Example:
        >>> found = rank_order("cluster:boxes=4,boxes_per_leaf=2,oversubscription=2")
        >>> [name for name, _ in found.hosts], found.crossed[0].best, found.crossed[0].is_proven
        (['b0', 'b1', 'b2', 'b3'], 12, True)
    """
    kind = collective_named(collective)
    if kind not in UNROOTED:
        raise InputError(f"no order is better for {kind.with_article}; use {', '.join(UNROOTED)}")
    network = load_topology(topology)
    require_all_ports(network)
    groups = None if layout is None else Layout.of(layout)
    if groups is not None and groups.ranks != (count := len(network.compute)):
        what = f"{groups.ranks} ranks, and {network.name} has {count} compute nodes"
        raise InputError(f"layout {groups} has {what}; the sizes must multiply to this number")
    progress.begin("finding how far hosts are from each other")
    hosts = hosts_of(network)
    traffic = list(_traffic(hosts, kind, groups))
    progress.begin("finding an order")
    order = _order(hosts, traffic)
    before, after = ([int(each.pairs.cost(hosts.distances, one)) for each in traffic] for one in (_given(hosts), order))
    crossed = tuple(
        Crossed(each.what, given, best, each.bound) for each, given, best in zip(traffic, before, after, strict=True)
    )
    found = RankOrder(network, kind, tuple((hosts.names[each], hosts.members[each]) for each in order), crossed)
    if groups is not None or len(network.compute) > _MOST_RANKS:
        return found
    progress.begin("finding the bandwidth of NCCL's rings")
    demand = NodeDemand(kind)
    given_algbw = algbw_of(network, demand, "RING")
    algbw = given_algbw if found.is_given else algbw_of(network, demand, "RING", tuple(order.tolist()))
    return replace(found, given_algbw=given_algbw, algbw=algbw)


def best_order(topology: Topology) -> tuple[int, ...] | None:
    """Return the places of the hosts of a network in the order of `rank_order` for rings; None for the given order."""
    hosts = hosts_of(topology)
    order = tuple(_order(hosts, list(_traffic(hosts, Collective.ALLGATHER, None))).tolist())
    return None if order == tuple(range(len(order))) else order


@dataclass(frozen=True)
class _Traffic:
    """What sends between hosts.

    Attributes:
        what: what a user calls it.
        pairs: the places in the order that send to each other.
        bound: the fewest links that it passes in any order.
    """

    what: str
    pairs: Pairs
    bound: int


def _given(hosts: Hosts) -> Integers:
    return np.arange(len(hosts.names))


def _traffic(hosts: Hosts, collective: Collective, layout: Layout | None) -> Iterator[_Traffic]:
    """Yield the rings of all ranks or of each dimension, and the trees of an allreduce of all ranks."""
    size = len(hosts.names)
    if layout is not None:
        yield from _by_dimension(hosts, layout)
        return
    yield _Traffic("rings", _around({tuple(range(size)): 1}), ring_bound(hosts, size, 1))
    if collective is Collective.ALLREDUCE:
        edges = [(parent, host) for tree in box_trees(size) for host, parent in enumerate(tree.parents)]
        sends = Counter((parent, host) for parent, host in edges if parent is not None)
        yield _Traffic(TREES, _pairs(sends), 2 * tree_bound(hosts))


def _by_dimension(hosts: Hosts, layout: Layout) -> Iterator[_Traffic]:
    """Yield the rings of each dimension: those of all its groups, each of which visits hosts in the order of ranks."""
    gpus = len(hosts.members[0])
    if any(len(each) != gpus for each in hosts.members):
        raise InputError(f"layout {layout}: hosts have different numbers of GPUs; leave the layout out")
    for name in layout.names:
        rings = Counter(tuple(dict.fromkeys(rank // gpus for rank in group)) for group in layout.groups(name))
        sizes, visits = {len(each) for each in rings}, Counter[int]()
        for ring, count in rings.items():
            visits.update(dict.fromkeys(ring, count))
        is_even = len(sizes) == 1 and len(set(visits.values())) == 1
        bound = ring_bound(hosts, max(sizes), rings.total()) if is_even else 0
        yield _Traffic(f"rings of {name}", _around(rings), bound)


def _around(rings: Mapping[tuple[int, ...], int]) -> Pairs:
    """Return the pairs of places that follow one another in rings, each of which counts so many times."""
    found = Counter[tuple[int, int]]()
    for ring, count in rings.items():
        if len(ring) > 1:
            found.update(dict.fromkeys(zip(ring, (*ring[1:], ring[0]), strict=True), count))
    return _pairs(found)


def _pairs(counts: Mapping[tuple[int, int], int]) -> Pairs:
    sources, targets = np.array([*counts], dtype=np.int64).reshape(-1, 2).T
    return Pairs(sources, targets, np.array([*counts.values()], dtype=np.int64))


def _order(hosts: Hosts, traffic: Sequence[_Traffic]) -> Integers:
    """Return the best order that is found; that of the network if none is better. The first traffic counts most."""
    distances, most = hosts.distances, int(hosts.distances.max())
    parts, weight = [], 1
    for each in reversed(traffic):
        parts.append((each.pairs, weight))
        weight *= 1 + most * int(each.pairs.weights.sum())
    pairs = combined(parts)

    def cost(order: Integers) -> int:
        return int(pairs.cost(distances, order))

    order = min(_given(hosts), hosts.clustered(), key=cost)
    if int(traffic[0].pairs.cost(distances, order)) > traffic[0].bound and (grid := grid_ring(distances)) is not None:
        order = min(order, grid, key=cost)
    is_proven = all(int(each.pairs.cost(distances, order)) == each.bound for each in traffic)
    return order if is_proven else improved(distances, order, pairs)
