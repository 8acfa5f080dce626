"""The least time in which data arrives."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll import build_topology
from forestcoll.simulation.lower_bound.arrivals import Arrival
from networks import examples

L, O = Fraction(6), Fraction(1)  # noqa: E741 (the names of the formulas)


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
    time = arrival.microseconds(size, float(L), float(O))
    brought = sum(rate * max(0, time - float(sends * L + O)) for sends, rate in rates.items())
    assert brought == pytest.approx(size * part / 8, rel=1e-9, abs=1e-6)
