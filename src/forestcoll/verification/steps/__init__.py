"""The judge of step schedules: is everything sent held before, and does every shard, or sum, arrive everywhere?

Like the judge of trees it imports the models only, and computes the load of every link at every step anew, exactly.
The rules are a table, in `forestcoll.verification.steps.rules`.
"""

from dataclasses import dataclass
from fractions import Fraction

from forestcoll.collective import Collective
from forestcoll.schedule.steps import StepSchedule
from forestcoll.topology import Topology
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
        least_factor=_least_time(schedule.topology, schedule.collective) * egress,
    )


def _least_time(topology: Topology, collective: Collective) -> Fraction:
    """Return the time for one unit of M that the slowest node needs to receive the shards of all others, or to send."""
    nodes = topology.compute
    part = Fraction(len(nodes) - 1, len(nodes))
    receiving = part / min(topology.ingress[node] for node in nodes)
    sending = part / min(topology.egress[node] for node in nodes)
    if collective is Collective.ALLREDUCE:
        return receiving + sending
    return sending if collective.only_reduces else receiving
