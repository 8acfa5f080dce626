"""Bandwidths of up to 60 digits: every search answers, and what must be equal is equal."""

from fractions import Fraction
from random import Random

import pytest

from forestcoll import Topology, TopologyBuilder, bounds_of, generate, groups_optimum, optimum, verify

DIGITS = (9, 12, 20, 60)


def network(random: Random, digits: int, *, fractions: bool) -> Topology:
    """Return a random network of three to five compute nodes and up to two switches."""

    def bandwidth() -> Fraction:
        least, most = 10 ** (digits - 1), 10**digits - 1
        return Fraction(random.randint(least, most), random.randint(least, most) if fractions else 1)

    builder = TopologyBuilder(f"{digits} digits")
    nodes = [builder.add_compute(f"c{place}") for place in range(random.randint(3, 5))]
    nodes += [builder.add_switch(f"s{place}") for place in range(random.randint(0, 2))]
    circle = random.sample(nodes, len(nodes))
    for place, node in enumerate(circle):
        builder.add_link(circle[place - 1], node, bandwidth())
        builder.add_link(node, circle[place - 1], bandwidth())
    return builder.build()


@pytest.mark.parametrize("fractions", [False, True])
@pytest.mark.parametrize("digits", DIGITS)
@pytest.mark.parametrize("seed", range(3))
def test_every_search_answers(seed: int, digits: int, *, fractions: bool) -> None:
    topology = network(Random(seed), digits, fractions=fractions)  # noqa: S311 (a test)
    for collective in ("allgather", "allreduce"):
        best = optimum(topology, collective)
        report = verify(generate(topology, collective))
        assert report.fault is None
        assert report.algbw == best.algbw <= best.bound.algbw
    assert optimum(topology, "allreduce", ranks="0,1").algbw > 0
    assert bounds_of(topology).collectives
    for groups in ("0,1;1,2", "0,1"):
        for collective in ("allgather", "allreduce", "all-to-all"):
            found = groups_optimum(topology, groups, collective)
            assert found.algbw == found.bound.algbw


def test_groups_on_a_ring_of_20_digits_reach_their_bound() -> None:
    builder = TopologyBuilder("ring")
    for node in "abc":
        builder.add_compute(node)
    for source, target, more in (("a", "b", 1), ("b", "c", 3), ("c", "a", 7)):
        builder.add_duplex(source, target, 10**20 + more)
    found = groups_optimum(builder.build(), "0,1")
    assert found.algbw == found.bound.algbw == 4 * (10**20 + 2)
