"""Limits of nodes as links: optima by definition, steps by their own sums, and what is refused."""

import json
from collections.abc import Mapping
from fractions import Fraction
from itertools import combinations, product
from pathlib import Path
from random import Random

import pytest

from forestcoll import generate, optimum, read_schedule, simulate, verify, write_schedule
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.files import write_topology
from forestcoll.topology.graph.node_limits import without_node_limits
from forestcoll.topology.registry import build_topology, load_topology
from oracles import subsets
from refusal import refusal

Arcs = Mapping[tuple[int, int], Fraction]
Limits = Mapping[int, Fraction]
MANY = Fraction(10**6)


def limited(arcs: Arcs, sends: Limits, receives: Limits) -> Topology:
    """Return a network of the given links and limits."""
    builder = TopologyBuilder("limited")
    for node in sorted({end for ends in arcs for end in ends}):
        pairs = (("send_bandwidth", sends.get(node)), ("receive_bandwidth", receives.get(node)))
        builder.add_compute(node, **{name: str(value) for name, value in pairs if value is not None})
    for (one, other), bandwidth in arcs.items():
        builder.add_link(one, other, bandwidth)
    return builder.build()


def on(spec: str, limit: Fraction) -> Topology:
    """Return a network without switches whose nodes have a limit in both directions."""
    network = build_topology(spec)
    arcs = {(link.source, link.target): link.bandwidth for link in network.links}
    return limited(arcs, dict.fromkeys(network.compute, limit), dict.fromkeys(network.compute, limit))


def exit_within(inside: frozenset[int], arcs: Arcs, sends: Limits, receives: Limits) -> Fraction:
    """Return what can leave a set: every choice of nodes that pay their limit instead of their links is tried."""
    outside = {end for ends in arcs for end in ends} - inside
    best = None
    for senders, receivers in product(subsets(sorted(inside)), subsets(sorted(outside))):
        rest = [
            bandwidth
            for (one, other), bandwidth in arcs.items()
            if one in inside - senders and other in outside - receivers
        ]
        total = sum(rest, Fraction(0)) + sum(sends.get(node, MANY) for node in senders)
        total += sum(receives.get(node, MANY) for node in receivers)
        best = total if best is None else min(best, total)
    assert best is not None
    return best


def random_case(seed: int) -> tuple[Arcs, Limits, Limits]:
    random = Random(seed)  # noqa: S311 (no secret)
    nodes = random.choice([3, 4, 5])
    ring = [(node, (node + 1) % nodes) for node in range(nodes)]
    ends = product(range(nodes), range(nodes))
    pairs = [(one, other) for one, other in ends if one != other and random.random() < 0.5]
    arcs = {(one, other): Fraction(random.randint(1, 6)) for one, other in (*ring, *pairs)}
    one, other = (
        {node: Fraction(random.randint(1, 9), 2) for node in range(nodes) if random.random() < 0.6} for _ in range(2)
    )
    return arcs, one, other


@pytest.mark.parametrize("seed", range(12))
def test_the_optimum_is_the_least_cut_in_which_nodes_may_pay_their_limits(seed: int) -> None:
    arcs, sends, receives = random_case(seed)
    network = limited(arcs, sends, receives)
    nodes = network.compute
    least = min(
        exit_within(frozenset(inside), arcs, sends, receives) * len(nodes) / size
        for size in range(1, len(nodes))
        for inside in combinations(nodes, size)
    )
    best = optimum(network)
    assert best.algbw == least
    for collective in ("allgather", "reduce-scatter", "allreduce", "all-to-all", "broadcast:root=0", "gather:root=0"):
        schedule = generate(network, collective)
        report = verify(schedule)
        assert report.ok, (collective, report.fault)
        assert schedule.algbw <= optimum(network, collective).algbw


def test_a_torus_with_a_limit_per_node_has_the_optimum_that_each_node_can_receive(tmp_path: Path) -> None:
    """The limit was accepted and ignored once, and a schedule of 80/3 GB/s was called verified."""
    limit = Fraction(4)
    network = on("torus:dims=4x4,bandwidth=25/4", limit)
    assert optimum(network).algbw == limit * 16 / 15
    assert optimum(network, "broadcast:root=0").algbw == limit
    assert optimum(network, "all-to-all").algbw == 2  # 32/16 M crosses each limit, as a node passes data on
    path = tmp_path / "schedule.json"
    write_schedule(generate(network), path)
    assert verify(read_schedule(path)).algbw == limit * 16 / 15
    slow, fast = (simulate(generate(each), ["1GB"]) for each in (network, "torus:dims=4x4,bandwidth=25/4"))
    assert slow[0].seconds > 5 * fast[0].seconds


def file_with(path: Path, **limits: object) -> Path:
    nodes = [{"id": "a", **limits}, {"id": "b"}, {"id": "c"}]
    pairs = [("a", "b"), ("b", "c"), ("c", "a")]
    edges = [{"source": one, "target": other, "bandwidth": 10} for one, other in pairs]
    graph = {"format": "forestcoll.topology/1", "name": "three"}
    path.write_text(
        json.dumps({"directed": False, "multigraph": False, "graph": graph, "nodes": nodes, "edges": edges})
    )
    return path


def test_a_file_with_a_limit_is_read_written_and_changed(tmp_path: Path) -> None:
    path = file_with(tmp_path / "three.json", send_bandwidth="64Gb/s", box="left")
    network = load_topology(path)
    assert [node.id for node in network.nodes] == ["a", "b", "c", "a/send"]
    assert network.nodes[3].attributes == {"box": "left", "limit_of": "a"}
    assert optimum(network, "broadcast:root=a").algbw == 8
    assert optimum(network.degraded("a--a/send", to=10), "broadcast:root=a").algbw == 10
    written = tmp_path / "written.json"
    write_topology(network, written)
    assert load_topology(written).links == network.links
    loose = load_topology(file_with(tmp_path / "loose.json", send_bandwidth=20, receive_bandwidth="20"))
    assert len(loose.nodes) == 3
    assert without_node_limits(network).links == loose.links


@pytest.mark.parametrize(
    ("method", "collective"),
    [*product(["bfb", "bfb:chunks=2", "torus-rings"], ["allgather", "reduce-scatter", "allreduce"])],
)
def test_the_time_of_a_step_counts_what_crosses_the_limits_of_nodes(method: str, collective: str) -> None:
    spec, limit = "torus:dims=3x3x2,bandwidth=3", Fraction(5)
    plain, bounded = generate(spec, collective, method), generate(on(spec, limit), collective, method)
    assert (bounded.steps, len(bounded)) == (plain.steps, len(plain))
    report = verify(bounded)
    assert report.ok, report.fault
    assert report.bandwidth_factor == limit * time_within(plain, limit)


def time_within(schedule: StepSchedule, limit: Fraction) -> Fraction:
    """Return the sum over steps of the greatest time of a link or of a limit, for M = 1."""
    sizes, bandwidths, total = schedule.shard_sizes, schedule.topology.links, Fraction(0)
    numbers = schedule.topology.link_numbers
    for phase in schedule.phases:
        for step in phase.transfers:
            loads: dict[object, Fraction] = {}
            for each in step:
                part = (each.high - each.low) * sizes[each.shard]
                link = numbers[each.source, each.target]
                for key, rate in (
                    (link, bandwidths[link].bandwidth),
                    (("send", each.source), limit),
                    (("receive", each.target), limit),
                ):
                    loads[key] = loads.get(key, Fraction(0)) + part / rate
            total += max(loads.values())
    return total


def test_limits_that_cannot_be_kept_are_refused_in_one_line(tmp_path: Path) -> None:
    for value, said in ((0, "must be greater than 0"), ("fast", "send_bandwidth 'fast' "), (-1, "greater than 0")):
        assert said in refusal(load_topology, file_with(tmp_path / "bad.json", send_bandwidth=value))
    builder = TopologyBuilder("net")
    builder.add_switch("s", send_bandwidth=4)
    builder.add_duplex("s", builder.add_compute("a"), 1)
    builder.add_duplex("s", builder.add_compute("b"), 1)
    assert "switch 's' has send_bandwidth; only compute nodes have limits" in refusal(builder.build)
    builder = TopologyBuilder("net")
    builder.add_compute("a", send_bandwidth=1)
    builder.add_duplex("a", builder.add_compute("a/send"), 4)
    assert "node 'a/send' has the id that the limit of a node gets; rename it" in refusal(builder.build)
    network = on("torus:dims=3x3", Fraction(1))
    assert "compact" in refusal(generate, network, "allgather", "bfb:compact=true")
    assert "is a switch" in refusal(generate, network, "allgather", "ring")
