"""Random step schedules whose transfers follow routes, on networks with switches."""

from collections import deque
from fractions import Fraction
from random import Random

from hypothesis import strategies as st

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.steps.value import StepPhase, StepSchedule, Transfer, Transfers
from forestcoll.solver.generation.step_duality import from_allgathers
from forestcoll.topology import Topology
from networks import SMALL, networks, ranks_for

COLLECTIVES = (Collective.ALLGATHER, Collective.REDUCE_SCATTER, Collective.ALLREDUCE)


@st.composite
def routed_schedules(draw: st.DrawFn, collectives: tuple[Collective, ...] = COLLECTIVES) -> StepSchedule:
    """A schedule of all compute nodes, or of some ranks."""
    topology = draw(networks(most=6, kinds=st.just(SMALL)))
    collective, seed = draw(st.sampled_from(collectives)), draw(st.integers(0, 10**6))
    places = draw(st.none() | ranks_for(topology))
    ranks = None if places is None else tuple(topology.compute[place] for place in places)
    return from_allgathers(topology, collective, lambda network: random_allgather(network, Random(seed), ranks=ranks))  # noqa: S311


def random_allgather(
    topology: Topology, random: Random, *, relays: bool = True, ranks: tuple[int, ...] | None = None
) -> StepSchedule:
    """Return an allgather in up to four steps: nodes receive missing parts from any node that has them.

    Without `relays`, paths do not pass through compute nodes, and such paths must exist.
    """
    links = [(link.source, link.target) for link in topology.links]
    ends = set() if relays else set(topology.compute)
    paths: dict[tuple[int, ...], int] = {}
    halves = [(Fraction(0), Fraction(1, 2)), (Fraction(1, 2), Fraction(1))]
    members = topology.compute if ranks is None else ranks
    held = {(node, *part): {node} for node in members for part in halves}
    steps = []
    for last in (False, False, False, True):
        step = []
        before = {part: sorted(nodes) for part, nodes in held.items()}
        for (shard, low, high), holders in before.items():
            for node in members:
                if node not in held[shard, low, high] and (last or random.random() < 0.3):
                    path = random_path(links, random.choice(holders), node, random, ends)
                    route = paths.setdefault(path, len(paths)) if len(path) > 2 else None
                    step.append(Transfer(shard, low, high, path[0], node, route))
                    held[shard, low, high].add(node)
        steps.append(step)
    phase = StepPhase(PhaseOp.BROADCAST, Transfers.of(steps))
    return StepSchedule(topology, Collective.ALLGATHER, (phase,), ranks=ranks, routes=Rows.of(list(paths)))


def random_path(
    links: list[tuple[int, int]], source: int, target: int, random: Random, ends: set[int]
) -> tuple[int, ...]:
    """Return a shortest path after some links are left out, if there is one; it does not pass through `ends`."""
    fewer = [link for link in links if random.random() < 0.8]
    return _path(fewer, source, target, ends) or _path(links, source, target, ends)


def _path(links: list[tuple[int, int]], source: int, target: int, ends: set[int]) -> tuple[int, ...]:
    paths: dict[int, tuple[int, ...]] = {source: (source,)}
    queue = deque([source])
    while queue:
        node = queue.popleft()
        for one, other in links:
            if one == node and other not in paths and (node == source or node not in ends):
                paths[other] = (*paths[node], other)
                queue.append(other)
    return paths.get(target, ())
