"""Allreduces on networks whose bandwidths lie far apart: a link that adds next to nothing must not slow them down."""

from fractions import Fraction
from random import Random

import pytest

from forestcoll import Topology, TopologyBuilder, optimum
from forestcoll.topology.graph.changes import changed_network
from forestcoll.topology.registry import build_topology

Links = dict[tuple[str, str], Fraction | int]


def network(links: Links, *, switches: tuple[str, ...] = (), in_network: bool = False) -> Topology:
    builder = TopologyBuilder("far apart")
    for node in sorted({end for ends in links for end in ends}):
        if node in switches:
            builder.add_switch(node, multicast=in_network, aggregation=in_network)
        else:
            builder.add_compute(node)
    for (source, target), bandwidth in links.items():
        builder.add_link(source, target, bandwidth)
    return builder.build()


def drawn(random: Random) -> tuple[list[str], list[str], Links, Links]:
    """Return nodes, switches, links that join them both ways, and links of 1e-3 to 1e-15."""
    nodes = [f"c{place}" for place in range(random.randint(3, 6))]
    switches = [f"s{place}" for place in range(random.choice([0, 0, 1, 2]))]
    circle = random.sample(nodes + switches, len(nodes + switches))
    most = 10 ** random.randint(1, 9)
    pairs = [(circle[place - 1], node) for place, node in enumerate(circle)]
    pairs += [tuple(random.sample(circle, 2)) for _ in range(random.randint(0, 3))]  # type: ignore[misc]
    fast: Links = {}
    for one, other in pairs:
        fast[one, other] = fast[other, one] = random.randint(1, most)
    slow: Links = {}
    for _ in range(random.randint(1, 3)):
        one, other = random.sample(circle, 2)
        bandwidth = Fraction(random.randint(1, 9), 10 ** random.randint(3, 15))
        for ends in ((one, other), (other, one))[: random.choice([1, 2, 2, 2])]:
            if ends not in fast:
                slow[ends] = bandwidth
    return nodes, switches, fast, slow


def check(seed: int) -> None:
    random = Random(seed)  # noqa: S311 (a test)
    nodes, switches, fast, slow = drawn(random)
    ranks = sorted(random.sample(nodes, random.randint(2, len(nodes)))) if random.random() < 0.4 else None
    in_network = random.random() < 0.3
    without, whole = (
        optimum(network(links, switches=tuple(switches), in_network=in_network), "allreduce", ranks=ranks)
        for links in (fast, fast | slow)
    )
    assert whole.algbw >= without.algbw
    if ranks is None and not in_network:
        assert whole.is_optimal


def test_slow_links_do_not_slow_anything_down() -> None:
    for seed in range(40):
        check(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40, 1000))
def test_slow_links_of_more_networks_do_not_slow_anything_down(seed: int) -> None:
    check(seed)


def test_a_tiny_link_of_a_line_adds_what_it_has() -> None:
    links: Links = {("a", "b"): 1, ("b", "c"): 1, ("a", "c"): Fraction(1, 10**9)}
    both = links | {(target, source): bandwidth for (source, target), bandwidth in links.items()}
    best = optimum(network(both), "allreduce")
    assert best.algbw == best.bound.algbw == 1 + Fraction(1, 2 * 10**9)


@pytest.mark.parametrize(
    ("spec", "algbw"), [("dgx-a100:boxes=2", 25 + Fraction(1, 10**6)), ("dgx-h100:boxes=4", 50 + Fraction(1, 10**6))]
)
def test_a_gpu_with_a_very_slow_link_is_limited_by_its_nic(spec: str, algbw: Fraction) -> None:
    topology = changed_network(build_topology(spec), degrade=["b0/gpu0--b0/nvswitch=1e-6"])
    best = optimum(topology, "allreduce")
    assert best.algbw == best.bound.algbw == algbw
