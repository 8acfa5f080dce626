"""Permutations of nodes or links as arrays: `image[place]` is the image of `place`."""

from collections.abc import Sequence

import numpy as np

from forestcoll.schedule.rows import IntArray


def power(image: IntArray, exponent: int) -> IntArray:
    """Return the permutation `image` raised to the power `exponent`."""
    result: IntArray = np.arange(len(image))
    for digit in f"{exponent:b}":
        result = result[result]
        if digit == "1":
            result = image[result]
    return result


def orbits(images: Sequence[IntArray], size: int) -> IntArray:
    """Return, for each number below `size`, the least number of its orbit under the permutations `images`.

    For one permutation, the least over its powers is found by doubling: 1, 2, 4, ... powers at a time. This is repeated
    for all permutations until no number changes.
    """
    least: IntArray = np.arange(size)
    while True:
        before = least
        for image in images:
            moved = image
            for _ in range(size.bit_length()):
                least = np.minimum(least, least[moved])
                moved = moved[moved]
        if np.array_equal(before, least):
            return least
