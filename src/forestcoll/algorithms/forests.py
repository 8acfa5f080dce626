"""From the trees or rings of an algorithm to a schedule with its exact algbw.

An algorithm is written for an allgather. A reduce-scatter is the reversed allgather on the transposed network, and an
allreduce is both, one after the other; their loads add up.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.loads import loads_along_routes
from forestcoll.schedule.rows import Rows, row_starts
from forestcoll.schedule.trees.value import Phase, TreeSchedule

Edge: TypeAlias = tuple[int, ...]
"""A send from one compute node to another: the two nodes, or all nodes of its route.

Two nodes alone have the route that `Routes` finds.
"""

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
    if problem.collective is Collective.ALLGATHER:
        return joined_schedule(problem, [allgather(problem)])
    transposed = problem.transposed()
    part = allgather(transposed)
    if problem.collective is Collective.REDUCE_SCATTER:
        return joined_schedule(problem, [reversed_part(part)])
    return joined_schedule(problem, [reversed_part(part), part if transposed is problem else allgather(problem)])


def joined_schedule(problem: Problem, parts: Sequence[Part]) -> TreeSchedule:
    """Return the schedule whose phases are `parts`, one after the other."""
    routes, phases = _joined(parts)
    return TreeSchedule(
        topology=problem.topology,
        collective=problem.collective,
        routes=routes,
        phases=phases,
        algbw=loads_along_routes(problem.topology, routes, phases, None).algbw(problem.topology),
        ranks=problem.demand.ranks,
    )


def reversed_part(part: Part) -> Part:
    """Return trees that reduce, with all routes of `part` reversed."""
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
        edges: its edges from parent to child, each after the edge that reaches its parent.
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


Ring: TypeAlias = tuple[Fraction, list[Edge]]
"""The part of the data that goes around a ring, and its sends, each from the receiver of the one before."""


def rings(problem: Problem, all_rings: Sequence[Ring]) -> Part:
    """Return the trees of an allgather around rings: every shard is divided among the rings.

    Args:
        problem: the problem.
        all_rings: the rings; their parts add up to 1.

    Raises:
        DoesNotApplyError: a send has no route through switches.
    """
    members = len(problem.members)
    numbers: dict[Edge, int] = {}
    of_hop = np.array([[numbers.setdefault(edge, len(numbers)) for edge in sends] for _, sends in all_rings], np.int32)
    starting = (np.arange(members)[:, None] + np.arange(members - 1)) % members
    entries = of_hop[:, starting].reshape(-1)
    starts = row_starts(np.full(len(all_rings) * members, members - 1, dtype=np.int64))
    roots = tuple(edge[0] for _, sends in all_rings for edge in sends)
    shares = tuple(problem.share * part for part, sends in all_rings for _ in sends)
    phase = Phase(PhaseOp.BROADCAST, roots, shares, Rows(starts, entries))
    return _routes(problem, numbers), phase


def around(order: Sequence[int]) -> list[Edge]:
    """Return the sends of a ring: from each node of `order` to the next, and from the last to the first."""
    return list(zip(order, (*order[1:], order[0]), strict=True))


def _routes(problem: Problem, edges: Iterable[Edge]) -> Rows:
    """Return the route of each of `edges`."""
    found = []
    for edge in edges:
        route = edge if len(edge) > 2 else problem.routes.find(*edge)
        if route is None:
            one, other = problem.topology.ids(edge)
            raise DoesNotApplyError(f"no path through switches joins {one} to {other}")
        found.append(route)
    return Rows.of(found)
