"""What `verify` answers: a value, for whoever wrote a bad schedule did not call us wrongly."""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.display import Displayed
from forestcoll.proof import Bound, Proof
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


@dataclass(frozen=True)
class Report(Displayed):
    """The judgement of a schedule: what all kinds have. A kind with more to say has a subclass.

    Attributes:
        fault: the first broken rule, or None if the schedule is right.
        algbw: the achieved bandwidth for large data, computed from what crosses the links, in the topology's unit; None
            if a fault leaves it without a meaning.
        optimal: whether the schedule is right and reaches `bound`.
        bound: what no schedule beats, with its proof: the bound that the schedule claims, which was checked, or one
            that the judge found; None if there is none.
    """

    fault: Fault | None
    algbw: Fraction | None = None
    optimal: bool = False
    bound: Bound | None = None

    @property
    def ok(self) -> bool:
        """Whether every rule holds."""
        return self.fault is None

    @property
    def proof(self) -> Proof | None:
        """The proof of `bound`."""
        return None if self.bound is None else self.bound.proof


@dataclass(frozen=True)
class TreeReport(Report):
    """The judgement of a schedule of trees.

    Attributes:
        busiest: the first few of the links that set the pace, by node number.
        busiest_count: how many links set the pace.
    """

    busiest: tuple[LinkLoad, ...] = ()
    busiest_count: int = 0


@dataclass(frozen=True)
class StepReport(Report):
    """The judgement of a schedule of steps.

    Attributes:
        step_times: of each step the time for one unit of M, the greatest load / bandwidth of a link; none if a fault
            leaves them without a meaning.
        bandwidth_factor: T_B in units of M/B, B being the greatest egress bandwidth of a node; None where `algbw` is.
        least_factor: what T_B can be at least, by `bound`; None where `algbw` is.
    """

    step_times: tuple[Fraction, ...] = ()
    bandwidth_factor: Fraction | None = None
    least_factor: Fraction | None = None


@dataclass(frozen=True)
class SeriesReport(Report):
    """The judgement of a series of broadcasts, M being a message: `algbw` is messages in a unit of time."""

    @property
    def throughput(self) -> Fraction | None:
        """Messages in a unit of time."""
        return self.algbw
