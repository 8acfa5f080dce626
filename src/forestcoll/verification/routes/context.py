"""The values that rules about routes and symmetries use, for each kind of schedule that has a table of routes."""

import math
from collections.abc import Iterable
from fractions import Fraction
from functools import cached_property

import numpy as np

from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.topology import Symmetry, Topology
from forestcoll.verification.network import Network
from forestcoll.verification.proof_checks.question import MAX_DENOMINATOR_DIGITS
from forestcoll.verification.routes.group import ShiftGroup


class RouteContext:
    """A schedule with routes under test. A property may rely on every rule that is applied before its users.

    Attributes:
        topology: the network.
        network: the network in arrays.
        ranks: the numbers of the compute nodes that take part; None if all take part.
        compute: the compute nodes that take part.
        routes: the table of routes.
        group: the group of the symmetry.
    """

    def __init__(
        self,
        topology: Topology,
        ranks: tuple[int, ...] | None,
        routes: Rows,
        symmetry: Symmetry | None,
    ) -> None:
        self.topology = topology
        self.network = Network(topology)
        self.ranks = ranks
        self.compute = topology.compute if ranks is None else ranks
        self.routes = routes
        self.group = ShiftGroup(self.network, symmetry or Symmetry(()))

    def hops(self, routes: Rows) -> tuple[IntArray, IntArray]:
        """Return the place in the entries of `routes` of each hop, and the link that it crosses, or -1 for no link."""
        is_hop = np.ones(len(routes.entries), dtype=np.bool_)
        is_hop[routes.starts[1:] - 1] = False
        places = np.flatnonzero(is_hop)
        return places, self.network.find_links(routes.entries[places], routes.entries[places + 1])

    def type_of_loads(self, greatest: int, listed: int) -> type[np.int64] | type[object]:
        """Return the narrowest type in which no load overflows, even if all crossings are on one link.

        Args:
            greatest: the greatest amount that crosses a route at a time.
            listed: how many times routes are listed, each time with an amount.
        """
        crossings = self.routes.longest * self.group.order * listed
        return np.int64 if greatest * max(crossings, 1) <= np.iinfo(np.int64).max else object

    @cached_property
    def firsts(self) -> IntArray:
        """The node that each route starts on."""
        return self.routes.entries[self.routes.starts[:-1]]

    @cached_property
    def lasts(self) -> IntArray:
        """The node that each route ends on."""
        return self.routes.entries[self.routes.starts[1:] - 1]


def common_denominator(shares: Iterable[Fraction]) -> int | None:
    """Return the common denominator of all shares, or None if it has more than `MAX_DENOMINATOR_DIGITS` digits."""
    common, bound = 1, 10**MAX_DENOMINATOR_DIGITS
    for denominator in {share.denominator for share in shares}:
        common = math.lcm(common, denominator)
        if common >= bound:
            return None
    return common
