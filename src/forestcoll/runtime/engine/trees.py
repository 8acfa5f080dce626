"""The trees of a schedule, between ranks only. The table `FORESTS` lists the kinds of schedules that can be run.

Switches disappear: a hop leads from one rank to another, and names the links at both of its ends. A schedule of steps
is a forest too, a tree for each part of a shard (`schedule/steps/parts.py`). A flow is a tree that is a path from its
source to its target.

The root of a tree of an allreduce may be a switch. A rank next to it then does its work (`rooted_at`).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.flows.expansion import FlowImage, flow_images
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule, runnable_entry_for
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.parts import shard_parts
from forestcoll.schedule.steps.routes import require_no_relays
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule


@dataclass(frozen=True, slots=True, order=True)
class Hop:
    """One send of a tree.

    Attributes:
        source: the rank that sends.
        target: the rank that receives.
        leaves: the number of the node next to the source on the way: it names the link that the data leaves by.
        enters: the number of the node next to the target.
    """

    source: int
    target: int
    leaves: int
    enters: int

    def backwards(self) -> "Hop":
        """Return the hop in the other direction."""
        return Hop(self.target, self.source, self.enters, self.leaves)


Hops = tuple[Hop, ...]

SWITCH = -1
"""Stands for the rank of a root that is a switch."""


@dataclass(frozen=True, slots=True)
class FlowTree:
    """A tree of ranks.

    Attributes:
        op: whether data flows from the root or to it.
        root: the rank of the root; `SWITCH` if the root is a switch.
        part: names the root's part of the data: the rank of the root; for a switch, its node number plus the number of
            ranks; for flows, the rank of the source times the number of ranks, plus the rank of the target.
        share: the fraction of all data that it carries.
        hops: in an order in which data can flow.
    """

    op: PhaseOp
    root: int
    part: int
    share: Fraction
    hops: Hops


Forests = tuple[tuple[FlowTree, ...], ...]
"""The trees of each phase."""


def trees_of(schedule: Schedule) -> Forests:
    """Return the trees of each phase; those of a root cover its part of the data from its beginning to its end.

    Ranks count the compute nodes of the topology, from 0. `schedule` must be verified.

    Raises:
        InputError: schedules of this kind cannot be run.

    Example:
        >>> from forestcoll import generate
        >>> trees_of(generate("ring:nodes=4"))[0][0].hops[0]
        Hop(source=0, target=1, leaves=1, enters=0)
    """
    return check_runnable(schedule)(schedule)


def check_runnable(schedule: Schedule) -> Callable[[Any], Forests]:
    """Return the function for the kind of `schedule`. Raises `InputError` if this kind cannot be run."""
    return runnable_entry_for(FORESTS, schedule, "run")


def rooted_at(rank: int, op: PhaseOp, hops: Hops) -> Hops:
    """Return the hops of a tree whose root is a switch, after `rank` has taken over the work of the switch."""
    if op is PhaseOp.REDUCE:
        outward = rooted_at(rank, PhaseOp.BROADCAST, tuple(hop.backwards() for hop in reversed(hops)))
        return tuple(hop.backwards() for hop in reversed(outward))
    link = next((hop.enters for hop in hops if hop.target == rank), SWITCH)
    return tuple(
        replace(hop, source=rank, leaves=link) if hop.source == SWITCH else hop for hop in hops if hop.target != rank
    )


def _of_trees(schedule: TreeSchedule) -> Forests:
    return tuple(tuple(each) for each in _of_phases(expanded(schedule), _ranks(schedule)))


def _ranks(schedule: Schedule) -> dict[int, int]:
    return {node: rank for rank, node in enumerate(schedule.topology.compute)}


def _of_phases(schedule: TreeSchedule, ranks: Mapping[int, int]) -> Iterator[Iterator[FlowTree]]:
    paths = list(schedule.routes)
    for phase in schedule.phases:
        yield (
            FlowTree(
                phase.op,
                ranks.get(tree.root, SWITCH),
                ranks.get(tree.root, tree.root + len(ranks)),
                tree.share,
                _hops(phase.op, [paths[each] for each in tree.routes], ranks),
            )
            for tree in phase
        )


def _hops(op: PhaseOp, paths: list[tuple[int, ...]], ranks: Mapping[int, int]) -> Hops:
    """Return the hops of routes; those that meet on a switch which copies or adds up are joined."""
    if op is PhaseOp.BROADCAST:
        return tuple(_outward(paths, ranks))
    outward = tuple(_outward([path[::-1] for path in reversed(paths)], ranks))
    return tuple(hop.backwards() for hop in reversed(outward))


def _outward(paths: Iterable[tuple[int, ...]], ranks: Mapping[int, int]) -> Iterator[Hop]:
    starts: dict[int, tuple[int, int]] = {}  # of each switch that routes end on: the rank before it, and its first link
    for path in paths:
        source, leaves = (ranks[path[0]], path[1]) if path[0] in ranks else starts.get(path[0], (SWITCH, path[0]))
        if path[-1] in ranks:
            yield Hop(source, ranks[path[-1]], leaves, path[-2])
        else:
            starts[path[-1]] = source, leaves


def _of_flows(schedule: FlowSchedule) -> Forests:
    ranks = _ranks(schedule)
    return (tuple(_of_flow(flow, ranks) for flow in flow_images(schedule)),)


def _of_flow(flow: FlowImage, ranks: Mapping[int, int]) -> FlowTree:
    source, target = ranks[flow.source], ranks[flow.target]
    hops = _hops(PhaseOp.BROADCAST, list(flow.paths), ranks)
    return FlowTree(PhaseOp.BROADCAST, source, source * len(ranks) + target, flow.share, hops)


def _of_steps(schedule: StepSchedule) -> Forests:
    if schedule.collective is Collective.ALL_TO_ALL:
        raise InputError(
            f"{schedule.topology.name}: an all-to-all in steps cannot be run; use a schedule of flows, which "
            "generate makes"
        )
    require_no_relays(schedule)
    schedule, ranks = expanded_steps(schedule), _ranks(schedule)
    return tuple(tuple(_of_step_phase(schedule, number, ranks)) for number in range(len(schedule.phases)))


def _of_step_phase(schedule: StepSchedule, number: int, ranks: Mapping[int, int]) -> Iterator[FlowTree]:
    op, sizes = schedule.phases[number].op, schedule.shard_sizes
    for shard, low, high, paths in shard_parts(schedule, number):
        yield FlowTree(op, ranks[shard], ranks[shard], sizes[shard] * (high - low), _hops(op, list(paths), ranks))


FORESTS: dict[type[Schedule], Callable[[Any], Forests]] = {
    TreeSchedule: _of_trees,
    StepSchedule: _of_steps,
    FlowSchedule: _of_flows,
}
"""The function that returns the trees, for each kind of schedule that can be run."""
