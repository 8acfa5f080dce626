"""The path from files to a network: with options (`import_topology`), or where a topology is expected.

The format of a file is found by its content.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from forestcoll.base.errors import InputError, plural, shown, unknown_name
from forestcoll.base.exact import MAX_DIGITS, rounded
from forestcoll.base.file_kinds import LOG, NETWORK, kind_of, kind_of_text
from forestcoll.base.files import STANDARD_STREAM, PathLike, as_path, parse_document, read_bytes
from forestcoll.base.registry import Spec
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.files import DEFAULT_NAME, topology_from_document
from forestcoll.topology.importers.imported import Imported
from forestcoll.topology.importers.importer import UNMARKED, Importer, by_content, importer_of, importers
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import MissingSpeedError
from forestcoll.topology.importers.source import Source
from forestcoll.topology.model import Topology


def import_topology(
    *paths: PathLike,
    importer: Importer | str | None = None,
    connected: bool = True,
    hosts: int = 1,
    names: Sequence[str] = (),
    **options: object,
) -> Imported:
    """Return the network that files of another tool describe, and a summary of what was understood.

    Args:
        paths: the files: one or, of hosts that a fabric joins, several; a file that is given twice is two hosts.
        hosts: how many hosts each file stands for.
        names: the names of the hosts, in the order of the files; those of the files if there are none.
        importer: the format and its options, such as `"nccl-xml:nvlink=25"`; found by the content if None.
        connected: whether the compute nodes must all reach each other.
        options: options of the importer by name, such as `nvlink=25`: speeds that the files do not state are in GB/s
            per link and direction.

    Example:
        >>> import_topology("/nowhere/topo.xml", nvlink=25)
        Traceback (most recent call last):
        forestcoll.base.errors.InputError: /nowhere/topo.xml: no such file; check the name

    Raises:
        InputError: a file cannot be read, is in no known format or broken, or does not state a speed; the message
            names the file, the line, and the option to give.
    """
    files = [as_path(path) for path in paths]
    sources = [Source.of(read_bytes(Path(path)), path) for path in files]
    imported = import_sources(_each_host(sources, files, hosts, names), importer, connected=connected, **options)
    stems = {source.stem for source in sources}
    if len(sources) * hosts == 1 or len(stems) > 1:
        return imported
    name = f"{plural(len(sources) * hosts, 'host')} of {stems.pop()}"
    return replace(imported, topology=replace(imported.topology, name=name))


def _each_host(sources: Sequence[Source], files: Sequence[Path], hosts: int, names: Sequence[str]) -> list[Source]:
    """Return the file of each host, called as the host.

    The hosts of one file are b0, b1 and so on. Files of the same name have the names of the folders in which they
    differ.
    """
    every = [source for source in sources for _ in range(hosts)]
    if not names and len(every) > 1:
        if len(set(files)) == 1:
            names = [f"b{number}" for number in range(len(every))]
        else:
            own = _own_names(sources, files)
            names = own if hosts == 1 else [f"{name}-{number}" for name in own for number in range(hosts)]
        return [replace(source, stem=name) for source, name in zip(every, names, strict=True)]
    if not names:
        return every
    if len(names) != len(every) or len(set(names)) < len(names):
        raise InputError(f"{plural(len(set(names)), 'name')} for {plural(len(every), 'host')}; give each host a name")
    return [replace(source, stem=name) for source, name in zip(every, names, strict=True)]


def _own_names(sources: Sequence[Source], files: Sequence[Path]) -> list[str]:
    """Return the names of files, or those of the nearest folders that differ, if all files have the same name."""
    stems = [source.stem for source in sources]
    folders = [file.absolute().parent.parts[::-1] for file in files]
    for level in range(min(map(len, folders)) if len(set(stems)) == 1 else 0):
        found = [each[level] for each in folders]
        if len(set(found)) == len(found):
            return found
    return stems


def read_any_topology(path: Path, *, connected: bool = True) -> tuple[Topology, tuple[str, ...]]:
    """Return the topology in the file at `path`, whatever known format it is in, and what was assumed to import it.

    Raises:
        InputError: the file cannot be read, is in no known format, is broken, or does not state a speed.
    """
    data = read_bytes(path)
    source = Source.of(data, path)
    if source.text.lstrip()[:1] == "{":
        document = parse_document(data, path)
        if _is_own(document) or importer_of(source.text) is None:
            name = DEFAULT_NAME if path == STANDARD_STREAM else path.name
            return topology_from_document(document, where=source.where, name=name, connected=connected), ()
    try:
        imported = import_sources([source], connected=connected)
    except MissingSpeedError as error:
        raise error.where_no_option_is(path) from None
    return imported.topology, imported.assumed


def _is_own(document: Mapping[str, object]) -> bool:
    graph = document.get("graph")
    return isinstance(graph, Mapping) and "format" in graph


def import_sources(
    sources: Sequence[Source], importer: Importer | str | None = None, *, connected: bool = True, **options: object
) -> Imported:
    """Return the network that some files describe together, as `import_topology`.

    Raises:
        InputError: a file is in no known format, two are in different ones, a file is bad, or an option has no effect.
    """
    if not sources:
        raise InputError("no file is given; name one or several")
    chosen = _chosen(sources, importer)
    known = {each.name for each in chosen.spec.parameters}
    useless = [name for name in options if name not in known]
    _check_names(useless)
    chosen = replace(chosen, **{name: value for name, value in options.items() if name in known})  # type: ignore[arg-type]
    if len(sources) > 1 and not chosen.spec.facts.get("several"):
        raise InputError(f"{sources[1].where}: a network in format {chosen.name} is one file; import one at a time")
    notes = Notes()
    try:
        builder = chosen.read(sources, notes)
    except InputError:
        if importer is not None:
            _check_format(sources, chosen)
        raise
    if useless:
        raise _without_effect(sources[0], chosen, useless[0])
    for name in [each for each in chosen.given() if _is_same_without(each, chosen, sources, (builder, notes))]:
        notes.ignore(f"{_flag(name)}: the network is the same without it")
    if len(sources) == 1:
        notes.leave_out(f"{sources[0].where}: ")
    topology = builder.build(connected=connected)
    return Imported.of(_rounded(topology, chosen.digits, notes), chosen.name, notes)


def _chosen(sources: Sequence[Source], importer: Importer | str | None) -> Importer:
    """Return the importer that is given, or that of the format of all files."""
    if isinstance(importer, Importer):
        return importer
    if importer is None:
        found: Importer = _common_spec(sources).make()
        return found
    if not isinstance(importer, str):
        raise InputError(f"importer is {shown(importer)}; expected a text such as nccl-xml:nvlink=25, or an importer")
    named: Importer = importers.read(importer)
    return named


def _common_spec(sources: Sequence[Source]) -> Spec:
    specs = []
    for source in sources:
        spec = importer_of(source.text)
        if spec is None:
            raise _unknown_format(source)
        specs.append(spec)
    for source, spec in zip(sources, specs, strict=True):
        if spec is not specs[0]:
            raise InputError(
                f"{source.where}: is in format {spec.name}, and {sources[0].where} in {specs[0].name}; "
                "import files of one format"
            )
    return specs[0]


def _unknown_format(source: Source) -> InputError:
    """Return the error about a file that is in no format that is known by its content."""
    text = source.text.lstrip()
    if not text:
        return source.error("the file is empty; expected a network")
    kind = kind_of_text(text)
    if kind is not LOG and text.startswith("{"):  # old logs of rccl-tests have a JSON object in each line
        document = source.json()
        kind = kind_of(document) if isinstance(document, dict) else None
    if kind is not None and kind is not NETWORK:
        return source.error(f"is {kind.name}, not a network; {kind.use}")
    what = "is in none of the formats that are known by their content"
    return source.error(f"{what}; 'forestcoll import --help' lists them, and 'forestcoll import --format' names one")


def _check_names(names: Sequence[str]) -> None:
    """Check that each option is one of some importer."""
    known = {each.name: None for spec in by_content() for each in spec.parameters} if names else {}
    for name in names:
        if name not in known:
            raise unknown_name(f"there is no option {shown(name)}", name, known)


def _without_effect(source: Source, importer: Importer, name: str) -> InputError:
    users = [spec.name for spec in by_content() if name in [each.name for each in spec.parameters]]
    what = f"{_flag(name)} has no effect on format {importer.name}, only on {', '.join(users)}"
    return InputError(f"{source.where}: {what}; leave it out")


def _check_format(sources: Sequence[Source], importer: Importer) -> None:
    """Check that no file that could not be read in the format looks like a file of another format."""
    for source in sources:
        other = None if importer.looks_like(source.text) else importer_of(source.text)
        if other is not None and other.facts["tried"] < UNMARKED:
            raise InputError(
                f"{source.where}: is not in format {importer.name}: it looks like {other.facts['summary']}; "
                f"leave --format out, or give --format {other.name}"
            )


def _is_same_without(
    name: str, importer: Importer, sources: Sequence[Source], done: tuple[TopologyBuilder, Notes]
) -> bool:
    """Return whether the files give the same network and the same notes if one of the options is not given."""
    default: Any = next(each.default for each in importer.spec.parameters if each.name == name)
    notes = Notes()
    try:
        builder = replace(importer, **{name: default}).read(sources, notes)
    except InputError:
        return False
    return (builder.build(connected=False), notes) == (done[0].build(connected=False), done[1])


def _flag(name: str) -> str:
    """Return an option as it is written on the command line."""
    return f"--{name.replace('_', '-')}"


def _rounded(topology: Topology, digits: int | None, notes: Notes) -> Topology:
    """Return the network with that many digits of each bandwidth and latency."""
    if digits is None:
        return topology
    links = tuple(
        replace(
            link,
            bandwidth=_short(link.bandwidth, digits),
            latency_us=None if link.latency_us is None else _short(link.latency_us, digits),
        )
        for link in topology.links
    )
    changed = sum(before != after for before, after in zip(topology.links, links, strict=True))
    if not changed:
        notes.ignore("--rounding: the network is the same without it")
        return topology
    long = plural(digits, "digit")
    notes.assume(f"bandwidths and latencies are rounded to {long}, those of {plural(changed, 'link')}")
    return replace(topology, links=links)


def _short(number: Fraction, digits: int) -> Fraction:
    """Return a rounded number, or the number itself if rounding makes one digit too many, such as 10^60."""
    short = rounded(number, digits)
    return number if max(short.numerator, short.denominator) >= 10**MAX_DIGITS else short
