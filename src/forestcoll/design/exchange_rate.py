"""The rate of an all-to-all on a network, as a flow.

The paper has no formula for this rate on an expanded network: it solves a linear program (A.5). So does this module.
The bound by distances is `Construction.exchange_bound`.
"""

from fractions import Fraction
from functools import cache

from forestcoll.design.constructions import Construction
from forestcoll.design.path_rates import path_rates
from forestcoll.design.realisation import topology_of
from forestcoll.solver.flows.rates import ExchangeRate, exchange_rate_of
from forestcoll.solver.flows.spreading import MOST_NODES


@cache
def exchange_rate(construction: Construction) -> ExchangeRate:
    """Return the rate of an all-to-all, in units of the bandwidth of an arc.

    It is that of the best flow or, for large networks with little symmetry, near it. Networks with more than 2,048
    nodes have that of even splitting over shortest paths.
    """
    if construction.nodes > MOST_NODES:
        rates = path_rates(construction.wiring)
        reason = f"data is split evenly over shortest paths on a network of more than {MOST_NODES:,} nodes"
        return ExchangeRate(construction.nodes * Fraction(rates.reached), construction.nodes * rates.bound, reason)
    return exchange_rate_of(topology_of(construction))
