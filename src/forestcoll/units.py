"""Bytes and bytes per second, by the names that people write."""

import re
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

_BYTES = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
}
_SIZE = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,9})?)\s*([A-Za-z]*)\s*")
MAX_SIZE = 2**60
"""The largest message, in bytes (1 EiB)."""


def bytes_per_second(unit: str, *, where: str) -> Fraction:
    """Return what one `unit` of bandwidth is.

    Raises:
        InputError: nobody knows; the message begins with `where`.
    """
    if unit not in BYTES_PER_SECOND:
        known = ", ".join(BYTES_PER_SECOND)
        raise InputError(f"{where}: its bandwidths are in {shown(unit)}; times need one of {known}")
    return BYTES_PER_SECOND[unit]


def parse_size(text: str) -> int:
    """Return the bytes that `text` says, such as `1KB` (10^3), `1KiB` (2^10), `0.5GB` or `4096`.

    Raises:
        InputError: it says none, not a whole number of them, none at all, or more than `MAX_SIZE`.
    """
    found = _SIZE.fullmatch(text)
    unit = None if found is None else _BYTES.get(found[2].lower())
    if found is None or unit is None:
        raise InputError(f"{shown(text)} is no size; write bytes, or a number with KB, MB, GB, KiB, MiB or GiB")
    size = Fraction(found[1]) * unit
    if size.denominator != 1 or not 0 < size <= MAX_SIZE:
        raise InputError(f"{shown(text)} is no whole number of bytes between 1 and {MAX_SIZE}")
    return int(size)


def size_name(size: int) -> str:
    """Return `size` bytes as people write it: `1MB`, `64KiB`, `1.5GB`, else rounded."""
    for names in (("TB", "GB", "MB", "KB"), ("TiB", "GiB", "MiB", "KiB")):
        for name in names:
            unit = _BYTES[name.lower()]
            if size >= unit and size % unit == 0:
                return f"{size // unit}{name}"
    for name in ("TB", "GB", "MB", "KB"):
        if size >= _BYTES[name.lower()]:
            return f"{size / _BYTES[name.lower()]:.4g}{name}"
    return f"{size}B"
