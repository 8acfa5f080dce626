"""Additions: what one new link, or one more cable next to a link, gains.

A new link helps only if it crosses every cut that limits the network now (`limiting_cuts.py`). So most pairs of nodes
are known to gain nothing without being computed.
"""

from concurrent.futures import Executor
from dataclasses import replace
from fractions import Fraction

from forestcoll.base.errors import InputError, shown
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.units import bandwidth_in
from forestcoll.demand.collective import Collective
from forestcoll.demand.texts import DemandLike
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.changes import Change, link_name
from forestcoll.topology.link_classes import Ends
from forestcoll.what_if.classes import SetClass, Symmetries, classes_of_sets, images_of_items
from forestcoll.what_if.limiting_cuts import LimitingCuts
from forestcoll.what_if.study import ChangeRow, Study, network_and_demand
from forestcoll.what_if.sweep import SweepRunner
from forestcoll.what_if.value import Value, value_of

_MOST_NODES = 512
"""The most nodes of which all pairs are listed."""

_MOST_PAIRS = 20_000
"""The most pairs of nodes of a larger network."""


def additions(
    topology: TopologyLike,
    demand: DemandLike = Collective.ALLGATHER,
    *,
    bandwidth: object | None = None,
    executor: Executor | None = None,
    progress: Progress = SILENT,
) -> Study:
    """Return what one new full-duplex link between any two nodes gains, the best first.

    Where two nodes are linked already, the new link is a second cable. Pairs that are known to be symmetric are one
    row. Of a network with more than 512 nodes, pairs that are known to gain nothing are left out.

    Args:
        topology: as for `failures`.
        demand: as for `failures`.
        bandwidth: the bandwidth of the new link each way, in the unit of the topology or with a unit. If None, it is as
            fast as the fastest link that both ends have.
        executor: as for `failures`.
        progress: receives the number of finished links.

    Returns:
        The study. The name of each change is `A--B=BANDWIDTH`, where BANDWIDTH is that of the new link.

    Raises:
        InputError: an argument is not valid, or there are too many pairs of nodes.
        NoSolutionError: as `optimum`.

    Example:
        >>> from forestcoll import additions
        >>> best = additions("mesh:dims=4").rows[0]
        >>> best.change.name, str(best.value.algbw)
        ('0--3=1', '8/3')
    """
    network, bound = network_and_demand(topology, demand)
    given = None if bandwidth is None else _bandwidth(network, bandwidth)
    base = value_of(network, bound, Change(""))
    progress.begin("looking for a symmetry")
    symmetries = Symmetries.of(network, bound)
    limiting = LimitingCuts.of(network, base, symmetries)
    classes = _classes(network, symmetries, limiting)
    ports = _Ports(network)
    changes = [ports.change((each.first[0], each.first[1]), given) for each in classes]
    progress.begin("computing new links")
    proven = [_unchanged(base, limiting.uncrossed([(each.first[0], each.first[1])])) for each in classes]
    sweep = SweepRunner(executor, progress)
    unproven = [change for change, value in zip(changes, proven, strict=True) if value is None]
    values = iter(sweep.values(network, bound, unproven))
    rows = [
        _row(base, change, next(values) if value is None else value, each.count)
        for change, value, each in zip(changes, proven, classes, strict=True)
    ]
    return Study(network, bound, base, tuple(sorted(rows, key=lambda row: -row.ratio)))


def _unchanged(base: Value, cut: tuple[int, ...] | None) -> Value | None:
    """Return the optimum if a cut that limits stays as it is."""
    return None if cut is None else replace(base, cut=cut)


def _bandwidth(network: Topology, value: object) -> Fraction:
    try:
        number = bandwidth_in(network.bandwidth_unit, value)
    except ValueError as error:
        raise InputError(f"bandwidth of the new link {shown(value)} {error}") from None
    if number <= 0:
        raise InputError(f"bandwidth of the new link is {shown(value)}; it must be greater than 0")
    return number


def _row(base: Value, change: Change, value: Value, count: int) -> ChangeRow:
    return ChangeRow(change, value, value.algbw / base.algbw, count)


class _Ports:
    """The bandwidths of links now, and of the fastest link of each node."""

    def __init__(self, network: Topology) -> None:
        self._network = network
        self._now = network.bandwidths
        self._fastest: dict[int, Fraction] = {}
        for (source, target), bandwidth in self._now.items():
            for end in (source, target):
                self._fastest[end] = max(bandwidth, self._fastest.get(end, bandwidth))

    def change(self, ends: Ends, given: Fraction | None) -> Change:
        """Return the new link between two nodes, of the given bandwidth or the fastest that both have."""
        more = min(self._fastest.get(end, Fraction(1)) for end in ends) if given is None else given
        ways = (ends, ends[::-1])
        faster = tuple((source, target, self._now.get((source, target), Fraction(0)) + more) for source, target in ways)
        return Change(f"{link_name(self._network, ends)}={more}", bandwidths=faster)


def _classes(network: Topology, symmetries: Symmetries, limiting: LimitingCuts) -> list[SetClass]:
    """Return all pairs of nodes up to symmetry; of a large network, only those that may gain something."""
    nodes = len(network.nodes)
    if nodes <= _MOST_NODES:
        return classes_of_sets(nodes, 2, symmetries.images)
    pairs = limiting.crossing_pairs()
    if not pairs:
        return []
    if len(pairs) > _MOST_PAIRS:
        raise InputError(
            f"{network.name}: {len(pairs):,} pairs of nodes may gain from a link, {_MOST_PAIRS:,} at most; "
            "use a smaller network of the same kind"
        )
    images = images_of_items(symmetries, [frozenset(pair) for pair in pairs])
    return [SetClass(pairs[each.first[0]], each.count) for each in classes_of_sets(len(pairs), 1, images)]
