"""Bounded multi-port nodes: the division of their bandwidths between links.

All links of a node are busy at the same time, within the bandwidth that they share. Each link gets a fixed part of it,
so that the network becomes one without shared bandwidths, on which each link is its own port. If the parts are the
rates of the links in the optimum, the smaller network has the same optimum.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from forestcoll.oneport.platform.packing import rates_of
from forestcoll.oneport.platform.platform import Platform
from forestcoll.schedule.proof.prices import Port
from forestcoll.schedule.series.value import SeriesTree
from forestcoll.topology import Topology


def divided(platform: Platform, trees: Sequence[SeriesTree], *, filled: bool = False) -> Topology:
    """Return the network of the links of `trees`, each with the bandwidth that `trees` need of it.

    The links have bandwidths for the greatest throughput that the nodes allow along `trees` in proportion to their
    weights.

    Args:
        platform: the network with its source.
        trees: trees with weights.
        filled: whether links also get the bandwidth that is left at both ends, which reduces the time of a message.
    """
    rates = rates_of(platform, trees)
    busiest = max(_loads(platform, rates).values())
    rates = [rate / busiest for rate in rates]
    if filled:
        loads = _loads(platform, rates)
        rates = [
            rate / max(loads[port] for port, _ in uses) if rate else rate
            for rate, uses in zip(rates, platform.uses, strict=True)
        ]
    links = zip(platform.topology.links, rates, strict=True)
    return replace(
        platform.topology, links=tuple(replace(link, bandwidth=rate) for link, rate in links if rate), port_model=None
    )


def _loads(platform: Platform, rates: Sequence[Fraction]) -> dict[Port, Fraction]:
    """Return the time for which each port is used in a unit of time."""
    loads: dict[Port, Fraction] = {}
    for rate, uses, cost in zip(rates, platform.uses, platform.costs, strict=True):
        for port, part in uses:
            loads[port] = loads.get(port, Fraction(0)) + rate * part * cost
    return loads
