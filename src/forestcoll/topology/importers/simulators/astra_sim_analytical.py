"""The YAML that describes a network to ASTRA-sim's analytical model: a product of rings, complete graphs and switches.

`topology`, `npus_count`, `bandwidth` and `latency` are lists with a value for each dimension; the first dimension
changes fastest. The bandwidth is that of one link in one direction, in ASTRA-sim's GB/s of 2^30 bytes, so the number is
kept and the unit is GiB/s. A ring of two is one link.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import prod

from forestcoll.base.errors import shown
from forestcoll.base.exact import to_fraction
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.importer import Importer, importers
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import MAX_LINKS, MAX_NODES, Source, whole_number
from forestcoll.topology.importers.yaml_values import read_yaml

UNIT = "GiB/s"
_BLOCKS = {
    "ring": "ring",
    "fullyconnected": "complete",
    "switch": "switch",
    "r": "ring",
    "fc": "complete",
    "sw": "switch",
}
_KEYS = ("topology", "npus_count", "bandwidth")


@dataclass(frozen=True)
class _Dimension:
    """One dimension: what joins the nodes along it, how many there are, and its links."""

    block: str
    size: int
    bandwidth: Fraction
    latency_us: Fraction | None

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of places that a link joins."""
        if self.block == "complete":
            return list(combinations(range(self.size), 2))
        around = {tuple(sorted((place, (place + 1) % self.size))) for place in range(self.size)}
        return sorted((pair[0], pair[1]) for pair in around)

    @property
    def links(self) -> int:
        """How many full-duplex links there are along the dimension, in one group."""
        return {"switch": self.size, "complete": self.size * (self.size - 1) // 2}.get(self.block, self.size)


@importers.add("astra-sim-analytical", summary="the YAML of ASTRA-sim's analytical model", tried=160)
@dataclass(frozen=True)
class AstraSimAnalytical(Importer):
    """Reads the YAML of ASTRA-sim's analytical model."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text has the keys of such a file."""
        head = text[: 2**16]
        return all(re.search(rf"^[ \t]*+{key}[ \t]*:", head, re.MULTILINE) for key in ("topology", "npus_count"))

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the network."""
        document = read_yaml(source)
        if not isinstance(document, dict):
            raise source.error("is no YAML with topology, npus_count and bandwidth")
        dimensions = _dimensions(source, document)
        count = prod(dimension.size for dimension in dimensions)
        total = sum(count // dimension.size * dimension.links for dimension in dimensions)
        if count > MAX_NODES or 2 * total > MAX_LINKS:
            raise source.error(f"has {count} nodes and {2 * total} one-way links; make it smaller")
        notes.assume("GB/s of the file is 2^30 bytes a second, as in ASTRA-sim; the unit is GiB/s")
        builder = TopologyBuilder(source.stem, bandwidth_unit=UNIT, where=source.where)
        boxes = len(dimensions) > 1  # the first dimension is a box, if there are others
        for node in range(count):
            builder.add_compute(node, **({"box": node // dimensions[0].size} if boxes else {}))
        stride = 1
        for number, dimension in enumerate(dimensions):
            _add_dimension(builder, dimension, number, count, stride)
            stride *= dimension.size
        return builder


def _add_dimension(builder: TopologyBuilder, dimension: _Dimension, number: int, count: int, stride: int) -> None:
    for group, first in enumerate(_firsts(count, stride, dimension.size)):
        members = [first + place * stride for place in range(dimension.size)]
        if dimension.block == "switch":
            box = {} if number else {"box": group}
            switch = builder.add_switch(f"switch{number}-{group}", **box)  # type: ignore[arg-type]
            for member in members:
                builder.add_duplex(member, switch, dimension.bandwidth, latency_us=dimension.latency_us)
        else:
            for one, other in dimension.pairs:
                ends = (members[one], members[other])
                builder.add_duplex(*ends, dimension.bandwidth, latency_us=dimension.latency_us)


def _firsts(count: int, stride: int, size: int) -> Iterator[int]:
    """Yield the first node of each group of nodes along a dimension."""
    for start in range(0, count, stride * size):
        yield from range(start, start + stride)


def _dimensions(source: Source, document: Mapping[str, object]) -> list[_Dimension]:
    lists = {key: _list(source, document, key) for key in _KEYS}
    latencies = _list(source, document, "latency") if "latency" in document else []
    lengths = {key: len(values) for key, values in lists.items()}
    if len(set(lengths.values())) > 1 or (latencies and len(latencies) != lengths["topology"]):
        said = ", ".join(f"{key} {length}" for key, length in lengths.items())
        raise source.error(f"the lists must be equally long, a value for each dimension; there are {said}")
    dimensions = []
    for place, (name, size, bandwidth) in enumerate(zip(*lists.values(), strict=True)):
        block = _BLOCKS.get(str(name).lower().replace("_", ""))
        if block is None:
            hint = "; import its topology_file" if str(name).lower() == "custom" else ""
            raise source.error(f"topology is {shown(name)}; expected Ring, FullyConnected or Switch{hint}")
        nodes = whole_number(source, size, "npus_count")
        latency = _number(source, latencies[place], "latency", least=-1) / 1000 if latencies else None
        if nodes > 1:
            dimensions.append(_Dimension(block, nodes, _number(source, bandwidth, "bandwidth"), latency))
    if not dimensions:
        raise source.error("has fewer than two nodes; a collective needs two")
    return dimensions


def _list(source: Source, document: Mapping[str, object], key: str) -> list[object]:
    value = document.get(key)
    if value is None or isinstance(value, dict):
        raise source.error(f"has no list {key}; give it a value for each dimension")
    return value if isinstance(value, list) else [value]


def _number(source: Source, value: object, what: str, least: int = 0) -> Fraction:
    try:
        number = to_fraction(value)
    except ValueError as error:
        raise source.error(f"{what} is {shown(value)}, which {error}; write the number") from None
    if number <= least:
        raise source.error(f"{what} is {shown(value)}; expected a number above {least}")
    return number
