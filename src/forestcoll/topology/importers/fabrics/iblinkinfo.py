"""The output of iblinkinfo, node by node or with --line: the ports of an InfiniBand fabric and what they are linked to.

A port is known by its LID and its number, which a link states of both of its ends. All ports of a switch have one LID,
and each port of an adapter has its own. With --line, a node is a switch if several ports have its LID. A speed is that
of the signals of one lane: 25.78125 Gb/s for EDR, which carries 25.

Source: print_port and print_node_header in infiniband-diags/iblinkinfo.c of rdma-core.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import plural
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.fabrics.infiniband import (
    ADAPTER,
    LANE_GBITS,
    SWITCH,
    InfinibandFabric,
    host_and_device,
)
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source

_NODE = re.compile(r"(Switch|CA|Router):\s+(?:0x[0-9a-fA-F]{1,16}\s+)?(.*?):?")
_END = r'(?:(0x[0-9a-fA-F]{1,16})\s+)?(?:"\s*([^"]*?)\s*"\s+)?(\d{1,6})\s+(\d{1,4})\[[\s\d]*\]'
_PORT = re.compile(rf"{_END}\s+==\((.{{0,200}}?)\)==>\s*(.*)")
_OTHER = re.compile(r'(?:0x[0-9a-fA-F]{1,16}\s+)?(\d{1,6})\s+(\d{1,4})\[[\s\d]*\]\s+"([^"]*)"')
_STATE = re.compile(r"(\d{1,2})X\s+(\d{1,3}(?:\.\d{1,6})?)\s+Gbps(\s+\(FDR10\))?\s+Active/\s*LinkUp", re.IGNORECASE)
_SIGNALS = ((3, "SDR"), (6, "DDR"), (12, "QDR"), (16, "FDR"), (30, "EDR"), (60, "HDR"), (120, "NDR"), (240, "XDR"))
"""The most Gb/s of the signals of a lane, by the name of the rate."""


@dataclass(frozen=True)
class _Port:
    """A line of a port.

    Attributes:
        line: its number.
        kind: the kind of the node above it; empty with --line.
        name: the description of the node.
        lid: the LID of the port.
        number: its number.
        state: its width, speed and state.
        other: the LID, the number and the description of the other end; None without a link.
    """

    line: int
    kind: str
    name: str
    lid: str
    number: int
    state: str
    other: tuple[str, int, str] | None


@importers.add("iblinkinfo", summary="the output of iblinkinfo", tried=75)
@dataclass(frozen=True)
class Iblinkinfo(Importer):
    """Reads the output of iblinkinfo, with or without --line."""

    link_bandwidth: Fraction | None = option("link_bandwidth")

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text has a port as iblinkinfo writes it."""
        return re.search(r"\d\[[\s\d]*\] ==\(.{0,200}?\)==>", text) is not None

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the fabric."""
        ports = _ports(source)
        fabric = InfinibandFabric()
        kinds = _kinds(ports)
        names = {port.other[0]: port.other[2] for port in ports if port.other is not None}
        names |= {port.lid: port.name for port in ports if port.name}
        keys = {lid: _key(lid, kind, names.get(lid, "")) for lid, kind in kinds.items()}
        for lid, key in keys.items():
            fabric.kinds[key] = kinds[lid]
            fabric.names.setdefault(key, names.get(lid, ""))
        down = 0
        for port in ports:
            found = _STATE.search(port.state)
            if port.other is None or "active" not in port.state.lower():
                down += 1
                continue
            there = (keys[port.other[0]], port.other[1])
            fabric.add_link((keys[port.lid], port.number), there, _rate(found), port.line)
        waiting = [port for port in ports if port.other is not None and "initialize" in port.state.lower()]
        if waiting and down == len(ports):
            what = f"no link is active, and {plural(len(waiting), 'port')} are in the state Initialize"
            raise source.error(
                f"{what}; start a subnet manager, such as opensm, and list the links again", waiting[0].line
            )
        slow = [(number, line) for number, line in source.numbered() if "Could be" in line]
        if slow:
            what = f"{plural(len(slow), 'port')} could be faster, the first in line {slow[0][0]}"
            notes.assume(f"links are as fast as now: iblinkinfo says that {what}")
        if down:
            notes.ignore(f"{plural(down, 'port')} without an active link")
        return fabric.builder(source, self.link_bandwidth, notes)


def _ports(source: Source) -> list[_Port]:
    ports = []
    kind, name = "", ""
    for number, line in source.numbered():
        if (found := _PORT.search(line)) is not None:
            other = _OTHER.match(found[6])
            end = None if other is None else (other[1], int(other[2]), other[3])
            ports.append(
                _Port(number, "" if found[2] else kind, found[2] or name, found[3], int(found[4]), found[5], end)
            )
        elif (node := _NODE.fullmatch(line)) is not None:
            kind, name = ADAPTER if node[1] == "CA" else SWITCH, node[2].strip()
    return ports


def _kinds(ports: Sequence[_Port]) -> dict[str, str]:
    """Return the kind of the node of each LID: as its line says, or a switch if several ports have it."""
    numbers: dict[str, set[int]] = {}
    for port in ports:
        numbers.setdefault(port.lid, set()).add(port.number)
        if port.other is not None:
            numbers.setdefault(port.other[0], set()).add(port.other[1])
    stated = {port.lid: port.kind for port in ports if port.kind}
    return {lid: stated.get(lid, SWITCH if len(each) > 1 else ADAPTER) for lid, each in numbers.items()}


def _key(lid: str, kind: str, name: str) -> str:
    """Return the key of a node: ports of one adapter share it, if its description names a host and a device."""
    return name if kind == ADAPTER and host_and_device(name) is not None else f"lid {lid}"


def _rate(state: "re.Match[str] | None") -> Fraction | None:
    """Return GB/s of a link; None if the line does not say a known speed."""
    if state is None:
        return None
    rate = "FDR10" if state[3] else next((name for most, name in _SIGNALS if Fraction(state[2]) < most), None)
    return None if rate is None else int(state[1]) * LANE_GBITS[rate] / 8
