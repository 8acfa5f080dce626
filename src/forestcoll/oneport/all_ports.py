"""Where nodes use all their links at once, a series is the broadcast of the rest of the project (ForestColl §5.7).

A link that carries n messages in a unit of time is busy n * c, and there are no other ports: so the optimum is the
least cut between the source and another node, and the core grows few trees that reach it. The cut is a certificate
here too: a unit of time on each of its links costs what the link carries in it, and nothing else costs anything.
"""

from dataclasses import replace
from fractions import Fraction

from forestcoll.collective import Collective
from forestcoll.errors import NoSolutionError
from forestcoll.generation.forest import schedule_for
from forestcoll.method import Method
from forestcoll.oneport.logical import outwards
from forestcoll.oneport.platform import Platform
from forestcoll.optima.value import Optimum
from forestcoll.progress import SILENT, Progress
from forestcoll.proof.prices import Port, PortKind, PricesProof
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.solver.optimum import optimum
from forestcoll.topology import Topology


def trees_by_links(
    platform: Platform, progress: Progress = SILENT
) -> tuple[tuple[SeriesTree, ...], PricesProof] | None:
    """Return the trees of the best broadcast on a platform without ports, and its cut as a certificate.

    None where the rest of the project has no trees for it: if a switch takes in more or less than it gives out.
    """
    network = _with_costs(platform)
    try:
        best = optimum(network, Collective.BROADCAST, root=network.nodes[platform.source].id, progress=progress)
        schedule = schedule_for(best, method=Method.AUTO, progress=progress)
    except NoSolutionError:
        return None
    return _series_trees(platform, schedule), _certificate(platform, best)


def _with_costs(platform: Platform) -> Topology:
    """Return the network whose bandwidths are what costs allow, and whose switches do not copy."""
    topology = platform.topology
    nodes = tuple(replace(node, multicast=False, aggregation=False) for node in topology.nodes)
    links = tuple(replace(link, bandwidth=1 / cost) for link, cost in zip(topology.links, platform.costs, strict=True))
    return replace(topology, nodes=nodes, links=links)


def _series_trees(platform: Platform, schedule: TreeSchedule) -> tuple[SeriesTree, ...]:
    phase = schedule.phases[0]
    return tuple(
        SeriesTree(
            share * schedule.algbw, outwards((schedule.routes[route] for route in phase.routes[place]), platform.source)
        )
        for place, share in enumerate(phase.shares)
    )


def _certificate(platform: Platform, best: Optimum) -> PricesProof:
    inside, topology = set(best.cut), platform.topology
    prices = tuple(
        (Port(PortKind.LINK, place), 1 / platform.costs[place])
        for place, link in enumerate(topology.links)
        if link.source in inside and link.target not in inside
    )
    fed = tuple(node for node in topology.compute if node not in inside)
    return PricesProof(prices, ((Fraction(1), fed),))
