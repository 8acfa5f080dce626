"""Rounding what links carry to integers so that what balanced stays balanced.

Where the sums into and out of a node are equal, some rounding of each number, up or down, keeps them so: what is left
of the numbers beyond their integer parts is a flow, and a flow with integer bounds has an integer solution (Hoffman).
It is found by cycles: at a node that balances, a link with a fraction never comes alone; so a walk over such links,
forwards or backwards, from the free end if there is one, comes back to a node that it was at, and as much is sent round
that cycle as makes one of its numbers an integer. Nodes that need not balance are one node, the free end.

Cost: at most as many cycles as there are links, each found by a walk over at most all nodes.
"""

from collections.abc import Collection, Sequence
from fractions import Fraction
from math import floor

_FREE = -1
"""All nodes that need not balance."""


def rounded(ends: Sequence[tuple[int, int]], amounts: Sequence[Fraction], passive: Collection[int]) -> tuple[int, ...]:
    """Return `amounts`, each rounded up or down, with every passive node still given as much as it gives.

    Args:
        ends: of each link its source and its target.
        amounts: of each link what it carries; at each node of `passive` they balance.
        passive: the nodes at which they must balance.
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
        _send_round(_cycle(joined, at), left, joined, at)
    return tuple(int(amount) for amount in left)


def _cycle(joined: Sequence[tuple[int, ...]], at: dict[int, dict[int, None]]) -> list[tuple[int, int]]:
    """Return the links of a cycle, each with 1 if it is walked along and -1 if against its direction."""
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


def _send_round(
    cycle: Sequence[tuple[int, int]],
    left: list[Fraction],
    joined: Sequence[tuple[int, ...]],
    at: dict[int, dict[int, None]],
) -> None:
    """Send as much round the cycle as makes the first number of it an integer."""
    amount = min(_room(left[link], sign) for link, sign in cycle)
    for link, sign in cycle:
        left[link] += sign * amount
        if left[link].denominator == 1:
            for node in joined[link]:
                del at[node][link]


def _room(amount: Fraction, sign: int) -> Fraction:
    """Return how far it is to the next integer above, or below where `sign` is negative."""
    return (floor(amount) + 1 - amount) if sign > 0 else amount - floor(amount)
