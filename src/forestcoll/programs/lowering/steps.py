"""Step schedules as programs over FIFO channels.

A transfer is a message from one rank to another. Blocks do their transfers in the order of the steps, so that the data
that a rank sends at a step has arrived in earlier steps. A step need not wait until the whole previous step is done,
because a transfer depends only on the earlier transfers of its own data.

The schedule says where the parts of a shard that transfers send begin and end. If data is reduced, transfers are cut at
all these places, so that every sum is over the same chunks.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from math import lcm
from typing import TYPE_CHECKING

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.collective import PhaseOp
from forestcoll.programs.lowering.blocks import block_table
from forestcoll.programs.lowering.chains import Chain, Chains
from forestcoll.programs.lowering.fitting import Excess, lesser
from forestcoll.programs.lowering.grid import MAX_EXACT_CHUNKS, Grid
from forestcoll.programs.lowering.layout import DataLayout, task_of
from forestcoll.programs.lowering.options import Options
from forestcoll.programs.lowering.plans import MOST_CHANNELS, ChannelPlan, block_bounds, copies
from forestcoll.programs.lowering.rank_trees import RankTree
from forestcoll.programs.lowering.step_trees import check_steps
from forestcoll.programs.lowering.two_sided import two_sided
from forestcoll.programs.model import Program
from forestcoll.programs.model.limits import Limits
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.value import StepSchedule

if TYPE_CHECKING:
    from fractions import Fraction


def program_of_steps(schedule: StepSchedule, options: Options, limits: Limits) -> Program:
    """Return a program that does what `schedule` says, within `limits`; its shares are exact.

    A transfer is a send from its source to its target, whatever switches its route passes through.

    Raises:
        InputError: the options request pieces or instances, which these programs do not have; the collective is an
            all-to-all; or a transfer passes through a compute node.
        NoSolutionError: nothing fits, or the parts of shards cannot be whole numbers of chunks.
    """
    if options.scale != 1:
        raise InputError("programs of messages made of steps have one piece and one instance; leave these options out")
    check_steps(schedule)
    schedule = expanded_steps(schedule)
    grid = _grid(schedule, options, limits)
    layout = DataLayout(task_of(schedule.collective), grid.chunks, grid.parts, None, options)
    own = [RankTree(PhaseOp.BROADCAST, 0, rank, layout.begins[rank], part, {}) for rank, part in enumerate(grid.parts)]
    own = [part for flow in own if flow.count for part in _limited(flow, limits.count)]
    excess: Excess | None = None
    for plan in _plans(schedule, grid, layout, limits):
        found = plan if isinstance(plan, Excess) else two_sided(schedule.topology.name, layout, plan, own, limits)
        if isinstance(found, Program):
            return found
        excess = lesser(excess, found)
    raise NoSolutionError(f"{schedule.topology.name}: no program of these steps fits {limits.name}: {excess}")


def _grid(schedule: StepSchedule, options: Options, limits: Limits) -> Grid:
    """Return the coarsest grid on which all parts of shards are whole, or the grid that is requested."""
    sizes = [schedule.shard_sizes[node] for node in schedule.members]
    points = {point for phase in schedule.phases for point in phase.transfers.points}
    parts = {size * point for size in sizes for point in points} | set(sizes)
    needed = lcm(*(part.denominator for part in parts))
    chunks = options.chunks or needed
    most = MAX_EXACT_CHUNKS if limits.chunks is None else min(MAX_EXACT_CHUNKS, limits.chunks)
    if chunks % needed or chunks > most:
        name = schedule.topology.name
        raise NoSolutionError(f"{name}: the steps need a multiple of {needed} chunks, and at most {most} can be used")
    return Grid(chunks, tuple(int(size * chunks) for size in sizes), ())


def _plans(schedule: StepSchedule, grid: Grid, layout: DataLayout, limits: Limits) -> Iterator[ChannelPlan | Excess]:
    phases, steps = len(schedule.phases), max(phase.transfers.steps for phase in schedule.phases)
    most = max(1, (MOST_CHANNELS if limits.channels is None else min(MOST_CHANNELS, limits.channels)) // phases)
    width = layout.options.channels or min(steps, most)
    copiers = [rank for rank, part in enumerate(grid.parts) if part] if copies(layout) else []
    for bound in block_bounds(layout.options, limits):
        for levels in [width] if layout.options.channels else range(width, 0, -1):
            hops = Chains.of(list(_hops(schedule, grid, layout, levels, limits.count)))
            table = block_table(hops, len(layout.parts), copiers, together=False)
            if bound is None or max(table.counts) <= bound:
                yield ChannelPlan(hops, table, limits.count)
            elif bound == limits.blocks:
                yield Excess("thread blocks", max(table.counts), bound)


def _hops(schedule: StepSchedule, grid: Grid, layout: DataLayout, levels: int, most: int | None) -> Iterator[Chain]:
    """Yield each transfer, or each part of it, as a chain of one hop, in the order of the steps."""
    ranks = {node: rank for rank, node in enumerate(schedule.members)}
    for number, phase in enumerate(schedule.phases):
        cuts = _cuts(schedule, number, ranks, grid) if phase.op is PhaseOp.REDUCE else {}
        for step, transfers in enumerate(phase.transfers):
            for each in transfers:
                root, path = ranks[each.shard], (ranks[each.source], ranks[each.target])
                low, high = (int(point * grid.parts[root]) for point in (each.low, each.high))
                for begin, end in _pieces(low, high, cuts.get(root, ())):
                    flow = RankTree(phase.op, number, root, layout.begins[root] + begin, end - begin, {})
                    depth = step if phase.op is PhaseOp.BROADCAST else -step
                    for part in _limited(flow, most):
                        yield Chain(part, number * levels + step % levels, path, depth)


def _cuts(schedule: StepSchedule, phase: int, ranks: dict[int, int], grid: Grid) -> dict[int, Sequence[int]]:
    """Return, for each rank, where parts of its shard begin or end, as numbers of chunks."""
    cuts: dict[int, set[Fraction]] = {}
    for transfers in schedule.phases[phase].transfers:
        for each in transfers:
            cuts.setdefault(ranks[each.shard], set()).update((each.low, each.high))
    return {rank: sorted({int(point * grid.parts[rank]) for point in points}) for rank, points in cuts.items()}


def _pieces(low: int, high: int, cuts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield the ranges between `low` and `high` that `cuts` divide; none if `low` equals `high`."""
    inner = [cut for cut in cuts[bisect_left(cuts, low) :] if low < cut < high]
    for begin, end in zip([low, *inner], [*inner, high], strict=True):
        if begin < end:
            yield begin, end


def _limited(flow: RankTree, most: int | None) -> Iterator[RankTree]:
    return flow.split(1 if most is None else -(-flow.count // most))
