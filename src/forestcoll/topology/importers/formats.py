"""The formats that are imported, each in one line of one table, and the path from files to a network.

A file is found by its content: the formats are tried in the order of the table, which begins with the most
distinctive ones. A format is a module with two functions: `looks_like(text)` and `read(sources, options, notes)`, which
returns a filled `TopologyBuilder`.
"""

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import cast

from forestcoll.base.errors import InputError, did_you_mean, plural, shown
from forestcoll.base.exact import MAX_DIGITS, rounded
from forestcoll.base.file_kinds import NETWORK, kind_of, kind_of_text
from forestcoll.base.files import PathLike, as_path, read_bytes
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.imported import Imported
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.options import ImportOptions
from forestcoll.topology.importers.source import Source
from forestcoll.topology.model import Topology

Reader = Callable[[Sequence[Source], ImportOptions, Notes], TopologyBuilder]


@dataclass(frozen=True)
class Format:
    """A format of networks.

    Attributes:
        name: what `--format` takes.
        title: what it is, for people.
        module: the module that reads it, below this package.
        several: whether several files make one network.
        kind: which of the formats of the module it is: the end of the names of its functions, if it has several.
        options: the options that can have an effect on it, by their names in `ImportOptions`.
    """

    name: str
    title: str
    module: str
    several: bool = False
    kind: str = ""
    options: tuple[str, ...] = ()

    def looks_like(self, text: str) -> bool:
        """Return whether a text is in this format, as far as can be seen at once."""
        return cast("bool", self._function("looks_like")(text))

    def read(self, sources: Sequence[Source], options: ImportOptions, notes: Notes) -> TopologyBuilder:
        """Return the builder of the network that some files describe."""
        return cast("Reader", self._function("read"))(sources, options, notes)

    def _function(self, name: str) -> Callable[..., object]:
        module = importlib.import_module(f"forestcoll.topology.importers.{self.module}")
        return cast("Callable[..., object]", getattr(module, f"{name}_{self.kind}" if self.kind else name))


FORMATS = (
    Format("forestcoll", "forestcoll.topology/1, this project's own format", "graphs.own"),
    Format(
        "nccl-xml",
        "topology XML of NCCL and RCCL (NCCL_TOPO_DUMP_FILE)",
        "hosts.nccl_xml",
        several=True,
        options=("speeds", "nvlink", "xgmi", "pcie", "nic", "link_bandwidth"),
    ),
    Format(
        "nvidia-smi-topo",
        "the matrix of nvidia-smi topo -m",
        "hosts.nvidia_smi",
        several=True,
        options=("nvlink", "pcie", "nic", "link_bandwidth"),
    ),
    Format(
        "nvidia-smi-nvlink",
        "the list of nvidia-smi nvlink -s",
        "hosts.nvlink_status",
        several=True,
        options=("nvlink",),
    ),
    Format(
        "amd-smi",
        "the tables of amd-smi topology and rocm-smi --showtopo",
        "hosts.amd_smi",
        several=True,
        options=("xgmi", "pcie", "link_bandwidth"),
    ),
    Format(
        "hwloc-xml", "XML of hwloc (lstopo topology.xml)", "hosts.hwloc_xml", several=True, options=("link_bandwidth",)
    ),
    Format("measurements", "the measurements of forestcoll probe", "measurements.probe_file", options=("rounding",)),
    Format(
        "p2p-bandwidth",
        "the output of p2pBandwidthLatencyTest or nvbandwidth",
        "matrices.peer_test",
        options=("matrix",),
    ),
    Format("ibnetdiscover", "the output of ibnetdiscover", "fabrics.ibnetdiscover", options=("link_bandwidth",)),
    Format("sndlib", "SNDlib's networks, text or XML", "graphs.sndlib", options=("link_bandwidth",)),
    Format("graphml", "GraphML", "graphs.graphml", options=("link_bandwidth",)),
    Format("gml", "GML", "graphs.gml", options=("link_bandwidth",)),
    Format(
        "infragraph",
        "InfraGraph's infrastructure, YAML or JSON",
        "simulators.infragraph",
        options=("nvlink", "xgmi", "pcie", "link_bandwidth"),
    ),
    Format("slurm", "Slurm's topology.conf or topology.yaml", "fabrics.slurm", options=("link_bandwidth",)),
    Format("taccl", "TACCL's JSON of a node", "simulators.taccl"),
    Format("astra-sim-ns3", "the text of ASTRA-sim's and SimAI's ns-3", "simulators.ns3_text"),
    Format("astra-sim-analytical", "the YAML of ASTRA-sim's analytical model", "simulators.analytical_yaml"),
    Format(
        "node-link",
        "networkx's node-link JSON without this project's mark",
        "graphs.node_link",
        options=("link_bandwidth",),
    ),
    Format("matrix", "a matrix of bandwidths, as CSV", "matrices.table", options=("matrix",)),
    Format("edge-list", "a list of edges", "graphs.lists", kind="edges", options=("link_bandwidth",)),
    Format(
        "adjacency-list",
        "a list of nodes and their neighbours",
        "graphs.lists",
        kind="neighbours",
        options=("link_bandwidth",),
    ),
)
"""Every format, in the order in which files are compared with them."""


_UNMARKED = ("matrix", "edge-list", "adjacency-list")
"""Formats without any mark: a broken file of another format can look like one of them."""


def format_named(name: str) -> Format:
    """Return the format with that name.

    Raises:
        InputError: there is none.
    """
    found = next((each for each in FORMATS if each.name == name), None)
    if found is None:
        names = [each.name for each in FORMATS]
        hint = did_you_mean(name, names)
        raise InputError(f"there is no format {shown(name)}; {hint}there are {', '.join(names)}")
    return found


def format_of(text: str) -> Format | None:
    """Return the first format that a text looks like, or None."""
    return next((each for each in FORMATS if each.looks_like(text)), None)


def read_source(path: PathLike) -> Source:
    """Return the file at `path` as text.

    Raises:
        InputError: it cannot be read, is too large, or is no text.
    """
    path = as_path(path)
    return Source.of(read_bytes(Path(path)), path)


def import_sources(
    sources: Sequence[Source],
    options: ImportOptions | None = None,
    *,
    format_name: str | None = None,
    connected: bool = True,
) -> Imported:
    """Return the network that some files describe together.

    Args:
        sources: the files, all in one format.
        options: speeds that the files do not state.
        format_name: the format; None if it is found by the content.
        connected: whether the compute nodes must all reach each other.

    Raises:
        InputError: a file is in no known format, two are in different ones, a file is bad, or an option has no effect.
    """
    if not sources:
        raise InputError("no file is given; name one or several")
    form = _common_format(sources) if format_name is None else format_named(format_name)
    if len(sources) > 1 and not form.several:
        raise InputError(f"{sources[1].where}: a network in format {form.name} is one file; import one at a time")
    options = options or ImportOptions()
    notes = Notes()
    try:
        builder = form.read(sources, options, notes)
    except InputError:
        if format_name is not None:
            _check_format(sources, form)
        raise
    _check_options(sources[0], form, options)
    for name in [each for each in options.given() if _is_same_without(each, form, sources, options, (builder, notes))]:
        notes.ignore(f"{_option(name)}: the network is the same without it")
    if len(sources) == 1:
        notes.leave_out(f"{sources[0].where}: ")
    topology = builder.build(connected=connected)
    return Imported.of(_rounded(topology, options.digits, notes), form.name, notes)


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


def _check_options(source: Source, form: Format, options: ImportOptions) -> None:
    """Check that every option that is given can have an effect on files in the format."""
    useless = next((name for name in options.given() if name not in form.options), None)
    if useless is not None:
        users = ", ".join(each.name for each in FORMATS if useless in each.options)
        option = _option(useless)
        raise InputError(f"{source.where}: {option} has no effect on format {form.name}, only on {users}; leave it out")


def _is_same_without(
    name: str, form: Format, sources: Sequence[Source], options: ImportOptions, done: tuple[TopologyBuilder, Notes]
) -> bool:
    """Return whether the files give the same network and the same notes if one of the options is not given."""
    notes = Notes()
    try:
        builder = form.read(sources, options.without(name), notes)
    except InputError:
        return False
    return (builder.build(connected=False), notes) == (done[0].build(connected=False), done[1])


def _option(name: str) -> str:
    """Return an option of `ImportOptions` as it is written on the command line."""
    return f"--{name.replace('_', '-')}"


def _check_format(sources: Sequence[Source], form: Format) -> None:
    """Check that no file that could not be read in the format looks like a file of another format."""
    for source in sources:
        other = None if form.looks_like(source.text) else format_of(source.text)
        if other is not None and other.name not in _UNMARKED:
            raise InputError(
                f"{source.where}: is not in format {form.name}: it looks like {other.title}; "
                f"leave --format out, or give --format {other.name}"
            )


def _common_format(sources: Sequence[Source]) -> Format:
    forms = [_known_format(source) for source in sources]
    for source, form in zip(sources, forms, strict=True):
        if form is not forms[0]:
            raise InputError(
                f"{source.where}: is in format {form.name}, and {sources[0].where} in {forms[0].name}; "
                "import files of one format"
            )
    return forms[0]


def _known_format(source: Source) -> Format:
    form = format_of(source.text)
    if form is None:
        raise unknown_format(source)
    return form


def unknown_format(source: Source) -> InputError:
    """Return the error about a file that is in no format that is known by its content."""
    text = source.text.lstrip()
    if not text:
        return source.error("the file is empty; expected a network")
    document = source.json() if text.startswith("{") else None
    kind = kind_of(document) if isinstance(document, dict) else kind_of_text(text)
    if kind is not None and kind is not NETWORK:
        return source.error(f"is {kind.name}, not a network; {kind.use}")
    what = "is in none of the formats that are known by their content"
    return source.error(f"{what}; 'forestcoll import --help' lists them, and 'forestcoll import --format' names one")


def import_topology(
    *paths: PathLike,
    options: ImportOptions | None = None,
    format: str | None = None,  # noqa: A002 (the option of the command)
    connected: bool = True,
) -> Imported:
    """Return the network that files of another tool describe, and a summary of what was understood.

    Args:
        paths: the files: one or, of hosts that a fabric joins, several.
        options: speeds that the files do not state, in GB/s per link and direction.
        format: the name of the format; None if it is found by the content.
        connected: whether the compute nodes must all reach each other.

    Example:
        >>> import_topology("/nowhere/topo.xml")
        Traceback (most recent call last):
        forestcoll.base.errors.InputError: /nowhere/topo.xml: no such file; check the name

    Raises:
        InputError: a file cannot be read, is in no known format or broken, or does not state a speed; the message
            names the file, the line, and the option to give.
    """
    return import_sources([read_source(path) for path in paths], options, format_name=format, connected=connected)
