"""A file that is given where a topology is expected: in this project's format, or in any format that is imported.

Importing with options, and seeing what was understood, is `formats.import_topology`.
"""

from collections.abc import Mapping
from pathlib import Path

from forestcoll.base.files import STANDARD_STREAM, parse_document, read_bytes
from forestcoll.topology.files import DEFAULT_NAME, topology_from_document
from forestcoll.topology.importers.formats import format_of, import_sources, unknown_format
from forestcoll.topology.importers.options import MissingSpeedError
from forestcoll.topology.importers.source import Source
from forestcoll.topology.model import Topology


def read_any_topology(path: Path, *, connected: bool = True) -> tuple[Topology, tuple[str, ...]]:
    """Return the topology in the file at `path`, whatever known format it is in, and what was assumed to import it.

    Raises:
        InputError: the file cannot be read, is in no known format, is broken, or does not state a speed.
    """
    data = read_bytes(path)
    source = Source.of(data, path)
    if source.text.lstrip()[:1] == "{":
        document = parse_document(data, path)
        form = None if _is_own(document) else format_of(source.text)
        if form is None:
            name = DEFAULT_NAME if path == STANDARD_STREAM else path.name
            return topology_from_document(document, where=source.where, name=name, connected=connected), ()
    else:
        form = format_of(source.text)
    if form is None:
        raise unknown_format(source)
    try:
        imported = import_sources([source], format_name=form.name, connected=connected)
    except MissingSpeedError as error:
        raise error.where_no_option_is(path) from None
    return imported.topology, imported.assumed


def _is_own(document: Mapping[str, object]) -> bool:
    graph = document.get("graph")
    return isinstance(graph, Mapping) and "format" in graph
