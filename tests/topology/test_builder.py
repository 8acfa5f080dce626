from fractions import Fraction
from typing import cast

import pytest

from forestcoll.base.errors import InputError
from forestcoll.topology import NodeId, NodeKind, Topology, TopologyBuilder, topology_to_document


def pair() -> TopologyBuilder:
    builder = TopologyBuilder("pair")
    builder.add_compute("a")
    builder.add_compute("b")
    return builder


def joined_pair() -> TopologyBuilder:
    builder = pair()
    builder.add_duplex("a", "b", 1)
    return builder


def bandwidths(topology: Topology) -> dict[tuple[object, object], Fraction]:
    ids = [node.id for node in topology.nodes]
    return {(ids[link.source], ids[link.target]): link.bandwidth for link in topology.links}


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
    topology = builder.build()
    assert bandwidths(topology) == {("a", "b"): 1 + Fraction(1, 10) + Fraction(1, 3), ("b", "a"): 1}
    assert [link.latency_us for link in topology.links] == [3, None]


def test_a_duplex_link_carries_its_bandwidth_each_way() -> None:
    builder = pair()
    builder.add_duplex("a", "b", 25, latency_us=1)
    topology = builder.build()
    assert bandwidths(topology) == {("a", "b"): 25, ("b", "a"): 25}
    assert [link.latency_us for link in topology.links] == [1, 1]


def test_later_changes_of_the_builder_do_not_change_the_topology() -> None:
    builder = joined_pair()
    first = builder.build()
    builder.add_compute("c")
    builder.add_duplex("b", "c", 1)
    assert len(first.nodes) == 2
    assert len(builder.build().nodes) == 3
    assert first == joined_pair().build()


@pytest.mark.parametrize("node", [None, True, 1.0, (1, 2), b"a", ["a"]])
def test_ids_that_are_neither_strings_nor_integers_are_refused(node: object) -> None:
    with pytest.raises(InputError, match=r"^pair: node id .* must be a string or an integer"):
        pair().add_compute(node)  # type: ignore[arg-type]


@pytest.mark.parametrize("depth", [150, 600, 960, 5000])
def test_an_attribute_that_is_nested_deeply_is_refused(depth: int) -> None:
    attribute: object = 1
    for level in range(depth):
        attribute = [attribute] if level % 2 else {"inside": attribute}
    with pytest.raises(InputError, match=r"^x: graph: site is nested more than 100 levels deep; flatten it or leave"):
        TopologyBuilder("x", attributes={"site": attribute})


def test_an_attribute_that_contains_itself_is_refused() -> None:
    circle: list[object] = []
    circle.append(circle)
    with pytest.raises(InputError, match=r"^x: node 'a': site is nested more than 100 levels deep"):
        TopologyBuilder("x").add_compute("a", site=circle)


def test_an_attribute_that_is_not_finite_is_refused() -> None:
    with pytest.raises(InputError, match=r"^pair: node 'c': watts holds nan, which JSON cannot represent"):
        pair().add_compute("c", watts=float("nan"))
    with pytest.raises(InputError, match=r"^x: graph: site holds inf, which JSON cannot represent"):
        TopologyBuilder("x", attributes={"site": {"height": (1, float("inf"))}})


@pytest.mark.parametrize("add", ["add_compute", "add_switch"])
def test_a_repeated_id_is_refused(add: str) -> None:
    with pytest.raises(InputError, match=r"^pair: node 'a' appears twice"):
        getattr(pair(), add)("a")


def test_the_integer_1_and_the_string_1_are_different_ids() -> None:
    builder = TopologyBuilder("two")
    builder.add_duplex(builder.add_compute(1), builder.add_compute("1"), 1)
    assert len(builder.build().nodes) == 2


@pytest.mark.parametrize("node", ["c", 0, None, True, 1.0, ["a"]])
def test_a_link_to_an_unknown_node_is_refused(node: object) -> None:
    builder = pair()
    builder.add_compute(1)
    with pytest.raises(InputError, match=r"^pair: edge 'a' -> .*: there is no node "):
        builder.add_link("a", node, 1)  # type: ignore[arg-type]


def test_a_self_loop_is_refused() -> None:
    with pytest.raises(InputError, match=r"^pair: edge 'a' -> 'a' is a self-loop"):
        pair().add_link("a", "a", 1)


@pytest.mark.parametrize("quantity", ["bandwidth", "latency_us"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (-1, "-1 must be "),
        ("-1\n", r"'-1\n' must be "),
        (float("nan"), "nan is not finite"),
        ("Infinity", "'Infinity' is not finite"),
        ("a", "'a' is not a number"),
        (True, "true is not a number"),
        ("1e400", "'1e400' has more than 60 digits"),
        ("9" * 1000, f"'{'9' * 57}...' has more than 60 digits"),
        pytest.param(10**5000, "an integer of about 5001 digits has more than 60 digits", id="long"),
    ],
)
def test_invalid_bandwidths_and_latencies_are_refused(quantity: str, value: object, problem: str) -> None:
    values = {"bandwidth": 1} | {quantity: value}
    with pytest.raises(InputError) as caught:
        pair().add_link("a", "b", values["bandwidth"], latency_us=values.get("latency_us"))
    assert str(caught.value).startswith(f"pair: edge 'a' -> 'b': {quantity} {problem}")
    assert "\n" not in str(caught.value)


def test_a_bandwidth_with_a_unit_is_converted_exactly_and_written_plainly() -> None:
    builder = TopologyBuilder("units", bandwidth_unit="Gb/s")
    builder.add_duplex(builder.add_compute("a"), builder.add_compute("b"), "25GB/s")
    builder.add_duplex("a", builder.add_compute("c"), "100 MB/s")
    topology = builder.build()
    assert [link.bandwidth for link in topology.links] == [200, Fraction(4, 5), 200, Fraction(4, 5)]
    document = topology_to_document(topology)
    assert {edge["bandwidth"] for edge in cast("list[dict[str, object]]", document["edges"])} == {200, "4/5"}


TONS = "the network's bandwidth_unit 'tons/day', whose size is not known"


@pytest.mark.parametrize(
    ("unit", "value", "message"),
    [
        ("GB/s", "25Gx/s", "'25Gx/s' has the unknown unit 'Gx/s'; use one such as GB/s, GiB/s, Gb/s or Gbps"),
        ("GB/s", "25gb/s", "'25gb/s' has the unknown unit 'gb/s'; write GB/s (bytes) or Gb/s (bits)"),
        ("GB/s", "-1GB/s", "'-1GB/s' must be greater than 0; leave a dead link out"),
        ("tons/day", "25GB/s", f"'25GB/s' cannot be converted to {TONS}; write a number without a unit"),
        ("GB/s", "fast", "'fast' is not a number; write a number such as 25 or '25/3', or one with a unit, '400Gb/s'"),
    ],
)
def test_a_unit_that_cannot_be_converted_is_refused(unit: str, value: str, message: str) -> None:
    builder = TopologyBuilder("units", bandwidth_unit=unit)
    with pytest.raises(InputError) as caught:
        builder.add_link(builder.add_compute("a"), builder.add_compute("b"), value)
    assert str(caught.value) == f"units: edge 'a' -> 'b': bandwidth {message}"


def test_a_bandwidth_of_zero_is_refused_and_a_latency_of_zero_is_accepted() -> None:
    joined_pair().add_link("a", "b", 1, latency_us=0)
    with pytest.raises(InputError, match="bandwidth 0 must be greater than 0"):
        joined_pair().add_link("a", "b", 0)


@pytest.mark.parametrize(("count", "message"), [(0, "0 compute nodes"), (1, "1 compute node;")])
def test_fewer_than_two_compute_nodes_are_refused(count: int, message: str) -> None:
    builder = TopologyBuilder("few")
    builder.add_switch("s")
    for node in range(count):
        builder.add_duplex(builder.add_compute(node), "s", 1)
    with pytest.raises(InputError, match=f"^few: has {message}"):
        builder.build()


def test_disconnected_compute_nodes_are_named() -> None:
    with pytest.raises(InputError, match=r"^pair: compute node 'a' cannot reach compute node 'b'; add links"):
        pair().build()


@pytest.mark.parametrize(("source", "target"), [("a", "b"), ("b", "a")])
def test_compute_nodes_connected_only_in_one_direction_are_named(source: str, target: str) -> None:
    builder = pair()
    builder.add_link(source, target, 1)
    with pytest.raises(InputError, match=f"^pair: compute node '{target}' cannot reach compute node '{source}'"):
        builder.build()


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
    with pytest.raises(InputError) as caught:
        with_denominators(*primes).build()
    assert str(caught.value) == (
        "ring: the common denominator of the bandwidths has more than 1800 digits; "
        "round them to fractions with fewer or common denominators"
    )


def test_a_switch_can_be_a_dead_end() -> None:
    builder = joined_pair()
    builder.add_switch("unused")
    assert len(builder.build().switches) == 1


@pytest.mark.parametrize("port_model", ["two-port", "", 1])
def test_an_unknown_port_model_is_refused(port_model: str) -> None:
    with pytest.raises(
        InputError,
        match=r"^where: port_model is .*'one-port' or .* or 'bounded-multi-port'$",
    ):
        TopologyBuilder("name", port_model=port_model, where="where")


def test_an_unknown_number_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"^pair: no node 'c'"):
        joined_pair().build().number("c")


def boxes(count: int) -> Topology:
    builder = TopologyBuilder("boxes")
    builder.add_switch("hub")
    for box in range(count):
        builder.add_duplex(builder.add_compute(f"b{box}/gpu"), "hub", 1)
    return builder.build()


def test_an_unknown_id_is_refused_with_the_nearest_one() -> None:
    topology = boxes(2)
    for look_up in (topology.number, topology.named):
        with pytest.raises(InputError) as caught:
            look_up("hbu")
        message = "boxes: no node 'hbu'; did you mean 'hub'? use the id of one of its nodes"
        assert str(caught.value) == message
        with pytest.raises(InputError, match=r"^boxes: no node 1; use the id of one of its nodes$"):
            look_up(1)
    builder = joined_pair()
    builder.add_compute("node3")
    with pytest.raises(
        InputError, match=r"there is no node 'nod3'; did you mean 'node3'\? add the node or fix the edge$"
    ):
        builder.add_link("a", "nod3", 1)


def test_the_repr_of_a_topology_is_one_line() -> None:
    assert repr(boxes(2)) == "Topology('boxes', 2 compute nodes, 1 switch, 4 links, GB/s)"
    assert repr(joined_pair().build()) == "Topology('pair', 2 compute nodes, 0 switches, 2 links, GB/s)"
    builder = TopologyBuilder("n" * 1000, bandwidth_unit="Gb/s", port_model="one-port")
    builder.add_link(builder.add_compute(0), builder.add_compute(1), 1)
    name = f"'{'n' * 57}...'"
    assert repr(builder.build()) == f"Topology({name}, 2 compute nodes, 0 switches, 1 link, Gb/s, one-port)"


def test_parallel_edges_whose_sum_is_too_long_are_refused() -> None:
    builder = TopologyBuilder("long sums")
    ends = builder.add_compute("a"), builder.add_compute("b")
    builder.add_link(*ends, Fraction(1, 10**59 + 1))
    with pytest.raises(InputError, match="the sum of parallel edges 'a' -> 'b' has more than 60 digits; round their"):
        builder.add_link(*ends, Fraction(1, 10**59 + 3))
