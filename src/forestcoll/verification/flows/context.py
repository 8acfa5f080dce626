"""Values that the rules of flows use, each computed on first use. No number here is ever rounded.

Amounts are integers, counts of 1/`denominator` of M, in Python integers.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property

import numpy as np

from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.rows import IntArray
from forestcoll.verification.network import ExactArray
from forestcoll.verification.proof_checks.question import BoundQuestion
from forestcoll.verification.routes.context import RouteContext, common_denominator


class FlowContext(RouteContext):
    """A schedule under test. A property may rely on every rule that is applied before the rules that use it."""

    def __init__(self, schedule: FlowSchedule) -> None:
        super().__init__(schedule.topology, schedule.ranks, schedule.routes, schedule.symmetry)
        self.schedule = schedule
        self.flows = schedule.flows

    @cached_property
    def question(self) -> BoundQuestion:
        """What must be delivered."""
        return BoundQuestion.of(self.schedule, self.network)

    @cached_property
    def denominator(self) -> int | None:
        """The common denominator of all shares, or None if it is too long."""
        return common_denominator(self.flows.shares)

    @cached_property
    def amounts(self) -> list[int]:
        """The share of each listed flow as a count of 1/`denominator`."""
        whole = self.denominator or 1
        known: dict[Fraction, int] = {}
        for share in set(self.flows.shares):
            known[share] = share.numerator * (whole // share.denominator)
        return [known[share] for share in self.flows.shares]

    @cached_property
    def of_flow(self) -> IntArray:
        """The flow of each entry in the lists of routes."""
        listed = self.flows.routes
        return np.repeat(np.arange(len(listed)), np.diff(listed.starts))

    @cached_property
    def delivered(self) -> Mapping[tuple[int, int], int]:
        """The amount that is sent from source to target, for each pair that is the first of its orbit of pairs.

        The first pair of an orbit starts on the least node of an orbit of nodes.
        """
        total: dict[tuple[int, int], int] = {}
        sources = self.group.orbits[self.flows.sources]
        targets = self.group.to_least(self.flows.sources, self.flows.targets)
        for first, amount in zip(zip(sources.tolist(), targets.tolist(), strict=True), self.amounts, strict=True):
            total[first] = total.get(first, 0) + amount
        return total

    @cached_property
    def loads(self) -> ExactArray:
        """The data on each link as a count of 1/`denominator` of M, with all images of base flows."""
        per_route = [0] * len(self.routes)
        for route, flow in zip(self.flows.routes.entries.tolist(), self.of_flow.tolist(), strict=True):
            per_route[route] += self.amounts[flow]
        dtype = self.type_of_loads(max(self.amounts), len(self.flows.routes.entries))
        carried = np.array(per_route, dtype=dtype)
        loads = np.zeros(len(self.network.sources), dtype=dtype)
        for first, block in self.routes.blocks():
            _, links = self.hops(block)
            np.add.at(loads, links, np.repeat(carried[first : first + len(block)], np.diff(block.starts) - 1))
        return self.group.summed(loads)

    def load_of(self, link: int) -> Fraction:
        """Return the data on a link, as a part of M."""
        return Fraction(int(self.loads[link]), self.denominator or 1)

    @cached_property
    def busiest(self) -> tuple[Fraction, IntArray]:
        """The greatest time of a link for one unit of M, and the links that need this time."""
        longest, links = self.network.busiest(self.loads)
        return longest / (self.denominator or 1), links

    @property
    def algbw(self) -> Fraction:
        """The algorithmic bandwidth that the schedule achieves."""
        return 1 / self.busiest[0]
