"""The memory needed to generate, verify and write a schedule, and the memory available, compared before the work.

The estimate counts tree edges, N - 1 per tree. Each edge is a number in the arrays of the core and of the schedule. It
also has a route, which it may share with many other edges or not; this is known only afterwards. So there are a lower
and an upper estimate. The factors were measured with 1,024 and 4,096 compute nodes and 1.0 to 54.5 million tree edges;
`tests/solver/generation/test_memory.py` compares them with a run.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from forestcoll.base.errors import InputError
from forestcoll.base.files import system_text
from forestcoll.topology import Topology

_LEAST_PER_EDGE = 4
"""Bytes of a tree edge that shares its route with many other edges: its number in the schedule."""

_MOST_PER_EDGE = 40
"""Bytes of a tree edge that does not share its route, without the nodes of the route."""

_MOST_PER_ROUTE_NODE = 12
_MOST_PER_LINK = 4096
_MOST_AT_ALL = 64 * 2**20
"""Bytes that every run may need: temporary arrays, and the modules that it loads."""

LONG_EDGES = 2**22
"""The number of tree edges from which a run takes so long that its memory is stated before the work."""


@dataclass(frozen=True, slots=True)
class MemoryNeed:
    """The memory that a run needs in addition to that of the process when the optimum is known.

    Attributes:
        least: a run needs more than this number of bytes.
        most: a run usually needs less than this number of bytes; it may need more if trees make long detours.
    """

    least: int
    most: int


def schedule_memory(topology: Topology, trees: int) -> MemoryNeed:
    """Return the memory needed to generate, verify and write a schedule that lists `trees` trees."""
    edges = trees * (len(topology.compute) - 1)
    most = _MOST_AT_ALL + _MOST_PER_LINK * len(topology.links) + _MOST_PER_EDGE * edges
    if topology.switches:  # without switches, each route is a single link
        most += _MOST_PER_ROUTE_NODE * (3 + 2 * _switch_radius(topology)) * edges
    return MemoryNeed(_LEAST_PER_EDGE * edges, most)


def _switch_radius(topology: Topology) -> int:
    """Return the most links between the first switch of a connected part and another switch of it, over switches only.

    Any two switches of a part are at most twice this number of links apart.
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
    """Return whether a schedule that lists `trees` trees may fit into the memory."""
    available = available_memory()
    return available is None or schedule_memory(topology, trees).least <= available


def check_memory(topology: Topology, trees: int) -> str | None:
    """Return a warning if a schedule that lists `trees` trees may not fit into the memory, else None.

    Raises:
        InputError: it cannot fit.
    """
    need, available = schedule_memory(topology, trees), available_memory()
    if available is None or need.most <= available:
        return None
    there = f"{_text(available)} of memory is available"
    if need.least > available:
        raise InputError(
            f"{topology.name}: {trees} trees over {len(topology.compute)} compute nodes need more than "
            f"{_text(need.least)}, but {there}; free memory, raise the limit or use a smaller network"
        )
    return f"the schedule may need {_text(need.most)}, but {there}"


def memory_statement(topology: Topology, trees: int) -> str | None:
    """Return a sentence with the memory that a schedule of `trees` trees needs, or None if it is made quickly."""
    edges = trees * (len(topology.compute) - 1)
    if edges < LONG_EDGES:
        return None
    return f"a schedule of {edges:,} tree edges or more needs {memory_range(topology, trees)} of memory"


def memory_range(topology: Topology, trees: int) -> str:
    """Return the least and the most memory of a schedule that lists `trees` trees, as a text."""
    need = schedule_memory(topology, trees)
    return f"{_text(need.least)} to {_text(need.most)}"


def _text(size: int) -> str:
    if size < 10**6:
        return f"{size} bytes"
    return f"{size / 10**9:.1f} GB" if size >= 10**9 else f"{size / 10**6:.0f} MB"


def available_memory() -> int | None:
    """Return how many bytes this process may still allocate: the least that the machine, its limit and cgroups allow.

    Return None if the system does not provide the numbers, as outside Linux.
    """
    return min((*_of_machine(), *_of_limit(), *_of_groups()), default=None)


def _of_machine() -> Iterator[int]:
    """Yield the available memory of the machine, including its swap space."""
    values = _fields(system_text("/proc/meminfo") or "")
    if "MemAvailable:" in values:
        yield 1024 * (values["MemAvailable:"] + values.get("SwapFree:", 0))


def _of_limit() -> Iterator[int]:
    """Yield the rest of the address space limit of the process (`ulimit -v`)."""
    try:
        import resource
    except ImportError:  # not a Unix
        return
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    pages = (system_text("/proc/self/statm") or "").split()
    if limit != resource.RLIM_INFINITY and pages:
        yield max(0, limit - int(pages[0]) * resource.getpagesize())


def _of_groups() -> Iterator[int]:
    """Yield the rest of the limit of each control group of the process, for both versions of cgroups."""
    for line in (system_text("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield from _of_group("/sys/fs/cgroup", path, "memory.max", "memory.current")
        elif "memory" in controllers.split(","):
            yield from _of_group("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", "memory.usage_in_bytes")


def _of_group(root: str, path: str, limit_name: str, used_name: str) -> Iterator[int]:
    """Yield the rest of the limits of a group and of the groups above it. The file cache counts as available."""
    folder = PurePosixPath(root, path.lstrip("/"))
    for place in (folder, *folder.parents):
        limit, used = (system_text(str(place / name)) or "" for name in (limit_name, used_name))
        if limit.strip().isdigit() and used.strip().isdigit():
            cached = _fields(system_text(str(place / "memory.stat")) or "").get("inactive_file", 0)
            yield max(0, int(limit) - int(used) + cached)
        if str(place) == root:
            return


def _fields(text: str) -> dict[str, int]:
    """Return the numbers in lines such as `MemFree: 12 kB`, by the first word of the line."""
    lines = (line.split() for line in text.splitlines())
    return {words[0]: int(words[1]) for words in lines if len(words) > 1 and words[1].isdigit()}
