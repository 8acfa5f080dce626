"""How idle compute nodes are best used as relays, and what that gains.

A relay may send on what it took in once, as a switch does, or copy it. Where every switch and relay takes in as much as
it gives out, copying cannot raise the optimum: the least ratio of a cut is reached without (ForestColl §5.3; Bang-
Jensen, Frank and Jackson). It can where more leads out of a relay than into it. To find the best trees that copy
anywhere is hard (it contains the packing of Steiner trees), so a relay is taken for one of two things: a *switch*,
balanced by `bounds.balancing`, or a *terminal*, which every tree reaches as if it took part and which then may copy as
it likes. Of one relay after the other it is tried which of the two is better. What that reaches is exact; where it is
the bound of the whole network's cuts, it is the optimum, and elsewhere the gap is known.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.bounds.balancing import balanced_use
from forestcoll.bounds.demand import Demand
from forestcoll.bounds.scaling import ScaledTopology
from forestcoll.progress import SILENT, Progress
from forestcoll.topology import Topology
from forestcoll.topology.part import with_terminals

MOST_TRIED = 64
"""How many ways to use the relays are tried, each a linear program."""


@dataclass(frozen=True)
class RelayUse:
    """A way to use relays.

    Attributes:
        terminals: the relays that all trees reach, rising; the others serve as switches.
        topology: what trees may use; its terminals are compute nodes.
        rate: what they reach for a weight of 1, in the topology's unit.
    """

    terminals: tuple[int, ...]
    topology: Topology
    rate: Fraction


def best_use(
    topology: Topology, demand: Demand, relays: Sequence[int], bound: Fraction, progress: Progress = SILENT
) -> Topology:
    """Return what trees whose data flows outwards may use of `topology`, all switches balanced.

    Args:
        topology: the usable part of a network, relays being switches; some of its switches are not balanced.
        demand: what is asked, its data flowing away from roots.
        relays: the numbers of the relays.
        bound: a rate, for a weight of 1, that none can beat; the search ends where it is reached.
        progress: is told of stages.

    Raises:
        NoSolutionError: a linear program could not be solved in fractions.
    """
    search = _Search(topology, demand, bound, progress)
    search.try_with(())
    linked = {end for link in topology.links for end in (link.source, link.target)}
    search.improve(sorted(linked.intersection(relays), key=lambda relay: (search.shortage(relay), relay)))
    return search.best.topology


class _Search:
    def __init__(self, topology: Topology, demand: Demand, bound: Fraction, progress: Progress) -> None:
        self._topology, self._demand, self._bound, self._progress = topology, demand, bound, progress
        self._tried: set[tuple[int, ...]] = set()
        self.best = RelayUse((), topology, Fraction(0))

    def shortage(self, relay: int) -> Fraction:
        """Return by how much more leads into a relay than out of it."""
        return self._topology.ingress[relay] - self._topology.egress[relay]

    def improve(self, relays: Sequence[int]) -> None:
        """Take all relays for terminals, then each by itself for what it is not, until none of that helps."""
        if self._wants_more and relays:
            self.try_with(relays)
        improved = True
        while improved and self._wants_more:
            before = self.best.rate
            for relay in relays:
                if self._wants_more:
                    self.try_with({relay}.symmetric_difference(self.best.terminals))
            improved = self.best.rate > before

    @property
    def _wants_more(self) -> bool:
        return self.best.rate < self._bound and len(self._tried) < MOST_TRIED

    def try_with(self, terminals: Sequence[int] | set[int]) -> None:
        """See what is reached if these relays are terminals."""
        chosen = tuple(sorted(terminals))
        if chosen in self._tried:
            return
        self._tried.add(chosen)
        network = with_terminals(self._topology, chosen) if chosen else self._topology
        found = balanced_use(ScaledTopology.of(network, self._demand.weights(network)), self._progress)
        if found.rate > self.best.rate:
            self.best = RelayUse(chosen, found.topology, found.rate)
