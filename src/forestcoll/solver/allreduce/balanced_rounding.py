"""Rounding of the amounts on links to integers, such that balanced nodes stay balanced.

If the amounts into a node and out of it have equal sums, each amount can be rounded up or down so that the sums stay
equal. The fractional parts of the amounts are a flow, and a flow with integer bounds has an integer solution (Hoffman).

The rounding is found by cycles. All nodes that need not balance are merged into one free node. No balanced node has
exactly one link with a fractional amount. So a walk over links with fractional amounts, in either direction, returns
to a node that it visited; it starts at the free node if that has such a link. This gives a cycle. A flow is added along
the cycle that is just large enough to make one of its amounts an integer.

Cost: at most one cycle per link, each found by a walk over at most all nodes.
"""

from collections.abc import Collection, Sequence
from fractions import Fraction
from math import floor

_FREE = -1
"""The free node: all nodes that need not balance."""


def rounded(ends: Sequence[tuple[int, int]], amounts: Sequence[Fraction], passive: Collection[int]) -> tuple[int, ...]:
    """Return `amounts`, each rounded up or down, such that every node of `passive` stays balanced.

    Args:
        ends: the source and the target of each link.
        amounts: the amount that each link carries; they are balanced at each node of `passive`.
        passive: the nodes at which the amounts must stay balanced.
    """
    left = list(amounts)
    joined = [tuple(node if node in passive else _FREE for node in each) for each in ends]
    at: dict[int, dict[int, None]] = {}
    for link, amount in enumerate(left):
        if amount.denominator == 1:
            continue
        if joined[link] == (_FREE, _FREE):
            left[link] = Fraction(floor(amount))
            continue
        for node in joined[link]:
            at.setdefault(node, {})[link] = None
    while any(at.values()):
        _add_flow_along(_cycle(joined, at), left, joined, at)
    return tuple(int(amount) for amount in left)


def _cycle(joined: Sequence[tuple[int, ...]], at: dict[int, dict[int, None]]) -> list[tuple[int, int]]:
    """Return the links of a cycle, each with 1 if the cycle follows its direction, and -1 if not."""
    node = _FREE if at.get(_FREE) else next(node for node, links in at.items() if links)
    places: dict[int, int] = {}
    walk: list[tuple[int, int]] = []
    while node not in places:
        places[node] = len(walk)
        before = walk[-1][0] if walk else None
        link = next(link for link in at[node] if link != before)
        forwards = joined[link][0] == node
        node = joined[link][1] if forwards else joined[link][0]
        walk.append((link, 1 if forwards else -1))
    return walk[places[node] :]


def _add_flow_along(
    cycle: Sequence[tuple[int, int]],
    left: list[Fraction],
    joined: Sequence[tuple[int, ...]],
    at: dict[int, dict[int, None]],
) -> None:
    """Add the least flow along the cycle that makes one of its amounts an integer."""
    amount = min(_distance_to_integer(left[link], sign) for link, sign in cycle)
    for link, sign in cycle:
        left[link] += sign * amount
        if left[link].denominator == 1:
            for node in joined[link]:
                del at[node][link]


def _distance_to_integer(amount: Fraction, sign: int) -> Fraction:
    """Return the distance to the next integer above or, if `sign` is negative, below."""
    return (floor(amount) + 1 - amount) if sign > 0 else amount - floor(amount)
