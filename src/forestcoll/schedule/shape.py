"""The shape of a schedule, which determines the time of small messages. Each kind adds figures in its `shape.py`."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

from forestcoll.schedule.rows import IntArray


class Shape(ABC):
    """The shape of a schedule of any kind. Each kind has one subclass, a frozen dataclass.

    Example:
        >>> from forestcoll import generate
        >>> from forestcoll.schedule import shape_of
        >>> shape_of(generate("ring:nodes=4")).hops
        2
    """

    @property
    @abstractmethod
    def hops(self) -> int:
        """The number of links that the data of a small message crosses one after the other, first send to last."""

    @property
    @abstractmethod
    def sends(self) -> int:
        """The most sends one after the other, or the number of steps."""


def mean_by_share(values: IntArray, shares: Sequence[Fraction]) -> float:
    """Return the mean of `values`, one for each share, weighted by the shares; 0 without any shares.

    Example:
        >>> import numpy as np
        >>> mean_by_share(np.array([1, 2]), [Fraction(1, 4), Fraction(3, 4)])
        1.75
    """
    moved: dict[int, Fraction] = {}
    for value, share in zip(values.tolist(), shares, strict=True):
        moved[value] = moved.get(value, Fraction(0)) + share
    total = sum(moved.values(), Fraction(0))
    return float(sum((value * share for value, share in moved.items()), Fraction(0)) / total) if total else 0.0
