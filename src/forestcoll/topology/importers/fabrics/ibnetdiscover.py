"""The output of ibnetdiscover: switches and adapters of an InfiniBand fabric, and the links between their ports.

Each link is listed from both ends and counts once. An adapter is a compute node, its host is the attribute `box`.
Aggregation nodes, which belong to switches, are left out. Speeds are data rates: lanes times 25 Gb/s for EDR, 50 for
HDR, 100 for NDR and 200 for XDR.
"""

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.base.errors import plural, shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes, listed
from forestcoll.topology.importers.options import missing_speed
from forestcoll.topology.importers.source import Source

LANE_GBITS = {
    "SDR": Fraction(2), "DDR": Fraction(4), "QDR": Fraction(8), "FDR10": Fraction(10), "FDR": Fraction(150, 11),
    "EDR": Fraction(25), "HDR": Fraction(50), "NDR": Fraction(100), "XDR": Fraction(200),
}  # fmt: skip
"""The data rate of one lane, in Gb/s: the signalling rate less the encoding."""

_NODE = re.compile(r'(Switch|Ca|CA|Rt|Router)\s+\d+\s+"([^"]+)"\s*(?:#\s*"([^"]*)")?')
_PORT = re.compile(r'\[(\d{1,4})\](?:\[ext \d+\])?(?:\((?:0x)?[0-9a-fA-F]*\))?\s*"([^"]+)"\s*\[(\d{1,4})\](.*)')
_RATE = re.compile(r"\b(\d{1,2})x\s?(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b")
_HOST_AND_DEVICE = re.compile(r"(\S+)\s+((?:mlx|mlx5|hfi1|qib|HCA|ibp|ib|roce)[\w.:-]*)")
_SWITCH_NAME = re.compile(r"(?:[^;]*;)?([^:;]+)(?::.*)?")

End = tuple[str, int]


@dataclass
class _Fabric:
    """What the file holds: the kind and the description of each node, and the rate between two ports."""

    kinds: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    links: dict[tuple[End, End], Fraction | None] = field(default_factory=dict)
    lines: dict[tuple[End, End], int] = field(default_factory=dict)


@importers.add("ibnetdiscover", summary="the output of ibnetdiscover", tried=80)
@dataclass(frozen=True)
class Ibnetdiscover(Importer):
    """Reads the output of ibnetdiscover."""

    link_bandwidth: Fraction | None = option("link_bandwidth")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text has a line of a switch or an adapter as ibnetdiscover writes it."""
        return re.search(r'^(Switch|Ca)\s+\d+\s+"[^"]+"', text, re.MULTILINE) is not None

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the fabric."""
        fabric = _fabric(source)
        used = _used(fabric, notes)
        ids = _ids(fabric, used)
        builder = TopologyBuilder(source.stem, where=source.where)
        for node in used:
            if fabric.kinds[node] == "Ca":
                builder.add_compute(ids[node], guid=node, **_box(fabric.names.get(node, "")))
        for node in used:
            if fabric.kinds[node] != "Ca":
                builder.add_switch(ids[node], guid=node)
        _check_rates(source, fabric, used, self)
        for (one, other), rate in fabric.links.items():
            if one[0] in used and other[0] in used:
                speed = self.link_bandwidth if rate is None or self.link_bandwidth else rate
                builder.add_duplex(ids[one[0]], ids[other[0]], speed)
        return builder


def _fabric(source: Source) -> _Fabric:
    fabric = _Fabric()
    current = ""
    for number, line in source.numbered():
        if line[0] == "[":
            found = _PORT.match(line)
            if found is None:
                continue
            if not current:
                raise source.error(
                    f"{shown(line)} is a port of no node; the file lacks a line 'Switch' or 'Ca'", number
                )
            _add_port(fabric, (current, int(found[1])), (found[2], int(found[3])), found[4], number)
        elif found := _NODE.match(line):
            current = found[2]
            fabric.kinds[current] = "Ca" if found[1] in ("Ca", "CA") else "Switch"
            if found[3]:
                fabric.names[current] = found[3]
    return fabric


def _add_port(fabric: _Fabric, here: End, there: End, rest: str, line: int) -> None:
    rates = _RATE.findall(rest)
    rate = int(rates[-1][0]) * LANE_GBITS[rates[-1][1]] / 8 if rates else None
    ends = (here, there) if here <= there else (there, here)
    known = fabric.links.get(ends)
    fabric.links[ends] = known if rate is None else rate if known is None else min(known, rate)
    fabric.lines[ends] = line
    fabric.kinds.setdefault(there[0], "Ca" if there[0].startswith("H-") else "Switch")
    found = re.search(r'"([^"]*)"', rest)
    if found is not None and there[0] not in fabric.names:
        fabric.names[there[0]] = found[1]


def _used(fabric: _Fabric, notes: Notes) -> dict[str, None]:
    """Return the nodes of the network, without aggregation nodes and adapters without a link."""
    aggregation = {node for node, name in fabric.names.items() if "aggregation node" in name.lower()}
    linked = {end[0] for ends in fabric.links for end in ends}
    alone = [node for node, kind in fabric.kinds.items() if kind == "Ca" and node not in linked]
    if aggregation:
        notes.ignore(f"{plural(len(aggregation), 'aggregation node')} of switches")
    if alone:
        notes.ignore(f"{plural(len(alone), 'adapter')} without a link: {listed(alone)}")
    return {node: None for node in fabric.kinds if node in linked and node not in aggregation}


def _check_rates(source: Source, fabric: _Fabric, used: Mapping[str, None], options: Ibnetdiscover) -> None:
    missing = [ends for ends, rate in fabric.links.items() if rate is None and all(end[0] in used for end in ends)]
    if missing and options.link_bandwidth is None:
        count, line = plural(len(missing), "link"), fabric.lines[missing[0]]
        raise missing_speed(f"{source.where}: line {line}", f"the rate of {count}, such as 4xNDR", "--link-bandwidth")


def _host_and_device(name: str) -> tuple[str, str] | None:
    found = _HOST_AND_DEVICE.fullmatch(" ".join(name.split()))
    return None if found is None else (found[1], found[2])


def _box(name: str) -> dict[str, object]:
    found = _host_and_device(name)
    return {} if found is None else {"box": found[0], "nic": found[1]}


def _ids(fabric: _Fabric, used: Mapping[str, None]) -> dict[str, str]:
    """Return what nodes are called: HOST/DEVICE, the name of a switch, or the GUID where that is no name of its own."""
    names = {node: _name(fabric.kinds[node], fabric.names.get(node, "")) or node for node in used}
    counts = Counter(names.values())
    return {node: name if counts[name] == 1 else node for node, name in names.items()}


def _name(kind: str, text: str) -> str:
    if kind == "Ca":
        found = _host_and_device(text)
        return "" if found is None else "/".join(found)
    found_name = _SWITCH_NAME.fullmatch(text.strip())
    return "" if found_name is None or " " in found_name[1].strip() else found_name[1].strip()
