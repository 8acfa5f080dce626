"""Which parameters measured times identify.

Near the solution, the logarithm of each time is a linear function of the parameters. A parameter without influence has
a column of zeros. If columns depend on each other, some parameters can change together without any effect on the times.
Columns are divided by their lengths first, so that units do not matter.
"""

from dataclasses import dataclass

import numpy as np

from forestcoll.simulation.loads import FloatArray

_NO_INFLUENCE = 1e-7
"""The change of the times, as parts of them, below which a change of a parameter by its own value has no influence."""
_DEPENDENT = 1e-4
"""The least singular value of columns of length 1 that counts as independent."""


@dataclass(frozen=True)
class Unidentified:
    """A parameter that measured times do not identify.

    Attributes:
        name: the parameter.
        reason: why, in words.
        fix: what to do, in words.
    """

    name: str
    reason: str
    fix: str


def unidentified(names: tuple[str, ...], slopes: FloatArray, point: FloatArray) -> Unidentified | None:
    """Return a parameter that is not identified, or None if all are.

    Args:
        names: the parameters, those that are needed most first.
        slopes: the derivative of each logarithm of a time (row) by each unknown (column).
        point: the values of the unknowns.
    """
    lengths = np.linalg.norm(slopes, axis=0)
    for name, length, value in reversed(list(zip(names, lengths.tolist(), point.tolist(), strict=True))):
        if length * max(abs(value), 1e-3) < _NO_INFLUENCE:
            return Unidentified(name, "it has no influence on the measured times", _FIXES.get(name, _FIX))
    if len(names) == 1:
        return None
    *_, values, directions = np.linalg.svd(slopes / lengths, full_matrices=False)
    if values[-1] > _DEPENDENT:
        return None
    together = [name for name, part in zip(names, directions[-1].tolist(), strict=True) if abs(part) > 0.1]
    others = " and ".join(name for name in together if name != together[-1]) or "the others"
    reason = f"the measured times do not tell it from {others}"
    return Unidentified(together[-1], reason, _FIXES.get(together[-1], _FIX))


def not_needed(name: str) -> Unidentified:
    """Return a parameter without which the times are explained as well."""
    return Unidentified(name, "the measured times are explained as well without it", _FIXES.get(name, _FIX))


_FIX = "measure other sizes and schedules, or do not fit it"
_FIXES = {
    "launch_us": "also measure a schedule with another number of sends one after the other, or do not fit it",
    "overhead_us": "measure more sizes of medium messages, or do not fit it",
    "nic_efficiency": "also measure a schedule that is limited by NICs, or do not fit it",
    "rank_gbps": "also measure a schedule in which ranks send more data, or do not fit it",
    "incast": "also measure a schedule in which more ranks send to one, or do not fit it",
    "reduction_us_per_mb": "also measure a reduce-scatter or an allreduce, or do not fit it",
}
