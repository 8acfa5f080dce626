"""Odd hardware that a network shows."""

import pytest

from forestcoll.nccl.comparison import judge_busbw
from forestcoll.nccl.oddities import oddities
from forestcoll.presentation.results.measurements.measured import comparison_page
from forestcoll.topology.registry import build_topology


@pytest.mark.parametrize(
    "spec", ["dgx-a100:boxes=2", "dgx-1:boxes=1", "mi300x:boxes=1", "torus:dims=3x3", "superpod-h100"]
)
def test_healthy_machines_have_nothing_odd(spec: str) -> None:
    assert oddities(build_topology(spec)) == []


def test_slow_and_missing_links_are_named() -> None:
    boxes = build_topology("dgx-a100:boxes=2")
    assert oddities(boxes.degraded("b0/gpu0--ib", to="12.5")) == [
        "1 of 16 links between GPU and switch has 12.5 GB/s, not 25 GB/s: b0/gpu0--ib"
    ]
    assert oddities(boxes.without("b0/gpu0--ib")) == ["b0/gpu0 has 0 links out of its box, and the others have 1"]
    assert oddities(boxes.without("b1/gpu3--b1/nvswitch")) == [
        "b1/gpu3 has 0 links inside its box, and the others have 1"
    ]
    mesh = build_topology("mi300x:boxes=1").without("b0/gpu0--b0/gpu1")
    assert [each.split()[0] for each in oddities(mesh)] == ["b0/gpu0", "b0/gpu1"]


def test_links_without_a_usual_bandwidth_are_not_odd() -> None:
    ring = build_topology("ring:nodes=4").degraded("0--1", to="50%").degraded("1--2", to="25%")
    assert oddities(ring) == []


def test_the_report_says_what_is_odd() -> None:
    found = judge_busbw(build_topology("dgx-a100:boxes=2").degraded("b0/gpu0--ib", to="12.5"), 160, "allgather")
    (sentence,) = oddities(found.topology) if found.topology is not None else []
    assert comparison_page(found).document()["odd_hardware"] == [sentence]
    assert comparison_page(found).lines()[-1] == f"Odd: {sentence}."
