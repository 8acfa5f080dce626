"""Step schedules made of others: reversed, mapped to an isomorphic network, or one after the other.

The reverse of a schedule does the dual collective on the transposed network (Theorem 1). If every link has a reverse
link of the same bandwidth, the transposed network is the same network. Otherwise an isomorphism, if there is one, maps
the reversed schedule to the network (Theorem 2).
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.steps.expansion import expanded_steps
from forestcoll.schedule.steps.value import StepPhase, StepSchedule
from forestcoll.topology import Topology


def reversed_steps(schedule: StepSchedule) -> StepSchedule:
    """Return the reverse of `schedule` (Aᵀ of Definition 5): the dual collective on the transposed network."""
    phases = tuple(StepPhase(phase.op.dual, phase.transfers.backwards()) for phase in reversed(schedule.phases))
    return StepSchedule(
        schedule.topology.transposed(),
        schedule.collective.dual,
        phases,
        shards=schedule.shards,
        ranks=schedule.ranks,
        routes=schedule.routes.backwards(),
        symmetry=schedule.symmetry,
    )


def mapped_to(schedule: StepSchedule, topology: Topology, image: Sequence[int]) -> StepSchedule:
    """Return `schedule` on `topology`, with node number `image[v]` instead of v (Definition 7).

    Raises:
        InputError: `image` does not map the nodes and links of the schedule's network to those of `topology`.
    """
    _check_isomorphism(schedule.topology, topology, image)
    schedule = expanded_steps(schedule)
    numbers = np.array(image, dtype=np.int32)
    phases = tuple(replace(phase, transfers=phase.transfers.renamed(numbers)) for phase in schedule.phases)
    members = [image[node] for node in schedule.members]
    shards = schedule.shards
    if shards is not None:
        shard_of = dict(zip(members, shards, strict=True))
        shards = tuple(shard_of[node] for node in sorted(members))
    ranks = None if schedule.ranks is None else tuple(sorted(members))
    routes = Rows(schedule.routes.starts, numbers[schedule.routes.entries])
    return StepSchedule(topology, schedule.collective, phases, shards=shards, ranks=ranks, routes=routes)


def _check_isomorphism(source: Topology, target: Topology, image: Sequence[int]) -> None:
    if sorted(image) != list(range(len(target.nodes))) or len(image) != len(source.nodes):
        raise InputError(f"{source.name}: the image does not list each node of {target.name} once; list each node once")
    moved = sorted((image[link.source], image[link.target], link.bandwidth, link.latency_us) for link in source.links)
    links = [(link.source, link.target, link.bandwidth, link.latency_us) for link in target.links]
    if moved != links or any(source.nodes[v].kind is not target.nodes[image[v]].kind for v in range(len(image))):
        raise InputError(f"{source.name}: the image does not map its links to those of {target.name}; fix the image")


def is_own_transpose(topology: Topology) -> bool:
    """Return whether every link has a reverse link of the same bandwidth and latency."""
    return topology.transposed().links == topology.links


def combined(reduce_scatter: StepSchedule, allgather: StepSchedule) -> StepSchedule:
    """Return the allreduce that does first `reduce_scatter`, then `allgather` (§3).

    Raises:
        InputError: the schedules are not a reduce-scatter and an allgather on the same network.
    """
    kinds = (reduce_scatter.collective, allgather.collective)
    if kinds != (Collective.REDUCE_SCATTER, Collective.ALLGATHER):
        raise InputError(f"an allreduce is a reduce-scatter and an allgather, not {kinds[0]} and {kinds[1]}")
    if reduce_scatter.topology.links != allgather.topology.links:
        raise InputError(f"{allgather.topology.name}: the two schedules are for different networks; use the same one")
    if reduce_scatter.shard_sizes != allgather.shard_sizes:
        raise InputError(f"{allgather.topology.name}: the two schedules have different shards; make them the same")
    if reduce_scatter.ranks != allgather.ranks:
        raise InputError(f"{allgather.topology.name}: the two schedules have different ranks; make them the same")
    if reduce_scatter.symmetry != allgather.symmetry:
        reduce_scatter, allgather = expanded_steps(reduce_scatter), expanded_steps(allgather)
    first, second = reduce_scatter.routes, allgather.routes
    later = (replace(each, transfers=each.transfers.with_routes_after(len(first))) for each in allgather.phases)
    phases = (*reduce_scatter.phases, *later)
    routes = first.followed_by(second)
    shards, ranks = allgather.shards, allgather.ranks
    return StepSchedule(
        allgather.topology,
        Collective.ALLREDUCE,
        phases,
        shards=shards,
        ranks=ranks,
        routes=routes,
        symmetry=allgather.symmetry,
    )
