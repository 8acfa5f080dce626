"""Allreduces on networks whose bandwidths lie far apart: a link that adds next to nothing must not slow them down."""

from fractions import Fraction

import pytest

from forestcoll import TopologyBuilder, optimum
from forestcoll.topology.graph.changes import changed_network
from forestcoll.topology.registry import build_topology


def test_a_tiny_link_of_a_line_adds_what_it_has() -> None:
    builder = TopologyBuilder("line")
    for node in "abc":
        builder.add_compute(node)
    for source, target, bandwidth in (("a", "b", 1), ("b", "c", 1), ("a", "c", Fraction(1, 10**9))):
        builder.add_duplex(source, target, bandwidth)
    best = optimum(builder.build(), "allreduce")
    assert best.algbw == best.bound.algbw == 1 + Fraction(1, 2 * 10**9)


@pytest.mark.parametrize(
    ("spec", "algbw"), [("dgx-a100:boxes=2", 25 + Fraction(1, 10**6)), ("dgx-h100:boxes=4", 50 + Fraction(1, 10**6))]
)
def test_a_gpu_with_a_very_slow_link_is_limited_by_its_nic(spec: str, algbw: Fraction) -> None:
    topology = changed_network(build_topology(spec), degrade=["b0/gpu0--b0/nvswitch=1e-6"])
    best = optimum(topology, "allreduce")
    assert best.algbw == best.bound.algbw == algbw
