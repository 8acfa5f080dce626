"""Exact decimals of bandwidths, for formats that have no fractions."""

from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.base.units import bytes_per_microsecond
from forestcoll.topology.model import Topology

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


def in_unit(topology: Topology, value: Fraction, unit: str) -> Fraction:
    """Return a bandwidth of the network in a known unit.

    Raises:
        InputError: the unit of the network is unknown.
    """
    try:
        return value * bytes_per_microsecond(topology.bandwidth_unit) / bytes_per_microsecond(unit)
    except InputError as error:
        raise InputError(f"{topology.name}: {error}") from None
