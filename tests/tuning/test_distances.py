"""Distances to and from a cut: by hand, and the least time of the condition of each entrance."""

from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import TopologyBuilder, build_topology
from forestcoll.topology import Topology
from forestcoll.tuning.distances import Distances, Entrance, entrances
from networks import examples

L, O = Fraction(6), Fraction(1)  # noqa: E741 (the names of the formulas)


def row() -> Topology:
    """Return four nodes in a row, with links of 1, 2 and 3 GB/s, and a switch that joins the first one and the last."""
    builder = TopologyBuilder("row")
    nodes = [builder.add_compute(name) for name in "abcd"]
    for bandwidth, (one, other) in enumerate(pairwise(nodes), start=1):
        builder.add_duplex(one, other, bandwidth)
    switch = builder.add_switch("switch")
    builder.add_duplex(nodes[0], switch, 4)
    builder.add_duplex(nodes[3], switch, 4)
    return builder.build()


def test_a_send_passes_any_number_of_switches() -> None:
    distances = Distances(row())
    assert distances.sends({0}) == {0: 0, 1: 1, 3: 1, 2: 2}
    assert distances.sends({0}, within={0, 1, 2, 3}) == {0: 0, 1: 1, 2: 2, 3: 3}
    assert distances.sends({0, 4}) == {0: 0, 1: 1, 3: 1, 2: 2}


def test_after_a_send_that_passes_a_switch_its_nodes_are_reached() -> None:
    distances = Distances(row())
    assert distances.around(4) == {0: 0, 3: 0, 1: 1, 2: 1}
    assert distances.around(4, within={3, 4}) == {3: 0}
    assert distances.around(1) == {1: 0, 0: 1, 2: 1, 3: 2}


def test_all_data_of_an_allreduce_has_a_summand_of_the_farthest_member() -> None:
    """Links from b to c, and over the switch from a to d, enter {c, d}.

    Data of b must reach c: at once, or by a send to a before and one from d after. Data of a: by a send to b before, or
    by one from d after.
    """
    found = entrances(row(), [{2, 3}], range(4), sums=True)
    assert found == {Entrance(1.0, ((0, 2000.0), (2, 4000.0))), Entrance(1.0, ((1, 6000.0),))}


def test_a_link_after_which_data_would_leave_the_set_does_not_count() -> None:
    """Data of b must reach a of {a, d}: over its own link, or by a send to a before, and then over the switch.

    What enters d would have to leave the set, and would then enter it over a link to a.
    """
    found = entrances(row(), [{0, 3}], range(4), sums=True)
    assert found == {Entrance(1.0, ((0, 1000.0), (1, 4000.0)))}


def test_a_link_that_data_cannot_reach_does_not_count() -> None:
    builder = TopologyBuilder("dead switch")
    one, other = builder.add_compute("one"), builder.add_compute("other")
    builder.add_duplex(one, other, 1)
    builder.add_link(builder.add_switch("switch"), other, 1)
    assert entrances(builder.build(), [{1}], range(2), sums=False) == {Entrance(1 / 2, ((0, 1000.0),))}


def test_members_that_are_farther_away_have_less_data() -> None:
    """Into {c} of a ring of five: all four others at once, and the two far ones, which have M/5 each, after a send."""
    found = entrances(build_topology("ring:nodes=5"), [{2}], range(5), sums=False)
    assert found == {Entrance(4 / 5, ((0, 2000.0),)), Entrance(2 / 5, ((1, 2000.0),))}


@given(
    part=st.integers(1, 8),
    size=st.integers(0, 10**7),
    rates=st.dictionaries(st.integers(0, 6), st.integers(1, 1000), min_size=1),
)
@examples(100)
def test_the_bound_is_the_least_time_of_the_condition(part: int, size: int, rates: dict[int, int]) -> None:
    """At the bound, the links bring exactly the data, so they bring less before."""
    entrance = Entrance(part / 8, tuple((sends, float(rate)) for sends, rate in sorted(rates.items())))
    time = entrance.microseconds(size, float(L), float(O))
    brought = sum(rate * max(0, time - float((1 + sends) * L + O)) for sends, rate in rates.items())
    assert brought == pytest.approx(size * part / 8, rel=1e-9, abs=1e-6)
