"""Iterations side by side: of several networks, layouts and methods, and for each value of a sweep.

A sweep changes one amount. `batch` multiplies the batch of each node, and with it the computing time, the tokens and
the activations, but not the parameters. `bandwidth` multiplies the bandwidth of all links. Schedules stay the same, so
collectives of a size M then take the time of M divided by that factor.
"""

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from forestcoll.base.errors import InputError, did_you_mean, shown
from forestcoll.base.exact import to_fraction
from forestcoll.demand.groups.layout import Layout
from forestcoll.design.workloads.iteration import Iteration
from forestcoll.design.workloads.profile import Profile


class Swept(StrEnum):
    """The amounts of a sweep, each relative to that of the profile or the network."""

    BATCH = "batch"
    BANDWIDTH = "bandwidth"


@dataclass(frozen=True)
class Sweep:
    """The values of an amount.

    Attributes:
        amount: the amount.
        values: its values, in the order given.

    Example:
        >>> Sweep.of("bandwidth=1/2,1").values
        (Fraction(1, 2), Fraction(1, 1))
    """

    amount: Swept = Swept.BATCH
    values: tuple[Fraction, ...] = (Fraction(1),)

    @staticmethod
    def of(text: str) -> "Sweep":
        """Return the sweep that a text such as `batch=1,2,4` describes.

        Raises:
            InputError: the amount is unknown, or a value is not positive or, for a batch, not an integer.
        """
        name, _, values = text.partition("=")
        if name not in list(Swept):
            raise InputError(
                f"sweep: {shown(text)}; {did_you_mean(name, map(str, Swept))}write batch=1,2,4 or bandwidth=1/2,1,2"
            )
        return Sweep(Swept(name), tuple(dict.fromkeys(_value(Swept(name), part) for part in values.split(","))))

    def of_model(self, model: Profile, value: Fraction) -> Profile:
        """Return the model with a value of the sweep."""
        return model.repeated(self.batches(value))

    def batches(self, value: Fraction) -> int:
        """Return how many batches of the profile a node has with a value of the sweep."""
        return int(value) if self.amount is Swept.BATCH else 1

    def bandwidth(self, value: Fraction) -> Fraction:
        """Return the factor of all bandwidths with a value of the sweep."""
        return value if self.amount is Swept.BANDWIDTH else Fraction(1)


def _value(amount: Swept, text: str) -> Fraction:
    expected = "an integer of 1 or more" if amount is Swept.BATCH else "a number above 0, such as 2 or 1/2"
    try:
        value = to_fraction(text.strip())
    except ValueError:
        value = Fraction(0)
    if value <= 0 or (amount is Swept.BATCH and value.denominator > 1):
        raise InputError(f"sweep: {amount} {shown(text)}; expected {expected}")
    return value


@dataclass(frozen=True)
class Case:
    """An iteration, and what it is one of.

    Attributes:
        network: the name of the network.
        nodes: the number of its compute nodes.
        batches: how many batches of the profile are trained at the same time.
        iteration: the iteration.
        sweep: the sweep.
        value: the value of the sweep.
        layout: how ranks are divided; None for data parallelism.
        method: the method that makes the schedules; None for the optimum.
    """

    network: str
    nodes: int
    batches: int
    iteration: Iteration
    sweep: Sweep
    value: Fraction
    layout: Layout | None = None
    method: str | None = None

    @property
    def batch_us(self) -> float:
        """The time of the iteration divided by its batches."""
        return self.iteration.total_us / self.batches
