"""Numbers and sentences of a series of broadcasts."""

from fractions import Fraction

import pytest

from forestcoll.oneport import compare_series
from forestcoll.presentation.results.schedules.series import about, generated_page, number
from forestcoll.simulation.series.play import play_series
from oneport_platforms import figure_1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(3), "3"),
        (Fraction(1, 3), "1/3 (0.333333)"),
        (Fraction(10**14 + 1, 10**13), "about 10"),
        (Fraction(7 * 10**400), "about 10^400"),
    ],
)
def test_a_number_is_exact_unless_it_has_many_digits(value: Fraction, text: str) -> None:
    assert number(value) == text


def test_a_number_above_the_greatest_float_is_a_power_of_ten() -> None:
    assert about(Fraction(10**298)) == "about 1e+298"
    assert about(Fraction(10**299)) == "about 10^299"


def test_the_page_says_how_much_of_the_optimum_a_tree_reaches() -> None:
    compared = compare_series(figure_1(), "s")
    schedule = compared.schedule("tree")
    run = play_series(schedule, 10)
    page = generated_page(compared, schedule, run, {}, None)
    rows = {words[0]: words[1] for words in (line.strip().split("  ", 1) for line in page.lines()) if len(words) == 2}
    assert "over all links; this is " in rows["optimum"]
    assert rows["simulated"].strip().startswith("10 messages in ")
    whole = generated_page(compared, compared.schedule(), None, {}, None)
    assert any("reached; no schedule is faster" in line for line in whole.lines())
    assert not any("simulated" in line for line in whole.lines())
