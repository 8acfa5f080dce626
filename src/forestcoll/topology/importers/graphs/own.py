"""This project's own format, `forestcoll.topology/1`, so that its files can stand among those of other tools."""

from collections.abc import Sequence
from pathlib import Path

from forestcoll.base.files import parse_document
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.files import FORMAT, add_document
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import ImportOptions
from forestcoll.topology.importers.source import Source

_LOOKED_AT = 2**16


def looks_like(text: str) -> bool:
    """Return whether the text is a JSON object that is marked with the format."""
    return text.lstrip()[:1] == "{" and (f'"{FORMAT}"' in text[:_LOOKED_AT] or f'"{FORMAT}"' in text[-_LOOKED_AT:])


def read(sources: Sequence[Source], _options: ImportOptions, _notes: Notes) -> TopologyBuilder:
    """Return the network in the file.

    Raises:
        InputError: a rule of the format is broken.
    """
    source = sources[0]
    document = parse_document(source.text.encode(), Path(source.where))
    return add_document(document, where=source.where, name=source.stem)
