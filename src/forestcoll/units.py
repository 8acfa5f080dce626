"""Bytes and bytes per second, by the names that people write."""

from fractions import Fraction

from forestcoll.errors import InputError, shown

BYTES_PER_SECOND = {
    "GB/s": Fraction(10**9),
    "MB/s": Fraction(10**6),
    "GiB/s": Fraction(2**30),
    "Gb/s": Fraction(10**9, 8),
    "Gbit/s": Fraction(10**9, 8),
}
"""What one of each known unit of bandwidth is."""


def bytes_per_second(unit: str, *, where: str) -> Fraction:
    """Return what one `unit` of bandwidth is.

    Raises:
        InputError: nobody knows; the message begins with `where`.
    """
    if unit not in BYTES_PER_SECOND:
        known = ", ".join(BYTES_PER_SECOND)
        raise InputError(f"{where}: its bandwidths are in {shown(unit)}; times need one of {known}")
    return BYTES_PER_SECOND[unit]


def size_name(size: int) -> str:
    """Return `size` bytes as people write it: `1MB`, `1.024MB`, a power of two `64KiB`, else rounded to four digits."""
    decimal, exact = _scaled(size, 1000, "")
    binary, as_exact = _scaled(size, 1024, "i")
    return binary if as_exact and not exact and size & (size - 1) == 0 else decimal


def _scaled(size: int, base: int, infix: str) -> tuple[str, bool]:
    """Return `size` in the greatest unit that is not above it, and whether the four digits are all."""
    power = max(power for power in range(5) if base**power <= size)
    number = f"{size / base**power:.4g}"
    unit = f"{'KMGT'[power - 1]}{infix}B" if power else "B"
    return f"{number}{unit}", Fraction(number) * base**power == size
