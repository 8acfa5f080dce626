"""The time of a workload's collectives on a network (§3.2, §5.4), by which the best network is chosen.

Times follow the alpha-beta model: T_L steps of alpha, plus T_B times M/B. In an all-to-all every node sends M/N to
every other node at the rate of the best flow, or near it if the network is large. It has no latency term, as in Table 4
of the paper.
"""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction

from forestcoll.base.errors import InputError, plural, shown
from forestcoll.base.parameters import Amount, derived_bandwidth, link_bandwidth, of_kind, parameter_of
from forestcoll.base.registry import Spec
from forestcoll.design.constructions import Construction
from forestcoll.design.exchange_rate import exchange_rate
from forestcoll.design.measure import Cost
from forestcoll.design.search.finder import Frontier


class WorkloadTraffic(StrEnum):
    """The collectives of a workload."""

    ALLGATHER = "allgather"
    ALLREDUCE = "allreduce"
    ALL_TO_ALL = "all-to-all"
    MIX = "mix"
    """An allreduce and an all-to-all, of the same size, one after the other."""

    @property
    def exchanges(self) -> bool:
        """Whether there is an all-to-all."""
        return self in {WorkloadTraffic.ALL_TO_ALL, WorkloadTraffic.MIX}


class Objective(StrEnum):
    """The measures in which networks are compared."""

    STEPS = "steps"
    BANDWIDTH = "bandwidth"
    ALL_TO_ALL = "all-to-all"

    def chosen(self, frontier: Frontier) -> Construction:
        """Return the network of a frontier that is the best in this measure; of equal ones, that of least cost."""
        return min(frontier.members, key=lambda each: (self._rank(each), each.cost))

    def _rank(self, construction: Construction) -> Fraction:
        if self is Objective.ALL_TO_ALL:
            return -exchange_rate(construction).algbw
        cost = construction.cost
        return Fraction(cost.steps) if self is Objective.STEPS else cost.bandwidth_factor


@dataclass(frozen=True)
class StepCosts:
    """What steps take on given hardware.

    Attributes:
        alpha: the latency of a step, in microseconds.
        bandwidth: B, the bandwidth of all outgoing links of a node together, in GB/s.
        reduction: the data that a node adds up in a second, in GB/s; None if adding takes no time.
    """

    alpha: Fraction = of_kind(Fraction(10), Amount(), "the latency of a step in microseconds")
    bandwidth: Fraction = link_bandwidth(
        Fraction(25, 2), "B, the total bandwidth of the links that leave a node, in GB/s"
    )
    reduction: Fraction | None = derived_bandwidth(
        "adding takes no time", "the data that a node adds up in a second, in GB/s, for allreduces"
    )


STEP_COSTS = Spec("costs", StepCosts, tuple(map(parameter_of, fields(StepCosts))), __name__)
"""How the costs of steps are written: `alpha=5,bandwidth=25`."""


@dataclass(frozen=True)
class Workload:
    """Collectives with a data size, on given hardware.

    Attributes:
        traffic: the collectives.
        size: M, in bytes.
        alpha_us: latency of a step, in microseconds.
        bandwidth: B, the bandwidth of all outgoing links of a node together, in GB/s.
        reduction: the data that a node adds up in a second, in GB/s; None if adding takes no time.
    """

    traffic: WorkloadTraffic
    size: int
    alpha_us: Fraction
    bandwidth: Fraction
    reduction: Fraction | None = None

    def __post_init__(self) -> None:
        if self.size < 1:
            raise InputError(f"size is {shown(self.size)}; expected an integer of 1 byte or more")
        if self.alpha_us < 0:
            raise InputError(f"alpha is {shown(str(self.alpha_us))}; expected 0 microseconds or more")
        if self.bandwidth <= 0:
            raise InputError(f"bandwidth is {shown(str(self.bandwidth))}; expected more than 0 GB/s")
        if self.reduction is not None and self.reduction <= 0:
            raise InputError(f"reduction is {shown(str(self.reduction))}; expected more than 0 GB/s")

    @property
    def whole_time_us(self) -> Fraction:
        """M/B in microseconds."""
        return Fraction(self.size) / self.bandwidth / 1000


def allreduce_time_us(construction: Construction, workload: Workload) -> Fraction:
    """Return the time of an allreduce, a reduce-scatter followed by an allgather, in microseconds.

    The time is exact without `workload.reduction`. The time to add up data is that of Theorem 6, an upper bound that is
    exact if the reduce-scatter is bandwidth-optimal (Corollary 6.1).
    """
    scatter = construction.reduce_scatter_cost
    return _time(scatter, workload) + _time(construction.cost, workload) + _adding_time(scatter, workload)


def _adding_time(scatter: Cost, workload: Workload) -> Fraction:
    if workload.reduction is None:
        return Fraction(0)
    return scatter.bandwidth_factor * workload.size / workload.reduction / 1000


def _time(cost: Cost, workload: Workload) -> Fraction:
    return cost.steps * workload.alpha_us + cost.bandwidth_factor * workload.whole_time_us


def all_to_all_time_us(construction: Construction, workload: Workload) -> float:
    """Return the time of an all-to-all with the best flow, in microseconds."""
    rate = float(exchange_rate(construction).algbw) / construction.nodes
    return float(workload.whole_time_us) * construction.degree / construction.nodes / rate


def time_us(construction: Construction, workload: Workload) -> float:
    """Return the time of the workload on the network, in microseconds."""
    if workload.traffic is WorkloadTraffic.ALLGATHER:
        return float(_time(construction.cost, workload))
    total = 0.0
    if workload.traffic in (WorkloadTraffic.ALLREDUCE, WorkloadTraffic.MIX):
        total += float(allreduce_time_us(construction, workload))
    if workload.traffic.exchanges:
        total += all_to_all_time_us(construction, workload)
    return total


def best_for(constructions: Iterable[Construction], workload: Workload) -> Construction:
    """Return the network on which the workload is fastest. On a tie, the network with fewer steps wins.

    Raises:
        ValueError: `constructions` is empty.
    """
    return min(constructions, key=lambda each: (time_us(each, workload), each.cost))


def chosen_of(frontier: Frontier, by: Workload | Objective | None = None, name: str | None = None) -> Construction:
    """Return one network of a frontier: the one that is named, or the best one.

    Args:
        frontier: the networks to choose from.
        by: the workload or the measure for which it is the best; None for the least bandwidth time.
        name: the network's name, or its number of steps.

    Raises:
        InputError: the frontier has no network of that name.
    """
    if name is not None:
        named = [member for member in frontier.members if name in {member.name, str(member.cost.steps)}]
        if named:
            return named[0]
        known = ", ".join(f"{member.name} ({plural(member.cost.steps, 'step')})" for member in frontier.members)
        raise InputError(f"there is no network {shown(name)} on the frontier; choose one of {known}")
    return best_for(frontier.members, by) if isinstance(by, Workload) else (by or Objective.BANDWIDTH).chosen(frontier)
