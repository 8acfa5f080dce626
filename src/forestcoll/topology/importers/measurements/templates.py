"""Templates of networks, and the choice of the one that fits measurements best.

Inside of a host, ranks are ports of one switch (`out`, `in`) or have direct links (`link`). Between hosts, a rank has a
link to its NIC (`up`, `down`). Ranks may share a NIC (`nic-up`, `nic-down`), and all ranks of a host may share one
more link (`host-up`, `host-down`). Or NICs are behind the switch of the box, so that one port of a rank carries all of
its data. Hosts may be below leaf switches, whose uplinks (`leaf-up`, `leaf-down`) are smaller than the sum of what is
below them.

A template with more kinds of resources is chosen only if its score is better by `_MARGIN` for each.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from forestcoll.topology.importers.measurements.document import Measurement, Measurements, Probe
from forestcoll.topology.importers.measurements.fitting import Fit, Resource, fit_of, score_of

_MARGIN = 0.03

_SHARED = 0.75
"""Two ranks share a NIC if together they reach less than this part of the sum of what each reaches alone."""


_OF_ONE_HOST = ("pair", "one-to-all", "all-to-one")
_OF_TWO_HOSTS = ("host-pair", "two-ranks", "all-ranks")
_BOTH = "inside-and-outside"


@dataclass(frozen=True)
class NetworkTemplate:
    """The template of a network.

    Attributes:
        measurements: what is fitted.
        direct: the places of hosts whose ranks have direct links.
        nics: for each rank, the group of ranks that it shares a NIC with, if there are such groups.
        has_host_link: whether all ranks of a host share a link to the outside.
        is_behind: whether the link to the outside is at the switch of the box.
        leaves: for each host, its leaf switch, if there are uplinks.
    """

    measurements: Measurements
    direct: frozenset[int] = frozenset()
    nics: dict[int, int] = field(default_factory=dict)
    has_host_link: bool = False
    is_behind: bool = False
    leaves: tuple[int, ...] = ()

    @property
    def kinds(self) -> int:
        """The number of kinds of resources that the simplest template does not have."""
        return bool(self.nics) + self.has_host_link + bool(self.leaves)

    def resources(self, flow: Probe) -> list[Resource]:
        """Return what a send uses."""
        one, other = (self.measurements.host_of[rank] for rank in (flow.source, flow.target))
        if one == other:
            if one in self.direct:
                return [("link", flow.source, flow.target)]
            return [("out", flow.source), ("in", flow.target)]
        found = [*self._upwards(flow.source, one, "up"), *self._upwards(flow.target, other, "down")]
        if self.leaves and self.leaves[one] != self.leaves[other]:
            found += [("leaf-up", self.leaves[one]), ("leaf-down", self.leaves[other])]
        return found

    def _upwards(self, rank: int, host: int, way: str) -> list[Resource]:
        if self.is_behind:
            return [("out" if way == "up" else "in", rank), (f"host-{way}", host)]
        found: list[Resource] = [(way, rank)]
        if rank in self.nics:
            found.append((f"nic-{way}", self.nics[rank]))
        return [*found, (f"host-{way}", host)] if self.has_host_link else found

    def fit(self) -> Fit:
        """Return the fit to all measurements."""
        return fit_of(self.measurements.measurements, self.resources)

    def score(self, kinds: Collection[str], others: Collection[str] = ()) -> float:
        """Return how well measurements of some kinds fit; 0 is perfect.

        Each kind counts the same: there are few measurements of all hosts, and many of two ranks.

        Args:
            kinds: the kinds that count.
            others: further kinds, which the bandwidths fit, too.
        """
        chosen = [each for each in self.measurements.measurements if each.kind in {*kinds, *others}]
        errors: dict[str, list[float]] = {}
        for measurement, error in zip(chosen, fit_of(chosen, self.resources).errors, strict=True):
            if measurement.kind in kinds:
                errors.setdefault(measurement.kind, []).append(error)
        return sum(map(score_of, errors.values())) / max(1, len(errors))


def best_shape(measurements: Measurements) -> NetworkTemplate:
    """Return the template that fits best."""
    shape = NetworkTemplate(measurements)
    own = _of_hosts(measurements)
    direct = [place for place in range(len(measurements.hosts)) if _is_direct(shape, place, own[place])]
    shape = replace(shape, direct=frozenset(direct))
    if len(measurements.hosts) == 1:
        return shape
    groups = shared_nics(measurements)
    nics = [replace(shape, nics=nics, has_host_link=host) for nics in ({}, groups) for host in (False, True)]
    shape = _behind(_best(nics, _OF_TWO_HOSTS))
    leaves = [replace(shape, leaves=leaves) for leaves in _leaves(len(measurements.hosts))]
    return _best([shape, *leaves], {"all-hosts"}, _OF_TWO_HOSTS)


def _best(shapes: Sequence[NetworkTemplate], kinds: Collection[str], others: Collection[str] = ()) -> NetworkTemplate:
    """Return the first of the shapes with the best score."""
    scores = [shape.score(kinds, others) + _MARGIN * shape.kinds for shape in shapes]
    return shapes[scores.index(min(scores))]


def _behind(shape: NetworkTemplate) -> NetworkTemplate:
    """Return the shape with NICs behind the switches of boxes, if that fits clearly better."""
    behind = replace(shape, nics={}, has_host_link=True, is_behind=True)
    if shape.direct or not any(each.kind == _BOTH for each in shape.measurements.measurements):
        return shape
    others = (*_OF_TWO_HOSTS, *_OF_ONE_HOST)
    is_better = behind.score({_BOTH}, others) + _MARGIN < shape.score({_BOTH}, others)
    is_as_good = behind.score(_OF_TWO_HOSTS, _OF_ONE_HOST) < shape.score(_OF_TWO_HOSTS, _OF_ONE_HOST) + _MARGIN
    return behind if is_better and is_as_good else shape


def _of_hosts(measurements: Measurements) -> list[list[Measurement]]:
    """Return the measurements inside of each host."""
    found: list[list[Measurement]] = [[] for _ in measurements.hosts]
    for each in measurements.measurements:
        hosts = {measurements.host_of[rank] for flow in each.flows for rank in (flow.source, flow.target)}
        if len(hosts) == 1:
            found[hosts.pop()].append(each)
    return found


def _is_direct(shape: NetworkTemplate, place: int, own: Sequence[Measurement]) -> bool:
    """Return whether the ranks of a host have direct links, by the measurements inside. Two ranks have one link."""
    if len(shape.measurements.hosts[place].ranks) < 3:
        return True
    directs: tuple[frozenset[int], ...] = (frozenset(), frozenset({place}))
    scores = [score_of(fit_of(own, replace(shape, direct=each).resources).errors) for each in directs]
    return scores[1] < scores[0]


def shared_nics(measurements: Measurements) -> dict[int, int]:
    """Return for each rank that shares a NIC the first rank of its group, by the measurements of two ranks."""
    rates: dict[tuple[frozenset[int], int], float] = {}
    for each in measurements.measurements:
        if each.kind in {"host-pair", "two-ranks"}:
            for end in (0, 1):
                ranks = frozenset((flow.source, flow.target)[end] for flow in each.flows)
                if len(ranks) == len(each.flows):
                    rates[ranks, end] = each.size / float(each.seconds) / 1e9
    found: dict[frozenset[int], list[bool]] = {}
    for (ranks, end), rate in rates.items():
        alone = [rates.get((frozenset({rank}), end)) for rank in ranks]
        if len(ranks) == 2 and None not in alone:
            found.setdefault(ranks, []).append(rate < _SHARED * sum(each for each in alone if each is not None))
    return _groups(ranks for ranks, shares in found.items() if all(shares))


def _groups(pairs: Iterable[frozenset[int]]) -> dict[int, int]:
    """Return for each rank of some pairs the least rank that pairs connect it with."""
    first: dict[int, int] = {}
    for one, other in sorted(sorted(pair) for pair in pairs):
        ends = {first.setdefault(one, one), first.setdefault(other, other)}
        first |= {rank: min(ends) for rank, group in first.items() if group in ends}
    return first


def _leaves(hosts: int) -> list[tuple[int, ...]]:
    """Return ways to put hosts below leaf switches: neighbours in the order of ranks, as many below each."""
    sizes = [size for size in range(2, hosts // 2 + 1) if hosts % size == 0]
    return [tuple(place // size for place in range(hosts)) for size in sizes]
