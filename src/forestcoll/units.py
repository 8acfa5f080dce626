"""Units at the boundary: what a bandwidth's unit is in bytes, and data sizes as text."""

import re
from fractions import Fraction

from forestcoll.errors import InputError, shown
from forestcoll.exact import to_fraction

_BYTES_PER_SECOND = {
    "B/s": 1,
    "KB/s": 10**3,
    "MB/s": 10**6,
    "GB/s": 10**9,
    "TB/s": 10**12,
    "KiB/s": 2**10,
    "MiB/s": 2**20,
    "GiB/s": 2**30,
    "Mb/s": 10**6 // 8,
    "Mbit/s": 10**6 // 8,
    "Mbps": 10**6 // 8,
    "Gb/s": 10**9 // 8,
    "Gbit/s": 10**9 // 8,
    "Gbps": 10**9 // 8,
}

_BYTES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(r"\s*([0-9.]+(?:[eE][0-9]+)?)\s*([A-Za-z]*)\s*")


def has_known_size(unit: str) -> bool:
    """Return whether `bytes_per_microsecond` knows `unit`."""
    return unit in _BYTES_PER_SECOND


def bytes_per_microsecond(unit: str) -> Fraction:
    """Return how many bytes one `unit` of bandwidth moves in a microsecond.

    Raises:
        InputError: the unit is not one whose size is known.
    """
    if unit not in _BYTES_PER_SECOND:
        known = ", ".join(_BYTES_PER_SECOND)
        raise InputError(f"bandwidth_unit is {shown(unit)}, whose size in bytes is not known; use one of {known}")
    return Fraction(_BYTES_PER_SECOND[unit], 10**6)


def data_size(text: str) -> int:
    """Return the bytes that `text` says: `1000`, `1KB` (10^3), `1KiB` (2^10), `2.5MB`.

    Raises:
        InputError: it is not the size of one byte or more, or no whole number of bytes.
    """
    form = f"{shown(text)}; expected a size of 1 byte or more such as 1KB, 2.5MiB or 1GB"
    parts = _SIZE.fullmatch(text)
    if parts is None or (parts[2] or "B") not in _BYTES:
        raise InputError(form)
    try:
        size = to_fraction(parts[1]) * _BYTES[parts[2] or "B"]
    except ValueError:
        raise InputError(form) from None
    if size < 1 or size.denominator > 1:
        raise InputError(form)
    return size.numerator


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
