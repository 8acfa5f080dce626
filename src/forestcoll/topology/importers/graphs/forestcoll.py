"""This project's own format, `forestcoll.topology/1`, so that its files can stand among those of other tools."""

from dataclasses import dataclass
from pathlib import Path

from forestcoll.base.files import parse_document
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.files import FORMAT, add_document
from forestcoll.topology.importers.importer import Importer, importers
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source

_LOOKED_AT = 2**16


@importers.add("forestcoll", summary="forestcoll.topology/1, this project's own format", tried=0)
@dataclass(frozen=True)
class Forestcoll(Importer):
    """Reads forestcoll.topology/1, this project's own format."""

    @staticmethod
    def looks_like(text: str) -> bool:
        """Return whether the text is a JSON object that is marked with the format."""
        return text.lstrip()[:1] == "{" and (f'"{FORMAT}"' in text[:_LOOKED_AT] or f'"{FORMAT}"' in text[-_LOOKED_AT:])

    def network(self, source: Source, _notes: Notes) -> TopologyBuilder:
        """Return the network in the file."""
        document = parse_document(source.text.encode(), Path(source.where))
        return add_document(document, where=source.where, name=source.stem)
