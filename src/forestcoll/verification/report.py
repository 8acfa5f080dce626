"""What `verify` answers: a value, for whoever wrote a bad schedule did not call us wrongly."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.topology import NodeId


@dataclass(frozen=True, slots=True)
class Fault:
    """The first broken rule, at the first place that breaks it.

    Attributes:
        rule: the rule's identifier, which stays the same from version to version.
        message: one line: where, what, the value, and what was expected.
    """

    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """What a schedule sends over one link.

    Attributes:
        source: the id of the node that sends.
        target: the id of the node that receives.
        load: the data that crosses the link, as a fraction of M.
        bandwidth: of the link, in the topology's unit.
    """

    source: NodeId
    target: NodeId
    load: Fraction
    bandwidth: Fraction

    @property
    def time(self) -> Fraction:
        """How long the link is busy for one unit of M."""
        return self.load / self.bandwidth


@dataclass(frozen=True, slots=True)
class Report:
    """The judgement of a schedule.

    Attributes:
        fault: the first broken rule, or None if the schedule is right.
        algbw: the achieved bandwidth, recomputed from the links' loads; None if a fault leaves it without a meaning.
        optimal: whether the schedule is right and reaches the bound that its certificate proves.
        busiest: the first few of the links that set the pace, by node number.
        busiest_count: how many links set the pace.
    """

    fault: Fault | None
    algbw: Fraction | None = None
    optimal: bool = False
    busiest: tuple[LinkLoad, ...] = ()
    busiest_count: int = 0

    @property
    def ok(self) -> bool:
        """Whether every rule holds."""
        return self.fault is None
