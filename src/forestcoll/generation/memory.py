"""How much memory a schedule takes to generate, verify and write, and how much there is: asked before the work begins.

The estimate counts tree edges, N - 1 a tree. Each is a number in the arrays of the core and of the schedule; it may
besides have a route of its own, whose nodes stand in both, or share one with many other edges, as is known only
afterwards. So there are two bounds. The factors were measured with 1,024 and 4,096 compute nodes, from 1.0 to 16.8
million tree edges; `tests/generation/test_memory.py` holds them against a run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from forestcoll.errors import InputError
from forestcoll.files import system_text
from forestcoll.topology import Topology

_LEAST_PER_EDGE = 12
"""Bytes of a tree edge whose route many others use too."""

_MOST_PER_EDGE = 40
"""Bytes of a tree edge with a route of its own, without the nodes of the route."""

_MOST_PER_ROUTE_NODE = 12
_MOST_PER_LINK = 4096
_MOST_AT_ALL = 64 * 2**20
"""Bytes that any run may take: blocks of work, and the modules that it loads."""


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """Bytes that a run adds to what its process holds when the optimum is known.

    Attributes:
        least: it takes more than this.
        most: it takes less than this as a rule; a network on which trees make long detours may take more.
    """

    least: int
    most: int


def schedule_memory(topology: Topology, trees: int) -> MemoryNeed:
    """Return what it takes to generate, verify and write a schedule that lists so many `trees`."""
    edges = trees * (len(topology.compute) - 1)
    most = _MOST_AT_ALL + _MOST_PER_LINK * len(topology.links) + _MOST_PER_EDGE * edges
    if topology.switches:  # elsewhere each link is a route, and there are no others
        most += _MOST_PER_ROUTE_NODE * (3 + 2 * _switch_radius(topology)) * edges
    return MemoryNeed(_LEAST_PER_EDGE * edges, most)


def _switch_radius(topology: Topology) -> int:
    """Return over how many links, at most, one switch of each connected part reaches the others, over switches alone.

    Twice as many join any two of them.
    """
    neighbours: dict[int, list[int]] = {switch: [] for switch in topology.switches}
    for link in topology.links:
        if link.source in neighbours and link.target in neighbours:
            neighbours[link.source].append(link.target)
    radius, unseen = 0, set(neighbours)
    for switch in topology.switches:
        layer, depth = {switch} & unseen, -1
        while layer:
            unseen -= layer
            depth += 1
            layer = {other for one in layer for other in neighbours[one]} & unseen
        radius = max(radius, depth)
    return radius


def can_fit(topology: Topology, trees: int) -> bool:
    """Return whether a schedule that lists so many `trees` may fit into the memory."""
    available = available_memory()
    return available is None or schedule_memory(topology, trees).least <= available


def check_memory(topology: Topology, trees: int) -> str | None:
    """Return a warning if a schedule that lists so many `trees` may not fit into the memory, else None.

    Raises:
        InputError: it cannot fit.
    """
    need, available = schedule_memory(topology, trees), available_memory()
    if available is None or need.most <= available:
        return None
    there = f"{_text(available)} of memory is available"
    if need.least > available:
        raise InputError(
            f"{topology.name}: {trees} trees over {len(topology.compute)} compute nodes take more than "
            f"{_text(need.least)}, and {there}; free memory, raise the limit or take a smaller network"
        )
    return f"the schedule may take {_text(need.most)}, and {there}"


def _text(size: int) -> str:
    return f"{size / 10**9:.1f} GB" if size >= 10**9 else f"{size / 10**6:.0f} MB"


def available_memory() -> int | None:
    """Return how many bytes this process may still take: of the machine, of its limit, of its cgroups.

    None where the system does not say, as outside Linux.
    """
    return min((*_of_machine(), *_of_limit(), *_of_groups()), default=None)


def _of_machine() -> Iterator[int]:
    """Yield what the machine has left, with its swap space."""
    values = _fields(system_text("/proc/meminfo") or "")
    if "MemAvailable:" in values:
        yield 1024 * (values["MemAvailable:"] + values.get("SwapFree:", 0))


def _of_limit() -> Iterator[int]:
    """Yield what the limit on addresses leaves (`ulimit -v`)."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = (system_text("/proc/self/statm") or "").split()
    if limit != resource.RLIM_INFINITY and pages:
        yield max(0, limit - int(pages[0]) * resource.getpagesize())


def _of_groups() -> Iterator[int]:
    """Yield what each control group that the process is in leaves, of both versions of cgroups."""
    for line in (system_text("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _of_group("/sys/fs/cgroup", path, "memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            yield from _of_group("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes")


def _of_group(root: str, path: str, limit_name: str, used_name: str) -> Iterator[int]:
    """Yield what a group and those above it leave; what caches files can be taken back."""
    folder = PurePosixPath(root, path.lstrip("/"))
    for place in (folder, *folder.parents):
        limit, used = (system_text(str(place / name)) or "" for name in (limit_name, used_name))
        if limit.strip().isdigit() and used.strip().isdigit():
            cached = _fields(system_text(str(place / "memory.stat")) or "").get("inactive_file", 0)
            yield max(0, int(limit) - int(used) + cached)
        if str(place) == root:
            return


def _fields(text: str) -> dict[str, int]:
    """Return the numbers of lines such as `MemFree: 12 kB` by their first word."""
    lines = (line.split() for line in text.splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
