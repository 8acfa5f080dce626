"""The options of the backend: given in Python, or by environment variables."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from forestcoll.base.errors import InputError, shown, unknown_name
from forestcoll.runtime.cuda_table import INNER, SLOTS, TWO_LEVEL
from forestcoll.runtime.environment import (
    INTERFACE,
    LINKS,
    PACING,
    SECRET,
    TOPOLOGY,
    check_secret,
    links_here,
    pacing_here,
    secret_here,
)
from forestcoll.topology import NodeId, TopologyLike

VARIABLES = {
    "topology": TOPOLOGY,
    "nodes": "FORESTCOLL_NODES",
    "tuning": "FORESTCOLL_TUNING",
    "interface": INTERFACE,
    "links": LINKS,
    "pacing": PACING,
    "cache": "FORESTCOLL_CACHE",
    "secret": SECRET,
    "cuda": "FORESTCOLL_CUDA",
    "cuda_table": "FORESTCOLL_CUDA_TABLE",
    "cuda_device": "FORESTCOLL_CUDA_DEVICE",
}
"""The environment variable of each option."""

AUTO = "auto"

CUDA = (INNER, TWO_LEVEL, SLOTS, AUTO)
"""The values of the option `cuda`; the first is the default."""

CUDA_DEVICES = ("cuda", "cpu")
"""The values of the option `cuda_device`; the first is the default."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options of the backend, passed as `init_process_group("forestcoll", pg_options=Options(…))`.

    An option that is None is taken from its environment variable.

    Attributes:
        topology: the network: a builder's spec, a file, a networkx graph or a `Topology`. Rank 0's is used; another
            rank may leave it out. Environment: `FORESTCOLL_TOPOLOGY`.
        nodes: of each rank the id of its compute node; None for the compute nodes in their order. Compute nodes that
            are not named have no process, so they are not used. Environment: `FORESTCOLL_NODES`, ids with commas
            between them.
        tuning: tables that say which schedule is best for which size, or folders that hold one as `manifest.json`.
            Environment: `FORESTCOLL_TUNING`, with `:` between paths.
        interface: the address, or the name of the network interface, to listen on and to connect from; None for the
            one that leads to `MASTER_ADDR`. Environment: `FORESTCOLL_INTERFACE`.
        links: other addresses of this process, by the id of the node that a link leads to. Environment:
            `FORESTCOLL_LINKS`, a JSON object such as `{"switch0": "10.0.0.1"}`.
        pacing: whether the bandwidths of the topology are those of the real network; connections then keep to the
            schedule's rates. Environment: `FORESTCOLL_PACING`, 1 or 0.
        cache: the folder in which schedules are kept; None for `forestcoll/schedules` in the user's cache folder.
            Environment: `FORESTCOLL_CACHE`.
        secret: what all ranks must know to connect to each other; None for one that rank 0 draws and puts into torch's
            store, where everyone who reaches the store can read it. Environment: `FORESTCOLL_SECRET`.
        cuda: what runs collectives on CUDA tensors: `nccl`, which is the default, or, as an experiment, `two-level`,
            `slots`, or `auto` for the fastest in a table. Rank 0's is used. Environment: `FORESTCOLL_CUDA`.
        cuda_table: the table for `auto`, a file of `forestcoll bench --cuda --write-table`; rank 0 reads it.
            Environment: `FORESTCOLL_CUDA_TABLE`.
        cuda_device: the type of device that `cuda` is about: `cuda`, which is the default and stands for the GPUs that
            torch finds, also those of AMD and Intel, or, for tests, `cpu`: what would run on GPUs then runs on CPU
            tensors over gloo. Environment: `FORESTCOLL_CUDA_DEVICE`.
    """

    topology: TopologyLike | None = None
    nodes: Sequence[NodeId] | None = None
    tuning: Sequence[str | os.PathLike[str]] | None = None
    interface: str | None = None
    links: Mapping[NodeId, str] | None = None
    pacing: bool | None = None
    cache: str | os.PathLike[str] | None = None
    secret: bytes | None = field(default=None, repr=False)
    cuda: str | None = None
    cuda_table: str | os.PathLike[str] | None = None
    cuda_device: str | None = None


def completed(options: Options | None, environment: Mapping[str, str] = os.environ) -> Options:
    """Return `options` with the environment's values for those that are None.

    Raises:
        InputError: `options` has another type, or a variable cannot be read.

    Example:
        >>> completed(None, {"FORESTCOLL_TOPOLOGY": "ring:nodes=4", "FORESTCOLL_PACING": "1"}).pacing
        True
    """
    if options is not None and not isinstance(options, Options):
        raise InputError(f"pg_options is of type {type(options).__name__}; pass forestcoll.torch.Options(…)")
    options = options or Options()
    readers: Mapping[str, Callable[[str], object]] = {
        "nodes": _nodes,
        "tuning": _tuning,
        "links": lambda _: links_here(environment),
        "pacing": lambda _: pacing_here(environment),
        "secret": lambda _: secret_here(environment),
    }
    check_secret(options.secret)
    found: dict[str, object] = {}
    for each in fields(Options):
        text = environment.get(VARIABLES[each.name], "")
        if getattr(options, each.name) is None and text:
            found[each.name] = readers.get(each.name, str)(text)
    chosen = replace(options, **found)  # type: ignore[arg-type]  # each reader returns what its option takes
    cuda, device = _choice("cuda", chosen.cuda, CUDA), _choice("cuda_device", chosen.cuda_device, CUDA_DEVICES)
    return replace(chosen, cuda=cuda, cuda_device=device)


def cache_folder(options: Options, environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder in which schedules are kept."""
    if options.cache is not None:
        return Path(options.cache)
    base = environment.get("XDG_CACHE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".cache") / "forestcoll" / "schedules"


def _choice(name: str, value: str | None, known: Sequence[str]) -> str:
    """Return the value of an option, by default the first of the `known` ones."""
    if value is None:
        return known[0]
    if value not in known:
        use = f"the option {name}, or {VARIABLES[name]}, is one of"
        raise unknown_name(f"{name} is {shown(value)}", value, known, use)
    return value


def _nodes(text: str) -> tuple[str, ...]:
    parts = tuple(part.strip() for part in text.split(","))
    if not all(parts):
        raise InputError(f"FORESTCOLL_NODES is {shown(text)}, with an empty part; write ids as in 'gpu0,gpu3'")
    return parts


def _tuning(text: str) -> tuple[str, ...]:
    return tuple(part for part in text.split(os.pathsep) if part)
