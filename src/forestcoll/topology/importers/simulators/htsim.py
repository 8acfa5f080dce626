"""The `.topo` files of htsim: a fat tree of two or three tiers, by its numbers.

A pod has as many switches of tier 0 as hosts fill, and as many of tier 1 as take the links upwards. Each switch of tier
0 is linked to each of tier 1 in its pod, and switch i of tier 1 in each pod to the core switches i, i + n, i + 2n, with
n switches of tier 1 in a pod. `Bundle` is the number of links between two switches, `Oversubscribed` the bandwidth
down divided by that up. Speeds are Gb/s each way.

Source: FatTreeTopology::load, set_custom_params and init_network in sim/datacenter/fat_tree_topology.cpp of
Broadcom/csg-htsim.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.base.errors import shown
from forestcoll.base.exact import to_fraction
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.importer import Importer, importers
from forestcoll.topology.importers.notes import Notes, listed
from forestcoll.topology.importers.source import MAX_LINKS, Source

_HEADER = ("nodes", "tiers", "podsize")
_KNOWN = (
    "downlink_speed_gbps",
    "radix_down",
    "radix_up",
    "oversubscribed",
    "bundle",
    "downlink_latency_ns",
    "switch_latency_ns",
)
_TIERS = (2, 3)


@dataclass
class _Tier:
    """The numbers of a tier: those that its lines state."""

    number: int
    line: int
    values: dict[str, Fraction] = field(default_factory=dict)


@importers.add("htsim", summary="a .topo file of htsim", tried=155)
@dataclass(frozen=True)
class Htsim(Importer):
    """Reads a .topo file of htsim."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text has the numbers of nodes and tiers, and the speed of a tier."""
        words = ("nodes", "tiers", "downlink_speed_gbps")
        return all(re.search(rf"^[ \t]*{word}[ \t]+\d", text, re.MULTILINE | re.IGNORECASE) for word in words)

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the fat tree; hosts are compute nodes."""
        header, tiers = _numbers(source, notes)
        tree = _Tree(source, header, tiers)
        builder = TopologyBuilder(source.stem, where=source.where)
        for host in range(tree.hosts):
            builder.add_compute(f"host{host}", box=f"host{host}")
        for kind, tier, count in (
            ("tor", "leaf", tree.tors),
            ("agg", "spine", tree.aggs),
            ("core", "core", tree.cores),
        ):
            for number in range(count):
                builder.add_switch(f"{kind}{number}", tier=tier)
        for host in range(tree.hosts):
            tree.join(builder, f"host{host}", f"tor{host // tree.down(0)}", 0)
        for tor in range(tree.tors):
            pod = tor // (tree.tors // tree.pods)
            for place in range(tree.aggs_of_pod):
                tree.join(builder, f"tor{tor}", f"agg{pod * tree.aggs_of_pod + place}", 1)
        for core in range(tree.cores):
            for pod in range(tree.pods):
                tree.join(builder, f"agg{pod * tree.aggs_of_pod + core % tree.aggs_of_pod}", f"core{core}", 2)
        return builder


class _Tree:
    """The sizes of a fat tree.

    Raises:
        InputError: a number is missing, or two do not fit.
    """

    def __init__(self, source: Source, header: dict[str, int], tiers: list[_Tier]) -> None:
        self._source, self._tiers = source, tiers
        self.hosts = header["nodes"]
        self.pods = self._divided(self.hosts, header["podsize"], "Nodes", "Podsize")
        self.tors = self.pods * self._divided(header["podsize"], self.down(0), "Podsize", "Radix_Down of tier 0")
        up = self._up(self.hosts * self._speed(0), 0)
        below = "Podsize times Radix_Down of tier 1"
        self.aggs_of_pod = self._divided(up, self.pods * self.down(1), "the links of tier 0 upwards", below)
        self._check_down(1, self.tors // self.pods)
        self.aggs = self.pods * self.aggs_of_pod
        self.cores = 0
        if header["tiers"] == max(_TIERS):
            up = self._up(up * self._speed(1), 1)
            self.cores = self._divided(up, self.down(2), "the links of tier 1 upwards", "Radix_Down of tier 2")
            self._check_down(2, self.pods)
        elif self.pods > 1:
            raise source.error(f"two tiers join one pod only, and there are {self.pods}; make Podsize equal to Nodes")
        if self.hosts + self.tors * self.aggs_of_pod + self.cores * self.pods > MAX_LINKS:
            raise source.error(f"has more than {MAX_LINKS} links; import a smaller network")

    def down(self, tier: int) -> int:
        """Return the links of a switch downwards."""
        return self._whole(tier, "radix_down")

    def join(self, builder: TopologyBuilder, below: str, above: str, tier: int) -> None:
        """Add the links between a node and one of a tier above it."""
        values = self._tiers[tier].values
        latency = values.get("downlink_latency_ns")
        bandwidth = self._speed(tier) * self._whole(tier, "bundle", 1)
        builder.add_duplex(below, above, bandwidth, latency_us=None if latency is None else latency / 1000)

    def _check_down(self, tier: int, below: int) -> None:
        """Check that a switch has as many links downwards as there are switches or pods below, times the bundle."""
        wanted = below * self._whole(tier, "bundle", 1)
        if self.down(tier) != wanted:
            raise self._error(tier, f"radix_down is {self.down(tier)}, but {wanted} links lead down; fix the numbers")

    def _speed(self, tier: int) -> Fraction:
        return self._value(tier, "downlink_speed_gbps") / 8

    def _up(self, total: Fraction, tier: int) -> int:
        """Return the links of a tier upwards, whose switches have `total` GB/s downwards."""
        links = total / (self._speed(tier + 1) * self._value(tier, "oversubscribed", 1))
        if links.denominator > 1:
            raise self._error(tier, f"{links} links go upwards, which is no whole number; change Oversubscribed")
        return int(links)

    def _whole(self, tier: int, name: str, default: int | None = None) -> int:
        value = self._value(tier, name, default)
        if value.denominator > 1:
            raise self._error(tier, f"{name} is {value}; expected a whole number")
        return int(value)

    def _value(self, tier: int, name: str, default: int | None = None) -> Fraction:
        value = self._tiers[tier].values.get(name, None if default is None else Fraction(default))
        if value is None or value <= 0:
            raise self._error(tier, f"{name} is {'missing' if value is None else value}; give a number greater than 0")
        return value

    def _divided(self, whole: int, part: int, one: str, other: str) -> int:
        if part < 1 or whole % part or whole < part:
            raise self._source.error(f"{one} ({whole}) is no multiple of {other} ({part}); change one of them")
        return whole // part

    def _error(self, tier: int, what: str) -> Exception:
        return self._source.error(f"tier {tier}: {what}", self._tiers[tier].line)


def _numbers(source: Source, notes: Notes) -> tuple[dict[str, int], list[_Tier]]:
    header: dict[str, int] = {}
    tiers: dict[int, _Tier] = {}
    current: _Tier | None = None
    ignored: dict[str, None] = {}
    for number, line in source.numbered():
        words = line.partition("#")[0].split()
        if not words:
            continue
        name, value = words[0].lower(), _number(source, words, number)
        if name == "tier":
            current = tiers.setdefault(int(value), _Tier(int(value), number))
        elif current is None and name in _HEADER:
            header[name] = int(value)
        elif current is not None and name in _KNOWN:
            current.values[name] = value
        else:
            ignored[words[0]] = None
    if any(tier.values.get("switch_latency_ns") for tier in tiers.values()):
        ignored["Switch_Latency_ns"] = None
    if ignored:
        notes.ignore(f"{source.where}: {listed(list(ignored))}")
    _check(source, header, tiers)
    return header, [tiers[tier] for tier in range(header["tiers"])]


def _check(source: Source, header: Mapping[str, int], tiers: Mapping[int, _Tier]) -> None:
    missing = next((name for name in _HEADER if header.get(name, 0) < 1), None)
    if missing is not None:
        raise source.error(f"has no {missing.capitalize()} greater than 0; give it before the first tier")
    if header["tiers"] not in _TIERS:
        raise source.error(f"Tiers is {header['tiers']}; expected 2 or 3")
    absent = next((tier for tier in range(header["tiers"]) if tier not in tiers), None)
    if absent is not None:
        raise source.error(f"has no numbers of tier {absent}; add them")


def _number(source: Source, words: list[str], line: int) -> Fraction:
    try:
        value = to_fraction(words[1]) if len(words) > 1 else None
    except ValueError:
        value = None
    if value is None or not 0 <= value <= 2**40:
        raise source.error(f"{shown(' '.join(words))} has no number; write a name and a number, as in 'Tiers 2'", line)
    return value
