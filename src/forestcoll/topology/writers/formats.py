"""The formats that a network is written in, each in one line of one table.

A format is found by its name or by the ending of the file's name. Every other ending means this project's own format,
which is networkx's node-link JSON.
"""

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from forestcoll.base.errors import shown, unknown_name
from forestcoll.base.files import PathLike, as_path, write_file_or_folder, write_text
from forestcoll.topology.files import write_topology
from forestcoll.topology.model import Topology

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Format:
    """A format that networks are written in.

    Attributes:
        name: what `--to` takes: the name of its importer.
        title: what it is, for people.
        endings: the endings of the names of such files, before `.gz`.
        module: the module of this package with its `text_of(topology)`; empty for this project's own format.
        by_host: the module and the function of a format with a file for each kind of host.
        by_name: whether it is only written if it is named, and never found by the ending of a file.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    module: str = ""
    by_host: tuple[str, str] | None = None
    by_name: bool = False


_NCCL = "forestcoll.nccl.topology_file"

FORMATS = (
    Format("forestcoll", "forestcoll.topology/1, this project's own format", (".json",)),
    Format("graphml", "GraphML", (".graphml",), "graphml"),
    Format("astra-sim-ns3", "the text of ASTRA-sim's and SimAI's ns-3", (".txt",), "ns3_text"),
    Format("astra-sim-analytical", "the YAML of ASTRA-sim's analytical model", (".yml", ".yaml"), "analytical_yaml"),
    Format("nccl-topo", "NCCL's topology XML (NCCL_TOPO_FILE)", (".xml",), by_host=(_NCCL, "texts_of"), by_name=True),
    Format(
        "nccl-topo-vm",
        "the same for virtual machines",
        (".xml",),
        by_host=(_NCCL, "texts_for_virtual_machines"),
        by_name=True,
    ),
    Format("cabling", "the cables of a direct-connect network, from port to port", (".csv",), "cabling", by_name=True),
)
"""Every format; the first is that of names with another ending."""


def format_named(name: str) -> Format:
    """Return the format with that name.

    Raises:
        InputError: there is none.
    """
    found = next((each for each in FORMATS if each.name == name), None)
    if found is None:
        raise unknown_name(f"a network cannot be written as {shown(name)}", name, [each.name for each in FORMATS])
    return found


def endings_of(name: str | None) -> tuple[str, ...]:
    """Return the endings of files in the format with that name, or of files in any format."""
    formats = [each for each in FORMATS if not each.by_name] if name is None else (format_named(name),)
    return tuple(ending for each in formats for ending in each.endings)


def may_be_folder(name: str | None) -> bool:
    """Return whether the format with that name is a folder if hosts differ."""
    return name is not None and format_named(name).by_host is not None


def write_network(topology: Topology, path: PathLike, to: str | None = None) -> None:
    """Write `topology` to `path` in a format that another program reads, or in this project's own.

    Args:
        topology: the network.
        path: the file; gzip if its name ends in `.gz`.
        to: the format: `forestcoll`, as `write_topology` writes it; `graphml`; `astra-sim-ns3`, the text that
            ASTRA-sim's ns-3 reads; `astra-sim-analytical`, the network file of ASTRA-sim's analytical model;
            `nccl-topo` or `nccl-topo-vm`, NCCL's topology XML of a host, or a folder if hosts differ; `cabling`, the
            cables of a direct-connect network. If None, the name of the file says it: `.graphml`, `.txt`, and `.yml` or
            `.yaml` are the second to fourth, and any other name is the first.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> write_network(build_topology("ring:nodes=3"), "/nowhere/ring.graphml")
        Traceback (most recent call last):
        forestcoll.base.errors.InputError: /nowhere/ring.graphml: cannot be written: the folder /nowhere does not exist

    Raises:
        InputError: there is no such format, the file cannot be written, or the format cannot express the network.
    """
    path = as_path(path)
    form = _format_of(path) if to is None else format_named(to)
    if form.by_host is not None:
        module, function = form.by_host
        write_file_or_folder(path, getattr(importlib.import_module(module), function)(topology), ".xml")
        return
    if not form.module:
        write_topology(topology, path)
        return
    found = importlib.import_module(f"forestcoll.topology.writers.{form.module}")
    write_text(path, [cast("Callable[[Topology], str]", found.text_of)(topology)])


def _format_of(path: Path) -> Format:
    ending = Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()
    return next((each for each in FORMATS if ending in each.endings and not each.by_name), FORMATS[0])
