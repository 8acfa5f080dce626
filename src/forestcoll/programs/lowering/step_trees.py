"""Schedules of steps as schedules of trees, which have programs.

The transfers of a part of a shard are a tree (`schedule/steps/parts.py`). A program of these trees moves the same data
over the same links. It has no barriers between steps: a rank sends a part on when the part has arrived. So the program
can be cut into chunks, blocks and messages like that of any trees.
"""

from collections.abc import Iterator
from fractions import Fraction

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.schedule.loads import loads_along_routes
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.parts import Path, shard_parts
from forestcoll.schedule.steps.routes import require_no_relays
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import Phase, TreeSchedule


def trees_of_steps(schedule: StepSchedule) -> TreeSchedule:
    """Return a schedule of steps as the trees of its transfers.

    Parts of a shard with the same tree are joined.

    Raises:
        InputError: the collective is an all-to-all, or a transfer passes through a compute node.

    Example:
        >>> from forestcoll import generate
        >>> trees = trees_of_steps(generate("ring:nodes=4", method="bfb"))
        >>> trees.size, str(trees.algbw)
        ('8 trees', '8/3')
    """
    if schedule.collective is Collective.ALL_TO_ALL:
        raise InputError(
            f"{schedule.topology.name}: an all-to-all in steps has no program; use a schedule of flows, which generate "
            "makes without --method"
        )
    require_no_relays(schedule)
    schedule = expanded_steps(schedule)
    routes: dict[Path, int] = {}
    phases = tuple(_phase(schedule, number, routes) for number in range(len(schedule.phases)))
    rows = Rows.of(list(routes))
    loads = loads_along_routes(schedule.topology, rows, phases, None).exact
    slowest = max(load / link.bandwidth for load, link in zip(loads, schedule.topology.links, strict=True))
    return TreeSchedule(
        schedule.topology,
        schedule.collective,
        routes=rows,
        phases=phases,
        algbw=1 / slowest,
        bound=schedule.bound,
        shards=schedule.shards if schedule.collective.has_shards else None,
        ranks=schedule.ranks,
    )


def _phase(schedule: StepSchedule, number: int, routes: dict[Path, int]) -> Phase:
    """Return a phase as trees, and add their paths to `routes`."""
    trees = list(_trees(schedule, number))
    rows = [[routes.setdefault(path, len(routes)) for path in paths] for _, _, paths in trees]
    return Phase(
        op=schedule.phases[number].op,
        roots=tuple(root for root, _, _ in trees),
        shares=tuple(share for _, share, _ in trees),
        routes=Rows.of(rows),
    )


def _trees(schedule: StepSchedule, number: int) -> Iterator[tuple[int, Fraction, tuple[Path, ...]]]:
    """Yield the root, the share and the paths of each tree that carries data."""
    sizes = schedule.shard_sizes
    joined: dict[tuple[int, frozenset[Path]], tuple[Fraction, tuple[Path, ...]]] = {}
    for shard, low, high, paths in shard_parts(schedule, number):
        key = shard, frozenset(paths)
        share, first = joined.get(key, (Fraction(0), paths))
        joined[key] = share + sizes[shard] * (high - low), first
    for (shard, _), (share, paths) in joined.items():
        if share:
            yield shard, share, paths
