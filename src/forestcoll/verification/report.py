"""The results of `verify`. A wrong schedule is a result, not an exception, because the call itself was valid."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.display import Displayed
from forestcoll.schedule.proof import Bound, Proof
from forestcoll.topology import NodeId, Topology

_MOST_SHOWN = 8
"""The most links in a report."""


@dataclass(frozen=True, slots=True)
class Fault:
    """The first broken rule, at the first place that breaks it.

    Attributes:
        rule: the identifier of the rule; it does not change between versions.
        message: one line: where, what, the value, and what was expected.

    Example:
        >>> from dataclasses import replace
        >>> from forestcoll import generate, verify
        >>> schedule = generate("ring:nodes=4")
        >>> verify(replace(schedule, algbw=schedule.algbw * 2)).fault.rule
        'algbw-wrong'
    """

    rule: str
    message: str


@dataclass(frozen=True, slots=True)
class LinkLoad:
    """The data that a schedule sends over one link.

    Attributes:
        source: the id of the node that sends.
        target: the id of the node that receives.
        load: the data that crosses the link, as a fraction of M.
        bandwidth: the bandwidth of the link, in the topology's unit.
    """

    source: NodeId
    target: NodeId
    load: Fraction
    bandwidth: Fraction

    @property
    def time(self) -> Fraction:
        """The time that the link is busy for one unit of M."""
        return self.load / self.bandwidth


def busiest_loads(topology: Topology, links: Sequence[int], load_of: Callable[[int], Fraction]) -> tuple[LinkLoad, ...]:
    """Return the loads of the first of the busiest links; `load_of` takes the number of a link."""
    nodes, found = topology.nodes, [(topology.links[place], load_of(place)) for place in links[:_MOST_SHOWN]]
    return tuple(LinkLoad(nodes[link.source].id, nodes[link.target].id, load, link.bandwidth) for link, load in found)


@dataclass(frozen=True, repr=False)
class Report(Displayed):
    """The result of `verify` for a schedule of any kind. Each kind has a subclass with its own figures.

    Attributes:
        fault: the first broken rule, or None if the schedule is correct.
        algbw: the achieved bandwidth for large data, computed from the data on each link, in the topology's unit; None
            if a fault makes it meaningless.
        optimal: whether the schedule is correct and reaches `bound`.
        bound: a bound that no schedule beats, with its proof: the bound that the schedule claims, after a check, or
            one that the verifier found; None if there is none.

    Example:
        >>> from forestcoll import generate, verify
        >>> report = verify(generate("ring:nodes=4"))
        >>> report.ok, report.fault, str(report.bound.algbw), report.proof.kind
        (True, None, '8/3', 'cut')
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


@dataclass(frozen=True, repr=False)
class LoadReport(Report):
    """The result of `verify` for a schedule whose algbw is that of its busiest link.

    Attributes:
        busiest: the first few of the busiest links (greatest load / bandwidth), by node number.
        busiest_count: the number of links that are as busy as these.
    """

    busiest: tuple[LinkLoad, ...] = ()
    busiest_count: int = 0


@dataclass(frozen=True, repr=False)
class TreeReport(LoadReport):
    """The result of `verify` for a schedule of trees.

    Example:
        >>> from forestcoll import generate, verify
        >>> report = verify(generate("ring:nodes=4"))
        >>> report.busiest_count, str(report.busiest[0].load)
        (8, '3/8')
    """


@dataclass(frozen=True, repr=False)
class FlowReport(LoadReport):
    """The result of `verify` for a schedule of flows.

    Example:
        >>> from forestcoll import generate, verify
        >>> report = verify(generate("ring:nodes=4", "all-to-all"))
        >>> report.optimal, report.busiest_count, str(report.busiest[0].load)
        (True, 8, '1/2')
    """


@dataclass(frozen=True, repr=False)
class BundleReport(LoadReport):
    """The result of `verify` for a bundle. Loads are in multiples of the M of size 1.

    Attributes:
        members: the report of each member, alone.

    Example:
        >>> from forestcoll import Groups, generate, verify
        >>> report = verify(generate("ring:nodes=4", Groups("0,2;1,3")))
        >>> report.optimal, str(report.algbw), [str(each.algbw) for each in report.members]
        (True, '2', ['2', '2'])
    """

    members: tuple[Report, ...] = ()


@dataclass(frozen=True, repr=False)
class StepReport(Report):
    """The result of `verify` for a schedule of steps.

    Attributes:
        step_times: for each step, the time for one unit of M: the greatest load / bandwidth of a link. Empty if a fault
            makes the times meaningless.
        bandwidth_factor: T_B in units of M/B, where B is the greatest egress bandwidth of a node; None if `algbw` is.
        least_factor: the least T_B that `bound` allows, in the same units; None if `algbw` is.

    Example:
        >>> from forestcoll import generate, verify
        >>> from forestcoll.topology import build_topology
        >>> report = verify(generate(build_topology("ring:nodes=4"), method="bfb"))
        >>> len(report.step_times), str(report.bandwidth_factor), str(report.least_factor)
        (2, '3/4', '3/4')
    """

    step_times: tuple[Fraction, ...] = ()
    bandwidth_factor: Fraction | None = None
    least_factor: Fraction | None = None


@dataclass(frozen=True, repr=False)
class SeriesReport(Report):
    """The result of `verify` for a series. A message has size 1.

    Attributes:
        throughput: operations in a unit of time.

    Example:
        >>> from forestcoll import verify
        >>> from forestcoll.oneport import compare_series
        >>> from forestcoll.topology import build_topology
        >>> report = verify(compare_series(build_topology("ring:nodes=4"), 0).schedule())
        >>> report.optimal, str(report.throughput)
        (True, '2')
    """

    throughput: Fraction | None = None
