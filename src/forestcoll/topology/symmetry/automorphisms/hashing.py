"""Hashes: numbers that look random, but are the same on every machine and in every run.

Colours of nodes are hashes, so that the colour of a multiset is a sum. Two different things may get the same hash,
though very rarely. So everything that is found by comparing hashes is tested exactly afterwards.
"""

import numpy as np
import numpy.typing as npt

_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return, for each value, another number that depends on all its bits (the finaliser of SplitMix64)."""
    values = values + _STEP
    values = (values ^ (values >> np.uint64(30))) * _FIRST
    values = (values ^ (values >> np.uint64(27))) * _SECOND
    return values ^ (values >> np.uint64(31))


def hashes(numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.uint64]:
    """Return a hash of each number."""
    return mixed(mixed(numbers.astype(np.uint64)))
