import json
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.base.errors import InputError
from forestcoll.base.exact import (
    MAX_DIGITS,
    MAX_RESULT_DIGITS,
    WrittenFloat,
    as_float,
    exact_sum,
    json_text,
    plain_number,
    to_fraction,
)

LARGEST = 10**MAX_DIGITS - 1


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (25, Fraction(25)),
        (Fraction(25, 3), Fraction(25, 3)),
        (Decimal("0.1"), Fraction(1, 10)),
        ("25", Fraction(25)),
        (" 25/3 ", Fraction(25, 3)),
        ("0.1", Fraction(1, 10)),
        (".5", Fraction(1, 2)),
        ("5.", Fraction(5)),
        ("-1.5e3", Fraction(-1500)),
        ("+2E-2", Fraction(1, 50)),
        (0.1, Fraction(1, 10)),
        (1e22, Fraction(10**22)),
        (WrittenFloat("0.1"), Fraction(1, 10)),
        (WrittenFloat("0.12345678901234567890123456789"), Fraction(12345678901234567890123456789, 10**29)),
        (np.float32(0.1), Fraction(1, 10)),
        (np.float64(0.1), Fraction(1, 10)),
        (LARGEST, Fraction(LARGEST)),
    ],
)
def test_a_number_is_read_exactly(value: object, expected: Fraction) -> None:
    assert to_fraction(value) == expected


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (True, "is not a number"),
        (None, "is not a number"),
        ([], "is not a number"),
        (1j, "is not a number"),
        ("", "is not a number"),
        ("a", "is not a number"),
        ("1/", "is not a number"),
        ("1/-2", "is not a number"),
        ("1 2", "is not a number"),
        ("1_000", "is not a number"),
        ("0x10", "is not a number"),
        ("\N{ARABIC-INDIC DIGIT ONE}", "is not a number"),
        ("1/0", "has a zero denominator"),
        ("nan", "is not finite"),
        ("-Infinity", "is not finite"),
        (float("nan"), "is not finite"),
        (float("inf"), "is not finite"),
        (Decimal("nan"), "is not finite"),
        (Decimal("snan"), "is not finite"),
        (Decimal("-inf"), "is not finite"),
        (WrittenFloat("NaN"), "is not finite"),
        (WrittenFloat("1e400"), f"has more than {MAX_DIGITS} digits"),
        ("1e1000000000", f"has more than {MAX_DIGITS} digits"),
        ("1e-1000000000", f"has more than {MAX_DIGITS} digits"),
        (Decimal("1e1000000"), f"has more than {MAX_DIGITS} digits"),
        ("9" * 1_000_000, f"has more than {MAX_DIGITS} digits"),
        (LARGEST + 1, f"has more than {MAX_DIGITS} digits"),
        (Fraction(1, LARGEST + 1), f"has more than {MAX_DIGITS} digits"),
    ],
)
def test_a_value_that_is_not_an_exact_number_is_refused(value: object, problem: str) -> None:
    with pytest.raises(ValueError, match=f"^{problem}$"):
        to_fraction(value)


@pytest.mark.parametrize("text", ["{0}/{1}", "0.{0}", "{0}/2", "{0}", "-{0}"])
def test_results_can_have_more_digits_than_inputs(text: str) -> None:
    written = text.format("9" * (MAX_RESULT_DIGITS - 1), "7" * MAX_RESULT_DIGITS)
    assert to_fraction(written, digits=MAX_RESULT_DIGITS) == Fraction(written)
    with pytest.raises(ValueError, match=f"^has more than {MAX_DIGITS} digits$"):
        to_fraction(written)


@pytest.mark.parametrize("length", [4001, 4300, 4301, 10_000, 10**6])
@pytest.mark.parametrize("text", ["{}", "1/{}", "{}/{}", "0.{}", "1e{}", "-{}"])
def test_the_digit_limit_of_python_is_never_reached(text: str, length: int) -> None:
    with pytest.raises(ValueError, match=r"^has more than 4000 digits$"):
        to_fraction(text.replace("{}", "7" * length), digits=MAX_RESULT_DIGITS)


def test_numpy_integers_become_python_integers() -> None:
    number = to_fraction(np.int64(2**62))
    assert number * 4 == 2**64
    assert type(number.numerator) is int


@pytest.mark.parametrize(
    ("number", "plain"), [(Fraction(25), 25), (Fraction(25, 3), "25/3"), (Fraction(-1, 2), "-1/2")]
)
def test_plain_number_is_an_integer_or_a_ratio(number: Fraction, plain: int | str) -> None:
    assert plain_number(number) == plain


@given(st.integers(-LARGEST, LARGEST), st.integers(1, LARGEST))
def test_plain_numbers_are_read_back(numerator: int, denominator: int) -> None:
    number = Fraction(numerator, denominator)
    assert to_fraction(plain_number(number)) == number


@given(st.floats(min_value=1e-40, max_value=1e40))
def test_a_float_is_read_as_its_shortest_decimal(number: float) -> None:
    assert float(to_fraction(number)) == number
    assert to_fraction(number) == Fraction(repr(number))


@pytest.mark.parametrize(
    "text",
    [
        "0.10",
        "[0.10]",
        '[{"a": 1}, {"a": 0.10}]',
        '{"a": {"b": {}, "c": [{"d": "0.1"}, {"d": [0.10, 1]}]}}',
        '[{}, "0.1"]',
    ],
)
def test_a_float_in_any_place_is_written_with_its_digits(text: str) -> None:
    assert json_text(json.loads(text, parse_float=WrittenFloat)) == text


def test_a_sum_counts_each_occurrence_of_an_object_and_of_equal_objects() -> None:
    third = Fraction(1, 3)
    assert exact_sum([third, Fraction(1, 2), third, Fraction(1, 3), Fraction(0)]) == Fraction(3, 2)
    assert exact_sum(iter([])) == 0


def test_a_float_of_exact_numbers_is_the_nearest_one_or_a_refusal_that_says_what_to_round() -> None:
    assert as_float(Fraction(1, 3)) == 1 / 3
    assert as_float(2 * 10**500, Fraction(10**501, 7)) == 1.4
    assert as_float(np.float64(0.5)) == 0.5
    for number in (10**400, Fraction(10**400, 3), -(10**400)):
        with pytest.raises(InputError, match="beyond the range of floating point; round them: forestcoll import FILE"):
            as_float(number)
