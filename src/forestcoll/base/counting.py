"""Numbers with their nouns, for messages and results."""

from fractions import Fraction


def plural(count: int, noun: str, nouns: str = "") -> str:
    """Return a number with its noun in the singular or plural.

    Args:
        count: the number.
        noun: the singular.
        nouns: the plural; if it is empty, the singular with an s.

    Example:
        >>> plural(1, "link"), plural(2048, "link"), plural(2, "switch", "switches")
        ('1 link', '2,048 links', '2 switches')
    """
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def times(count: int | Fraction) -> str:
    """Return how often something happens.

    Example:
        >>> times(1), times(2), times(Fraction(5, 2))
        ('once', 'twice', '5/2 times')
    """
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"
