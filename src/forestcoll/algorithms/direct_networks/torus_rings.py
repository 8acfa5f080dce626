"""The traditional torus algorithm (Sack and Gropp): ring allgathers along one dimension after another.

A shard has one part per dimension. Part i starts in dimension i, continues in dimension i + 1, and so on in cyclic
order, so that all dimensions are busy. Along a ring of three or more nodes, half of a part is sent in each direction.
T_L = sum of (size - 1). T_B is optimal if and only if all sizes are equal.

Source: P. Sack and W. Gropp, "Collective Algorithms for Multiported Torus Networks" (ACM TOPC 2015).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import prod

import numpy as np

from forestcoll.algorithms.method import Method, Problem, methods
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import IntArray
from forestcoll.schedule.steps.limits import within_limits
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfers
from forestcoll.solver.generation.bfb.allgather import require_direct
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.topology import Topology
from forestcoll.topology.families._direct import grid_pairs


def torus_ring_schedule(topology: Topology, collective: Collective) -> StepSchedule:
    """Return the traditional torus algorithm for `collective`.

    Raises:
        InputError: the network is not a torus with nodes numbered in row-major order, or there is a switch.
    """
    require_direct(topology)
    return from_allgathers(topology, collective, _allgather)


def torus_sizes(topology: Topology) -> tuple[int, ...]:
    """Return the sizes of the dimensions of a torus with nodes numbered in row-major order.

    Raises:
        InputError: the network is not such a torus.
    """
    links = topology.link_numbers.keys()
    for sizes in _factorings(len(topology.nodes)):
        pairs = set(grid_pairs(sizes, wrap=True))
        if len(links) == 2 * len(pairs) and pairs | {(other, one) for one, other in pairs} == links:
            return sizes
    raise InputError(
        f"{topology.name}: not a torus with nodes numbered row by row; the traditional torus algorithm needs one, such "
        "as torus:dims=4x4"
    )


def _factorings(number: int) -> Iterator[tuple[int, ...]]:
    """Yield all ordered factorisations of `number` into factors of 2 or more, those with the fewest factors first."""
    found: list[tuple[int, ...]] = []

    def extend(sizes: tuple[int, ...], rest: int) -> None:
        if rest == 1:
            found.append(sizes)
        for factor in range(2, rest + 1):
            if rest % factor == 0:
                extend((*sizes, factor), rest // factor)

    extend((), number)
    yield from sorted(found, key=lambda sizes: (len(sizes), sizes))


def _allgather(topology: Topology) -> StepSchedule:
    sizes = torus_sizes(topology)
    nodes, dimensions = len(topology.nodes), len(sizes)
    shards, targets = (each.ravel() for each in np.meshgrid(np.arange(nodes), np.arange(nodes), indexing="ij"))
    is_other = shards != targets
    shards, targets = shards[is_other], targets[is_other]
    columns: list[list[IntArray]] = []
    for first in range(dimensions):
        order = [*range(first, dimensions), *range(first)]
        for forward in (True, False):
            last, sources, steps = _arrivals(sizes, order, shards, targets, forward=forward)
            is_whole = np.array([size == 2 for size in sizes])[last]
            lows = 2 * first + (0 if forward else 1)
            chosen = np.ones(len(shards), dtype=np.bool_) if forward else ~is_whole
            highs = np.where(is_whole, 2 * first + 2, lows + 1)
            columns.append(
                [each[chosen] for each in (steps, shards, sources, targets, np.full_like(shards, lows), highs)]
            )
    steps, shards, sources, targets, lows_, highs = (np.concatenate(column) for column in zip(*columns, strict=True))
    sent = Transfers.by_step(
        steps,
        count=sum(sizes) - dimensions,
        shards=shards,
        sources=sources,
        targets=targets,
        lows=lows_,
        highs=highs,
        points=[Fraction(half, 2 * dimensions) for half in range(2 * dimensions + 1)],
    )
    return StepSchedule(topology, Collective.ALLGATHER, (StepPhase(PhaseOp.BROADCAST, sent),))


def _arrivals(
    sizes: tuple[int, ...], order: list[int], shards: IntArray, targets: IntArray, *, forward: bool
) -> tuple[IntArray, IntArray, IntArray]:
    """Return, for each shard and target, the dimension of arrival, the sender and the step.

    A shard passes through the dimensions in `order`. It arrives in the last dimension in which the two nodes differ.
    """
    last, sources, steps = (np.zeros(len(shards), dtype=np.int64) for _ in range(3))
    begun = 0
    for dimension in order:
        size, stride = sizes[dimension], prod(sizes[dimension + 1 :])
        place = targets // stride % size
        distance = (place - shards // stride % size) % size
        direction = 1 if forward or size == 2 else -1
        differs = distance > 0
        last[differs] = dimension
        sources[differs] = (targets + ((place - direction) % size - place) * stride)[differs]
        steps[differs] = (begun + (distance if direction > 0 else size - distance) - 1)[differs]
        begun += size - 1
    return last, sources, steps


@methods.add(
    "torus-rings", summary="Around the rings of a torus, one dimension after another.", by_size=["torus-rings"]
)
@dataclass(frozen=True)
class TorusRings(Method):
    """Around the rings of a torus, one dimension after another."""

    def schedule(self, problem: Problem) -> StepSchedule:
        """Return the steps."""
        return within_limits(problem.topology, lambda network: torus_ring_schedule(network, problem.collective))
