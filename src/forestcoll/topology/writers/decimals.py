"""Exact decimals of bandwidths, for formats that have no fractions."""

from fractions import Fraction

_MAX_DIGITS = 30
"""The most digits after the point: GB/s in GiB/s need 21."""


def decimal_text(value: Fraction) -> str | None:
    """Return a number as a decimal without rounding; None if that has too many digits.

    Example:
        >>> decimal_text(Fraction(25, 2)), decimal_text(Fraction(400)), decimal_text(Fraction(1, 3))
        ('12.5', '400', None)
    """
    scaled = value * 10**_MAX_DIGITS
    if scaled.denominator != 1:
        return None
    whole, part = divmod(scaled.numerator, 10**_MAX_DIGITS)
    digits = f"{part:0{_MAX_DIGITS}d}".rstrip("0")
    return f"{whole}.{digits}" if digits else str(whole)
