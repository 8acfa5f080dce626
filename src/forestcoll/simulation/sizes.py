"""Sizes of messages, as the command line writes them."""

from forestcoll.errors import InputError, shown
from forestcoll.units import data_size

MAX_SIZE = 2**60
"""The largest message, in bytes (1 EiB)."""

MOST_SIZES = 1_000
"""The most sizes of one table."""


def sizes_of(text: str) -> tuple[int, ...]:
    """Return the sizes, in bytes, that `text` lists: `1KB,64KiB` each of them, `1KB..1GB` doubled from end to end.

    Both ends of a range are in it, so its last step may be less than a doubling.

    Raises:
        InputError: a part is no size or none that can be used, a range runs backwards, or there are too many.
    """
    sizes: list[int] = []
    for part in text.split(","):
        first, dots, last = part.strip().partition("..")
        sizes += _range(first, last) if dots else [size_of(first)]
    if len(sizes) > MOST_SIZES:
        raise InputError(f"sizes are {len(sizes)}; ask for at most {MOST_SIZES}")
    return tuple(dict.fromkeys(sizes))


def _range(first: str, last: str) -> list[int]:
    low, high = size_of(first), size_of(last)
    if low > high:
        raise InputError(f"sizes {shown(f'{first}..{last}')} run backwards; write the smaller one first")
    sizes = [low]
    while sizes[-1] * 2 < high:
        sizes.append(sizes[-1] * 2)
    return [*sizes, high] if high > low else sizes


def size_of(text: str) -> int:
    """Return the bytes that `text` says. Raises `InputError` if that is none, or more than `MAX_SIZE`."""
    size = data_size(text)
    if size > MAX_SIZE:
        raise InputError(f"{shown(text)} is more than 2^60 bytes, the greatest size")
    return size
