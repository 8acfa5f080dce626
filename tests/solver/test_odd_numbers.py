"""Networks with odd numbers, drawn at random: see `odd_numbers`. `make soak` tries many more."""

from random import Random

import pytest

from odd_numbers import CHECKS, DIGITS, check_many_digits


@pytest.mark.parametrize("name", CHECKS)
def test_promises_hold_for_odd_numbers(name: str) -> None:
    for seed in range(25):
        CHECKS[name](Random(seed))  # noqa: S311 (a test)


@pytest.mark.parametrize("digits", DIGITS)
def test_all_searches_take_bandwidths_of_many_digits(digits: int) -> None:
    for seed in range(3):
        check_many_digits(Random(seed), digits)  # noqa: S311 (a test)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
@pytest.mark.parametrize("seed", range(25, 300))
def test_promises_hold_for_more_odd_numbers(name: str, seed: int) -> None:
    CHECKS[name](Random(seed))  # noqa: S311 (a test)
