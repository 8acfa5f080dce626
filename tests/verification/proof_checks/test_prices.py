"""The cost of paths at the prices of ports: the greatest weight that a cut may have, in each port model."""

from dataclasses import replace
from fractions import Fraction

import pytest
from proof_questions import SERIES, question_of

from forestcoll.schedule.proof import PricesProof, ProofError
from forestcoll.schedule.proof.prices import Port, PortKind
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.topology.graph.node_ports import RECEIVE_LIMIT, SEND_LIMIT
from forestcoll.topology.model import BOUNDED
from forestcoll.verification.proof_checks.checks import proven
from forestcoll.verification.proof_checks.prices import occupied
from forestcoll.verification.proof_checks.question import UnprovenError
from oneport_platforms import platform_of_costs

COSTS = [("a", "x", 1), ("x", "b", 1), ("x", "y", 1), ("y", "x", 1), ("y", "c", 1), ("b", "c", 3), ("x", "z", 1)]
ENDS = [(link.source, link.target) for link in platform_of_costs("abc", COSTS, switches="xyz").links]
PER_NODE = {PortKind.SEND: 10, PortKind.RECEIVE: 100, PortKind.BOTH: 1000}
LINKS: tuple[Fraction | int, ...] = (1, Fraction(1, 12), 2, 3, 7, 5, 4)
"""The price of each link, in the order of the topology: a -> x, b -> c, x -> b, x -> y, x -> z, y -> c, y -> x."""

PRICES = tuple(
    (Port(kind, node), Fraction(price * (node + 1))) for kind, price in PER_NODE.items() for node in range(6)
)
PRICES += tuple((Port(PortKind.LINK, link), Fraction(price)) for link, price in enumerate(LINKS))
TOTAL = sum(price for _, price in PRICES)


def platform(port_model: str | None) -> Topology:
    """Return three compute nodes and three switches: two that form a cycle, and one that no link leaves."""
    return replace(platform_of_costs("abc", COSTS, switches="xyz"), port_model=port_model)


@pytest.mark.parametrize(
    ("port_model", "cuts", "most"),
    [
        (None, [(1,)], "3"),
        (None, [(2,)], "1/4"),
        (None, [(1, 2)], "3"),
        (None, [(1,), (1, 2)], "3/2"),
        ("one-port", [(1,)], "213"),
        ("one-port", [(2,)], "319"),
        ("one-port", [(1, 2), (2,)], "319/2"),
        ("one-port-send", [(1,)], "13"),
        ("one-port-send", [(2,)], "19"),
        ("one-port-receive", [(1, 2)], "203"),
        ("half-duplex", [(1,)], "3003"),
        ("half-duplex", [(1,), (1, 2)], "3003/2"),
    ],
)
def test_cuts_weigh_at_most_the_cost_of_each_path_into_them(
    port_model: str | None, cuts: list[tuple[int, ...]], most: str
) -> None:
    topology, weight = platform(port_model), Fraction(most)
    right = PricesProof(PRICES, tuple((weight, cut) for cut in cuts))
    assert proven(right, question_of(topology, SERIES)) == right.algbw(topology, SERIES)
    assert proven(right, question_of(topology, SERIES)) == TOTAL / (weight * len(cuts))
    wrong = replace(right, cuts=tuple((weight + Fraction(1, 99), cut) for cut in cuts))
    with pytest.raises(UnprovenError, match="the weight of the cuts that it enters"):
        proven(wrong, question_of(topology, SERIES))
    with pytest.raises(ProofError, match="the weight of the cuts that it enters"):
        wrong.algbw(topology, SERIES)


def half_duplex(nodes: str, *, switches: str = "") -> Topology:
    """Return a half-duplex network with links of cost 1 between all nodes."""
    costs = [(one, other, 1) for one in nodes for other in nodes if one != other]
    return replace(platform_of_costs(nodes, costs, switches=switches), port_model="half-duplex")


def odd_proof(*odd_sets: tuple[Fraction | int, tuple[int, ...]], cuts: tuple[int, ...] = (1, 2)) -> PricesProof:
    """Return the proof with these prices of odd sets alone, and a cut of weight 1 around each node of `cuts`."""
    prices = tuple((Fraction(price), inside) for price, inside in odd_sets)
    return PricesProof((), tuple((Fraction(1), (each,)) for each in cuts), odd_sets=prices)


@pytest.mark.parametrize(
    ("nodes", "proof", "bound"),
    [
        ("abc", odd_proof((1, (0, 1, 2))), "1/2"),
        ("abcde", odd_proof((1, (0, 1, 2, 3, 4)), cuts=(1, 2, 3, 4)), "1/2"),
        ("abcd", odd_proof((1, (0, 1, 2)), (1, (0, 1, 3)), (1, (0, 2, 3)), (1, (1, 2, 3)), cuts=(1, 2, 3)), "4/3"),
    ],
    ids=["three nodes", "five nodes", "all sets of three of four"],
)
def test_at_most_one_pair_of_three_half_duplex_nodes_is_busy_at_a_time(
    nodes: str, proof: PricesProof, bound: str
) -> None:
    topology = half_duplex(nodes)
    assert str(proven(proof, question_of(topology, SERIES))) == bound
    assert proof.algbw(topology, SERIES) == Fraction(bound)


@pytest.mark.parametrize("attribute", [SEND_LIMIT, RECEIVE_LIMIT])
def test_a_shared_bandwidth_without_a_price_costs_nothing(attribute: str) -> None:
    builder = TopologyBuilder("shared", port_model=BOUNDED)
    builder.add_compute("a", **{attribute: 1})
    builder.add_compute("b", **{attribute: 1})
    builder.add_link("a", "b", 2)
    topology = builder.build()
    right = PricesProof(((Port(PortKind.LINK, 0), Fraction(1)),), ((Fraction(1, 2), (1,)),))
    assert proven(right, question_of(topology, SERIES)) == 2
    with pytest.raises(UnprovenError, match="'a' -> 'b' costs 1/2 at the prices, less than 1"):
        proven(replace(right, cuts=((Fraction(1), (1,)),)), question_of(topology, SERIES))


def test_a_message_costs_the_prices_of_shared_bandwidths_for_the_time_that_it_takes_them() -> None:
    builder = TopologyBuilder("shared", port_model=BOUNDED)
    builder.add_compute("a", **{SEND_LIMIT: 3})
    builder.add_compute("b", **{RECEIVE_LIMIT: 5})
    builder.add_link("a", "b", 2)
    question = question_of(builder.build(), SERIES)
    prices = ((Port(PortKind.OUTGOING, 0), Fraction(6)), (Port(PortKind.INCOMING, 1), Fraction(10)))
    assert proven(PricesProof(prices, ((Fraction(4), (1,)),)), question) == 4
    with pytest.raises(UnprovenError, match="'a' -> 'b' costs 4 at the prices, less than 401/100"):
        proven(PricesProof(prices, ((Fraction(401, 100), (1,)),)), question)


OWNED = [("a", "x"), ("x", "a"), ("x", "y"), ("y", "b"), ("b", "x"), ("y", "z")]
"""Links of the compute nodes a and b, of the switch x, whose ports are those of a, and of other switches."""


@pytest.mark.parametrize(
    ("port_model", "expected"),
    [
        (None, ["", "", "", "", "", ""]),
        ("one-port", ["send a", "receive a", "send a", "receive b", "send b, receive a", ""]),
        ("one-port-send", ["send a", "", "send a", "", "send b", ""]),
        ("one-port-receive", ["", "receive a", "", "receive b", "receive a", ""]),
        ("half-duplex", ["both a", "both a", "both a", "both b", "both b, both a", ""]),
    ],
)
def test_a_busy_link_occupies_the_ports_of_the_nodes_at_its_ends(port_model: str | None, expected: list[str]) -> None:
    builder = TopologyBuilder("owned", port_model=port_model)
    builder.add_compute("a")
    builder.add_compute("b")
    builder.add_switch("x", port_of="a")
    builder.add_switch("y")
    builder.add_switch("z")
    for source, target in OWNED:
        builder.add_link(source, target, 1)
    topology = builder.build()
    names = [node.id for node in topology.nodes]
    found = {}
    for place, link in enumerate(topology.links):
        first, *others = occupied(topology, place)
        assert first == Port(PortKind.LINK, place)
        found[names[link.source], names[link.target]] = ", ".join(
            f"{each.kind} {names[each.number]}" for each in others
        )
    assert [found[pair] for pair in OWNED] == expected
