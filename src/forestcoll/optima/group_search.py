"""A collective over a part of the compute nodes: the search on what they can use, told in terms of the whole network.

Idle compute nodes are switches there that can copy and add up (`topology.part`). In a balanced network trees reach the
least ratio of a cut, counting ranks only, without copies: that is ForestColl's theorem for switches, and a relay can do
what a switch can.
"""

from dataclasses import dataclass, replace
from typing import Protocol

from forestcoll.optima.value import Optimum
from forestcoll.progress import SILENT, Progress
from forestcoll.topology import Topology
from forestcoll.topology.part import widened


class Search(Protocol):
    """The search for the optimum of what is asked, with any number of trees or with a given one."""

    @property
    def best(self) -> Optimum:
        """The fewest trees that reach the optimum."""

    def restricted(self, trees: int, progress: Progress = SILENT) -> Optimum:
        """Return the best that so many trees allow."""


@dataclass(frozen=True)
class GroupSearch:
    """The search on a part of a network.

    Attributes:
        topology: the whole network.
        ranks: the numbers of the compute nodes that take part, rising; None if all do.
        search: the search on the part.
    """

    topology: Topology
    ranks: tuple[int, ...] | None
    search: Search

    @property
    def best(self) -> Optimum:
        """The fewest trees that reach the optimum."""
        return self._on_whole(self.search.best)

    def restricted(self, trees: int, progress: Progress = SILENT) -> Optimum:
        """Return the best that so many trees allow.

        Raises:
            NoSolutionError: so many cannot be had.
        """
        return self._on_whole(self.search.restricted(trees, progress))

    def _on_whole(self, found: Optimum) -> Optimum:
        return replace(
            found,
            topology=self.topology,
            ranks=self.ranks,
            cut=widened(self.topology, found.members, found.cut),
            unused=(),
            phases=found.phases or (found,),
        )
