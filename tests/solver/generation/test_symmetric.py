"""Base trees: their images are a schedule that reaches the optimum. Without a symmetry, all trees are listed."""

from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.generate import generate, optimum
from forestcoll.algorithms.trees import Trees
from forestcoll.base import resources
from forestcoll.base.errors import InputError
from forestcoll.base.progress import SILENT
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.solver.generation import forest, memory
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.generation.growing import Forest
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.changes import changed_network
from forestcoll.topology.registry import build_topology
from forestcoll.topology.symmetry.automorphisms import find_symmetry
from forestcoll.verification import verify
from networks import examples, linked
from remarks import Remarks

NETWORKS = {
    "dgx-h100:boxes=16": 128,
    "mi250:boxes=64": 256,
    "gb200-nvl72:boxes=2": 144,
    "torus:dims=3x4x2": 24,
    "circulant:nodes=11,offsets=1+3": 11,
    "fat-tree:levels=3,arity=3": 27,
    "dragonfly:routers=8,nodes=4,global_links=4,groups=32": 128,  # paths over two links of an orbit
}
"""Networks whose base trees are completed with the first group, with the order of the group."""


@pytest.mark.parametrize(("spec", "order"), NETWORKS.items())
def test_base_trees_and_their_images_reach_the_optimum(spec: str, order: int) -> None:
    check_base_trees(build_topology(spec), order)


def check_base_trees(topology: Topology, order: int) -> None:
    """Check that there are base trees of a group of this order, which reach the optimum, listed or not."""
    schedule = generate(topology, method="trees:compact=true")
    assert schedule.symmetry is not None
    assert schedule.symmetry.order == order
    assert verify(schedule).optimal
    assert verify(expanded(schedule)) == verify(schedule)


def test_a_smaller_group_is_tried_and_then_all_trees_are_grown() -> None:
    counters = Remarks()
    best = optimum(build_topology("mi250:boxes=2"))
    schedule = schedule_for(best, compact=True, progress=counters)
    orders = [each["group_order"] for each in counters.notes if "group_order" in each]
    assert orders[-1] < find_symmetry(best.topology).order
    assert schedule.symmetry is None
    assert verify(schedule).optimal


def test_without_a_symmetry_all_trees_are_listed() -> None:
    schedule = generate(linked("0 1 2", "0=1:1 1=2:2"), method="trees:compact=true")
    assert schedule.symmetry is None
    assert verify(schedule).optimal


def test_all_trees_of_large_symmetric_networks_are_images_of_base_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest, "_WORTH_A_SYMMETRY", 1)
    counters = Remarks()
    schedule = generate(build_topology("torus:dims=4x4"), progress=counters)
    assert counters.notes[-1]["group_order"] == 16
    assert schedule.symmetry is None
    assert len(schedule.phases[0]) == 32
    assert verify(schedule).optimal


def test_base_trees_are_listed_if_a_list_of_all_trees_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest, "MOST_LISTED_EDGES", 100)
    schedule = generate(build_topology("dgx-a100:boxes=2"))
    assert schedule.symmetry is not None
    assert verify(schedule).optimal


def test_base_trees_are_not_grown_if_a_list_of_them_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forest, "MOST_LISTED_EDGES", 100)
    topology = changed_network(build_topology("torus:dims=4x4"), without=["0--1"])
    assert find_symmetry(topology).order == 2  # 8 roots, 15 edges for each
    counters = Remarks()
    with pytest.raises(InputError, match=r"16 trees have 240 tree edges, more than the 100 .* use fewer ranks"):
        generate(topology, progress=counters)
    assert not any("group_order" in each for each in counters.notes)


def test_the_memory_of_many_base_trees_is_stated_before_they_are_grown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "LONG_SECONDS", 100 * memory._OF_EDGE.seconds)
    counters = Remarks()
    schedule = generate(build_topology("torus:dims=3x4x5"), method="trees:compact=true", progress=counters)
    assert schedule.symmetry is not None
    assert counters.texts == []  # 59 edges
    topology = changed_network(build_topology("torus:dims=4x4"), without=["0--1"])
    generate(topology, method="trees:compact=true", progress=counters)
    assert counters.texts[0].endswith(": a schedule of 120 tree edges takes about 1 s and 1 MB to 67 MB of memory")


@pytest.mark.parametrize(("spec", "roots"), [("torus:dims=8x8x8", 100), ("hypercube:dim=8", 64)])
def test_a_direct_network_with_a_dead_link_has_base_trees_for_few_roots(spec: str, roots: int) -> None:
    topology = changed_network(build_topology(spec), without=["0--1"])
    schedule = generate(topology, method="trees:compact=true")
    assert len(set(schedule.phases[0].roots)) <= roots
    assert verify(schedule).optimal


@st.composite
def copies(draw: st.DrawFn) -> Topology:
    """Return identical boxes of one to four compute nodes with random links, joined by one to three hubs."""
    size, boxes, hubs = draw(st.integers(1, 4)), draw(st.integers(2, 4)), draw(st.integers(1, 3))
    inner = [
        (one, other, draw(st.integers(1, 9))) for one in range(size) for other in range(one) if draw(st.booleans())
    ]
    outer = [(node, hub, draw(st.integers(1, 5))) for node in range(size) for hub in range(hubs)]
    builder = TopologyBuilder("copies")
    switches = [builder.add_switch(f"hub{hub}") for hub in range(hubs)]
    for box in range(boxes):
        nodes = [builder.add_compute(f"box{box}/{node}") for node in range(size)]
        for one, other, bandwidth in inner:
            builder.add_duplex(nodes[one], nodes[other], bandwidth)
        for node, hub, bandwidth in outer:
            builder.add_duplex(nodes[node], switches[hub], bandwidth)
    return builder.build()


FAULTY = {
    ("dgx-a100:boxes=4", "b2/gpu0--ib, b2/gpu1--ib, b2/gpu2--b2/nvswitch"): 24,
    ("dgx-h100:boxes=32", "b0/gpu0--ib, b2/gpu1--ib"): 240,
    ("mi250:boxes=8", "b0/gpu0--b0/gpu4"): 28,
    ("cluster:boxes=4", "b0/gpu0--leaf0"): 24,
}
"""Networks with failed links whose group leaves the nodes of faulty boxes in place, with the order of the group."""


@pytest.mark.parametrize(("fault", "order"), FAULTY.items())
def test_base_trees_of_an_almost_symmetric_network_reach_the_optimum(fault: tuple[str, str], order: int) -> None:
    spec, gone = fault
    topology = changed_network(build_topology(spec), without=gone.split(", "))
    check_base_trees(topology, order)


@pytest.mark.parametrize("collective", ["reduce-scatter", pytest.param("allreduce", marks=pytest.mark.slow)])
def test_base_trees_that_reduce_in_an_almost_symmetric_network(collective: str) -> None:
    topology = changed_network(build_topology("dgx-a100:boxes=48"), without=["b0/gpu0--ib"])
    schedule = generate(topology, collective, "trees:compact=true")
    assert schedule.symmetry is not None
    assert schedule.symmetry.order == 47 * 8
    assert verify(schedule).ok
    assert schedule.algbw == optimum(topology, collective).algbw


def test_the_trees_of_a_root_are_counted_with_their_images() -> None:
    """A tree with the share m/(N k) counts m times, and each root has k trees."""
    topology = changed_network(build_topology("dgx-a100:boxes=3"), without=["b0/gpu0--ib"])
    schedule = generate(topology, method="trees:compact=true")
    listed = expanded(schedule).phases[0]
    assert schedule.trees_per_root is not None
    for root in topology.compute:
        counts = [tree.share * 24 * schedule.trees_per_root for tree in listed if tree.root == root]
        assert all(each.denominator == 1 for each in counts)
        assert sum(counts) == schedule.trees_per_root


def test_a_group_with_fewer_orbits_is_preferred_to_a_small_one_that_moves_every_root() -> None:
    topology = changed_network(build_topology("mi300x:boxes=32"), without=["b0/gpu0--b0/gpu3"])
    assert find_symmetry(topology).order == 2
    check_base_trees(topology, 31 * 8)


def with_fault(draw: st.DrawFn, topology: Topology) -> Topology:
    """Return `topology` with another bandwidth of one to three links, so that trees still reach all nodes."""
    ends = sorted({(min(each.source, each.target), max(each.source, each.target)) for each in topology.links})
    slow = draw(st.lists(st.sampled_from(ends), min_size=1, max_size=3, unique=True))
    factor = Fraction(1, draw(st.integers(2, 4)))
    links = tuple(
        replace(each, bandwidth=each.bandwidth * factor)
        if (min(each.source, each.target), max(each.source, each.target)) in slow
        else each
        for each in topology.links
    )
    return replace(topology, links=links)


@examples(100)
@given(st.data())
def test_identical_boxes_have_valid_compact_schedules_with_and_without_faults(data: st.DataObject) -> None:
    whole = data.draw(copies())
    for topology in (whole, data.draw(st.composite(with_fault)(whole))):
        schedule = generate(topology, method="trees:compact=true")
        assert verify(schedule).optimal
        assert verify(expanded(schedule)) == verify(schedule)


def test_trees_that_are_divided_into_many_parts_have_wide_integers() -> None:
    topology = changed_network(build_topology("dgx-a100:boxes=4"), without=["b0/gpu0--ib"])
    (plan,) = optimum(topology, method=Trees(k=2**49)).forests
    undivided = Forest.of(plan, SILENT)
    assert undivided.divided(1, SILENT) is undivided
    assert undivided.core is not undivided.divided(24, SILENT).core
    schedule = generate(topology, method=Trees(k=2**49, compact=True))
    assert schedule.symmetry is not None
    assert verify(schedule).ok
