"""Why a schedule is slower than the optimum, in one sentence.

If the schedule sends more data out of the cut that bounds the collective than it must, that is the reason. Otherwise
its busiest links are elsewhere, and these are named with their use and that of the links of the cut.
"""

from fractions import Fraction

import numpy as np

from forestcoll.proof import Bound, CutProof
from forestcoll.request import Demand
from forestcoll.schedule.schedule import Schedule
from forestcoll.simulation.loads import Loads
from forestcoll.simulation.simulate import loads_of

_ROUNDING = 1 + 1e-9
"""Loads are floats here; two loads with a smaller ratio are equal."""


def reason_for(schedule: Schedule, algbw: Fraction, bound: Bound, demand: Demand) -> str:
    """Return the sentence for a schedule that `verify` accepts.

    Args:
        schedule: the schedule.
        algbw: its algbw.
        bound: the bound of the collective.
        demand: the collective and its parameters.
    """
    if algbw == bound.algbw:
        return "a tie with the optimum: no schedule is faster"
    loads = loads_of(schedule)
    busiest = _busiest(loads)
    if not isinstance(bound.proof, CutProof):
        return busiest
    topology, inside = schedule.topology, set(bound.proof.inside)
    leaving = np.array([link.source in inside and link.target not in inside for link in topology.links])
    sent, needed = float(loads.parts[leaving].sum()), bound.proof.must_leave(topology, demand)
    if sent > float(needed) * _ROUNDING:
        excess = f"{sent:.4g} M leaves the bottleneck cut, where {float(needed):.4g} M would do"
        return f"{excess}; {busiest}"
    used = sent / float(bound.proof.exit_bandwidth(topology) * max(_times(loads)))
    return f"the links of the bottleneck cut are busy {used:.0%} of the time; {busiest}"


def _times(loads: Loads) -> list[Fraction]:
    """Return the time of each link for one unit of M."""
    pairs = zip(loads.parts.tolist(), loads.topology.links, strict=True)
    return [Fraction(part) / link.bandwidth for part, link in pairs]


def _busiest(loads: Loads) -> str:
    """Name the busiest links by their bandwidth."""
    times = _times(loads)
    most = max(times)
    full = [link for link, time in zip(loads.topology.links, times, strict=True) if time * Fraction(_ROUNDING) >= most]
    bandwidths = sorted({link.bandwidth for link in full})
    unit = loads.topology.bandwidth_unit
    named = " and ".join(f"{float(each):g} {unit}" for each in bandwidths[:2])
    return f"{_counted(len(full))} of {named} {'is' if len(full) == 1 else 'are'} always busy"


def _counted(links: int) -> str:
    return f"{links} link{'s' * (links != 1)}"
