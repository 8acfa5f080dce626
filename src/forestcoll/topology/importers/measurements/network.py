"""The network of a template: nodes, links with rounded bandwidths, and sentences about what was chosen."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.measurements.fitting import Fit, Resource
from forestcoll.topology.importers.measurements.speeds import (
    BOX_SPEEDS,
    NETWORK_SPEEDS,
    Rounded,
    nearest_multiple,
    nearest_speed,
    pooled,
    with_digits,
)
from forestcoll.topology.importers.measurements.templates import NetworkTemplate
from forestcoll.topology.importers.notes import Notes

FABRIC = "fabric"

_EXACT_DIGITS = 6

_WORDS = {
    "port": "a port of the switch of a box",
    "link": "a direct link between two ranks",
    "rank": "the link of a rank to the outside",
    "nic": "a NIC that ranks share",
    "host": "the link that all ranks of a host share",
    "leaf": "the uplink of a leaf switch",
}
_KINDS = {"out": "port", "in": "port", "link": "link", "up": "rank", "down": "rank"}


def _kind(resource: Resource) -> str:
    name = str(resource[0])
    return _KINDS.get(name, name.partition("-")[0])


@dataclass
class Bandwidths:
    """The bandwidth of each resource, rounded; those of one kind that are near each other are equal.

    Attributes:
        fit: the measured bandwidths.
        is_rounded: whether they are rounded to plausible speeds.
        notes: gets a sentence for each different figure.
    """

    fit: Fit
    is_rounded: bool
    notes: Notes
    _values: dict[Resource, Fraction] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for kind, words in _WORDS.items():
            own = {each: value for each, value in self.fit.bandwidths.items() if _kind(each) == kind}
            if not self.is_rounded:
                self._values |= {each: with_digits(value, _EXACT_DIGITS) for each, value in own.items()}
                continue
            near = pooled(own.values())
            rounded = {value: self._rounded(kind, value) for value in sorted(set(near.values()))}
            for each in rounded.values():
                self.notes.assume(
                    f"{words}: {each.measured:.4g} GB/s measured, {_number(each.value)} GB/s ({each.name})"
                )
            self._values |= {each: rounded[near[value]].value for each, value in own.items()}

    def _rounded(self, kind: str, value: float) -> Rounded:
        if kind in {"port", "link"}:
            return nearest_speed(value, (*BOX_SPEEDS, *NETWORK_SPEEDS))
        if kind == "leaf" and (below := self._of_hosts()) is not None:
            return nearest_multiple(value, below, NETWORK_SPEEDS)
        return nearest_speed(value, NETWORK_SPEEDS)

    def _of_hosts(self) -> Fraction | None:
        """Return the bandwidth of a NIC: of a host, of ranks that share it, or of one rank."""
        for kind in ("host", "nic", "rank"):
            values = [value for each, value in self._values.items() if _kind(each) == kind]
            if values:
                return max(values)
        return None

    def of(self, resource: Resource) -> Fraction | None:
        """Return GB/s of a resource; None if nothing was measured through it."""
        return self._values.get(resource)


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.6g}"


@dataclass
class _Latencies:
    """Microseconds of a link inside of a host, and of a link on the path between hosts; None if not measured."""

    inside: Fraction | None
    between: Fraction | None


def fill(builder: TopologyBuilder, shape: NetworkTemplate, bandwidths: Bandwidths) -> None:
    """Add the network of a template."""
    writer = _Writer(builder, shape, bandwidths, _latencies(shape))
    writer.add_nodes()
    for place in range(len(shape.measurements.hosts)):
        writer.add_inside(place)
        if len(shape.measurements.hosts) > 1:
            writer.add_outside(place)
    writer.add_uplinks()


def _latencies(shape: NetworkTemplate) -> _Latencies:
    measurements = shape.measurements
    host_of = measurements.host_of
    inside = [each.seconds for each in measurements.latencies if host_of[each.source] == host_of[each.target]]
    between = [each.seconds for each in measurements.latencies if host_of[each.source] != host_of[each.target]]
    links = 2 * (1 + bool(shape.nics) + shape.has_host_link)
    return _Latencies(_microseconds(inside, 1 if shape.direct else 2), _microseconds(between, links))


def _microseconds(seconds: Iterable[Fraction], links: int) -> Fraction | None:
    """Return the median divided by a number of links, in steps of 0.01."""
    found = sorted(seconds)
    return Fraction(round(statistics.median_low(found) * 10**8 / links), 100) if found else None


@dataclass
class _Writer:
    builder: TopologyBuilder
    shape: NetworkTemplate
    bandwidths: Bandwidths
    latencies: _Latencies

    def add_nodes(self) -> None:
        """Add the compute nodes, in the order of their ranks."""
        measurements = self.shape.measurements
        for rank in range(measurements.size):
            self.builder.add_compute(self._rank(rank), box=measurements.hosts[measurements.host_of[rank]].name)

    def add_inside(self, place: int) -> None:
        """Add the switch of a box and its ports, or the direct links."""
        host = self.shape.measurements.hosts[place]
        if len(host.ranks) < 2:
            return
        if place in self.shape.direct:
            for one in host.ranks:
                for other in host.ranks:
                    self._add(self._rank(one), self._rank(other), ("link", one, other), self.latencies.inside)
            return
        switch = str(self.builder.add_switch(self._switch(place), box=host.name))
        for rank in host.ranks:
            self._add_both(self._rank(rank), switch, ("out", rank), ("in", rank), self.latencies.inside)

    def add_outside(self, place: int) -> None:
        """Add the links of a host to its leaf switch."""
        host, shape = self.shape.measurements.hosts[place], self.shape
        top = self._leaf(place)
        if shape.has_host_link:
            nic = str(self.builder.add_switch(f"{host.name}/nic", box=host.name, device="nic"))
            self._add_both(nic, top, ("host-up", place), ("host-down", place), self.latencies.between)
            top = nic
        if shape.is_behind:
            self.builder.add_duplex(self._own_switch(place), top, self._both(place))
            return
        for rank in host.ranks:
            above = self._nic(host.name, rank, top) if rank in shape.nics else top
            self._add_both(self._rank(rank), above, ("up", rank), ("down", rank), self.latencies.between)

    def _own_switch(self, place: int) -> str:
        ranks = self.shape.measurements.hosts[place].ranks
        return self._switch(place) if len(ranks) > 1 else self._rank(ranks[0])

    def _both(self, place: int) -> Fraction:
        values = (self.bandwidths.of((f"host-{way}", place)) for way in ("up", "down"))
        return max((value for value in values if value is not None), default=Fraction(0))

    def _nic(self, host: str, rank: int, top: str) -> str:
        """Return the NIC of a rank; the first rank of a group adds it."""
        first = self.shape.nics[rank]
        name = f"{host}/nic{first}"
        if first == rank:
            self.builder.add_switch(name, box=host, device="nic")
            self._add_both(name, top, ("nic-up", first), ("nic-down", first), self.latencies.between)
        return name

    def add_uplinks(self) -> None:
        """Add the links between leaf switches and the core."""
        for leaf in dict.fromkeys(self.shape.leaves):
            self._add_both(f"leaf{leaf}", "core", ("leaf-up", leaf), ("leaf-down", leaf), None)

    def _leaf(self, place: int) -> str:
        leaves = self.shape.leaves
        name = f"leaf{leaves[place]}" if leaves else FABRIC
        if place == 0 and leaves:
            self.builder.add_switch("core")
        if place == 0 or (leaves and leaves[place] != leaves[place - 1]):
            self.builder.add_switch(name)
        return name

    def _add_both(self, below: str, above: str, up: Resource, down: Resource, latency: Fraction | None) -> None:
        self._add(below, above, up, latency)
        self._add(above, below, down, latency)

    def _add(self, source: str, target: str, resource: Resource, latency: Fraction | None) -> None:
        bandwidth = self.bandwidths.of(resource)
        if bandwidth is not None:
            self.builder.add_link(source, target, bandwidth, latency_us=latency)

    def _rank(self, rank: int) -> str:
        measurements = self.shape.measurements
        return f"{measurements.hosts[measurements.host_of[rank]].name}/rank{rank}"

    def _switch(self, place: int) -> str:
        return f"{self.shape.measurements.hosts[place].name}/switch"
