"""The values that rules about routes and symmetries use, for each kind of schedule that has a table of routes."""

from functools import cached_property

import numpy as np

from forestcoll.schedule.rows import IntArray, Rows
from forestcoll.topology import Symmetry, Topology
from forestcoll.verification.network import Network
from forestcoll.verification.routes.group import Group


class RouteCase:
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
        self.group = Group(self.network, symmetry or Symmetry(()))

    def hops(self, routes: Rows) -> tuple[IntArray, IntArray]:
        """Return the place in the entries of `routes` of each hop, and the link that it crosses, or -1 for no link."""
        is_hop = np.ones(len(routes.entries), dtype=np.bool_)
        is_hop[routes.starts[1:] - 1] = False
        places = np.flatnonzero(is_hop)
        return places, self.network.find_links(routes.entries[places], routes.entries[places + 1])

    @cached_property
    def firsts(self) -> IntArray:
        """The node that each route starts on."""
        return self.routes.entries[self.routes.starts[:-1]]

    @cached_property
    def lasts(self) -> IntArray:
        """The node that each route ends on."""
        return self.routes.entries[self.routes.starts[1:] - 1]
