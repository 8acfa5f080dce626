"""Lowering of a schedule to a program within the limits of a runtime."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.ranks import relay_refusal
from forestcoll.programs.lowering.exchange import program_of_flows
from forestcoll.programs.lowering.fitting import Excess, lesser
from forestcoll.programs.lowering.grid import Grid, grid_for, with_shares
from forestcoll.programs.lowering.layout import DataLayout
from forestcoll.programs.lowering.one_sided import one_sided
from forestcoll.programs.lowering.options import Options, Placement, Style
from forestcoll.programs.lowering.pair_links import PairLinks
from forestcoll.programs.lowering.plans import plans
from forestcoll.programs.lowering.rank_trees import rank_trees_of
from forestcoll.programs.lowering.step_trees import trees_of_steps
from forestcoll.programs.lowering.two_sided import two_sided
from forestcoll.programs.model import Program
from forestcoll.programs.model.limits import Limits
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule, runnable_entry_for
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import Phase, TreeSchedule

UNLIMITED = Limits(name="no runtime in particular")


@dataclass(frozen=True, slots=True)
class Lowering:
    """The result of lowering a schedule: a program, and how it differs from the schedule.

    Attributes:
        program: the program.
        algbw: the algorithmic bandwidth with the shares of the program, in the unit of the topology.
        schedule_algbw: the algbw of the given schedule, against which `loss` is stated.
        trees_left_out: the number of trees of the schedule that carry no data in the program, because other trees of
            the same root carry all of it. For a schedule of flows, the number of flows, where other flows of the same
            pair of ranks carry all of it.
        other_trees: the number of trees per root if the trees are not those of the schedule, but of another one with
            so many; None if they are.
        other_flows: whether the flows are not those of the schedule, but of another one.
        schedule: what the program executes: a schedule of trees with the shares of the program, without the trees that
            are left out; any other schedule as it is.

    Example:
        >>> from forestcoll import generate
        >>> lowering = lower(generate("ring:nodes=3"))
        >>> str(lowering.algbw), str(lowering.loss), lowering.trees_left_out
        ('3', '0', 0)
    """

    program: Program
    algbw: Fraction
    schedule_algbw: Fraction
    trees_left_out: int
    schedule: Schedule
    other_trees: int | None = None
    other_flows: bool = False

    @property
    def loss(self) -> Fraction:
        """Return the part of the algbw of the schedule that is lost by rounding shares and leaving out trees.

        It is a fraction from 0 to 1; 0 if the program has exactly the shares of the schedule. A program of steps may
        even reach more than its schedule, because it has no barriers between steps.
        """
        return max(Fraction(0), 1 - self.algbw / self.schedule_algbw)


def lower(schedule: Schedule, options: Options | None = None, limits: Limits = UNLIMITED) -> Lowering:
    """Convert a schedule into a program within the limits of a runtime.

    If the program of all trees does not fit, each root keeps only its trees with the greatest shares, as many as fit.
    `Lowering.loss` states the bandwidth that this costs.

    Args:
        schedule: a schedule of trees, steps or flows that `verify` accepts. Of flows, only a plain all-to-all has a
            program.
        options: the options of the lowering; those of `default_options` if None.
        limits: the limits of the runtime; by default there are none.

    Returns:
        The program, with its bandwidth.

    Raises:
        InputError: schedules of this kind or collective have no programs; the options are not possible for steps or
            flows; trees or flows use an idle compute node as a relay; or a transfer of a step passes through a compute
            node.
        NoSolutionError: no program fits the limits, or the shards are not whole numbers of chunks.

    Example:
        >>> from forestcoll import generate
        >>> program = lower(generate("ring:nodes=3")).program
        >>> len(program.ranks), program.chunks, len(program.channels)
        (3, 3, 6)
    """
    return lowerer_for(schedule).lower(schedule, options or default_options(schedule), limits)


def default_options(schedule: Schedule) -> Options:
    """Return the defaults of `Options`, with a placement that programs of this kind of schedule support.

    Raises:
        InputError: schedules of this kind have no programs.
    """
    return Options() if lowerer_for(schedule).in_place else Options(placement=Placement.OUT_OF_PLACE)


def least_instructions(schedule: Schedule) -> int:
    """Return about how many instructions a program of one piece has: each tree sends to all other ranks.

    A flow is sent once for each of its routes, and a transfer of steps once.
    """
    if not isinstance(schedule, TreeSchedule | FlowSchedule | StepSchedule):
        return 0
    images = 1 if schedule.symmetry is None else schedule.symmetry.order
    if isinstance(schedule, FlowSchedule):
        return 2 * images * len(schedule.flows.routes.entries)
    if isinstance(schedule, StepSchedule):
        return 2 * images * len(schedule)
    return 2 * images * (len(schedule.members) - 1) * sum(map(len, schedule.phases))


@dataclass(frozen=True)
class Lowerer:
    """The function that lowers schedules of one kind, and its abilities.

    Attributes:
        lower: returns the program of a schedule for given options and limits.
        in_place: whether it can make programs that run in place.
    """

    lower: Callable[[Any, Options, Limits], Lowering]
    in_place: bool = True


def lowerer_for(schedule: Schedule) -> Lowerer:
    """Return the entry of `LOWERERS` for `schedule`. Raises `InputError` if there is none."""
    return runnable_entry_for(LOWERERS, schedule, "lowered to a program")


def _lower_steps(schedule: StepSchedule, options: Options, limits: Limits) -> Lowering:
    found = _lower_trees(trees_of_steps(schedule), options, limits)
    return replace(found, schedule_algbw=step_shape(schedule).algbw or found.algbw)


def _lower_flows(schedule: FlowSchedule, options: Options, limits: Limits) -> Lowering:
    found = program_of_flows(schedule, options, limits)
    return Lowering(found.program, found.algbw, schedule.algbw, found.left_out, schedule)


def _lower_trees(schedule: TreeSchedule, options: Options, limits: Limits) -> Lowering:
    schedule = expanded(schedule)
    _check_relays(schedule)
    excess: Excess | None = None
    for kept in _numbers_of_trees(schedule):
        reduced = schedule if kept is None else _with_fewer_trees(schedule, kept)
        grid = _grid(reduced, options, limits)
        for found in _programs(reduced, grid, options, limits):
            if isinstance(found, Program):
                return _lowering(schedule, reduced, grid, found)
            excess = lesser(excess, found)
    name = schedule.topology.name
    raise NoSolutionError(f"{name}: no program fits {limits.name}, not even with one tree per root: {excess}")


def _check_relays(schedule: TreeSchedule) -> None:
    """Raise `InputError` if trees need a program on nodes that take no part: as relays, or as roots."""
    members = set(schedule.members)
    if elsewhere := {root for phase in schedule.phases for root in phase.roots if root not in members}:
        name = schedule.topology.nodes[min(elsewhere)].id
        raise InputError(
            f"{schedule.topology.name}: a tree is rooted at {name!r}, which runs no program; "
            "use a schedule whose roots take part"
        )
    idle = set(schedule.topology.compute).difference(schedule.members)
    if idle and (used := idle.intersection(schedule.routes.entries.tolist())):
        raise InputError(relay_refusal(schedule.topology, schedule.members, "trees pass", min(used)))


def _numbers_of_trees(schedule: TreeSchedule) -> Iterator[int | None]:
    """Yield the numbers of trees per root to try: all (None), then half as many each time, down to one."""
    yield None
    most = max(max(Counter(phase.roots).values()) for phase in schedule.phases)
    while most > 1:
        most //= 2
        yield most


def _lowering(schedule: TreeSchedule, reduced: TreeSchedule, grid: Grid, program: Program) -> Lowering:
    executed = with_shares(reduced, grid)
    return Lowering(
        program=program,
        algbw=executed.algbw,
        schedule_algbw=schedule.algbw,
        trees_left_out=_trees(schedule) - _trees(executed),
        schedule=executed,
    )


def _trees(schedule: TreeSchedule) -> int:
    return sum(len(phase) for phase in schedule.phases)


def _grid(schedule: TreeSchedule, options: Options, limits: Limits) -> Grid:
    most = None if limits.chunks is None else max(1, limits.chunks // options.scale)
    return grid_for(schedule, options.chunks, most)


def _programs(schedule: TreeSchedule, grid: Grid, options: Options, limits: Limits) -> Iterator[Program | Excess]:
    """Yield the programs that fit, the best one first, and for each other plan the limit that it exceeds."""
    layout = DataLayout.of(schedule, grid, options)
    if options.style is Style.ONE_SIDED:
        boxes = [schedule.topology.nodes[node].attributes.get("box") for node in schedule.members]
        flows = rank_trees_of(schedule, grid, options, None)
        yield one_sided(schedule.topology.name, layout, flows, limits, [str(box) for box in boxes])
        return
    flows = rank_trees_of(schedule, grid, options, limits.count)
    links = PairLinks.of(with_shares(schedule, grid)) if options.lanes else None
    for plan in plans(layout, flows, limits, links):
        if isinstance(plan, Excess):
            yield plan
        else:
            yield two_sided(schedule.topology.name, layout, plan, flows, limits)


def _with_fewer_trees(schedule: TreeSchedule, kept: int) -> TreeSchedule:
    """Return the schedule with only the `kept` greatest trees of each root and phase, scaled up to the same total."""
    return replace(schedule, phases=tuple(_phase_with_fewer_trees(phase, kept) for phase in schedule.phases))


def _phase_with_fewer_trees(phase: Phase, kept: int) -> Phase:
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
    TreeSchedule: Lowerer(_lower_trees),
    StepSchedule: Lowerer(_lower_steps),
    FlowSchedule: Lowerer(_lower_flows, in_place=False),
}
"""The lowering of each kind of schedule that has programs."""
