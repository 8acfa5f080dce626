"""Builders of known machines, clusters and families of networks: their declaration, their list, and `load_topology`.

A builder is one class in one file of `machines/`, `clusters/` or `families/`: a frozen dataclass whose fields are its
parameters (`parameters`). It computes the size of the network and adds nodes and links to a `TopologyBuilder`:

    @topology_builder("ring", summary="...", source="...")
    @dataclass(frozen=True)
    class Ring(Recipe):
        nodes: int = integer(8, "compute nodes", minimum=2, is_size=True)
        ...

No other file contains its name, so a new machine is one new file. The module has the name of the builder, with `_` for
`-`, and is imported on the first use of the builder. All modules of the three packages are imported only to list the
builders, and for an unknown name. Modules whose names begin with an underscore contain code that builders share.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeVar, cast

from forestcoll.base.errors import InputError, argument
from forestcoll.base.files import path_of
from forestcoll.base.parameters import MAX_COMPUTE, Parameter
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.registry import Registry, Spec
from forestcoll.base.resources import ResourceEstimate, announce
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.model import Topology, TopologyLike

if TYPE_CHECKING:
    from forestcoll.topology.graph_objects import BandwidthLike

MAX_LINKS = 2**22
"""The most one-way links that a builder makes."""

_OF_LINK = ResourceEstimate(9e-6, 300)
"""What a builder takes for each link."""

_GROUPS = {
    "forestcoll.topology.machines": "machine",
    "forestcoll.topology.clusters": "system",
    "forestcoll.topology.families": "family",
}
"""The group of the builders in each package."""

_FILE_ENDINGS = (".json", ".gz")


@dataclass(frozen=True)
class Size:
    """The number of compute nodes of a network, and of its one-way links; parallel links count separately."""

    compute: int
    links: int


class Recipe(ABC):
    """A network with all its parameters set. Subclasses are frozen dataclasses made with `topology_builder`.

    Attributes:
        port_model: the port model of the network; see `Topology`.
    """

    port_model: ClassVar[str | None] = None

    @abstractmethod
    def size(self) -> Size:
        """Return the size of the network, without building it."""

    @abstractmethod
    def fill(self, network: TopologyBuilder) -> None:
        """Add the nodes and links to `network`, which is empty."""

    def problem(self) -> str | None:
        """Return what is wrong with the combination of parameters and how to fix it, or None."""
        return None

    def assumed(self) -> tuple[str, ...]:
        """Return what was assumed to import the files that parameters name."""
        return ()


@dataclass(frozen=True)
class BuilderSpec:
    """A builder of topologies with its documentation.

    Attributes:
        name: the name that begins a spec string.
        group: `"machine"` or `"family"`.
        summary: one line about the network.
        source: the publication of its default bandwidths, or of its definition.
        parameters: the parameters, in the order in which the name of a topology states them.
        recipe: the class that builds the network.
    """

    name: str
    group: str
    summary: str
    source: str
    parameters: tuple[Parameter, ...]
    recipe: type[Recipe]


_REGISTRY = Registry("builder or file", tuple(_GROUPS), hint="'forestcoll topology' lists the builders")

_AnyRecipe = TypeVar("_AnyRecipe", bound=type[Recipe])


def topology_builder(name: str, *, summary: str, source: str) -> Callable[[_AnyRecipe], _AnyRecipe]:
    """Declare the decorated dataclass as the builder called `name`; `BuilderSpec` explains the arguments."""
    return _REGISTRY.add(name, summary=summary, source=source)


def builders() -> tuple[BuilderSpec, ...]:
    """Return all builders of topologies, sorted by name, as `forestcoll topology` lists them.

    Returns:
        For each builder its name, its group (`"machine"` or `"family"`), a summary, the source of its figures, and its
        parameters.

    Example:
        >>> ring = next(builder for builder in builders() if builder.name == "ring")
        >>> ring.group, [parameter.name for parameter in ring.parameters][:2]
        ('family', ['nodes', 'bandwidth'])
    """
    return tuple(map(_spec, _REGISTRY.all()))


def listed_builders(word: str | None) -> tuple[BuilderSpec, ...]:
    """Return the builders with a word in their name or summary, all for None, and none if it names a network.

    Example:
        >>> [builder.name for builder in listed_builders("Cube Mesh")], listed_builders("ring")
        (['dgx-1'], ())
    """
    if word is None:
        return builders()
    if not word or ":" in word or _is_file(word) or _REGISTRY.found(word) is not None:
        return ()
    return tuple(each for each in builders() if word.lower() in f"{each.name} {each.summary}".lower())


def _spec(spec: Spec) -> BuilderSpec:
    group = _GROUPS.get(spec.module.rpartition(".")[0], "family")
    return BuilderSpec(
        spec.name, group, spec.facts["summary"], spec.facts["source"], spec.parameters, cast("type[Recipe]", spec.make)
    )


def load_topology(topology: TopologyLike, *, connected: bool = True, bandwidth: "BandwidthLike" = None) -> Topology:
    """Return a topology, given as a spec string, a file, a graph or a matrix of another library, or a `Topology`.

    A string is the argument TOPOLOGY of the command line: the name of a file, or the spec string of a builder. It is
    the name of a file if that file exists (or a folder of that name, and no such builder), if it ends in `.json` or
    `.gz`, or if it contains a folder before the first `:`. A text such as `cluster:box=host.json`, the
    name of a builder with a parameter, is the name of a file only if that file exists. `"-"` is standard input.
    A file is one of this project's format, or of any format that `importers` recognises by its content.

    Args:
        topology: a string, a path (always a file), a graph of networkx, igraph or rustworkx, a pandas table of edges, a
            NumPy matrix of bandwidths, or a `Topology`, which is returned unchanged.
        connected: whether all compute nodes of a file or a graph must reach each other.
        bandwidth: of a graph, the attribute of an edge, or the column, that is its bandwidth, such as `weight`; or the
            bandwidth of edges that have none. By default, it is their `bandwidth` or, if no edge has it, their
            `capacity`; if no edge has that either, all links are alike: 1 GB/s each way. What is assumed is in the
            attribute `imported` of the topology.

    Returns:
        The topology.

    Raises:
        InputError: as in `import_topology`, `build_topology` and `from_networkx`, or `topology` is of another type.

    Example:
        >>> load_topology("ring:nodes=4")
        Topology('ring:nodes=4', 4 compute nodes, 0 switches, 8 links, GB/s)
        >>> import networkx as nx
        >>> load_topology(nx.grid_2d_graph(2, 3), bandwidth=25)
        Topology('graph', 6 compute nodes, 0 switches, 14 links, GB/s)
    """
    return load_with_assumptions(topology, connected=connected, bandwidth=bandwidth)[0]


def load_with_assumptions(
    topology: TopologyLike,
    *,
    connected: bool = True,
    bandwidth: "BandwidthLike" = None,
    progress: Progress = SILENT,
) -> tuple[Topology, tuple[str, ...]]:
    """Return what `load_topology` returns, and what was assumed to import the file of another tool that is in it.

    What a large network takes is said to `progress`.
    """
    if bandwidth is not None and isinstance(topology, Topology | str | os.PathLike):
        raise InputError("bandwidth is for a graph or a table of another library; leave it out")
    if isinstance(topology, Topology):
        return topology, ()
    if isinstance(topology, str) and not _is_file(topology):
        return _built(topology, progress)
    if isinstance(topology, str | os.PathLike):
        path = path_of(topology) if isinstance(topology, str) else Path(topology)
        return _read_file(path, connected=connected)
    from forestcoll.topology.graph_objects import from_graph, library_of

    if (library := library_of(topology)) is not None:
        network, assumed = from_graph(topology, library, bandwidth, connected=connected)
        return network, tuple(assumed)
    kinds = "a builder's spec, a file, a graph (networkx, igraph, rustworkx, pandas, NumPy) or a Topology"
    raise InputError(f"topology is {argument(topology)}; expected {kinds}")


def _read_file(path: Path, *, connected: bool) -> tuple[Topology, tuple[str, ...]]:
    from forestcoll.topology.importers.reading import read_any_topology

    return read_any_topology(path, connected=connected)


def _is_file(text: str) -> bool:
    head, _, rest = text.partition(":")
    names_file = text.endswith(_FILE_ENDINGS) and not ("=" in rest and _REGISTRY.found(head) is not None)
    if text == "-" or names_file or "/" in head or "\\" in head:
        return True
    path = Path(text)
    try:
        return path.is_file() or (text != "" and path.exists() and _REGISTRY.found(head) is None)
    except OSError:  # too long for the name of a file
        return False


def names_builder(text: str) -> bool:
    """Return whether a text begins with the name of a builder, as `torus` and `torus:dims=4x4`."""
    return _REGISTRY.found(text.partition(":")[0]) is not None


def build_topology(spec: str) -> Topology:
    """Build a topology from a spec string.

    Args:
        spec: `NAME[:key=value,...]` with the name of a builder and its parameters, as `forestcoll topology` lists
            them.

    Returns:
        The topology. Its name is the spec in normal form: the parameters that determine the size and those that differ
        from their default, in the order in which the builder lists them.

    Raises:
        InputError: there is no such builder or parameter, a value is out of range, or the network would be too large
            or not connected.

    Example:
        >>> build_topology("ring:bandwidth=400Gb/s,nodes=04").name
        'ring:nodes=4,bandwidth=50'
    """
    return _built(spec)[0]


def _built(spec: str, progress: Progress = SILENT) -> tuple[Topology, tuple[str, ...]]:
    """Return the topology of a spec string, and what was assumed to import files that it names."""
    name, recipe = recipe_of(spec)
    links = recipe.size().links
    announce(f"{name}: a network of {links:,} links", _OF_LINK * links, progress)
    network = TopologyBuilder(name, port_model=recipe.port_model)
    recipe.fill(network)
    return network.build(), recipe.assumed()


def recipe_of(spec: str) -> tuple[str, Recipe]:
    """Return the name and the recipe of the topology that `build_topology(spec)` builds.

    Raises:
        InputError: as in `build_topology`; whether the network is connected is not checked.
    """
    head, colon, rest = spec.partition(":")
    found = _REGISTRY.named(head)
    recipe: Recipe = found.make(**found.values(rest)) if colon else found.make()
    name = found.text(recipe)
    if (problem := recipe.problem()) is not None:
        raise InputError(f"{name}: {problem}")
    _check_size(name, recipe.size())
    return name, recipe


def _check_size(name: str, size: Size) -> None:
    if size.compute > MAX_COMPUTE:
        raise InputError(f"{name}: has {size.compute} compute nodes; make it smaller, {MAX_COMPUTE} at most")
    if size.links > MAX_LINKS:
        raise InputError(f"{name}: has {size.links} one-way links; make it smaller, {MAX_LINKS} at most")
