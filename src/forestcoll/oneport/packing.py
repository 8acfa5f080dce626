"""From what links carry to weighted trees, by the project's packing core (Edmonds' branchings, §5.3.2).

What a solution of SSB(G) sends over links, n, lets as much reach every node as is broadcast: so by Edmonds' theorem
trees can be packed into it, and the core does so in whole numbers. Any n will do: that of other trees as well, which
may be taken apart into fewer or lower ones.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

from forestcoll.core import RoutedTrees, core_for, is_native
from forestcoll.oneport.logical import outwards
from forestcoll.oneport.platform import Platform
from forestcoll.progress import SILENT, Progress
from forestcoll.schedule.series.value import SeriesTree


def packed_trees(
    platform: Platform, rates: Sequence[Fraction], throughput: Fraction, progress: Progress = SILENT
) -> tuple[SeriesTree, ...] | None:
    """Return trees whose weights add up to `throughput`, within `rates`.

    Args:
        platform: where.
        rates: of each link how many messages it carries in a unit of time (n); balanced at switches, and enough for
            `throughput` to reach every compute node.
        throughput: messages in a unit of time.
        progress: is told how far it is.

    Returns:
        The trees, or None where they need longer integers than the native core has.
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
    """Return of each link how many messages `trees` send over it in a unit of time."""
    rates = [Fraction(0)] * len(platform.topology.links)
    for tree in trees:
        for ends in tree.edges:
            rates[platform.numbers[ends]] += tree.weight
    return rates


def _trees(platform: Platform, routed: RoutedTrees, scale: int) -> list[SeriesTree]:
    edges = len(platform.topology.compute) - 1
    trees = []
    for place, multiplicity in enumerate(routed.multiplicities):
        paths = routed.paths[place * edges : (place + 1) * edges]
        routes = (routed.path_nodes[routed.path_starts[path] : routed.path_starts[path + 1]].tolist() for path in paths)
        trees.append(SeriesTree(Fraction(multiplicity, scale), outwards(map(tuple, routes), platform.source)))
    return trees
