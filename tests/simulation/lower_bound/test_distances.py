"""Distances to and from a cut, by hand, and the least time in which data arrives."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.simulation.lower_bound.arrivals import Arrival
from forestcoll.simulation.lower_bound.distances import Distances, entrances
from forestcoll.topology import Topology, build_topology
from networks import examples, linked


def row() -> Topology:
    """Return four nodes in a row, with links of 1, 2 and 3 GB/s, and a switch that joins the first one and the last."""
    return linked("a b c d", "a=b b=c:2 c=d:3 a=switch:4 d=switch:4", switches="switch")


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


def test_data_of_far_members_must_reach_the_farthest_member_of_the_set() -> None:
    """Data of a and b enters {c, d} from b to c, or over the switch from a to d, and then it must be sent on to c."""
    found = entrances(row(), [{2, 3}], range(4))
    assert found == {Arrival(1 / 2, ((1, 2000.0), (2, 4000.0)))}


def test_a_link_after_which_data_would_leave_the_set_does_not_count() -> None:
    """Data of b must reach a of {a, d}: over its own link, or by a send to a before, and then over the switch.

    What enters d would have to leave the set, and would then enter it over a link to a.
    """
    found = entrances(row(), [{0, 3}], range(4))
    assert found == {Arrival(1 / 2, ((1, 1000.0), (2, 4000.0)))}


def test_a_link_that_data_cannot_reach_does_not_count() -> None:
    dead = linked("one other", "one=other switch>other", switches="switch")
    assert entrances(dead, [{1}], range(2)) == {Arrival(1 / 2, ((1, 1000.0),))}


def test_members_that_are_farther_away_have_less_data() -> None:
    """Into {c} of a ring of five: all four others at once, and the two far ones, which have M/5 each, after a send."""
    found = entrances(build_topology("ring:nodes=5"), [{2}], range(5))
    assert found == {Arrival(4 / 5, ((1, 2000.0),)), Arrival(2 / 5, ((2, 2000.0),))}


def test_paths_of_the_same_number_of_sends_count_together() -> None:
    paths = [(2, Fraction(1, 2)), (1, Fraction(3)), (2, Fraction(1))]
    assert Arrival.of(0.5, build_topology("ring:nodes=3"), paths) == Arrival(0.5, ((1, 3000.0), (2, 1500.0)))


@given(
    part=st.integers(1, 8),
    size=st.integers(0, 10**7),
    rates=st.dictionaries(st.integers(1, 7), st.integers(1, 1000), min_size=1),
)
@examples(100)
def test_in_the_least_time_exactly_the_data_arrives(part: int, size: int, rates: dict[int, int]) -> None:
    arrival = Arrival(part / 8, tuple((sends, float(rate)) for sends, rate in sorted(rates.items())))
    send, overhead = 6.0, 1.0
    time = arrival.microseconds(size, send, overhead)
    brought = sum(rate * max(0, time - (sends * send + overhead)) for sends, rate in rates.items())
    assert brought == pytest.approx(size * part / 8, rel=1e-9, abs=1e-6)
