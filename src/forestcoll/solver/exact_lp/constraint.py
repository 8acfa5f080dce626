"""A condition of a linear program."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Constraint:
    """A condition on columns: `lower` <= the sum of coefficient times column <= `upper`; None means no limit."""

    coefficients: Mapping[int, int]
    lower: int | None
    upper: int | None
