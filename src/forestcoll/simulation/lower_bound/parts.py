"""What the parts of a network must receive in an allreduce: a bound for all programs of messages, not only for trees.

Divide the compute nodes into P parts. An element moves by messages from one part to another. Let a part know what any
of its nodes knows. At the end, each of the P parts knows the summands of all parts. So there are at least 2(P - 1) such
messages for each element, because P people need so many one-way calls until all know the news of all (F. Harary and
A. J. Schwenk, *The communication problem on graphs and digraphs*, 1974). If no switch copies or adds up, each message
enters its part over one link. So the links that enter parts carry the data 2(P - 1) times. So do the links that leave
parts, which is the bound of the network with its links reversed.

The parts are found by merging: from single nodes on, the two parts with the most bandwidth between them become one. Any
division gives a bound, so the least one that is met is taken. On machines it usually is the optimum along trees.
"""

from fractions import Fraction
from heapq import heapify, heappop, heappush

from forestcoll.topology import Topology


def most_by_parts(topology: Topology) -> Fraction:
    """Return an algbw that no allreduce of all compute nodes exceeds, if no switch copies or adds up.

    Args:
        topology: a network of at least two compute nodes.

    Example:
        >>> from forestcoll import load_topology
        >>> from forestcoll.simulation.lower_bound.parts import most_by_parts
        >>> str(most_by_parts(load_topology("mi250:boxes=1")))  # 8 pairs of GPUs; 300 GB/s enter each pair
        '1200/7'
    """
    between: dict[int, dict[int, Fraction]] = {node: {} for node in topology.compute}
    entering = Fraction(0)
    for link in topology.links:
        if link.target in between:
            entering += link.bandwidth
            if link.source in between:
                for one, other in ((link.source, link.target), (link.target, link.source)):
                    between[one][other] = between[one].get(other, Fraction(0)) + link.bandwidth
    least = entering / (2 * len(between) - 2)
    waiting = [(-most, one, other) for one, row in between.items() for other, most in row.items() if one < other]
    heapify(waiting)
    while waiting and len(between) > 2:
        negative, one, other = heappop(waiting)
        if one in between and between[one].get(other) == -negative:  # not merged since, and no larger now
            entering += negative
            for third in _merge(between, one, other):
                heappush(waiting, (-between[one][third], min(one, third), max(one, third)))
            least = min(least, entering / (2 * len(between) - 2))
    return least


def _merge(between: dict[int, dict[int, Fraction]], one: int, other: int) -> list[int]:
    """Add the part `other` to the part `one`, and return the parts whose bandwidth to `one` grew."""
    del between[one][other]
    grown = between.pop(other)
    del grown[one]
    for third, bandwidth in grown.items():
        between[one][third] = between[third][one] = between[one].get(third, Fraction(0)) + bandwidth
        del between[third][other]
    return list(grown)
