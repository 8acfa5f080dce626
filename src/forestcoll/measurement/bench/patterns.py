"""Data whose sums are known: patterns that repeat, with values so small that no sum is rounded.

The length of the period is a prime, so data at a wrong place is noticed. Averages of floats are compared within two
units in the last place, everything else exactly.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from forestcoll.runtime.engine.elements import AnyArray, ElementType, ReduceOp, bits_to_float, float_to_bits

_PERIOD = 8191
_EXACT = {
    ElementType.F16: 2**11,
    ElementType.BF16: 2**8,
    ElementType.I8: 2**7 - 1,
    ElementType.U8: 2**8 - 1,
    ElementType.I16: 2**15 - 1,
}
"""The greatest sum that each type holds exactly; 2^20 is enough for the others."""

_LAST_PLACE = {
    ElementType.F16: 2.0**-10,
    ElementType.BF16: 2.0**-7,
    ElementType.F32: 2.0**-23,
    ElementType.F64: 2.0**-52,
}

_COMBINE: dict[ReduceOp, Any] = {ReduceOp.MIN: np.min, ReduceOp.MAX: np.max, ReduceOp.PROD: np.prod}

Values = npt.NDArray[np.int64]


def factor_of(member: int) -> float:
    """Return the factor of a member in a `premul-sum`: 1 or 2."""
    return float(1 + member % 2)


def empty(element: ElementType, count: int) -> AnyArray:
    """Return an array for `count` elements; for bf16 of their bits."""
    return np.zeros(count, dtype=element.dtype)


def values_of(member: int, members: int, element: ElementType, op: ReduceOp) -> Values:
    """Return one period of a member's data, as integers from 0."""
    places = np.arange(_PERIOD, dtype=np.int64)
    if op is ReduceOp.PROD:
        twos = places // 5 % 4  # so many members have a 2 at a place; others have a 1
        return np.where((places + member) % max(members, 4) < twos, 2, 1)
    parts = {ReduceOp.PREMUL_SUM: 2 * members, ReduceOp.MIN: 1, ReduceOp.MAX: 1}.get(op, members)
    bound = max(1, _EXACT.get(element, 2**20) // parts)
    values = (places * 2654435761 + member * 40503 * 65537 >> 9) % (bound + 1)
    return values * (places % 2) if op is ReduceOp.AVG else values  # averages of small values would be constant


def combined(members: int, element: ElementType, op: ReduceOp) -> Values | npt.NDArray[np.float64]:
    """Return one period of what all members' data becomes."""
    each = np.array([values_of(member, members, element, op) for member in range(members)])
    if op is ReduceOp.PREMUL_SUM:
        each *= np.array([[int(factor_of(member))] for member in range(members)])
    if op in _COMBINE:
        found: Values = _COMBINE[op](each, axis=0)
        return found
    total: Values = each.sum(axis=0)
    if op is ReduceOp.AVG:
        return total / members if element.is_float else total // members
    return total


def fill(out: AnyArray, period: Values | npt.NDArray[np.float64], element: ElementType, begin: int = 0) -> None:
    """Write the pattern to `out`, from place `begin` of the pattern on."""
    typed = as_type(np.roll(period, -(begin % _PERIOD)), element)
    whole = out.size // _PERIOD * _PERIOD
    out[:whole].reshape(-1, _PERIOD)[:] = typed
    out[whole:] = typed[: out.size - whole]


def as_type(values: Values | npt.NDArray[np.float64], element: ElementType) -> AnyArray:
    """Return values as elements of a type; integers wrap around."""
    if element is ElementType.BF16:
        return float_to_bits(values.astype(np.float32))
    return values.astype(element.dtype)


def wrong_places(found: AnyArray, expected: AnyArray, element: ElementType, op: ReduceOp) -> int:
    """Return how many elements differ from those expected."""
    if op is not ReduceOp.AVG or not element.is_float:
        return int(np.count_nonzero(found != expected))
    one, other = (bits_to_float(each) if element is ElementType.BF16 else each for each in (found, expected))
    near = np.abs(one.astype(np.float64) - other) <= 2 * _LAST_PLACE[element] * np.abs(other.astype(np.float64))
    return int(np.count_nonzero(~near))


def gathered(counts: Sequence[int], element: ElementType) -> AnyArray:
    """Return what an allgather of shards of `counts` elements leaves."""
    out = empty(element, sum(counts))
    begin = 0
    for member, count in enumerate(counts):
        fill(out[begin : begin + count], values_of(member, len(counts), element, ReduceOp.SUM), element)
        begin += count
    return out
