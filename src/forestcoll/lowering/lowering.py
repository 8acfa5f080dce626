"""A schedule becomes a program that stays within its target's figures."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from forestcoll.errors import InputError, NoSolutionError
from forestcoll.lowering.fitting import Excess, excess_of, nearer
from forestcoll.lowering.flows import flows_of
from forestcoll.lowering.grid import Grid, achieved, grid_for
from forestcoll.lowering.layout import Layout
from forestcoll.lowering.one_sided import one_sided
from forestcoll.lowering.options import Options, Style
from forestcoll.lowering.plans import plans
from forestcoll.lowering.steps import program_of_steps
from forestcoll.lowering.two_sided import two_sided
from forestcoll.program import Program
from forestcoll.program.limits import Limits
from forestcoll.schedule.schedule import Schedule, entry_for
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import Phase, TreeSchedule

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
    """Return a program that does what `schedule`, of any kind that has programs, says, within `limits`.

    Where the program of all trees does not fit, each root keeps only its greatest trees, as many as do; what that costs
    is in `Lowering.loss`.

    Args:
        schedule: a schedule that `verify` finds right.
        options: knobs of the lowering.
        limits: figures of the runtime.

    Raises:
        InputError: schedules of this kind have no programs; step schedules are lowered two-sided only, and something
            else is asked for; or trees pass through compute nodes that take no part.
        NoSolutionError: nothing fits, or the shards cannot be whole numbers of chunks.

    Example:
        >>> from forestcoll import build_topology, generate
        >>> len(lower(generate(build_topology("ring:nodes=4"))).program.ranks)
        4
    """
    return lowerer_for(schedule).lower(schedule, options or Options(), limits)


@dataclass(frozen=True)
class Lowerer:
    """How schedules of one kind become programs.

    Attributes:
        lower: returns the program of a schedule, by options and limits.
        styles: the kinds of instructions that it can use.
        in_pieces: whether chunks can be cut into pieces that follow each other.
    """

    lower: Callable[[Any, Options, Limits], Lowering]
    styles: frozenset[Style]
    in_pieces: bool


def lowerer_for(schedule: Schedule) -> Lowerer:
    """Return how schedules of this kind become programs. Raises `InputError` if they do not."""
    return entry_for(LOWERERS, schedule, "made a program")


def _lower_steps(schedule: StepSchedule, options: Options, limits: Limits) -> Lowering:
    program = program_of_steps(schedule, options, limits)
    return Lowering(program, step_shape(schedule).algbw or Fraction(0), Fraction(0), 0)


def _lower_trees(schedule: TreeSchedule, options: Options, limits: Limits) -> Lowering:
    schedule = expanded(schedule)
    _check_relays(schedule)
    excess: Excess | None = None
    for kept in _numbers_of_trees(schedule):
        thinner = schedule if kept is None else _thinned(schedule, kept)
        grid = _grid(thinner, options, limits)
        for found in _programs(thinner, grid, options, limits):
            if isinstance(found, Program):
                return _lowering(schedule, thinner, grid, found)
            excess = nearer(excess, found)
    name = schedule.topology.name
    raise NoSolutionError(f"{name}: no program fits {limits.name}, not even with one tree per root: {excess}")


def _check_relays(schedule: TreeSchedule) -> None:
    """Refuse a schedule whose trees pass through compute nodes that take no part: nobody runs a program there."""
    idle = set(schedule.topology.compute).difference(schedule.members)
    if idle and (used := idle.intersection(schedule.routes.entries.tolist())):
        name = schedule.topology.nodes[min(used)].id
        raise InputError(
            f"{schedule.topology.name}: trees pass through compute node {name!r}, which takes no part, so that it runs "
            "no program; generate with --no-relays"
        )


def _numbers_of_trees(schedule: TreeSchedule) -> Iterator[int | None]:
    """Yield how many trees of each root are tried: all (None), and half as many each time, down to one."""
    yield None
    most = max(max(Counter(phase.roots).values()) for phase in schedule.phases)
    while most > 1:
        most //= 2
        yield most


def _lowering(schedule: TreeSchedule, thinner: TreeSchedule, grid: Grid, program: Program) -> Lowering:
    algbw = achieved(thinner, grid)
    carry = sum(count > 0 for counts in grid.trees for count in counts)
    return Lowering(
        program=program,
        algbw=algbw,
        loss=1 - algbw / schedule.algbw,
        trees_left_out=sum(len(phase) for phase in schedule.phases) - carry,
    )


def _grid(schedule: TreeSchedule, options: Options, limits: Limits) -> Grid:
    most = None if limits.chunks is None else max(1, limits.chunks // options.scale)
    return grid_for(schedule, options.chunks, most)


def _programs(schedule: TreeSchedule, grid: Grid, options: Options, limits: Limits) -> Iterator[Program | Excess]:
    """Yield programs that fit, the preferred one first, and what does not fit of others."""
    layout = Layout.of(schedule, grid, options)
    if options.style is Style.ONE_SIDED:
        boxes = [schedule.topology.nodes[node].attributes.get("box") for node in schedule.members]
        flows = flows_of(schedule, grid, options, None)
        yield one_sided(schedule.topology.name, layout, flows, limits, [str(box) for box in boxes])
        return
    flows = flows_of(schedule, grid, options, limits.count)
    for plan in plans(layout, flows, limits):
        if isinstance(plan, Excess):
            yield plan
        else:
            program = two_sided(schedule.topology.name, layout, flows, plan)
            yield excess_of(program, limits) or program


def _thinned(schedule: TreeSchedule, kept: int) -> TreeSchedule:
    """Return the schedule with the `kept` greatest trees of each root in each phase, grown to what all of them had."""
    return replace(schedule, phases=tuple(_thinned_phase(phase, kept) for phase in schedule.phases))


def _thinned_phase(phase: Phase, kept: int) -> Phase:
    chosen: dict[int, Fraction] = {}
    for root in dict.fromkeys(phase.roots):
        trees = _of_root(phase, root)
        greatest = sorted(trees, key=lambda tree: (-phase.shares[tree], tree))[:kept]
        growth = _sum(phase, trees) / _sum(phase, greatest)
        chosen |= {tree: phase.shares[tree] * growth for tree in greatest}
    order = sorted(chosen)
    return Phase(
        op=phase.op,
        roots=tuple(phase.roots[tree] for tree in order),
        shares=tuple(chosen[tree] for tree in order),
        routes=phase.routes.take(np.array(order, dtype=np.int64)),
    )


def _sum(phase: Phase, trees: Sequence[int]) -> Fraction:
    return sum((phase.shares[tree] for tree in trees), Fraction(0))


def _of_root(phase: Phase, root: int) -> list[int]:
    return [tree for tree, each in enumerate(phase.roots) if each == root]


LOWERERS: dict[type[Schedule], Lowerer] = {
    TreeSchedule: Lowerer(_lower_trees, frozenset(Style), in_pieces=True),
    StepSchedule: Lowerer(_lower_steps, frozenset({Style.TWO_SIDED}), in_pieces=False),
}
"""How schedules become programs, of each kind that has programs."""
