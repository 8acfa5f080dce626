"""Breadth-first broadcasts of all cores: complete, in time, and as fast as possible for each node."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from forestcoll.kernels import Core, StepTransfers, cores
from forestcoll.solver.forests.scaling import ScaledTopology
from forestcoll.topology import Topology
from networks import SMALL, examples, networks, one_way_networks
from oracles import distances_of

DEMAND = 6

DIRECT = st.one_of(
    networks(most=7, switches=False, kinds=st.just(SMALL)),
    one_way_networks(most=7, switches=False, kinds=st.just(SMALL)),
)


def _sent(
    core: Core, topology: Topology, latencies: Sequence[int], chunks: int, targets: Sequence[int] = ()
) -> StepTransfers:
    scaled = ScaledTopology.of(topology)
    tails, heads = [link.source for link in topology.links], [link.target for link in topology.links]
    problem = core.Problem(len(topology.nodes), tails, heads, list(scaled.capacities), list(topology.compute))
    return StepTransfers(*core.broadcast_breadth_first(problem, DEMAND, list(latencies), chunks, list(targets)))


def _subsets(items: Sequence[int]) -> Iterator[tuple[int, ...]]:
    for size in range(1, len(items) + 1):
        yield from combinations(items, size)


def _least_time(topology: Topology, latencies: Sequence[int], chunks: int, target: int, step: int) -> Fraction:
    """Return the optimum of LP (1), (13) or (14), by the condition of Theorem 19 on every set of shards."""
    scaled, distances = ScaledTopology.of(topology), distances_of(topology)
    entering = {
        link.source: (Fraction(rate, DEMAND), latency)
        for link, rate, latency in zip(topology.links, scaled.capacities, latencies, strict=True)
        if link.target == target
    }
    worst = Fraction(0)
    shards = [node for node in topology.compute if distances[node][target] == step]
    for chosen in _subsets(shards):
        bringers = [node for node in entering if any(distances[shard][node] == step - 1 for shard in chosen)]
        links = [entering[node] for node in bringers]
        worst = max(worst, _least_of_links(links, len(chosen), chunks))
    return worst


def _least_of_links(links: Sequence[tuple[Fraction, int]], shards: int, chunks: int) -> Fraction:
    if not chunks:
        sets = [[links[place] for place in some] for some in _subsets(range(len(links)))]
        return min((shards + sum((rate * wait for rate, wait in some), Fraction(0))) / _rates(some) for some in sets)
    arrivals = sorted(
        latency + Fraction(count, chunks) / rate for rate, latency in links for count in range(1, shards * chunks + 1)
    )
    return arrivals[shards * chunks - 1]


def _rates(links: Sequence[tuple[Fraction, int]]) -> Fraction:
    return sum((rate for rate, _ in links), Fraction(0))


@examples(120)
@given(DIRECT, st.data(), st.sampled_from([0, 0, 1, 2, 3, 7]))
def test_every_core_serves_every_node_in_the_least_time(topology: Topology, data: st.DataObject, chunks: int) -> None:
    latency = data.draw(st.sampled_from([st.just(0), st.sampled_from([0, 1, 3, 40])]))
    latencies = [data.draw(latency) for _ in topology.links]
    distances = distances_of(topology)
    rates = {
        (link.source, link.target): rate
        for link, rate in zip(topology.links, ScaledTopology.of(topology).capacities, strict=True)
    }
    waits = {(link.source, link.target): wait for link, wait in zip(topology.links, latencies, strict=True)}
    for core in cores().values():
        sent = _sent(core, topology, latencies, chunks)
        points = list(map(Fraction, sent.numerators, sent.denominators))
        parts: defaultdict[tuple[int, int], list[tuple[Fraction, Fraction]]] = defaultdict(list)
        loads: defaultdict[tuple[int, int, int], Fraction] = defaultdict(Fraction)
        for step, shard, source, target, low, high in zip(*(column.tolist() for column in sent[:6]), strict=True):
            assert distances[shard][target] == step + 1
            assert distances[shard][source] == step
            assert chunks == 0 or points[low] * chunks % 1 == points[high] * chunks % 1 == 0
            parts[shard, target].append((points[low], points[high]))
            loads[step + 1, source, target] += points[high] - points[low]
        for shard in topology.compute:
            for target in topology.compute:
                _assert_whole(parts[shard, target], shard == target)
        times: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
        for (step, source, target), load in loads.items():
            taken = waits[source, target] + load * DEMAND / rates[source, target]
            times[step, target] = max(times[step, target], taken)
        for (step, target), taken in times.items():
            assert taken == _least_time(topology, latencies, chunks, target, step)


def _assert_whole(parts: list[tuple[Fraction, Fraction]], is_own: bool) -> None:  # noqa: FBT001 (a test's helper)
    if is_own:
        assert not parts
        return
    ends = [Fraction(0)]
    for low, high in sorted(parts):
        assert low == ends[-1] < high
        ends.append(high)
    assert ends[-1] == 1


@examples(40)
@given(DIRECT, st.data())
def test_the_result_for_some_nodes_equals_that_for_all_nodes(topology: Topology, data: st.DataObject) -> None:
    target = data.draw(st.sampled_from(topology.compute))
    latencies = [0] * len(topology.links)
    for core in cores().values():
        among_all = _sent(core, topology, latencies, 0)
        alone = _sent(core, topology, latencies, 0, [target])
        chosen = among_all.targets == target
        assert set(alone.targets.tolist()) == {target}
        for name in ("steps", "shards", "sources"):
            assert getattr(alone, name).tolist() == getattr(among_all, name)[chosen].tolist()
