"""The shape of a schedule: what a small message waits for. Each kind has more to say, in its own `shape.py`."""

from abc import ABC, abstractmethod


class Shape(ABC):
    """What all kinds of schedules say of their shape. Subclasses are frozen dataclasses, one a kind."""

    @property
    @abstractmethod
    def hops(self) -> int:
        """How many links the data of a small message crosses one after the other, from the first send to the last."""
