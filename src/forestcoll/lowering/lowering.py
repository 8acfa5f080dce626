"""A schedule becomes a program that stays within its target's figures."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from forestcoll.errors import NoSolutionError
from forestcoll.lowering.blocks import BlockTable, block_table
from forestcoll.lowering.chains import Chain, chains_of
from forestcoll.lowering.fitting import Excess, excess_of
from forestcoll.lowering.flows import Flow, flows_of
from forestcoll.lowering.grid import Grid, achieved, grid_for
from forestcoll.lowering.layout import Layout
from forestcoll.lowering.options import COMFORTABLE_BLOCKS, Options
from forestcoll.lowering.two_sided import two_sided
from forestcoll.program import Program, Task
from forestcoll.program.limits import Limits
from forestcoll.schedule import Phase, Schedule

UNLIMITED = Limits(name="no runtime in particular")


@dataclass(frozen=True, slots=True)
class Lowering:
    """A program, and what became of the schedule on the way.

    Attributes:
        program: the program.
        algbw: what the program's shares achieve on the schedule's network, in its unit.
        loss: the part of the schedule's algbw that is lost to rounding and to trees left out; 0 if it is exact.
        trees_left_out: how many trees carry nothing any more, as their chunks went to others of their root.
    """

    program: Program
    algbw: Fraction
    loss: Fraction
    trees_left_out: int


def lower(schedule: Schedule, options: Options | None = None, limits: Limits = UNLIMITED) -> Lowering:
    """Return a program that does what `schedule` says, within `limits`.

    Where the program of all trees does not fit, each root keeps only its greatest trees, as many as do; what that costs
    is in `Lowering.loss`.

    Raises:
        NoSolutionError: nothing fits, or the shards cannot be whole numbers of chunks.
    """
    options = options or Options()
    schedule = schedule.expanded()
    most = max(len(_of_root(phase, root)) for phase in schedule.phases for root in set(phase.roots))
    excess: Excess | None = None
    kept = most
    while True:
        thinner = schedule if kept >= most else _thinned(schedule, kept)
        grid = _grid(thinner, options, limits)
        for program in _programs(thinner, grid, options, limits):
            found = excess_of(program, limits)
            if found is None:
                return _lowering(schedule, thinner, grid, program)
            excess = excess or found
        if kept == 1:
            raise NoSolutionError(_misfit(schedule, limits, excess))
        kept //= 2


def _lowering(schedule: Schedule, thinner: Schedule, grid: Grid, program: Program) -> Lowering:
    algbw = achieved(thinner, grid)
    carry = sum(count > 0 for counts in grid.trees for count in counts)
    return Lowering(
        program=program,
        algbw=algbw,
        loss=max(Fraction(0), 1 - algbw / achieved_exactly(schedule)),
        trees_left_out=sum(len(phase) for phase in schedule.phases) - carry,
    )


def achieved_exactly(schedule: Schedule) -> Fraction:
    """Return the algbw that a schedule which lists all trees states of itself."""
    return schedule.algbw


def _misfit(schedule: Schedule, limits: Limits, excess: Excess | None) -> str:
    name = schedule.topology.name
    return f"{name}: no program fits {limits.name}, not even with one tree per root: {excess}"


def _grid(schedule: Schedule, options: Options, limits: Limits) -> Grid:
    most = None if limits.chunks is None else max(1, limits.chunks // options.scale)
    return grid_for(schedule, options.chunks, most)


def _programs(schedule: Schedule, grid: Grid, options: Options, limits: Limits) -> Iterator[Program]:
    """Yield programs that fit the blocks that may be used, the one that uses most of them first."""
    layout = Layout.of(schedule, grid, options)
    flows = flows_of(schedule, grid, options, limits.count)
    for channels, table in _tables(layout, flows, options, limits):
        yield two_sided(schedule.topology.name, layout, flows, channels, table)


def _tables(
    layout: Layout, flows: Sequence[Flow], options: Options, limits: Limits
) -> Iterator[tuple[tuple[Chain, ...], BlockTable]]:
    """Yield chains and blocks: with many channels before few, blocks apart before together, comfortable before not."""
    turns = 1 + max(flow.turn for flow in flows)
    widths = [options.channels] if options.channels else range(min(turns, 32), 0, -1)
    by_width = {width: chains_of(flows, _channel_numbers(flows, width, options)) for width in widths}
    copiers = sorted({flow.root for flow in flows}) if _copies(layout) else []
    tried = []
    for bound in _bounds(options, limits):
        for width in widths:
            for together in (False, True):
                table = block_table(by_width[width], len(layout.parts), copiers, together=together)
                if (width, together) not in tried and (bound is None or max(table.counts) <= bound):
                    tried.append((width, together))
                    yield by_width[width], table


def _copies(layout: Layout) -> bool:
    return layout.task in {Task.ALLGATHER, Task.BROADCAST} and layout.options.out_of_place


def _bounds(options: Options, limits: Limits) -> Sequence[int | None]:
    """Return how many blocks a rank may have: what is comfortable first, then what the target takes."""
    if options.blocks is not None:
        return [options.blocks]
    return [min(COMFORTABLE_BLOCKS, limits.blocks or COMFORTABLE_BLOCKS), limits.blocks]


def _channel_numbers(flows: Sequence[Flow], width: int, options: Options) -> list[int]:
    """Return the channel number of each flow: apart by phase and instance, and by its place among those of its root."""
    return [(flow.phase * options.instances + flow.instance) * width + flow.turn % width for flow in flows]


def _thinned(schedule: Schedule, kept: int) -> Schedule:
    """Return the schedule with only the `kept` greatest trees of each root in each phase, grown to what they all had."""
    return replace(schedule, phases=tuple(_thinned_phase(phase, kept) for phase in schedule.phases))


def _thinned_phase(phase: Phase, kept: int) -> Phase:
    chosen: dict[int, Fraction] = {}
    for root in dict.fromkeys(phase.roots):
        trees = _of_root(phase, root)
        greatest = sorted(trees, key=lambda tree: (-phase.shares[tree], tree))[:kept]
        growth = sum(phase.shares[tree] for tree in trees) / sum(phase.shares[tree] for tree in greatest)
        chosen |= {tree: phase.shares[tree] * growth for tree in greatest}
    import numpy as np

    order = sorted(chosen)
    return Phase(
        op=phase.op,
        roots=tuple(phase.roots[tree] for tree in order),
        shares=tuple(chosen[tree] for tree in order),
        routes=phase.routes.take(np.array(order, dtype=np.int64)),
    )


def _of_root(phase: Phase, root: int) -> list[int]:
    return [tree for tree, each in enumerate(phase.roots) if each == root]
