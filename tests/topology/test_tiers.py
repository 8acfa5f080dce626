from fractions import Fraction
from itertools import pairwise

import pytest

from forestcoll.base.errors import InputError
from forestcoll.topology.families._draws import Draws
from forestcoll.topology.registry import build_topology


def test_a_seed_determines_the_platform() -> None:
    assert build_topology("tiers:seed=4") == build_topology("tiers:seed=4")
    links = [build_topology(f"tiers:seed={seed}").links for seed in range(6)]
    assert all(one != other for one, other in pairwise(links))


def test_draws_equal_those_of_splitmix64() -> None:
    # the first outputs of the reference implementation for the seed 1234567
    draws = Draws(1234567)
    assert [draws._next() for _ in range(3)] == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_draws_include_both_ends_of_the_range() -> None:
    draws = Draws(0)
    assert {draws.integer(3, 7) for _ in range(300)} == {3, 4, 5, 6, 7}


@pytest.mark.parametrize("seed", range(20))
def test_platforms_have_their_size_and_connect_all_nodes(seed: int) -> None:
    topology = build_topology(f"tiers:wide=6,areas=3,metropolitan=5,offices=2,local=4,seed={seed}")
    assert len(topology.nodes) == 6 + 3 * 5 + 3 * 2 * 4
    assert topology.port_model == "one-port"
    assert {node.attributes["tier"] for node in topology.nodes} == {"wide", "metropolitan", "local"}
    duplex = (6 - 1 + 2) + 3 * (5 - 1 + 2) + 6 * 3 + 3 + 6
    assert len(topology.links) == 2 * duplex
    reached, frontier = {0}, [0]
    while frontier:
        node = frontier.pop()
        new = {link.target for link in topology.links if link.source == node} - reached
        reached |= new
        frontier += new
    assert len(reached) == len(topology.nodes)


def test_bandwidths_are_drawn_from_the_slowest_to_the_full_bandwidth() -> None:
    topology = build_topology("tiers:seed=9,slowest=50,local_bandwidth=8")
    local = [node for node, each in enumerate(topology.nodes) if each.attributes["tier"] == "local"]
    inside = [link.bandwidth for link in topology.links if link.source in local and link.target in local]
    assert inside
    assert all(Fraction(4) <= bandwidth <= 8 for bandwidth in inside)
    assert all(link.latency_us is not None and link.latency_us >= 1 for link in topology.links)


def test_routers_are_switches() -> None:
    topology = build_topology("tiers:routers=true")
    assert (len(topology.compute), len(topology.switches)) == (16, 13)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("tiers:offices=0,routers=true", "with routers only local nodes compute, and there are fewer than two"),
        ("tiers:wide=1,areas=0", "there are fewer than two nodes; make the wide network larger"),
    ],
)
def test_platforms_with_fewer_than_two_compute_nodes_are_refused(spec: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build_topology(spec)
