"""The sends of one piece of a schedule over time, such as of one tree: who sends to whom, from when to when."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Send:
    """A send.

    Attributes:
        source: the number of the node that sends.
        target: the number of the node that receives.
        begin: the time at which the source has the first byte, in seconds.
        end: the time at which the target has the last byte, in seconds.
    """

    source: int
    target: int
    begin: float
    end: float


@dataclass(frozen=True)
class RootSends:
    """The sends of one part of the data.

    Attributes:
        root: the number of the node at which the data starts or, in a reduce, ends.
        share: the part of M.
        sends: the sends, in the order in which they begin.
    """

    root: int
    share: Fraction
    sends: tuple[Send, ...]

    @property
    def seconds(self) -> float:
        """The time at which the last send is done, in seconds."""
        return max(send.end for send in self.sends)
