"""Networks in which nodes receive at most a given bandwidth."""

from fractions import Fraction

from forestcoll import generate
from forestcoll.demand.demand import Demand
from forestcoll.topology import TopologyBuilder, build_topology
from forestcoll.topology.graph.receive_limits import with_receive_limits, without_ports


def test_a_node_receives_over_one_link_with_its_limit_if_it_is_below_the_bandwidth() -> None:
    network = build_topology("mi250:boxes=1,gpus=8")
    limited = with_receive_limits(network, {0: Fraction(7), 2: Fraction(9)})
    assert limited.nodes[: len(network.nodes)] == network.nodes
    for node, limit in ((0, 7), (2, 9)):
        (into,) = (link for link in limited.links if link.target == node)
        assert into.bandwidth == limit
        assert not limited.nodes[into.source].is_compute
        sources = {link.source for link in limited.links if link.target == into.source}
        assert sources == {link.source for link in network.links if link.target == node}
    others = [link for link in network.links if link.target not in {0, 2}]
    assert set(others) <= set(limited.links)
    network = build_topology("ring:nodes=4,bandwidth=10")
    assert with_receive_limits(network, dict.fromkeys(range(4), Fraction(20))) == network


def test_new_switches_have_names_that_no_node_has_and_routes_lose_them() -> None:
    builder = TopologyBuilder("names")
    first = builder.add_compute("a")
    builder.add_duplex(first, builder.add_compute("port of a"), 10)
    limited = with_receive_limits(builder.build(), {0: Fraction(5)})
    assert [node.id for node in limited.nodes] == ["a", "port of a", "port of a'"]
    network = build_topology("ring:nodes=3")
    assert without_ports([1, 3, 0], network) == [1, 0]


def test_the_optimum_of_a_reduce_counts_the_limit() -> None:
    """In a ring of three nodes with links of 1, a root that receives at most `limit` from both sides sums that fast."""
    network = build_topology("ring:nodes=3,bandwidth=1")
    for limit in (Fraction(1), Fraction(3, 2), Fraction(2)):
        limited = with_receive_limits(network, {0: limit})
        assert generate(limited, Demand("reduce", root=network.nodes[0].id)).algbw == limit
