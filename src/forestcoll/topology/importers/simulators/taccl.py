"""TACCL's JSON of a node: `links[dst][src]` counts links, `invbws[dst][src]` has microseconds a megabyte.

A file for a known machine has one value instead of the matrices; then the GPUs are ports of one switch. What a file
says of other nodes (`remote_invbw`) is left out, since it does not say how many nodes there are.
"""

import json
from dataclasses import dataclass
from fractions import Fraction

from forestcoll.base.errors import plural, shown
from forestcoll.base.exact import to_fraction
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.importer import Importer, importers
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source, whole_number

_MOST_GPUS = 4096
_US_PER_MB = 1000
"""GB/s of a link that takes one microsecond a megabyte."""


@importers.add("taccl", summary="TACCL's JSON of a node", tried=140)
@dataclass(frozen=True)
class Taccl(Importer):
    """Reads TACCL's JSON of a node."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is a JSON object with TACCL's keys."""
        if not text.lstrip().startswith("{") or '"gpus_per_node"' not in text:
            return False
        return any(f'"{key}"' in text for key in ("invbws", "node_invbws_list"))

    def network(self, source: Source, notes: Notes) -> TopologyBuilder:
        """Return the network of one node."""
        document = source.json()
        if not isinstance(document, dict):
            raise source.error("is no JSON object of TACCL")
        count = whole_number(source, document.get("gpus_per_node"), "gpus_per_node", most=_MOST_GPUS)
        name = document.get("name")
        builder = TopologyBuilder(name if isinstance(name, str) and name else source.stem, where=source.where)
        for gpu in range(count):
            builder.add_compute(f"GPU{gpu}", box=source.stem)
        if "remote_invbw" in document:
            notes.ignore("remote_invbw and nics_per_node: the file does not say how many nodes there are")
        notes.assume("a link that takes t microseconds a megabyte carries 1000/t GB/s")
        if "links" in document:
            _add_links(source, builder, document, count)
        else:
            _add_switch(source, builder, document, count, notes)
        return builder


def _add_links(source: Source, builder: TopologyBuilder, document: dict[str, object], count: int) -> None:
    links, inverses = (_matrix(source, document, key, count) for key in ("links", "invbws"))
    for target in range(count):
        for origin in range(count):
            if target != origin and (number := links[target][origin]) > 0:
                inverse = inverses[target][origin]
                if inverse <= 0:
                    raise source.error(f"invbws[{target}][{origin}] is {inverse}; expected microseconds above 0")
                builder.add_link(f"GPU{origin}", f"GPU{target}", number * _US_PER_MB / inverse)


def _matrix(source: Source, document: dict[str, object], key: str, count: int) -> list[list[Fraction]]:
    rows = document.get(key)
    found = [row for row in rows if isinstance(row, list) and len(row) == count] if isinstance(rows, list) else []
    if not isinstance(rows, list) or len(found) != count or len(rows) != count:
        raise source.error(f"{key} is no matrix of {plural(count, 'row')} with {plural(count, 'value')} each")
    return [[_number(source, value, key) for value in row] for row in found]


def _number(source: Source, value: object, key: str) -> Fraction:
    try:
        return to_fraction(value)
    except ValueError as error:
        raise source.error(f"{key} holds {shown(value)}, which {error}") from None


def _add_switch(
    source: Source, builder: TopologyBuilder, document: dict[str, object], count: int, notes: Notes
) -> None:
    values = document.get("node_invbws_list")
    if not isinstance(values, list) or len(values) != 1:
        what = "node_invbws_list has not one value, and the links of the machine are in TACCL's source only"
        raise source.error(f"{what}; give links and invbws as matrices")
    inverse = _number(source, values[0], "node_invbws_list")
    if inverse <= 0:
        raise source.error(f"node_invbws_list holds {json.dumps(str(inverse))}; expected microseconds above 0")
    notes.assume("the GPUs are ports of one switch, as TACCL's DGX2 and HubAndSpoke are")
    builder.add_switch("switch", box=source.stem)
    for gpu in range(count):
        builder.add_duplex(f"GPU{gpu}", "switch", _US_PER_MB / inverse)
