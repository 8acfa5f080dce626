import re
from fractions import Fraction
from typing import cast

import pytest

from forestcoll.base.errors import shown
from forestcoll.topology import NodeId, NodeKind, Topology, TopologyBuilder, topology_to_document
from refusal import refusal


def pair() -> TopologyBuilder:
    builder = TopologyBuilder("pair")
    builder.add_compute("a")
    builder.add_compute("b")
    return builder


def joined_pair() -> TopologyBuilder:
    builder = pair()
    builder.add_duplex("a", "b", 1)
    return builder


def test_nodes_are_numbered_in_order_and_links_sorted() -> None:
    builder = TopologyBuilder("three", bandwidth_unit="Gb/s", port_model="one-port", attributes={"site": "x"})
    builder.add_compute("b", box=1)
    builder.add_switch("s", multicast=True)
    builder.add_compute(7)
    links: list[tuple[NodeId, NodeId]] = [(7, "s"), ("s", 7), ("s", "b"), ("b", "s")]
    for source, target in links:
        builder.add_link(source, target, "1/3", latency_us="0.5")
    topology = builder.build()
    assert [node.id for node in topology.nodes] == ["b", "s", 7]
    assert [node.kind for node in topology.nodes] == [NodeKind.COMPUTE, NodeKind.SWITCH, NodeKind.COMPUTE]
    assert (topology.compute, topology.switches) == ((0, 2), (1,))
    assert (topology.nodes[1].multicast, topology.nodes[1].aggregation) == (True, False)
    assert topology.nodes[0].attributes == {"box": 1}
    assert [(link.source, link.target) for link in topology.links] == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert {(link.bandwidth, link.latency_us) for link in topology.links} == {(Fraction(1, 3), Fraction(1, 2))}
    assert topology.egress == topology.ingress == (Fraction(1, 3), Fraction(2, 3), Fraction(1, 3))
    assert (topology.bandwidth_unit, topology.port_model, topology.attributes) == ("Gb/s", "one-port", {"site": "x"})
    assert (topology.number(7), topology.ids([2, 0])) == (2, [7, "b"])


def test_parallel_links_add_up_and_the_longer_latency_holds() -> None:
    builder = joined_pair()
    builder.add_link("a", "b", "0.1", latency_us=3)
    builder.add_link("a", "b", Fraction(1, 3), latency_us=2)
    builder.add_duplex("b", builder.add_compute("c"), 25, latency_us=1)
    topology = builder.build()
    total = 1 + Fraction(1, 10) + Fraction(1, 3)
    found = [(link.source, link.target, link.bandwidth, link.latency_us) for link in topology.links]
    assert found == [(0, 1, total, 3), (1, 0, 1, None), (1, 2, 25, 1), (2, 1, 25, 1)]


def test_later_changes_of_the_builder_do_not_change_the_topology_and_a_switch_can_be_a_dead_end() -> None:
    builder = joined_pair()
    first = builder.build()
    builder.add_compute("c")
    builder.add_duplex("b", "c", 1)
    assert len(first.nodes) == 2
    assert len(builder.build().nodes) == 3
    assert first == joined_pair().build()
    builder = joined_pair()
    builder.add_switch("unused")
    assert len(builder.build().switches) == 1


def test_ids_are_strings_or_integers_and_given_once() -> None:
    for node in (None, True, 1.0, (1, 2), b"a", ["a"]):
        message = refusal(pair().add_compute, node)
        assert message.startswith("pair: node id ")
        assert "must be a string or an integer" in message
    for add in (pair().add_compute, pair().add_switch):
        assert refusal(add, "a").startswith("pair: node 'a' appears twice")
    builder = TopologyBuilder("two")
    builder.add_duplex(builder.add_compute(1), builder.add_compute("1"), 1)
    assert len(builder.build().nodes) == 2


def test_an_attribute_that_is_nested_deeply_contains_itself_or_is_not_finite_is_refused() -> None:
    circle: list[object] = []
    circle.append(circle)
    for depth in (150, 600, 960, 5000):
        attribute: object = 1
        for level in range(depth):
            attribute = [attribute] if level % 2 else {"inside": attribute}
        message = refusal(TopologyBuilder, "x", attributes={"site": attribute})
        assert message.startswith("x: graph: site is nested more than 100 levels deep; flatten it or leave"), depth
    message = refusal(TopologyBuilder("x").add_compute, "a", site=circle)
    assert message.startswith("x: node 'a': site is nested more than 100 levels deep")
    message = refusal(TopologyBuilder, "x", attributes={"site": {"height": (1, float("inf"))}})
    assert message == "x: graph: site holds inf, which JSON cannot represent; use a finite number"


def test_a_link_to_an_unknown_node_or_to_itself_is_refused() -> None:
    builder = pair()
    builder.add_compute(1)
    for node in ("c", 0, None, True, 1.0, ["a"]):
        message = f"pair: edge 'a' -> {shown(node)}: there is no node {shown(node)}"
        assert refusal(builder.add_link, "a", node, 1).startswith(message)
    assert refusal(builder.add_link, "a", "a", 1).startswith("pair: edge 'a' -> 'a' is a self-loop")


@pytest.mark.parametrize("quantity", ["bandwidth", "latency_us"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (-1, "-1 must be "),
        ("-1\n", r"'-1\n' must be "),
        (float("nan"), "nan is not finite"),
        ("a", "'a' is not a number"),
        (True, "true is not a number"),
        ("9" * 1000, f"'{'9' * 57}...' has more than 60 digits"),
        pytest.param(10**5000, "an integer of about 5001 digits has more than 60 digits", id="long"),
    ],
)
def test_invalid_bandwidths_and_latencies_are_refused(quantity: str, value: object, problem: str) -> None:
    message = refusal(pair().add_link, "a", "b", **{"bandwidth": 1, quantity: value})
    assert message.startswith(f"pair: edge 'a' -> 'b': {quantity} {problem}")


def test_a_bandwidth_with_a_unit_is_converted_exactly_and_written_plainly() -> None:
    builder = TopologyBuilder("units", bandwidth_unit="Gb/s")
    builder.add_duplex(builder.add_compute("a"), builder.add_compute("b"), "25GB/s")
    builder.add_duplex("a", builder.add_compute("c"), "100 MB/s")
    topology = builder.build()
    assert [link.bandwidth for link in topology.links] == [200, Fraction(4, 5), 200, Fraction(4, 5)]
    document = topology_to_document(topology)
    assert {edge["bandwidth"] for edge in cast("list[dict[str, object]]", document["edges"])} == {200, "4/5"}


def test_a_bandwidth_of_zero_and_a_sum_that_is_too_long_are_refused_and_a_latency_of_zero_is_accepted() -> None:
    joined_pair().add_link("a", "b", 1, latency_us=0)
    assert "bandwidth 0 must be greater than 0" in refusal(joined_pair().add_link, "a", "b", 0)
    builder = TopologyBuilder("long sums")
    ends = builder.add_compute("a"), builder.add_compute("b")
    builder.add_link(*ends, Fraction(1, 10**59 + 1))
    message = refusal(builder.add_link, *ends, Fraction(1, 10**59 + 3))
    assert "the sum of parallel edges 'a' -> 'b' has more than 60 digits; round their" in message


def with_denominators(*denominators: int) -> TopologyBuilder:
    """Return a ring with a bandwidth of 1 over each of the denominators."""
    builder = TopologyBuilder("ring")
    nodes = [builder.add_compute(place) for place in range(len(denominators))]
    for place, denominator in enumerate(denominators):
        builder.add_duplex(nodes[place - 1], nodes[place], Fraction(1, denominator))
    return builder


def test_a_common_denominator_that_is_too_large_is_refused() -> None:
    primes = [10**59 + offset for offset in range(1, 100)]  # no primes, but with few common divisors
    assert len(with_denominators(*[2**190] * 1000).build().links) == 2000
    assert len(with_denominators(*primes[:25]).build().links) == 50
    assert refusal(with_denominators(*primes).build) == (
        "ring: the common denominator of the bandwidths has more than 1800 digits; "
        "round them to fractions with fewer or common denominators"
    )


def test_an_unknown_port_model_is_refused() -> None:
    for model in ("two-port", "", 1):
        message = refusal(TopologyBuilder, "name", port_model=model, where="where")
        assert re.match(r"where: port_model is .*'one-port' or .* or 'bounded-multi-port'$", message), model


def hub() -> Topology:
    builder = TopologyBuilder("boxes")
    builder.add_switch("hub")
    for box in range(2):
        builder.add_duplex(builder.add_compute(f"b{box}/gpu"), "hub", 1)
    return builder.build()


def test_an_unknown_id_is_refused_with_the_nearest_one() -> None:
    for look_up in (hub().number, hub().named):
        message = "boxes: no node 'hbu'; did you mean 'hub'? use the id of one of its nodes"
        assert refusal(look_up, "hbu") == message
        assert refusal(look_up, 1) == "boxes: no node 1; use the id of one of its nodes"
    builder = joined_pair()
    builder.add_compute("node3")
    message = "pair: edge 'a' -> 'nod3': there is no node 'nod3'; did you mean 'node3'? add the node or fix the edge"
    assert refusal(builder.add_link, "a", "nod3", 1) == message


def test_the_repr_of_a_topology_is_one_line() -> None:
    assert repr(hub()) == "Topology('boxes', 2 compute nodes, 1 switch, 4 links, GB/s)"
    assert repr(joined_pair().build()) == "Topology('pair', 2 compute nodes, 0 switches, 2 links, GB/s)"
    builder = TopologyBuilder("n" * 1000, bandwidth_unit="Gb/s", port_model="one-port")
    builder.add_link(builder.add_compute(0), builder.add_compute(1), 1)
    name = f"'{'n' * 57}...'"
    assert repr(builder.build()) == f"Topology({name}, 2 compute nodes, 0 switches, 1 link, Gb/s, one-port)"


def test_a_name_or_a_unit_that_is_no_text_is_refused() -> None:
    assert refusal(lambda: TopologyBuilder(cast("str", 3))) == "name is 3; expected a text"
    wrong = cast("str", 4)
    assert (
        refusal(lambda: TopologyBuilder("x", bandwidth_unit=wrong))
        == "bandwidth_unit is 4; expected a text, such as 'GB/s'"
    )
