"""A series of a collective other than a broadcast: scatter, gather, reduce, allgather and reduce-scatter.

`best_rates` says how many messages each link carries in a unit of time. The flow of a scatter or a gather is divided
into paths, always the shortest one first. For the others, the tree generator of this package finds trees on a network
whose links have these rates as bandwidths (ForestColl §5.7). The trees become a periodic schedule as those of a
broadcast do. On half-duplex nodes, violated odd sets are added and the program is solved again.
"""

import itertools
from collections.abc import Iterator
from dataclasses import replace

from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import SERIES, Collective, collective_named
from forestcoll.demand.demand import NodeDemand
from forestcoll.oneport.platform.odd_sets import violated_odd_sets
from forestcoll.oneport.platform.platform import Platform
from forestcoll.oneport.series.all_ports import trees_on
from forestcoll.oneport.series.periodic import periodic_schedule
from forestcoll.oneport.series.rates import BestRates, best_rates
from forestcoll.schedule.proof import Bound
from forestcoll.schedule.series.value import SeriesSchedule, SeriesTree
from forestcoll.topology import NodeId, TopologyLike
from forestcoll.topology.graph.overheads import without_overheads
from forestcoll.topology.graph.walks import cheapest
from forestcoll.topology.registry import load_topology


def collective_series(
    topology: TopologyLike, collective: Collective | str, source: NodeId | None = None, *, progress: Progress = SILENT
) -> SeriesSchedule:
    """Return the periodic schedule of a series of a collective with the greatest throughput, and its proof.

    Args:
        topology: the network. Its `port_model` says which links of a node can be busy at the same time.
        collective: broadcast, reduce, scatter, gather, allgather or reduce-scatter. Each node has one message of size 1
            in a collective with shards, and the root one in a broadcast.
        source: the root, by its id or, if no node has that id, by its position among the compute nodes; None for a
            collective without a root.
        progress: receives the stages.

    Returns:
        The schedule. Its `throughput` is operations in a unit of time; a message takes 1/bandwidth over a link.

    Raises:
        InputError: the collective has no series, or the source is missing, unknown or a switch.
        NoSolutionError: a compute node cannot be reached, or the period has too many digits.

    Example:
        >>> from dataclasses import replace
        >>> from forestcoll import load_topology, verify
        >>> ring = replace(load_topology("ring:nodes=4"), port_model="one-port")
        >>> schedule = collective_series(ring, "scatter", 0)
        >>> str(schedule.throughput), verify(schedule).optimal  # node 0 sends 3 messages of time 1
        ('1/3', True)
    """
    kind, topology = collective_named(collective), without_overheads(load_topology(topology))
    platform = _platform(topology, kind, source)
    best = best_rates(platform, kind, progress)
    trees = _trees(platform, kind, best, progress)
    while found := violated_odd_sets(platform, trees):
        platform = platform.with_odd_sets(found)
        best = best_rates(platform, kind, progress)
        trees = _trees(platform, kind, best, progress)
    progress.begin("colouring the links")
    parts = len(topology.compute) if kind.has_shards else 1
    return periodic_schedule(platform, trees, Bound(kind, parts * best.throughput, best.certificate), kind)


def _platform(topology: TopologyLike, kind: Collective, source: NodeId | None) -> Platform:
    topology = load_topology(topology)
    if kind not in SERIES:
        known = ", ".join(each.value for each in SERIES)
        raise InputError(f"{topology.name}: there is no series of {kind.with_article}; use one of {known}")
    if kind.has_root:
        if source is None:
            raise InputError(f"{topology.name}: a series of {kind.with_article} needs a source")
        return Platform.of(topology, source, inwards=kind.flows_to_roots)
    if source is not None:
        raise InputError(f"{topology.name}: {kind.with_article} has no source; leave it out")
    first = topology.nodes[topology.compute[0]].id
    Platform.of(topology, first, inwards=not kind.flows_to_roots, role="compute node")
    return Platform.of(topology, first, inwards=kind.flows_to_roots, role="compute node")


def _trees(platform: Platform, kind: Collective, best: BestRates, progress: Progress) -> tuple[SeriesTree, ...]:
    if kind.is_personalised:
        return tuple(_paths(platform, best, inwards=kind.flows_to_roots))
    network = platform.topology.sharing(best.rates)
    nodes = tuple(replace(node, attributes={}) for node in network.nodes)  # the rates keep within the limits of nodes
    network = replace(network, nodes=nodes, port_model=None)
    return trees_on(network, NodeDemand(kind, platform.source if kind.has_root else None), progress)[1]


def _paths(platform: Platform, best: BestRates, *, inwards: bool) -> Iterator[SeriesTree]:
    """Yield the paths of the flow between the source and each other node, the shortest ones first."""
    numbers, left = platform.topology.link_numbers, list(best.rates)
    start: dict[int, tuple[int, tuple[int, ...]]] = {platform.source: (0, (platform.source,))}

    def links_of(path: tuple[int, ...]) -> list[int]:
        return [numbers[ends[::-1] if inwards else ends] for ends in itertools.pairwise(path)]

    def onwards(node: int, way: tuple[int, tuple[int, ...]]) -> Iterator[tuple[int, tuple[int, tuple[int, ...]]]]:
        others = platform.topology.sources[node] if inwards else platform.topology.targets[node]
        for other in others:
            if left[numbers[(other, node) if inwards else (node, other)]]:
                yield other, (way[0] + 1, (*way[1], other))

    for node in platform.destinations:
        missing = best.throughput
        while missing:
            path = cheapest(start, onwards)[node][1]
            amount = min(missing, *(left[link] for link in links_of(path)))
            for link in links_of(path):
                left[link] -= amount
            missing -= amount
            yield SeriesTree(amount, tuple(_routes(platform, path[::-1] if inwards else path)))


def _routes(platform: Platform, path: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the parts of a path from one compute node to the next."""
    places = [place for place, node in enumerate(path) if platform.topology.nodes[node].is_compute]
    return (path[one : other + 1] for one, other in itertools.pairwise(places))
