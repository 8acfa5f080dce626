"""The output of ibnetdiscover: switches and adapters of an InfiniBand fabric, and the links between their ports."""

import re
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import shown
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.fabrics.infiniband import ADAPTER, LANE_GBITS, SWITCH, InfinibandFabric
from forestcoll.topology.importers.importer import Importer, importers, option
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source

_NODE = re.compile(r'(Switch|Ca|CA|Rt|Router)\s+\d+\s+"([^"]+)"\s*(?:#\s*"([^"]*)")?')
_PORT = re.compile(r'\[(\d{1,4})\](?:\[ext \d+\])?(?:\((?:0x)?[0-9a-fA-F]*\))?\s*"([^"]+)"\s*\[(\d{1,4})\](.*)')
_RATE = re.compile(r"\b(\d{1,2})x\s?(SDR|DDR|QDR|FDR10|FDR|EDR|HDR|NDR|XDR)\b")


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
        return _fabric(source).builder(source, self.link_bandwidth, notes)


def _fabric(source: Source) -> InfinibandFabric:
    fabric = InfinibandFabric()
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
            _add_port(fabric, current, found, number)
        elif found := _NODE.match(line):
            current = found[2]
            fabric.kinds[current] = ADAPTER if found[1] in ("Ca", "CA") else SWITCH
            if found[3]:
                fabric.names[current] = found[3]
    return fabric


def _add_port(fabric: InfinibandFabric, node: str, port: "re.Match[str]", line: int) -> None:
    other, rest = port[2], port[4]
    rates = _RATE.findall(rest)
    rate = int(rates[-1][0]) * LANE_GBITS[rates[-1][1]] / 8 if rates else None
    fabric.add_link((node, int(port[1])), (other, int(port[3])), rate, line)
    fabric.kinds.setdefault(other, ADAPTER if other.startswith("H-") else SWITCH)
    found = re.search(r'"([^"]*)"', rest)
    if found is not None and other not in fabric.names:
        fabric.names[other] = found[1]
