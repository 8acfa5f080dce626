"""The judge of step schedules: is everything sent held before, and does every shard, or sum, arrive everywhere?

Like the judge of trees it imports the models only, and computes the load of every link at every step anew, exactly.
The rules are a table, in `forestcoll.verification.steps.rules`.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.collective import Collective
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.verification.report import Fault
from forestcoll.verification.steps.case import StepCase
from forestcoll.verification.steps.rules import RULES, step_rules

__all__ = ["StepReport", "step_rules", "verify_steps"]


@dataclass(frozen=True, slots=True)
class StepReport:
    """The judgement of a step schedule.

    Attributes:
        fault: the first broken rule, or None if the schedule is right.
        step_times: of each step the time for one unit of M, the greatest load / bandwidth of a link, recomputed; none
            if a fault leaves them without a meaning.
        bandwidth_factor: T_B in units of M/B, B being the greatest egress bandwidth of a node; None likewise.
        least_factor: what T_B can be at least, by what a node must receive or send (Theorem 4); None likewise.
    """

    fault: Fault | None
    step_times: tuple[Fraction, ...] = ()
    bandwidth_factor: Fraction | None = None
    least_factor: Fraction | None = None

    @property
    def ok(self) -> bool:
        """Whether every rule holds."""
        return self.fault is None

    @property
    def bandwidth_optimal(self) -> bool:
        """Whether the schedule is right, and no schedule has a smaller T_B."""
        return self.ok and self.bandwidth_factor == self.least_factor

    @property
    def algbw(self) -> Fraction | None:
        """M / T_B, what large data come to, in the topology's unit; None if nothing is sent."""
        time = sum(self.step_times, Fraction(0))
        return 1 / time if time else None


def verify_steps(schedule: StepSchedule) -> StepReport:
    """Judge `schedule` by the rules, in order, up to the first that it breaks."""
    case = StepCase(schedule)
    for rule in RULES:
        if (message := rule.find(case)) is not None:
            return StepReport(Fault(rule.id, message))
    times = case.step_times
    egress = max(schedule.topology.egress)
    return StepReport(
        fault=None,
        step_times=times,
        bandwidth_factor=sum(times, Fraction(0)) * egress,
        least_factor=_least_time(schedule) * egress,
    )


def _least_time(schedule: StepSchedule) -> Fraction:
    """Return a time for one unit of M that no schedule of this collective, with these shards, is faster than.

    Every node must receive the shards of all others, or send its part of these (Theorem 4). In an allreduce, whatever
    its shards, 2(N - 1) vectors cross links altogether (appendix C.3), and a vector each enters and leaves every node.
    """
    topology, sizes = schedule.topology, schedule.shard_sizes
    nodes, ingress, egress = topology.compute, topology.ingress, topology.egress
    if schedule.collective is Collective.ALLREDUCE:
        slowest = min(*(ingress[node] for node in nodes), *(egress[node] for node in nodes))
        return max(2 * (len(nodes) - 1) / sum(egress, Fraction(0)), 1 / slowest)
    rates = egress if schedule.collective.only_reduces else ingress
    return max((1 - sizes[node]) / rates[node] for node in nodes)
