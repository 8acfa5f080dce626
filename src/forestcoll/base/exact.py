"""Exact numbers in input: a number in a file or an argument becomes a `Fraction` without rounding.

Invariant: no number is rounded, and no number is expanded before its size is known to be small (an exponent of a
billion is refused, not computed).
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from numbers import Rational, Real
from typing import Self, SupportsFloat

from forestcoll.base.errors import InputError

MAX_DIGITS = 60
"""The most decimal digits that the numerator and the denominator of a bandwidth or a latency may have, each."""

MAX_RESULT_DIGITS = 4000
"""The same limit for results; sums and products of bandwidths are longer. Python reads at most 4300 digits."""

MAX_TREES_DIGITS = 100
"""The most digits of a requested number of trees: with more, results would be longer than `MAX_RESULT_DIGITS`."""

_DIGITS = re.compile(r"[0-9]+")
_INTEGER_RATIO = re.compile(r"([+-]?[0-9]+)(?:/([0-9]+))?")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE]([+-]?[0-9]+))?")


class WrittenFloat(float):
    """A JSON number with a decimal point or an exponent, together with its text in the file."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Self:
        """Keep `text`, the characters of the number, in addition to its nearest float."""
        number = super().__new__(cls, text)
        number.text = text
        return number


def to_fraction(value: object, *, digits: int = MAX_DIGITS) -> Fraction:
    """Return `value` exactly.

    Takes an integer, a `Fraction`, a `Decimal`, a string (`"25"`, `"25/3"`, `"0.1"`, `"1.5e3"`) or a float. A float is
    read as the shortest decimal that denotes it: 0.1 is 1/10. Integers and floats of numpy are accepted too.

    Raises:
        ValueError: the text says what is wrong with the value: not a number, not finite, a zero denominator, or more
            than `digits` digits. `digits` is at most `MAX_RESULT_DIGITS`.
    """
    if isinstance(value, bool):
        raise ValueError("is not a number")
    if isinstance(value, WrittenFloat):
        return _parse(value.text, digits)
    if isinstance(value, Rational):
        exact = Fraction(int(value.numerator), int(value.denominator))  # integers of numpy would overflow
        return _bounded(exact, digits)
    if isinstance(value, (Real, Decimal)):
        # math.isfinite would call a Decimal infinite that is only too large for a float
        if not (value.is_finite() if isinstance(value, Decimal) else math.isfinite(value)):
            raise ValueError("is not finite")
        return _parse(str(value), digits)
    if isinstance(value, str):
        return _parse(value.strip(), digits)
    raise ValueError("is not a number")


def _parse(text: str, digits: int) -> Fraction:
    longest = min(4 * digits, MAX_RESULT_DIGITS)  # limit for an integer in the text, before the fraction is reduced
    if len(text) > 2 * longest + 2 or any(len(each) > longest for each in _DIGITS.findall(text)):
        raise _too_long(digits)
    if ratio := _INTEGER_RATIO.fullmatch(text):
        if ratio[2] is not None and int(ratio[2]) == 0:
            raise ValueError("has a zero denominator")
        return _bounded(Fraction(int(ratio[1]), int(ratio[2] or 1)), digits)
    if decimal := _DECIMAL.fullmatch(text):
        if abs(int(decimal[1] or 0)) > 2 * digits:
            raise _too_long(digits)
        return _bounded(Fraction(text), digits)
    if text.lower().lstrip("+-") in {"nan", "inf", "infinity"}:
        raise ValueError("is not finite")
    raise ValueError("is not a number")


def _bounded(number: Fraction, digits: int) -> Fraction:
    bound = 10**digits
    if abs(number.numerator) >= bound or number.denominator >= bound:
        raise _too_long(digits)
    return number


class TooLongError(ValueError):
    """A number has too many digits."""


def _too_long(digits: int) -> TooLongError:
    return TooLongError(f"has more than {digits} digits")


def json_text(document: object, *, indent: int | None = None) -> str:
    """Return `json.dumps(document)`; each `WrittenFloat` in it is written with the digits it was read with.

    Raises:
        TypeError: `document` contains a value that JSON cannot represent.
    """
    text = json.dumps(document, indent=indent)
    if not _holds_written_float(document):
        return text
    mark = "float"
    while mark in text:
        mark += "-"
    floats: list[str] = []
    marked = json.dumps(_marked(document, mark, floats), indent=indent)
    return re.sub(f'"{mark}([0-9]+)"', lambda found: floats[int(found[1])], marked)


_PLAIN = frozenset((str, int, bool, type(None)))


def _holds_written_float(value: object) -> bool:
    if isinstance(value, dict | list | tuple):
        values = value.values() if isinstance(value, dict) else value
        kinds = set(map(type, values))
        if kinds == {dict}:  # such as all edges of a network; their values are checked together
            return _holds_written_float(list(chain.from_iterable(map(dict.values, values))))
        return not kinds <= _PLAIN and any(map(_holds_written_float, values))
    return isinstance(value, WrittenFloat)


def _marked(value: object, mark: str, floats: list[str]) -> object:
    """Return `value` with each `WrittenFloat` replaced by the text `mark` plus the index of its digits in `floats`."""
    if isinstance(value, WrittenFloat):
        floats.append(value.text)
        return f"{mark}{len(floats) - 1}"
    if isinstance(value, dict):
        return {key: _marked(each, mark, floats) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_marked(each, mark, floats) for each in value]
    return value


def exact_sum(numbers: Iterable[Fraction]) -> Fraction:
    """Return the sum of `numbers`, much faster than `sum` if thousands share few objects or denominators."""
    listed = list(numbers)
    objects = dict(zip(map(id, listed), listed, strict=True))
    numerators: dict[int, int] = {}
    for identity, count in Counter(map(id, listed)).items():
        numerator, denominator = objects[identity].as_integer_ratio()
        numerators[denominator] = numerators.get(denominator, 0) + numerator * count
    return sum((Fraction(above, below) for below, above in numerators.items()), Fraction(0))


def as_float(number: SupportsFloat, unit: int | Fraction = 1) -> float:
    """Return `number` / `unit` as a float, which suggests and never decides.

    Linear programs and searches make all their floats here; those of a program have one unit, the greatest number.

    Args:
        number: an exact number, or one of NumPy.
        unit: the unit of an exact number.

    Example:
        >>> as_float(10**400, unit=3 * 10**400)
        0.3333333333333333

    Raises:
        InputError: it is beyond the range of floats.
    """
    try:
        return float(number / unit if unit != 1 and isinstance(number, int | Fraction) else number)
    except OverflowError:
        raise InputError(
            "the bandwidths make numbers beyond the range of floating point; round them: forestcoll import FILE "
            "--rounding 12"
        ) from None


def rounded(number: Fraction, digits: int) -> Fraction:
    """Return a number with `digits` significant decimal digits, half to even.

    Example:
        >>> rounded(Fraction(2, 3), 3), rounded(Fraction(123456), 2)
        (Fraction(667, 1000), Fraction(120000, 1))
    """
    if not number:
        return number
    places = len(str(abs(number.numerator))) - len(str(number.denominator))
    if abs(number) < Fraction(10) ** places:
        places -= 1
    unit = Fraction(10) ** (places - digits + 1)
    return round(number / unit) * unit


def plain_number(number: Fraction) -> int | str:
    """Return `number` as the simplest JSON value that is read back exactly: an integer if possible, else `"p/q"`."""
    return number.numerator if number.denominator == 1 else str(number)
