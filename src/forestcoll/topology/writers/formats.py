"""The formats that a network is written in, by the ending of the file's name.

Every other ending, such as `.json`, is this project's own format, which is networkx's node-link JSON.
"""

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, cast

from forestcoll.base.files import PathLike, as_path, write_text
from forestcoll.topology.files import write_topology
from forestcoll.topology.model import Topology

if TYPE_CHECKING:
    from collections.abc import Callable

WRITERS = {".graphml": "graphml", ".txt": "ns3_text", ".yml": "analytical_yaml", ".yaml": "analytical_yaml"}
"""By the ending of a file's name, before `.gz`: the module that has the format's `text_of(topology)`."""


def write_network(topology: Topology, path: PathLike) -> None:
    """Write `topology` to `path` in the format that the ending of its name means.

    `.graphml` is GraphML, `.txt` the text that ASTRA-sim's ns-3 reads, `.yml` and `.yaml` the network file of
    ASTRA-sim's analytical model. Any other name gets this project's format, as `write_topology` writes it.

    Args:
        topology: the network.
        path: the file; gzip if its name ends in `.gz`.

    Example:
        >>> from forestcoll.topology.registry import build_topology
        >>> write_network(build_topology("ring:nodes=3"), "/nowhere/ring.graphml")
        Traceback (most recent call last):
        forestcoll.base.errors.InputError: /nowhere/ring.graphml: cannot be written: the folder /nowhere does not exist

    Raises:
        InputError: the file cannot be written, or the format cannot express the network.
    """
    path = as_path(path)
    module = WRITERS.get(_ending(path))
    if module is None:
        write_topology(topology, path)
        return
    found = importlib.import_module(f"forestcoll.topology.writers.{module}")
    write_text(path, [cast("Callable[[Topology], str]", found.text_of)(topology)])


def _ending(path: Path) -> str:
    return Path(path.stem).suffix.lower() if path.suffix == ".gz" else path.suffix.lower()
