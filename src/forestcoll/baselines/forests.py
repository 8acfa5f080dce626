"""From the trees or rings of an algorithm to a schedule with its exact algbw.

An algorithm is written for an allgather. A reduce-scatter is the reversed allgather on the transposed network, and an
allreduce is both, one after the other; their loads add up.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from forestcoll.baselines.baseline import DoesNotApplyError, Problem
from forestcoll.collective import Collective, PhaseOp
from forestcoll.generation.loads import achieved_algbw
from forestcoll.schedule.rows import Rows, row_starts
from forestcoll.schedule.trees.value import Phase, TreeSchedule

Edge: TypeAlias = tuple[int, int]
"""A send, from one compute node to another."""

Part: TypeAlias = tuple[Rows, Phase]
"""A table of routes, and trees that broadcast along them."""


def schedule_of(problem: Problem, allgather: Callable[[Problem], Part]) -> TreeSchedule:
    """Return the schedule of `problem.collective` made of allgathers.

    Args:
        problem: the problem; its collective is an allgather, a reduce-scatter or an allreduce.
        allgather: returns the trees of an allgather on the network of a problem.

    Raises:
        DoesNotApplyError: from `allgather`.
    """
    parts = []
    if problem.collective is not Collective.ALLGATHER:
        parts.append(_reversed(allgather(problem.transposed())))
    if problem.collective is not Collective.REDUCE_SCATTER:
        parts.append(allgather(problem))
    return joined_schedule(problem, parts)


def joined_schedule(problem: Problem, parts: Sequence[Part]) -> TreeSchedule:
    """Return the schedule whose phases are `parts`, one after the other."""
    routes, phases = _joined(parts)
    return TreeSchedule(
        topology=problem.topology,
        collective=problem.collective,
        routes=routes,
        phases=phases,
        algbw=achieved_algbw(problem.topology, routes, phases, None),
        ranks=problem.demand.ranks,
    )


def _reversed(part: Part) -> Part:
    routes, phase = part
    return routes.backwards(), replace(phase, op=phase.op.dual, routes=phase.routes.backwards())


def _joined(parts: Sequence[Part]) -> tuple[Rows, tuple[Phase, ...]]:
    """Return one table of routes, and the phases with route numbers of that table."""
    lengths = np.concatenate([np.diff(routes.starts) for routes, _ in parts])
    entries = np.concatenate([routes.entries for routes, _ in parts])
    phases, begin = [], 0
    for routes, phase in parts:
        phases.append(replace(phase, routes=Rows(phase.routes.starts, phase.routes.entries + np.int32(begin))))
        begin += len(routes)
    return Rows(row_starts(lengths), entries), tuple(phases)


@dataclass(frozen=True, slots=True)
class LogicalTree:
    """A tree of an algorithm, before its edges have routes.

    Attributes:
        root: the number of the root.
        share: the part of the data that it carries.
        edges: its edges as (parent, child), each after the edge that reaches its parent.
    """

    root: int
    share: Fraction
    edges: tuple[Edge, ...]


def forest(problem: Problem, trees: Iterable[LogicalTree]) -> Part:
    """Return `trees` with the routes of their edges.

    Raises:
        DoesNotApplyError: an edge has no route through switches.
    """
    listed = list(trees)
    numbers: dict[Edge, int] = {}
    rows = [[numbers.setdefault(edge, len(numbers)) for edge in tree.edges] for tree in listed]
    roots, shares = tuple(tree.root for tree in listed), tuple(tree.share for tree in listed)
    return _routes(problem, numbers), Phase(PhaseOp.BROADCAST, roots, shares, Rows.of(rows))


def rings(problem: Problem, orders: Sequence[Sequence[int]]) -> Part:
    """Return the trees of an allgather around rings: every shard goes around each ring in equal parts.

    Args:
        problem: the problem.
        orders: for each ring, all members in its order.

    Raises:
        DoesNotApplyError: a hop of a ring has no route through switches.
    """
    members = len(problem.members)
    hops = [hop for order in orders for hop in zip(order, (*order[1:], order[0]), strict=True)]
    numbers: dict[Edge, int] = {}
    of_hop = np.array([numbers.setdefault(hop, len(numbers)) for hop in hops], dtype=np.int32).reshape(-1, members)
    around = (np.arange(members)[:, None] + np.arange(members - 1)) % members
    entries = of_hop[:, around].reshape(-1)
    starts = row_starts(np.full(len(hops), members - 1, dtype=np.int64))
    shares = (problem.share / len(orders),) * len(hops)
    phase = Phase(PhaseOp.BROADCAST, tuple(node for order in orders for node in order), shares, Rows(starts, entries))
    return _routes(problem, numbers), phase


def _routes(problem: Problem, edges: Iterable[Edge]) -> Rows:
    """Return the route of each of `edges`."""
    found = []
    for source, target in edges:
        route = problem.routes.find(source, target)
        if route is None:
            one, other = problem.topology.ids((source, target))
            raise DoesNotApplyError(f"no path through switches joins {one} to {other}")
        found.append(route)
    return Rows.of(found)
