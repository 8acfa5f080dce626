"""Permutations of nodes or links as arrays: `image[place]` is where `place` is sent."""

from collections.abc import Sequence

import numpy as np

from forestcoll.schedule.rows import IntArray


def power(image: IntArray, exponent: int) -> IntArray:
    """Return what `image` does when it is applied `exponent` times."""
    result: IntArray = np.arange(len(image))
    for digit in f"{exponent:b}":
        result = result[result]
        if digit == "1":
            result = image[result]
    return result


def orbits(images: Sequence[IntArray], size: int) -> IntArray:
    """Return of each number below `size` the least that products of the permutations `images` take it to.

    Along the powers of one permutation, twice as many each time, the least is found in as many steps as its length has
    binary digits; that is repeated until no permutation finds less.
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
