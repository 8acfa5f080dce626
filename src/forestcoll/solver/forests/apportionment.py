"""Rounding of amounts to integers with a given sum (Hamilton's method)."""

from collections.abc import Sequence
from fractions import Fraction
from math import floor


def apportioned(amounts: Sequence[Fraction], total: int) -> list[int]:
    """Return integers that add up to `total`, in proportion to the amounts.

    Example:
        >>> apportioned([Fraction(1), Fraction(1), Fraction(1)], 4)
        [2, 1, 1]
    """
    exact = [amount * total / sum(amounts) for amount in amounts]
    counts = [floor(amount) for amount in exact]
    by_remainder = sorted(range(len(exact)), key=lambda place: (counts[place] - exact[place], place))
    for place in by_remainder[: total - sum(counts)]:
        counts[place] += 1
    return counts
