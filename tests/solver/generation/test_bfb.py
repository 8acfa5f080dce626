"""Breadth-first broadcasts compared with published values, a linear program, and the bounds of the paper's appendix."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from math import gcd

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.base.errors import InputError, NoSolutionError
from forestcoll.demand.collective import Collective
from forestcoll.schedule.steps.shape import StepShape, step_shape
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.solver.generation.bfb import bfb
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples, linked, networks, one_way_networks


def _best(nodes: int) -> Fraction:
    return Fraction(nodes - 1, nodes)


def _right(schedule: StepSchedule) -> StepSchedule:
    assert verify(schedule).fault is None
    return schedule


def _lexicographic(cycle: int, copies: int) -> Topology:
    """Return the degree expansion of a bidirectional ring (Definition 13)."""
    ends = product(range(cycle), (1, -1), range(copies), range(copies))
    links = (f"{node * copies + one}>{(node + way) % cycle * copies + other}" for node, way, one, other in ends)
    return linked(" ".join(map(str, range(cycle * copies))), " ".join(links))


@pytest.mark.parametrize(
    ("name", "steps"),
    [
        ("ring:nodes=2", 1),
        ("ring:nodes=3", 1),
        ("ring:nodes=8", 4),
        ("torus:dims=4x4x4", 6),
        ("torus:dims=5x2x3", 4),
        ("hypercube:dim=5", 5),
        ("complete:nodes=9", 1),
        ("complete-bipartite:left=4,right=4", 2),
        ("hamming:dim=2,base=3", 2),
        ("circulant:nodes=7,offsets=1,one_way=true", 6),
    ],
)
def test_known_graphs_reach_the_least_bandwidth_time(name: str, steps: int) -> None:
    topology = build_topology(name)
    cost = step_shape(_right(bfb(topology)))
    assert (cost.steps, cost.bandwidth_factor) == (steps, _best(len(topology.nodes)))


@pytest.mark.parametrize(
    ("topology", "steps"),
    [
        (build_topology("complete:nodes=5"), 2),
        (_lexicographic(3, 2), 4),
        (build_topology("circulant:nodes=7,offsets=2+3"), 4),
        (build_topology("complete-bipartite:left=4,right=4"), 4),
        (build_topology("hamming:dim=2,base=3"), 4),
        (_lexicographic(5, 2), 4),
        (build_topology("circulant:nodes=11,offsets=2+3"), 4),
        (build_topology("circulant:nodes=12,offsets=2+3"), 4),
    ],
    ids=lambda value: value.name if isinstance(value, Topology) else str(value),
)
def test_table_5(topology: Topology, steps: int) -> None:
    cost = step_shape(_right(bfb(topology, Collective.ALLREDUCE)))
    assert (cost.steps, cost.bandwidth_factor) == (steps, 2 * _best(len(topology.nodes)))


def test_the_first_row_of_table_4() -> None:
    cost = step_shape(_right(bfb(build_topology("generalized-kautz:nodes=1024,degree=4"))))
    assert cost.steps == 5
    assert round(float(cost.bandwidth_factor), 3) == 1.332


def test_circulants_of_degree_4_are_optimal() -> None:
    for nodes in range(5, 19):
        for one, other in combinations(range(1, (nodes + 1) // 2), 2):
            if gcd(nodes, one, other) == 1:
                cost = step_shape(bfb(build_topology(f"circulant:nodes={nodes},offsets={one}+{other}")))
                assert cost.bandwidth_factor == _best(nodes), (nodes, one, other)


@pytest.mark.parametrize(
    ("nodes", "offsets", "least"),
    # In C(12, {1, 3, 4, 5}) nodes 2, 6 and 10 are at distance 2 from node 0. Its neighbours 4 and 8 are adjacent to
    # none of them. So six links bring three shards, 1/2 each. A balanced load would be 3/8 on each of the eight links.
    [(12, "1+3+4+5", Fraction(1) + Fraction(1, 2)), (15, "1+4+5", Fraction(1) + Fraction(3, 2))],
)
def test_conjecture_1_has_counterexamples(nodes: int, offsets: str, least: Fraction) -> None:
    topology = build_topology(f"circulant:nodes={nodes},offsets={offsets}")
    cost = step_shape(_right(bfb(topology)))
    degree = 2 * len(offsets.split("+"))
    assert cost.bandwidth_factor == least * degree / nodes > _best(nodes)


DIRECT = st.one_of(networks(most=7, switches=False), one_way_networks(most=7, switches=False))


@examples(60)
@given(DIRECT, st.integers(1, 12))
def test_whole_chunks_keep_the_bound_of_theorem_20(topology: Topology, chunks: int) -> None:
    free, whole = bfb(topology), _right(bfb(topology, chunks=chunks))
    assert all((point * chunks).denominator == 1 for point in whole.phases[0].transfers.points)
    for least, time in zip(step_shape(free).step_times, step_shape(whole).step_times, strict=True):
        slowest = min(link.bandwidth for link in topology.links)
        assert least <= time <= least + Fraction(1, len(topology.compute) * chunks) / slowest


def test_a_fitting_number_of_chunks_costs_no_bandwidth() -> None:
    topology = build_topology("torus:dims=5x3")
    free = bfb(topology)
    chunks = 1
    for point in free.phases[0].transfers.points:
        chunks *= point.denominator // gcd(chunks, point.denominator)
    assert step_shape(bfb(topology, chunks=chunks)) == step_shape(free)
    assert step_shape(bfb(topology, chunks=1)).bandwidth_factor > step_shape(free).bandwidth_factor


def _two_paths(slow_latency: int) -> Topology:
    """Return a network with two paths from node 0 to node 3: over node 1, and over node 2 with a higher latency."""
    return linked("0 1 2 3", f"0>1:1@1 0>2:1@1 1>3:1@1 3>0:1@1 2>3:1@{slow_latency}")


def test_links_share_a_load_by_their_latencies() -> None:
    # 4 KB: a shard of 1000 B takes 1 µs over a link of 1 GB/s. Shard 0 over 1 -> 3 and 2 -> 3: 1 + x = 1.5 + (1 - x).
    topology = _two_paths(slow_latency=1)
    equal = bfb(topology, data_size=4000)
    assert Fraction(1, 2) in equal.phases[0].transfers.points
    late = bfb(_two_paths(slow_latency=2), data_size=8000)  # 1 + 2x = 2 + 2(1 - x): x = 3/4
    assert Fraction(3, 4) in _right(late).phases[0].transfers.points


def test_a_link_with_too_high_a_latency_is_not_used() -> None:
    schedule = _right(bfb(_two_paths(slow_latency=50), data_size=4000))
    second = list(schedule.phases[0].transfers.step(1))
    assert [each.source for each in second if each.shard == 0 and each.target == 3] == [1]


def test_collectives_of_one_way_networks_are_mirrored() -> None:
    topology = build_topology("generalized-kautz:nodes=9,degree=2")
    gather, scatter = bfb(topology), _right(bfb(topology, "reduce-scatter"))
    mirrored = step_shape(bfb(topology.transposed()))
    assert step_shape(scatter).step_times == mirrored.step_times[::-1]
    both = _right(bfb(topology, "allreduce"))
    assert both.steps == gather.steps + scatter.steps
    assert step_shape(both).bandwidth_time == step_shape(gather).bandwidth_time + step_shape(scatter).bandwidth_time


def test_bandwidths_of_many_digits_are_exact() -> None:
    bandwidths = [Fraction(10**25 + node, 7**9) for node in range(4)]
    links = (f"{node}={(node + 1) % 4}:{bandwidth}" for node, bandwidth in enumerate(bandwidths))
    _right(bfb(linked("0 1 2 3", " ".join(links))))


def test_bad_arguments_raise_an_error() -> None:
    ring = build_topology("ring:nodes=4")
    one_port = replace(ring, port_model="one-port")
    for topology, options, message in (
        (build_topology("dgx-a100:boxes=1"), {}, "is a switch; the methods of steps need a network without switches"),
        (ring, {"collective": "broadcast"}, "a broadcast has one root"),
        (ring, {"chunks": 0}, "chunks is 0; expected an integer of 1 or more"),
        (ring, {"data_size": -1}, "data_size is -1"),
        (ring, {"data_size": 1000}, "the link from 0 to 1 has no latency_us"),
        (one_port, {}, "port_model"),
    ):
        with pytest.raises((InputError, NoSolutionError), match=message):
            bfb(topology, **options)


@pytest.mark.parametrize(
    "spec",
    [
        "hypercube:dim=5",
        "torus:dims=3x4x2",
        "ring:nodes=33,one_way=true",
        "circulant:nodes=24,offsets=2+5",
        "torus:dims=3x4,bandwidth=7/2",
    ],
)
def test_images_under_a_symmetry_take_the_time_of_the_schedule_without_it(
    spec: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    topology = build_topology(spec)
    options = [(each, chunks) for each in (Collective.ALLGATHER, Collective.REDUCE_SCATTER) for chunks in (None, 3)]
    plain = [bfb(topology, collective, chunks=chunks) for collective, chunks in options]
    monkeypatch.setattr("forestcoll.solver.generation.bfb.allgather._SYMMETRY_FROM", 0)
    for (collective, chunks), each in zip(options, plain, strict=True):
        assert _times(_right(bfb(topology, collective, chunks=chunks))) == _times(each), (collective, chunks)


def _times(schedule: StepSchedule) -> StepShape:
    """Return the shape without the time to add up data, which depends on how parts are divided among links."""
    return replace(step_shape(schedule), reduction_factor=Fraction(0))


def test_latencies_that_differ_are_not_mapped_to_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    topology = linked("0 1 2 3 4 5", "0=1:1@1 1=2:1@2 2=3:1@3 3=4:1@1 4=5:1@2 5=0:1@3")
    plain = bfb(topology, data_size=6000)
    monkeypatch.setattr("forestcoll.solver.generation.bfb.allgather._SYMMETRY_FROM", 0)
    assert bfb(topology, data_size=6000) == plain
