"""Capacity that must stay unused so that switches stay balanced (ForestColl §E.4, the case that it leaves open).

Rounding bandwidths down to whole trees can leave a switch of a one-way network with more capacity in than out, or the
reverse. What is too much is taken from its links, as much from each as the trees can spare, until all switches are
balanced. Every step is exact: the most that leaves the trees possible, by bisection. Taking from one link may spoil
what another order would have found, and what is too much may be handed round a cycle of switches, unit by unit, so that
it must be given up after a while: where this fails there may be a way all the same.
"""

from collections.abc import Callable, Sequence

from forestcoll.bounds.scaling import unbalanced_switch
from forestcoll.topology import Topology

_MOST_ROUNDS = 16
"""How often each switch is balanced, on average."""


def trimmed(
    topology: Topology, capacities: Sequence[int], fits: Callable[[Sequence[int]], bool]
) -> tuple[int, ...] | None:
    """Return capacities, none greater than those given, that balance all switches and still fit, or None.

    Args:
        topology: the network.
        capacities: of each link; they fit.
        fits: whether the trees fit into some capacities; what fits fits into more.
    """
    left = list(capacities)
    for _ in range(_MOST_ROUNDS * len(topology.switches)):
        found = unbalanced_switch(topology, left)
        if found is None:
            return tuple(left)
        switch, surplus = found
        ends = [link.target if surplus > 0 else link.source for link in topology.links]
        excess = abs(surplus)
        for link in [number for number, end in enumerate(ends) if end == switch]:
            spared = _most_spared(left, link, min(excess, left[link]), fits)
            left[link] -= spared
            excess -= spared
        if excess:
            return None
    return tuple(left) if unbalanced_switch(topology, left) is None else None


def _most_spared(left: Sequence[int], link: int, most: int, fits: Callable[[Sequence[int]], bool]) -> int:
    """Return the most that `link` can do without, at most `most`."""
    enough, too_much = 0, most + 1
    attempt = most
    while too_much - enough > 1:
        without = [*left[:link], left[link] - attempt, *left[link + 1 :]]
        if fits(without):
            enough = attempt
        else:
            too_much = attempt
        attempt = (enough + too_much) // 2
    return enough
