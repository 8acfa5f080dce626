"""The cost of paths at the prices of ports: the greatest weight that a cut may have, in each port model."""

from dataclasses import replace
from fractions import Fraction

import pytest
from test_conditions import SERIES, question_of

from forestcoll.proof import PricesProof, ProofError
from forestcoll.proof.prices import Port, PortKind
from forestcoll.topology import Topology
from forestcoll.verification.proof_checks.checks import proven
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


def test_prices_with_too_many_digits_are_refused() -> None:
    """Sums of such numbers take too long."""
    cuts = tuple((Fraction(1, 10**1500 + place), (1,)) for place in (1, 3, 7))
    with pytest.raises(UnprovenError, match="the common denominator of its numbers has more than 4000 digits"):
        proven(PricesProof(PRICES, cuts), question_of(platform("one-port"), SERIES))
