"""Numbers with their nouns, and the nearest of known names."""

from fractions import Fraction

import pytest

from forestcoll.base.errors import did_you_mean, nearest, plural, times


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


def test_the_nearest_name_is_found_regardless_of_case() -> None:
    assert nearest("ALLGAHTER", ["allreduce", "allgather"]) == "allgather"
    assert nearest("gpu0", ["GPU0", "GPU1"]) == "GPU0"
    assert nearest("zzzz", ["allgather"]) is None
    assert nearest("x" * 10**6, ["x" * 50]) == "x" * 50
    assert nearest("a", []) is None
    assert nearest("gpu", ["b0/gpu0", "b1/gpu0"]) == nearest("gpu", ["b0/gpu0", "b0/gpu1"]) == "b0/gpu0"


def test_a_hint_is_a_question_or_empty() -> None:
    assert did_you_mean("tors", ["torus"]) == "did you mean 'torus'? "
    assert did_you_mean("zzzz", ["torus"]) == ""


def test_the_search_for_the_nearest_name_is_bounded() -> None:
    assert nearest("node/19999", (f"node/{number}" for number in range(10**7))) is not None
