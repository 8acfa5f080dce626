"""Upgrades: what more bandwidth on a class of links, or on one link, gains, and up to where it gains anything."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.collective import Collective
from forestcoll.progress import SILENT, Progress
from forestcoll.ranks import RanksLike
from forestcoll.request import Demand, RequestLike
from forestcoll.topology import NodeId, Topology, TopologyLike
from forestcoll.topology.changes import Ends, link_name
from forestcoll.topology.link_classes import link_classes
from forestcoll.what_if.change import Change
from forestcoll.what_if.classes import Symmetries, classes_of_sets, images_of_items
from forestcoll.what_if.curve import curve_of
from forestcoll.what_if.failures import duplex_links
from forestcoll.what_if.study import asked_of
from forestcoll.what_if.value import Solved, Value, solved, value_of

_DOUBLE = Fraction(2)


@dataclass(frozen=True)
class Upgrade:
    """More bandwidth on some links at once.

    Attributes:
        name: what output calls the change: a link, or a class of links.
        links: the ends of the links.
        count: the number of symmetric changes that this one stands for.
        bandwidth: the bandwidth of each link now.
        breakpoint: the least bandwidth at which more gains nothing; None if more always gains, or if it is not known.
        at: the bandwidth for which `algbw` is given: `breakpoint`, or twice the bandwidth if that is None.
        algbw: the algbw at that bandwidth.
        ratio: `algbw` divided by the algbw now.
        curve: (bandwidth, algbw) now and at each bandwidth where the gain per bandwidth changes; empty if not known.
        gain_beyond: the gain in algbw for each 1 of bandwidth after the last point of the curve; None if not known.
    """

    name: str
    links: tuple[Ends, ...]
    count: int
    bandwidth: Fraction
    breakpoint: Fraction | None
    at: Fraction
    algbw: Fraction
    ratio: Fraction
    curve: tuple[tuple[Fraction, Fraction], ...]
    gain_beyond: Fraction | None


@dataclass(frozen=True)
class UpgradeStudy:
    """What upgrades of a network gain, the best first.

    Attributes:
        topology: the network.
        demand: the collective and who takes part.
        base: the optimum now.
        rows: the upgrades.
    """

    topology: Topology
    demand: Demand
    base: Value
    rows: tuple[Upgrade, ...]


def upgrades(
    topology: TopologyLike,
    collective: RequestLike = Collective.ALLGATHER,
    *,
    ranks: RanksLike | None = None,
    root: NodeId | None = None,
    progress: Progress = SILENT,
) -> UpgradeStudy:
    """Return what more bandwidth gains, for each class of links and for each single link, the best first.

    A class is all links of the same bandwidth between the same sorts of nodes. Single links that are known to be
    symmetric are computed once. Both directions of a link get more bandwidth.

    Args:
        topology: as for `failures`.
        collective: as for `failures`.
        ranks: as for `failures`.
        root: as for `failures`.
        progress: receives the number of finished upgrades.

    Returns:
        The study.

    Raises:
        InputError: an argument is not valid.
        NoSolutionError: as `optimum`.

    Example:
        >>> from forestcoll import upgrades
        >>> best = upgrades("dgx-a100:boxes=2").rows[0]
        >>> best.name, str(best.breakpoint), str(best.algbw)
        ('16 links of 300 GB/s between GPUs and box switches', '350', '400')
    """
    network, demand = asked_of(topology, collective, ranks, root)
    base = value_of(network, demand, Change(""))
    progress.begin("looking for a symmetry")
    single = duplex_links(network)
    images = images_of_items(Symmetries.of(network, demand), [frozenset((ends,)) for ends in single])
    chosen = [
        (each.name(network.bandwidth_unit), each.links, 1) for each in link_classes(network) if len(each.links) > 1
    ]
    for found in classes_of_sets(len(single), 1, images):
        ends = single[found.first[0]]
        chosen.append((link_name(network, ends), (ends,), found.count))
    progress.begin("computing upgrades")
    rows = []
    for done, (name, links, count) in enumerate(chosen):
        progress.advance(done, len(chosen))
        rows.append(_Upgrading(network, demand, links, base).row(name, count))
    return UpgradeStudy(network, demand, base, tuple(sorted(rows, key=lambda row: -row.ratio)))


class _Upgrading:
    """The upgrade of some links by a factor."""

    def __init__(self, network: Topology, demand: Demand, links: Sequence[Ends], base: Value) -> None:
        self._network, self._demand, self._base = network, demand, base
        self._links = tuple(links)
        ends = set(links)
        self._upgraded = tuple(
            link for link in network.links if (min(link.source, link.target), max(link.source, link.target)) in ends
        )

    def row(self, name: str, count: int) -> Upgrade:
        """Return what the upgrade gains."""
        curve = curve_of(self._solve, self._far())
        now = max(link.bandwidth for link in self._upgraded)
        limit = None if curve is None or curve.last_slope else curve.points[-1][0]
        factor = _DOUBLE if limit is None else limit
        algbw = self._at(factor).algbw if curve is None else curve.at(factor)
        points = () if curve is None else tuple((now * place, value) for place, value in curve.points)
        return Upgrade(
            name=name,
            links=self._links,
            count=count,
            bandwidth=now,
            breakpoint=None if limit is None else now * limit,
            at=now * factor,
            algbw=algbw,
            ratio=algbw / self._base.algbw,
            curve=points,
            gain_beyond=None if curve is None else curve.last_slope / now,
        )

    def _far(self) -> Fraction:
        """Return a factor at which a cut that these links leave cannot be the bottleneck if there is another one.

        Let D be the sum of the weights. A cut without these links has at most D times the sum of all bandwidths as its
        bound, because at least a weight of 1 leaves it. A cut with one of the links has at least the bandwidth of that
        link.
        """
        total = sum((link.bandwidth for link in self._network.links), Fraction(0))
        whole = sum(self._demand.weights(self._network))
        return 2 * whole * total / min(link.bandwidth for link in self._upgraded) + 2

    def _changed(self, factor: Fraction) -> Topology:
        change = tuple((link.source, link.target, link.bandwidth * factor) for link in self._upgraded)
        return Change("", bandwidths=change).applied(self._network)

    def _at(self, factor: Fraction) -> Value:
        change = tuple((link.source, link.target, link.bandwidth * factor) for link in self._upgraded)
        return value_of(self._network, self._demand, Change("", bandwidths=change))

    def _solve(self, factor: Fraction) -> tuple[Solved, Callable[[Fraction], Fraction]]:
        best = solved(self._changed(factor), self._demand)
        if best is None:
            raise AssertionError("more bandwidth takes no node away")
        proof = best.bound.proof
        return best, lambda other: proof.algbw(self._changed(other), self._demand)
