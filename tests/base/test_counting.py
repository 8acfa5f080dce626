"""Numbers with their nouns."""

from fractions import Fraction

import pytest

from forestcoll.base.counting import plural, times


@pytest.mark.parametrize(("count", "text"), [(0, "0 steps"), (1, "1 step"), (2, "2 steps"), (16384, "16,384 steps")])
def test_a_noun_has_the_number_of_its_count(count: int, text: str) -> None:
    assert plural(count, "step") == text


def test_an_irregular_plural_is_given() -> None:
    assert (plural(1, "switch", "switches"), plural(3, "switch", "switches")) == ("1 switch", "3 switches")


@pytest.mark.parametrize(
    ("count", "text"), [(1, "once"), (Fraction(2), "twice"), (3, "3 times"), (Fraction(3, 2), "3/2 times")]
)
def test_how_often_something_happens(count: int | Fraction, text: str) -> None:
    assert times(count) == text
