"""Message sizes as the command line and Python accept them."""

import re
from collections.abc import Iterable
from typing import SupportsIndex, TypeAlias

from forestcoll.base.errors import InputError, shown
from forestcoll.base.units import data_size, size_name

MAX_SIZE = 2**60
"""The largest message, in bytes (1 EiB)."""

MOST_SIZES = 1_000
"""The most sizes of one table."""

_DASHED = re.compile(r"([0-9][^-:]*?)\s*(?:-|:|to)\s*([0-9][^-:]*)")
"""A range as others write it."""

SizesLike: TypeAlias = SupportsIndex | str | Iterable[SupportsIndex | str]
"""Sizes in bytes: integers or texts, one or several; a text may be a list or a range, `1KiB..1GiB`."""


def sizes_of(sizes: SizesLike) -> tuple[int, ...]:
    """Return message sizes in bytes.

    A text lists sizes and ranges, separated by commas. A range `A..B` is A, 2A, 4A and so on, up to at most B. A size
    that a text lists twice is returned once.

    Args:
        sizes: an integer, a text, or several of them.

    Example:
        >>> sizes_of("1K..5K, 1MB")
        (1024, 2048, 4096, 1000000)
        >>> sizes_of(["1MiB", 2**20, 5])
        (1048576, 1048576, 5)

    Raises:
        InputError: a part is not a size, a size is too large, a range is in descending order, or there are too many
            sizes.
    """
    listed = sizes if isinstance(sizes, Iterable) and not isinstance(sizes, str) else [sizes]
    found: list[int] = []
    for each in listed:
        found += _listed(each) if isinstance(each, str) else [size_of(each)]
        if len(found) > MOST_SIZES:
            raise InputError(f"there are {len(found)} sizes; give at most {MOST_SIZES}")
    return tuple(found)


def _listed(text: str) -> Iterable[int]:
    """Return the distinct sizes that a text lists."""
    parts = text.split(",")
    if len(parts) > MOST_SIZES:
        raise InputError(f"there are {len(parts)} sizes; give at most {MOST_SIZES}")
    sizes: dict[int, None] = {}
    for part in parts:
        first, dots, last = part.strip().partition("..")
        if not dots and (ends := _DASHED.fullmatch(first)) is not None:
            raise InputError(f"{shown(first)}; write a range of sizes as {shown(f'{ends[1]}..{ends[2]}')}")
        sizes |= dict.fromkeys(_range(first, last) if dots else [size_of(first)])
    return sizes


def _range(first: str, last: str) -> list[int]:
    low, high = size_of(first), size_of(last)
    if low > high:
        backwards, forwards = shown(f"{first}..{last}"), shown(f"{last}..{first}")
        raise InputError(f"the range of sizes {backwards} runs backwards; write {forwards}")
    sizes = [low]
    while sizes[-1] * 2 <= high:
        sizes.append(sizes[-1] * 2)
    return sizes


def size_of(value: SupportsIndex | str) -> int:
    """Return the size in bytes. Raises `InputError` if `value` is not a size or the size is more than `MAX_SIZE`."""
    size = data_size(value)
    if size > MAX_SIZE:
        raise InputError(f"{shown(value)} is more than the greatest size, {size_name(MAX_SIZE)}; use a smaller one")
    return size
