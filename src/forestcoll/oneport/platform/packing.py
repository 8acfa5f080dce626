"""From the rates of links to weighted trees, by the packing algorithm of the core (Edmonds' branchings, §5.3.2).

In a solution of SSB(G), the rates n of the links allow a flow of the full throughput to every node. By Edmonds' theorem
trees can be packed into these rates. The core does this in integers. Rates from other trees can be used too: their
packing may have fewer or lower trees.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from forestcoll.base.progress import SILENT, Progress
from forestcoll.kernels import RoutedTrees, core_for, is_native
from forestcoll.oneport.platform.logical import outwards
from forestcoll.oneport.platform.platform import Platform
from forestcoll.schedule.series.value import SeriesTree


def packed_trees(
    platform: Platform, rates: Sequence[Fraction], throughput: Fraction, progress: Progress = SILENT
) -> tuple[SeriesTree, ...] | None:
    """Return trees within `rates` whose weights add up to `throughput`.

    Args:
        platform: the network with its source.
        rates: the messages that each link carries per unit of time (n). They are balanced at switches, and they allow
            a flow of `throughput` to every compute node.
        throughput: messages per unit of time.
        progress: receives the progress.

    Returns:
        The trees, or None if the computation needs longer integers than the native core has.
    """
    scale = lcm(throughput.denominator, *(rate.denominator for rate in rates))
    capacities = [int(rate * scale) for rate in rates]
    supply = int(throughput * scale)
    core = core_for(4 * (sum(capacities) + supply * len(platform.topology.nodes)))
    if not is_native(core):
        return None
    topology = platform.topology
    used = [place for place, link in enumerate(topology.links) if capacities[place] and link.target != platform.source]
    problem = core.Problem(
        len(topology.nodes),
        [topology.links[place].source for place in used],
        [topology.links[place].target for place in used],
        [capacities[place] for place in used],
        list(topology.compute),
        [int(node == platform.source) for node in topology.compute],
    )
    routed = RoutedTrees(*core.grow_trees(problem, supply, progress.advance)[0])
    return tuple(_trees(platform, routed, scale))


def rates_of(platform: Platform, trees: Sequence[SeriesTree]) -> list[Fraction]:
    """Return the number of messages that `trees` send over each link per unit of time."""
    rates = [Fraction(0)] * len(platform.topology.links)
    for tree in trees:
        for ends in tree.edges:
            rates[platform.topology.link_numbers[ends]] += tree.weight
    return rates


def _trees(platform: Platform, routed: RoutedTrees, scale: int) -> list[SeriesTree]:
    edges = len(platform.topology.compute) - 1
    trees = []
    for place, multiplicity in enumerate(routed.multiplicities):
        paths = routed.paths[place * edges : (place + 1) * edges]
        routes = (routed.path_nodes[routed.path_starts[path] : routed.path_starts[path + 1]].tolist() for path in paths)
        trees.append(SeriesTree(Fraction(multiplicity, scale), outwards(map(tuple, routes), platform.source)))
    return trees
