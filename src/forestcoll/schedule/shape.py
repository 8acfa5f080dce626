"""The shape of a schedule, which determines the time of small messages. Each kind adds figures in its `shape.py`."""

from abc import ABC, abstractmethod


class Shape(ABC):
    """The shape of a schedule of any kind. Each kind has one subclass, a frozen dataclass.

    Example:
        >>> from forestcoll import generate, shape_of
        >>> shape_of(generate("ring:nodes=4")).hops
        2
    """

    @property
    @abstractmethod
    def hops(self) -> int:
        """The number of links that the data of a small message crosses one after the other, first send to last."""
