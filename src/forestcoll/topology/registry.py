"""The builders of known machines, systems and families of networks: how one is declared, found, listed and called.

A builder is one class in one file of `machines/`, `systems/` or `families/`: a frozen dataclass whose fields are its
parameters (`parameters`), which says how large the network gets and fills a `TopologyBuilder`:

    @topology_builder("ring", summary="...", source="...")
    @dataclass(frozen=True)
    class Ring(Recipe):
        nodes: int = field(default=8, metadata=integer("compute nodes", minimum=2, is_size=True))
        ...

Nothing else names it, so a new machine is one new file. Its module has the builder's name, with `_` for `-`, and is
imported when that builder is first asked for; all modules of the three packages are imported only where builders are
listed, and where a name is unknown. A module whose name begins with an underscore holds what several builders share.
"""

import importlib
import importlib.util
import os
import pkgutil
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import ClassVar, TypeVar

from forestcoll.errors import InputError, InternalError, did_you_mean, shown
from forestcoll.files import path_of
from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.model import Topology, TopologyLike
from forestcoll.topology.networkx_graph import from_networkx
from forestcoll.topology.node_link import read_topology
from forestcoll.topology.parameters import MAX_COMPUTE, Parameter, parameter_of

MAX_LINKS = 2**22
"""The most one-way links that a builder makes."""

_GROUPS = {
    "forestcoll.topology.machines": "machine",
    "forestcoll.topology.systems": "system",
    "forestcoll.topology.families": "family",
}
"""The group of the builders in each package."""

_FILE_ENDINGS = (".json", ".gz")
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass(frozen=True)
class Size:
    """How large a network gets: its compute nodes, and its one-way links (parallel ones counted apart)."""

    compute: int
    links: int


class Recipe(ABC):
    """A network with all its parameters set. Subclasses are frozen dataclasses made with `topology_builder`.

    Attributes:
        port_model: that of the network.
    """

    port_model: ClassVar[str | None] = None

    @abstractmethod
    def size(self) -> Size:
        """Return the size of the network, without building it."""

    @abstractmethod
    def fill(self, network: TopologyBuilder) -> None:
        """Add the nodes and links to `network`, which is empty."""

    def problem(self) -> str | None:
        """Return what is wrong between parameters that are each right, and how to fix it, or None."""
        return None


@dataclass(frozen=True)
class BuilderSpec:
    """A builder as it is listed.

    Attributes:
        name: what a spec string begins with.
        group: `"machine"` or `"family"`.
        summary: what it builds, in one line.
        source: where its default bandwidths, or its definition, are published.
        parameters: in the order in which a topology's name states them.
        recipe: the class that builds.
    """

    name: str
    group: str
    summary: str
    source: str
    parameters: tuple[Parameter, ...]
    recipe: type[Recipe]


_registered: dict[str, BuilderSpec] = {}

_AnyRecipe = TypeVar("_AnyRecipe", bound=type[Recipe])


def topology_builder(name: str, *, summary: str, source: str) -> Callable[[_AnyRecipe], _AnyRecipe]:
    """Declare the decorated dataclass as the builder called `name`; `BuilderSpec` explains the arguments."""

    def register(recipe: _AnyRecipe) -> _AnyRecipe:
        if name in _registered:
            raise InternalError(f"two topology builders are called {name!r}")
        group = _GROUPS.get(recipe.__module__.rpartition(".")[0], "family")
        parameters = tuple(parameter_of(each) for each in fields(recipe))  # type: ignore[arg-type]
        _registered[name] = BuilderSpec(name, group, summary, source, parameters, recipe)
        return recipe

    return register


def builders() -> tuple[BuilderSpec, ...]:
    """Return every builder, sorted by name."""
    _discover()
    return tuple(spec for _, spec in sorted(_registered.items()))


@cache
def _discover() -> None:
    for package in _GROUPS:
        path = importlib.import_module(package).__path__
        for name in sorted(module.name for module in pkgutil.iter_modules(path)):
            if not name.startswith("_"):
                importlib.import_module(f"{package}.{name}")


def load_topology(topology: TopologyLike, *, connected: bool = True) -> Topology:
    """Return the topology that `topology` means, whatever names it.

    A text is what a command's TOPOLOGY argument is: a file, or a builder's spec string. It is a file if there is one of
    that name (or a folder, and no builder), or if it looks like one: its name ends in `.json` or `.gz`, or has a folder
    in it (before any `:`, since a bandwidth may be `25/3`). A text such as `cluster:box=host.json`, a builder's name
    with a parameter, is a file only if there is one of that name. `-` is standard input.

    Args:
        topology: a `Topology`, which is returned as it is, a text, a path, which is a file in any case, or a networkx
            graph of any kind.
        connected: whether the compute nodes of a file or a graph must all reach each other.

    Example:
        >>> load_topology("ring:nodes=4")
        Topology('ring:nodes=4', 4 compute nodes, 0 switches, 8 links, GB/s)

    Raises:
        InputError: as `read_topology`, `build_topology` and `from_networkx` do, or it is none of these.
    """
    if isinstance(topology, Topology):
        return topology
    if isinstance(topology, str):
        return read_topology(path_of(topology), connected=connected) if _is_file(topology) else build_topology(topology)
    if isinstance(topology, os.PathLike):
        return read_topology(Path(topology), connected=connected)
    if _is_graph(topology):
        return from_networkx(topology, connected=connected)
    kinds = "a builder's spec, a file, a networkx graph or a Topology"
    raise InputError(f"topology is {shown(topology)}; expected {kinds}")


def _is_graph(value: object) -> bool:
    """Return whether `value` is a graph of networkx, which is not imported for that: who has a graph has done so."""
    networkx = sys.modules.get("networkx")
    return networkx is not None and isinstance(value, networkx.Graph)


def _is_file(text: str) -> bool:
    head, _, rest = text.partition(":")
    names_file = text.endswith(_FILE_ENDINGS) and not ("=" in rest and _found(head) is not None)
    if text == "-" or names_file or "/" in head or "\\" in head:
        return True
    path = Path(text)
    try:
        return path.is_file() or (text != "" and path.exists() and _found(head) is None)
    except OSError:  # longer than a file's name can be
        return False


def build_topology(spec: str) -> Topology:
    """Return the topology that `NAME[:key=value,…]` describes.

    Its name is the spec in normal form: the parameters that set the size and those that differ from their default,
    in the order in which the builder lists them.

    Example:
        >>> build_topology("ring:bandwidth=400Gb/s,nodes=04").name
        'ring:nodes=4,bandwidth=50'

    Raises:
        InputError: no such builder or parameter, a value out of range, or a network that is too large or, with these
            parameters, falls apart.
    """
    name, recipe = recipe_of(spec)
    network = TopologyBuilder(name, port_model=recipe.port_model)
    recipe.fill(network)
    return network.build()


def recipe_of(spec: str) -> tuple[str, Recipe]:
    """Return the name and the recipe of the topology that `build_topology(spec)` builds.

    Raises:
        InputError: as `build_topology` does, unless the network falls apart.
    """
    head, colon, rest = spec.partition(":")
    builder = _builder(head)
    values = _values(builder, rest) if colon else {}
    recipe = builder.recipe(**values)
    name = _normal_form(builder, recipe)
    if (problem := recipe.problem()) is not None:
        raise InputError(f"{name}: {problem}")
    _check_size(name, recipe.size())
    return name, recipe


def _builder(name: str) -> BuilderSpec:
    found = _found(name)
    if found is not None:
        return found
    hint = did_you_mean(name, (spec.name for spec in builders()))
    raise InputError(f"{shown(name)}: no such builder or file; {hint}'forestcoll topologies' lists the builders")


def _found(name: str) -> BuilderSpec | None:
    """Return the builder called `name`, or None; only a module of that name is imported to see."""
    if name not in _registered and _NAME.fullmatch(name):
        for package in _GROUPS:
            module = f"{package}.{name.replace('-', '_')}"
            if importlib.util.find_spec(module) is not None:
                importlib.import_module(module)
    return _registered.get(name)


def _values(builder: BuilderSpec, text: str) -> Mapping[str, object]:
    parameters = {parameter.name: parameter for parameter in builder.parameters}
    values: dict[str, object] = {}
    for part in text.split(","):
        key, equals, value = part.partition("=")
        if not equals:
            raise InputError(f"{builder.name}: {shown(part)} is not key=value; expected NAME:key=value,key=value")
        if key not in parameters:
            known = f"{did_you_mean(key, parameters)}there are {', '.join(parameters)}"
            raise InputError(f"{builder.name}: there is no parameter {shown(key)}; {known}")
        if key in values:
            raise InputError(f"{builder.name}: {key} is given twice; give it once")
        values[key] = _value(builder, parameters[key], value)
    return values


def _value(builder: BuilderSpec, parameter: Parameter, text: str) -> object:
    try:
        return parameter.kind.parse(text)
    except ValueError:
        form = parameter.kind.form
        raise InputError(f"{builder.name}: {parameter.name} is {shown(text)}; expected {form}") from None


def _normal_form(builder: BuilderSpec, recipe: Recipe) -> str:
    stated = []
    for parameter in builder.parameters:
        value = getattr(recipe, parameter.name)
        if parameter.is_size or value != parameter.default:
            stated.append(f"{parameter.name}={parameter.kind.write(value)}")
    return ":".join([builder.name, ",".join(stated)]) if stated else builder.name


def _check_size(name: str, size: Size) -> None:
    if size.compute > MAX_COMPUTE:
        raise InputError(f"{name}: has {size.compute} compute nodes; make it smaller, {MAX_COMPUTE} at most")
    if size.links > MAX_LINKS:
        raise InputError(f"{name}: has {size.links} one-way links; make it smaller, {MAX_LINKS} at most")
