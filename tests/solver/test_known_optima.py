"""Optima that papers state, or that a search over all cuts found. Bandwidths are in GB/s."""

from fractions import Fraction
from typing import Any

import pytest

from forestcoll.solver.optimum import optimum
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.registry import build_topology


@pytest.mark.parametrize(
    ("spec", "algbw"),
    [
        ("dgx-a100:boxes=1", "2400/7"),
        ("dgx-a100:boxes=2", "1040/3"),
        ("dgx-a100:boxes=4", "800/3"),
        ("dgx-a100:boxes=8", "1600/7"),
        ("dgx-h100:boxes=1", "3600/7"),
        ("dgx-h100:boxes=2", "1600/3"),
        ("dgx-h100:boxes=16", "1280/3"),
        ("mi250:boxes=2", "5312/15"),
        ("mi250:boxes=2,gpus=8", "208"),
        ("torus:dims=8x8", "256/63"),
        ("ring:nodes=7,one_way=true", "7/6"),
        ("hypercube:dim=4", "64/15"),
        ("complete:nodes=9", "9"),
    ],
)
def test_published_optimum(spec: str, algbw: str) -> None:
    assert optimum(build_topology(spec)).algbw == Fraction(algbw)


def test_the_cut_of_two_dgx_a100_boxes_contains_all_gpus_but_one() -> None:
    best = optimum(build_topology("dgx-a100:boxes=2"))
    assert best.compute_inside == 15
    assert best.exit_bandwidth == 325


@pytest.mark.parametrize(
    ("options", "trees", "algbw"),
    [
        ({}, 83, "5312/15"),
        ({"trees": 1}, 1, "320"),
        ({"trees": 2}, 2, "1024/3"),
        ({"trees": 3}, 3, "2400/7"),
        ({"trees": 4}, 4, "1024/3"),
        ({"trees": 5}, 5, "8000/23"),
        ({"trees": 83}, 83, "5312/15"),
        ({"max_trees": 1}, 1, "320"),
        ({"max_trees": 2}, 2, "1024/3"),
        ({"max_trees": 4}, 3, "2400/7"),
        ({"max_trees": 5}, 5, "8000/23"),
    ],
)
def test_two_boxes_of_mi250_by_number_of_trees(options: dict[str, Any], trees: int, algbw: str) -> None:
    best = optimum(build_topology("mi250:boxes=2"), **options)
    assert (best.trees_per_root, best.algbw) == (trees, Fraction(algbw))
    assert best.bound.algbw == Fraction(5312, 15)


def two_boxes_of_four(bandwidth: Fraction) -> Topology:
    builder = TopologyBuilder("Figure 5(a)")
    builder.add_switch("between")
    for box in range(2):
        builder.add_switch(f"inside {box}")
        for place in range(4):
            gpu = builder.add_compute(f"{box}.{place}")
            builder.add_duplex(gpu, f"inside {box}", 10 * bandwidth)
            builder.add_duplex(gpu, "between", bandwidth)
    return builder.build()


@pytest.mark.parametrize("bandwidth", [Fraction(1), Fraction(25, 3)])
def test_figure_5_of_the_forestcoll_paper(bandwidth: Fraction) -> None:
    best = optimum(two_boxes_of_four(bandwidth))
    assert best.algbw == 8 * bandwidth
    assert (best.trees_per_root, best.tree_bandwidth) == (1, bandwidth)
    assert best.compute_inside == 4
    assert best.exit_bandwidth == 4 * bandwidth
