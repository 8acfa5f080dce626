"""An InfiniBand fabric as its tools describe it: switches, adapters, and links between their ports.

An adapter is a compute node, its host is the attribute `box`. Each link is listed from both ends and counts once.
Aggregation nodes, which belong to switches, are left out. Speeds are data rates: lanes times 25 Gb/s for EDR, 50 for
HDR, 100 for NDR and 200 for XDR.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.base.errors import plural
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.notes import Notes, listed
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import Source

LANE_GBITS = {
    "SDR": Fraction(2), "DDR": Fraction(4), "QDR": Fraction(8), "FDR10": Fraction(10), "FDR": Fraction(150, 11),
    "EDR": Fraction(25), "HDR": Fraction(50), "NDR": Fraction(100), "XDR": Fraction(200),
}  # fmt: skip
"""The data rate of one lane, in Gb/s: the signalling rate less the encoding."""

ADAPTER, SWITCH = "Ca", "Switch"
"""The kinds of nodes."""

_HOST_AND_DEVICE = re.compile(r"(\S+)\s+((?:mlx|mlx5|hfi1|qib|HCA|ibp|ib|roce)[\w.:-]*)")
_SWITCH_NAME = re.compile(r"(?:[^;]*;)?([^:;]+)(?::.*)?")

End = tuple[str, int]
"""A port: a node and the number of the port."""


@dataclass
class InfinibandFabric:
    """What a file holds.

    Attributes:
        kinds: the kind of each node, by its GUID or another name of its own.
        names: the descriptions of nodes.
        links: GB/s between two ports; None if no end states it.
        lines: a line of each link.
    """

    kinds: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    links: dict[tuple[End, End], Fraction | None] = field(default_factory=dict)
    lines: dict[tuple[End, End], int] = field(default_factory=dict)

    def add_link(self, here: End, there: End, rate: Fraction | None, line: int) -> None:
        """Add a link as one end lists it; of two rates, the lower one counts."""
        ends = (here, there) if here <= there else (there, here)
        known = self.links.get(ends)
        self.links[ends] = known if rate is None else rate if known is None else min(known, rate)
        self.lines[ends] = line

    def builder(self, source: Source, link_bandwidth: Fraction | None, notes: Notes) -> TopologyBuilder:
        """Return the network.

        Raises:
            InputError: a link has no rate, and `link_bandwidth` is not given.
        """
        used = self._used(notes)
        ids = self._ids(used)
        builder = TopologyBuilder(source.stem, where=source.where)
        for node in used:
            if self.kinds[node] == ADAPTER:
                builder.add_compute(ids[node], guid=node, **_box(self.names.get(node, "")))
        for node in used:
            if self.kinds[node] != ADAPTER:
                builder.add_switch(ids[node], guid=node)
        if link_bandwidth is None:
            self._check_rates(source, used)
        for (one, other), rate in self.links.items():
            if one[0] in used and other[0] in used:
                builder.add_duplex(ids[one[0]], ids[other[0]], link_bandwidth or rate)
        return builder

    def _used(self, notes: Notes) -> dict[str, None]:
        """Return the nodes of the network, without aggregation nodes and adapters without a link."""
        aggregation = {node for node, name in self.names.items() if "aggregation node" in name.lower()}
        linked = {end[0] for ends in self.links for end in ends}
        alone = [node for node, kind in self.kinds.items() if kind == ADAPTER and node not in linked]
        if aggregation:
            notes.ignore(f"{plural(len(aggregation), 'aggregation node')} of switches")
        if alone:
            notes.ignore(f"{plural(len(alone), 'adapter')} without a link: {listed(alone)}")
        return {node: None for node in self.kinds if node in linked and node not in aggregation}

    def _check_rates(self, source: Source, used: Mapping[str, None]) -> None:
        missing = [ends for ends, rate in self.links.items() if rate is None and all(end[0] in used for end in ends)]
        if missing:
            count, line = plural(len(missing), "link"), self.lines[missing[0]]
            raise missing_speed(
                f"{source.where}: line {line}", f"the rate of {count}, such as 4xNDR", "--link-bandwidth"
            )

    def _ids(self, used: Mapping[str, None]) -> dict[str, str]:
        """Return what nodes are called: HOST/DEVICE, the name of a switch, or the key if that is no name of its own."""
        names = {node: _name(self.kinds[node], self.names.get(node, "")) or node for node in used}
        counts = Counter(names.values())
        return {node: name if counts[name] == 1 else node for node, name in names.items()}


def host_and_device(name: str) -> tuple[str, str] | None:
    """Return the host and the device that the description of an adapter names, or None."""
    found = _HOST_AND_DEVICE.fullmatch(" ".join(name.split()))
    return None if found is None else (found[1], found[2])


def _box(name: str) -> dict[str, object]:
    found = host_and_device(name)
    return {} if found is None else {"box": found[0], "nic": found[1]}


def _name(kind: str, text: str) -> str:
    if kind == ADAPTER:
        found = host_and_device(text)
        return "" if found is None else "/".join(found)
    found_name = _SWITCH_NAME.fullmatch(text.strip())
    return "" if found_name is None or " " in found_name[1].strip() else found_name[1].strip()
