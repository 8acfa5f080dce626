"""Values that the rules of bundles use: the reports and the exact loads of the members, each computed on first use."""

from fractions import Fraction
from functools import cached_property

from forestcoll.schedule.bundle.value import BundleSchedule, MemberSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.verification.flows.context import FlowContext
from forestcoll.verification.flows.verifier import verify_flows
from forestcoll.verification.network import Network
from forestcoll.verification.report import Report
from forestcoll.verification.trees.context import TreeContext
from forestcoll.verification.trees.verifier import verify_trees


class BundleContext:
    """A bundle under test. A property may rely on every rule that is applied before the rules that use it."""

    def __init__(self, schedule: BundleSchedule) -> None:
        self.schedule = schedule
        self.topology = schedule.topology
        self.network = Network(schedule.topology)

    @cached_property
    def reports(self) -> tuple[Report, ...]:
        """The report of each member."""
        return tuple(
            verify_trees(each.schedule) if isinstance(each.schedule, TreeSchedule) else verify_flows(each.schedule)
            for each in self.schedule.bundled
        )

    @cached_property
    def loads(self) -> list[Fraction]:
        """The data on each link, in multiples of the M of size 1."""
        totals = [Fraction(0)] * len(self.topology.links)
        for member in self.schedule.bundled:
            for place, load in _loads(member.schedule).items():
                totals[place] += member.size * load
        return totals

    @cached_property
    def times(self) -> list[Fraction]:
        """The time that each link is busy for one unit of M."""
        return [load / link.bandwidth for load, link in zip(self.loads, self.topology.links, strict=True)]

    @property
    def algbw(self) -> Fraction:
        """The algbw for size 1 that the members reach together; each member sends data, or it would be wrong."""
        return 1 / max(self.times)


def _loads(schedule: MemberSchedule) -> dict[int, Fraction]:
    """Return the part of the member's data on each link that it uses."""
    context = TreeContext(schedule) if isinstance(schedule, TreeSchedule) else FlowContext(schedule)
    whole = context.denominator or 1
    return {place: Fraction(int(load), whole) for place, load in enumerate(context.loads.tolist()) if load}
