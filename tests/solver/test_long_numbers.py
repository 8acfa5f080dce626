"""Long numbers that are equal in floating point."""

from forestcoll import TopologyBuilder, groups_optimum


def test_groups_on_a_ring_of_20_digits_reach_their_bound() -> None:
    builder = TopologyBuilder("ring")
    for node in "abc":
        builder.add_compute(node)
    for source, target, more in (("a", "b", 1), ("b", "c", 3), ("c", "a", 7)):
        builder.add_duplex(source, target, 10**20 + more)
    found = groups_optimum(builder.build(), "0,1")
    assert found.algbw == found.bound.algbw == 4 * (10**20 + 2)
