"""A series of broadcasts on networks without ports, by the tree generator of this package (ForestColl §5.7).

If nodes use all their links at the same time, each link is its own port. A link that carries n messages per unit of
time is busy for n * c. So the optimum is the minimum cut between the source and another node, and the core finds a few
trees that reach it. The cut is also a certificate: the price of a unit of time on a link of the cut is the amount that
the link carries in it, and all other prices are 0.
"""

from dataclasses import replace
from fractions import Fraction

from forestcoll.base.errors import NoSolutionError
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.oneport.platform.logical import outwards
from forestcoll.oneport.platform.platform import Platform
from forestcoll.schedule.proof.prices import Port, PortKind, PricesProof
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.schedule.trees.value import Tree, TreeSchedule
from forestcoll.solver.forests.value import TreeOptimum
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.optimum import solve
from forestcoll.topology import Topology


def trees_by_links(
    platform: Platform, progress: Progress = SILENT
) -> tuple[tuple[SeriesTree, ...], PricesProof] | None:
    """Return the trees of the best broadcast on a platform without ports, with the minimum cut as certificate.

    The result is None if a switch is not balanced, so that the trees of the generator do not reach the minimum cut.
    """
    links = zip(platform.topology.links, platform.costs, strict=True)
    network = replace(platform.topology, links=tuple(replace(link, bandwidth=1 / cost) for link, cost in links))
    try:
        best, trees = trees_on(network, NodeDemand(Collective.BROADCAST, platform.source), progress)
    except NoSolutionError:
        return None
    certificate = _certificate(platform, best)
    reached = sum((tree.weight for tree in trees), Fraction(0))
    return (trees, certificate) if reached == certificate.throughput else None


def trees_on(network: Topology, demand: NodeDemand, progress: Progress) -> tuple[TreeOptimum, tuple[SeriesTree, ...]]:
    """Return the optimum of `demand` if each link is its own port and no switch copies, and the trees that reach it.

    Raises:
        NoSolutionError: a switch is not balanced, or a node cannot be reached.
    """
    best = solve(network.without_abilities(), demand, progress=progress)
    schedule = schedule_for(best, progress=progress)
    return best, tuple(
        SeriesTree(tree.share * schedule.algbw, _in_order(schedule, tree, demand)) for tree in schedule.phases[0]
    )


def _in_order(schedule: TreeSchedule, tree: Tree, demand: NodeDemand) -> tuple[tuple[int, ...], ...]:
    routes = [schedule.routes[route] for route in tree.routes]
    return tuple(routes) if demand.collective.flows_to_roots else outwards(routes, tree.root)


def _certificate(platform: Platform, best: TreeOptimum) -> PricesProof:
    inside, topology = set(best.cut), platform.topology
    prices = tuple(
        (Port(PortKind.LINK, place), 1 / platform.costs[place])
        for place, link in enumerate(topology.links)
        if link.source in inside and link.target not in inside
    )
    fed = tuple(node for node in topology.compute if node not in inside)
    return PricesProof(prices, ((Fraction(1), fed),))
