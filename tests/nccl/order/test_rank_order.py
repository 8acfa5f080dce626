"""The order of hosts for NCCL: against all orders of small networks, on fabrics with closed forms, and as files."""

import time
from dataclasses import replace
from itertools import pairwise, permutations
from pathlib import Path

import pytest
from hypothesis import given

from forestcoll.algorithms.nccl_tree import binary_tree, mirrored_tree
from forestcoll.nccl.order.fabric import hosts_of
from forestcoll.nccl.order.files import FORMATS, order_lines, write_order
from forestcoll.nccl.order.rank_order import RankOrder, rank_order
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import load_topology
from networks import duplex_networks, examples
from refusal import refusal
from shuffled_hosts import shuffled


def ring_and_trees(topology: Topology, order: tuple[int, ...]) -> tuple[int, int]:
    """Return the links that a ring and both trees pass, edge by edge."""
    far, size = hosts_of(topology).distances, len(order)
    ring = sum(far[one, other] for one, other in pairwise((*order, order[0])))
    trees = (
        far[order[parent], order[place]]
        for parents in (binary_tree(size), mirrored_tree(size))
        for place, parent in enumerate(parents)
        if parent is not None
    )
    return int(ring), int(sum(trees))


def is_proven(found: RankOrder) -> bool:
    return found.crossed[0].what == "rings" and found.crossed[0].is_proven


@given(duplex_networks(most=6, switches=True))
@examples(60)
def test_no_order_passes_fewer_links_than_the_bounds(topology: Topology) -> None:
    found = rank_order(topology)
    size = len(found.hosts)
    every = [ring_and_trees(topology, order) for order in permutations(range(size))] if size > 1 else [(0, 0)]
    rings, trees = found.crossed
    place = {name: number for number, name in enumerate(hosts_of(topology).names)}
    assert (rings.best, trees.best) == ring_and_trees(topology, tuple(place[name] for name, _ in found.hosts))
    assert (rings.given, trees.given) == ring_and_trees(topology, tuple(range(size)))
    assert rings.bound <= min(ring for ring, _ in every) <= rings.best <= rings.given
    assert trees.bound <= min(tree for _, tree in every) <= trees.best


@pytest.mark.parametrize("kind", ["torus", "mesh"])
@pytest.mark.parametrize("dims", ["2x2", "3x3", "3x4", "4x3", "5x3", "3x7", "5x7", "2x3x3", "3x3x3", "3x2x5", "8x8x4"])
def test_a_ring_of_a_torus_or_mesh_passes_one_link_for_each_host(kind: str, dims: str) -> None:
    found = rank_order(f"{kind}:dims={dims}", "allgather")
    assert is_proven(found)
    is_odd_mesh = kind == "mesh" and len(found.hosts) % 2 == 1
    assert found.crossed[0].best == len(found.hosts) + is_odd_mesh
    assert sorted(found.ranks) == list(range(len(found.hosts)))


@pytest.mark.parametrize(
    ("fabric", "links"),
    [
        ("boxes=8,boxes_per_leaf=2,oversubscription=4", 4 * 2 + 4 * 4),
        ("boxes=12,boxes_per_leaf=3,rails=8,oversubscription=2", 8 * 2 + 4 * 4),
        ("boxes=16,boxes_per_leaf=2,pod_leaves=2,pod_oversubscription=2", 8 * 2 + 4 * 4 + 4 * 6),
        ("dims=4x4,dim_bandwidth=50", 16),
    ],
)
def test_hosts_of_a_leaf_switch_of_rails_and_of_a_pod_follow_one_another(fabric: str, links: int) -> None:
    network = shuffled(f"cluster:box=dgx-h100,{fabric}")
    found = rank_order(network)
    assert is_proven(found)
    assert found.crossed[0].best == links < found.crossed[0].given


def test_the_order_gives_nccls_rings_the_bandwidth_that_the_fabric_has() -> None:
    fabric = "cluster:box=dgx-h100,boxes=8,boxes_per_leaf=2,oversubscription=4"
    found = rank_order(shuffled(fabric, 3))
    assert found.algbw == rank_order(fabric).algbw
    assert found.given_algbw is not None
    assert found.algbw == 2 * found.given_algbw


def test_an_order_that_is_good_already_is_kept() -> None:
    found = rank_order("superpod-h100:boxes=64")
    assert found.is_given
    assert found.crossed[0].given == found.crossed[0].best


def test_nodes_of_hosts_may_be_mixed() -> None:
    builder = TopologyBuilder("mixed")
    builder.add_switch("switch")
    for gpu in range(2):
        for host in "ab":
            builder.add_compute(f"{host}{gpu}", box=host)
            builder.add_duplex(f"{host}{gpu}", "switch", 1)
    assert rank_order(builder.build()).is_given


def test_1024_hosts_on_two_tiers_take_a_few_seconds() -> None:
    network = shuffled("cluster:box=dgx-h100,boxes=1024,boxes_per_leaf=32,oversubscription=2")
    start = time.process_time()
    assert is_proven(rank_order(network))
    assert time.process_time() - start < 5


def test_a_layout_counts_the_rings_of_all_groups() -> None:
    network = shuffled("cluster:box=dgx-h100,boxes=8,boxes_per_leaf=2,oversubscription=4", 1)
    pairs, others = rank_order(network, layout="tp=16,dp=4").crossed
    assert (pairs.what, pairs.best, pairs.bound) == ("rings of tp", 4 * 2 * 2, 4 * 2 * 2)
    assert (others.best, others.bound, others.is_proven) == (16 * 4 * 4, 192, False)
    assert rank_order(network, layout="tp=8,dp=8").crossed[0].given == 0


def test_files_have_a_line_for_each_rank_or_host(tmp_path: Path) -> None:
    found = rank_order(shuffled("cluster:box=dgx-h100,boxes=4,boxes_per_leaf=2,oversubscription=2"), "allgather")
    hosts = [name for name, _ in found.hosts]
    lines = {to: "".join(order_lines(found, to)).splitlines() for to in FORMATS}
    assert lines["ranks"][8] == f"{hosts[1]} {hosts[1]}/gpu0"
    assert lines["hostfile"] == [f"{host} slots=8" for host in hosts]
    assert lines["rankfile"][9] == f"rank 9={hosts[1]} slot=1"
    assert lines["slurm"] == [host for host in hosts for _ in range(8)]
    write_order(found, tmp_path / "hosts")
    assert (tmp_path / "hosts").read_text().splitlines() == lines["ranks"]


def test_bad_input_is_refused_in_one_line() -> None:
    found = rank_order("ring:nodes=3")
    assert refusal(lambda: rank_order("ring:nodes=3", "broadcast")) == (
        "no order is better for a broadcast; use allgather, reduce-scatter, allreduce"
    )
    assert "multiply to this number" in refusal(lambda: rank_order("ring:nodes=3", layout="tp=2"))
    uneven = load_topology("dgx-a100:boxes=2").without("b0/gpu0", "b1/gpu0", "b1/gpu1")
    assert "different numbers of GPUs; leave the layout out" in refusal(lambda: rank_order(uneven, layout="tp=13"))
    assert refusal(lambda: list(order_lines(found, "list"))) == (
        "there is no format 'list'; use ranks, hostfile, rankfile, slurm"
    )
    for name in ("a b", "a=b", "", "a\x1b"):
        named = replace(found, hosts=((name, (0, 1, 2)),))
        assert "are no part of names in the file" in refusal(lambda each=named: list(order_lines(each)))
