"""Upgrades: what more bandwidth on a class of links, or on one link, gains, up to where, and for how much money."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.texts import DemandLike
from forestcoll.schedule.proof.tree_dual import TreeDualProof
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.changes import Change, link_name
from forestcoll.topology.failures import duplex_links
from forestcoll.topology.link_classes import Ends, link_classes
from forestcoll.what_if.classes import Symmetries, classes_of_sets, images_of_items
from forestcoll.what_if.curve import OptimumCurve, curve_of
from forestcoll.what_if.limiting_cuts import LimitingCuts
from forestcoll.what_if.prices import prices_of
from forestcoll.what_if.study import TabularStudy, network_and_demand
from forestcoll.what_if.sweep import SweepTask
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
        price: what 1 more of bandwidth on each of the links costs, all together; None if a link has no price.

    Example:
        >>> from forestcoll import upgrades
        >>> upgrade = upgrades("dgx-a100:boxes=2").rows[0]
        >>> [(str(bandwidth), str(algbw)) for bandwidth, algbw in upgrade.curve]
        [('300', '1040/3'), ('350', '400')]
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
    price: Fraction | None = None

    @property
    def cost(self) -> Fraction | None:
        """What the upgrade to `at` costs; None if a link has no price."""
        return None if self.price is None else self.price * (self.at - self.bandwidth)

    @property
    def gain_per_cost(self) -> Fraction | None:
        """The gain in algbw for each 1 of the first money; later money gains less. None if a link has no price."""
        if self.price is None:
            return None
        first = next(iter(self.curve[1:]), None)
        if first is not None:
            (now, before), (bandwidth, after) = self.curve[0], first
            return (after - before) / (bandwidth - now) / self.price
        if self.gain_beyond is not None:
            return self.gain_beyond / self.price
        return (self.algbw - self.algbw / self.ratio) / (self.at - self.bandwidth) / self.price


@dataclass(frozen=True, repr=False)
class UpgradeStudy(TabularStudy):
    """What upgrades of a network gain, the best first.

    Attributes:
        topology: the network.
        demand: the collective and who takes part.
        base: the optimum now.
        rows: the upgrades.

    Example:
        >>> from forestcoll import upgrades
        >>> study = upgrades("dgx-a100:boxes=2")
        >>> str(study.base.algbw), [str(row.ratio) for row in study.rows[:2]]
        ('1040/3', ['15/13', '14/13'])
    """

    topology: Topology
    demand: NodeDemand
    base: Value
    rows: tuple[Upgrade, ...]


def upgrades(
    topology: TopologyLike,
    demand: DemandLike = Collective.ALLGATHER,
    *,
    prices: Sequence[str] = (),
    executor: Executor | None = None,
    progress: Progress = SILENT,
) -> UpgradeStudy:
    """Return what more bandwidth gains, for each class of links and for each single link, the best first.

    A class is all links of the same bandwidth between the same sorts of nodes. Single links that are known to be
    symmetric are computed once. Both directions of a link get more bandwidth.

    Args:
        topology: as for `failures`.
        demand: as for `failures`.
        prices: what 1 more of bandwidth each way costs on a link, such as `"nic=20"` or `"GPU--NIC=3"`. With prices,
            the upgrade that gains most for each 1 of the first money is the first row.
        executor: as for `failures`.
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
    network, bound = network_and_demand(topology, demand)
    price_of = prices_of(network, prices)
    base = value_of(network, bound, Change(""))
    progress.begin("looking for a symmetry")
    symmetries = Symmetries.of(network, bound)
    candidate = list(_candidates(network, symmetries))
    limiting = LimitingCuts.of(network, base, symmetries)
    progress.begin("computing upgrades")
    crossing = [each.links for each in candidate if limiting.uncrossed(list(each.links)) is None]
    curves = dict(zip(crossing, _curves(network, bound, crossing, executor, progress), strict=True))
    flat = OptimumCurve(((Fraction(1), base.algbw),), Fraction(0))
    rows = [_row(network, base, each, curves.get(each.links, (flat, base.algbw))) for each in candidate]
    rows = [replace(row, price=_price(row.links, price_of)) for row in rows]
    return UpgradeStudy(network, bound, base, tuple(sorted(rows, key=_rank)))


def _price(links: Sequence[Ends], prices: Mapping[Ends, Fraction]) -> Fraction | None:
    return sum((prices[ends] for ends in links), Fraction(0)) if all(ends in prices for ends in links) else None


def _rank(row: Upgrade) -> tuple[Fraction, Fraction]:
    """Return what sorts rows: the most gain for the money first, then the most gain."""
    return -(row.gain_per_cost or Fraction(0)), -row.ratio


@dataclass(frozen=True)
class _Candidate:
    """Links that get more bandwidth at once, as `Upgrade` has them."""

    name: str
    links: tuple[Ends, ...]
    count: int


def _candidates(network: Topology, symmetries: Symmetries) -> Iterator[_Candidate]:
    """Yield each class of several links, and each single link up to symmetry."""
    for each in link_classes(network):
        if len(each.links) > 1:
            yield _Candidate(each.name(network.bandwidth_unit), each.links, 1)
    single = duplex_links(network)
    images = images_of_items(symmetries, [frozenset((ends,)) for ends in single])
    for found in classes_of_sets(len(single), 1, images):
        ends = single[found.first[0]]
        yield _Candidate(link_name(network, ends), (ends,), found.count)


def _curves(
    network: Topology,
    demand: NodeDemand,
    candidate: Sequence[tuple[Ends, ...]],
    executor: Executor | None,
    progress: Progress,
) -> Iterator[tuple[OptimumCurve | None, Fraction]]:
    """Yield, for each upgrade, its curve, and the algbw at twice the bandwidth."""
    if executor is None:
        found = (_Upgrading(network, demand, links).found() for links in candidate)
    else:
        question = SweepTask.of(network, demand)
        futures = [executor.submit(upgrade, question, links) for links in candidate]
        found = (future.result() for future in futures)
    for done, each in enumerate(found, start=1):
        progress.advance(done, len(candidate))
        yield each


def upgrade(question: SweepTask, links: Sequence[Ends]) -> tuple[OptimumCurve | None, Fraction]:
    """Return what one upgrade gains. A worker process calls this function."""
    return _Upgrading(*question.parsed(), links).found()


def _row(network: Topology, base: Value, candidate: _Candidate, found: tuple[OptimumCurve | None, Fraction]) -> Upgrade:
    curve, double = found
    ends = set(candidate.links)
    now = max(
        link.bandwidth
        for link in network.links
        if (min(link.source, link.target), max(link.source, link.target)) in ends
    )
    limit = None if curve is None or curve.last_slope else curve.points[-1][0]
    algbw = double if limit is None or curve is None else curve.at(limit)
    return Upgrade(
        name=candidate.name,
        links=candidate.links,
        count=candidate.count,
        bandwidth=now,
        breakpoint=None if limit is None else now * limit,
        at=now * (_DOUBLE if limit is None else limit),
        algbw=algbw,
        ratio=algbw / base.algbw,
        curve=() if curve is None else tuple((now * place, value) for place, value in curve.points),
        gain_beyond=None if curve is None else curve.last_slope / now,
    )


class _Upgrading:
    """The upgrade of some links by a factor."""

    def __init__(self, network: Topology, demand: NodeDemand, links: Sequence[Ends]) -> None:
        self._network, self._demand = network, demand
        ends = set(links)
        self._upgraded = tuple(
            link for link in network.links if (min(link.source, link.target), max(link.source, link.target)) in ends
        )

    def found(self) -> tuple[OptimumCurve | None, Fraction]:
        """Return the curve, if it is known, and the algbw at twice the bandwidth."""
        curve = curve_of(self._solve, self._far())
        return curve, self._solve(_DOUBLE)[0].algbw if curve is None else curve.at(_DOUBLE)

    def _far(self) -> Fraction:
        """Return a factor at which a cut that these links leave cannot be the bottleneck if there is another one.

        Let D be the sum of the weights. A cut without these links has at most D times the sum of all bandwidths as its
        bound, because at least a weight of 1 leaves it. A cut with one of the links has at least the bandwidth of that
        link. In an all-to-all, a gather or a scatter of N nodes, a block is 1/N of M. So if one must cross another
        link, algbw is at most N times the sum of all bandwidths. No link carries more than N blocks for each node, so
        one with N^2 times this sum is never full.
        """
        total = sum((link.bandwidth for link in self._network.links), Fraction(0))
        is_personalised = self._demand.collective.is_personalised
        members = len(self._demand.members(self._network))
        whole = members**2 if is_personalised else sum(self._demand.weights(self._network))
        return 2 * whole * total / min(link.bandwidth for link in self._upgraded) + 2

    def _changed(self, factor: Fraction) -> Topology:
        change = tuple((link.source, link.target, link.bandwidth * factor) for link in self._upgraded)
        return Change("", bandwidths=change).applied(self._network)

    def _solve(self, factor: Fraction) -> tuple[Solved, Callable[[Fraction], Fraction]]:
        changed = self._changed(factor)
        best = solved(changed, self._demand)
        if best is None:
            raise AssertionError("more bandwidth takes no node away")
        proof = best.bound.proof
        if isinstance(proof, TreeDualProof):
            proof = proof.expanded(changed)  # a network with another factor may not have its symmetry
        return best, lambda other: proof.algbw(self._changed(other), self._demand)
