"""A lower bound of the time of all schedules of one collective, for each message size, in the model of `simulate`.

In this model a send takes at least L = alpha + overhead, and the first piece of data needs no further overhead. So a
schedule is no faster than a program of messages whose instructions take no time, and whose latency is L: `hop_bounds`
with these costs is a bound. It holds for all schedules, and so does L + M/algbw, with the bound of the optimum: data
that crosses a busy link makes a send. If the proof of the optimum is for trees only, the bound is, too.
"""

from collections.abc import Callable
from dataclasses import replace

from forestcoll.base.units import bytes_per_microsecond
from forestcoll.demand.collective import UNROOTED
from forestcoll.schedule.proof.optimum import CollectiveOptimum
from forestcoll.simulation.costs import Costs
from forestcoll.simulation.lower_bound.hop_bounds import HopBound, crossing_latency_us
from forestcoll.solver.bounds.latency import latency_bound
from forestcoll.solver.forests.value import TreeOptimum


def schedule_bound(best: CollectiveOptimum, costs: Costs | None = None) -> Callable[[int], float]:
    """Return a function from a size of M in bytes to the least time of a schedule, in microseconds.

    Args:
        best: the optimum of the collective, with its bound.
        costs: the costs of a send; the defaults of `Costs` if None.

    Raises:
        InputError: the size in bytes of the network's bandwidth unit is not known.

    Example:
        >>> from forestcoll import optimum
        >>> bound = schedule_bound(optimum("dgx-a100:boxes=2"))
        >>> [round(bound(size)) for size in (1, 2**20, 2**30)]
        [6, 14, 3103]
    """
    costs = costs or Costs()
    unit = float(bytes_per_microsecond(best.topology.bandwidth_unit) * best.bound.algbw)
    per_byte = 1 / unit / max(costs.efficiency, costs.efficiency_of_nics)
    send = costs.alpha_us + costs.overhead_us
    by_sends = _by_sends(best, replace(costs, alpha_us=send, overhead_us=0.0))

    def microseconds(size: int) -> float:
        return max(costs.launch_us + send + size * per_byte, by_sends(size))

    return microseconds


def _by_sends(best: CollectiveOptimum, costs: Costs) -> Callable[[int], float]:
    if isinstance(best, TreeOptimum) and best.collective in UNROOTED:
        return HopBound(best, (costs,), crossing_latency_us(best.topology, best.members)).microseconds
    sends = 1 if best.collective.has_root else latency_bound(best.topology, best.ranks).steps
    return lambda _: costs.launch_us + sends * costs.alpha_us
