"""Validation of the parts of JSON documents. Each message states the place, the value, and what is expected.

The argument `where` is the place of the value, with the file: `FILE: phases[0].op`.
"""

from collections.abc import Iterable, Mapping
from enum import StrEnum
from fractions import Fraction
from math import inf
from typing import TypeVar, cast

from forestcoll.base.errors import InputError, shown
from forestcoll.base.exact import MAX_RESULT_DIGITS, to_fraction

Name = TypeVar("Name", bound=StrEnum)


def require(document: Mapping[str, object], keys: Iterable[str], where: str, what: str = "a schedule") -> None:
    """Check that `document` has all `keys`; `what` names the document in the message."""
    for key in keys:
        if key not in document:
            raise InputError(f'{where} has no "{key}"; {what} needs it')


def list_of(value: object, where: str) -> list[object]:
    """Return `value` if it is a list."""
    if not isinstance(value, list):
        raise InputError(f"{where} is {shown(value)}; expected a list")
    return value


def object_of(value: object, where: str, form: str = "an object") -> Mapping[str, object]:
    """Return `value` if it is a JSON object; `form` describes it in the message."""
    if not isinstance(value, Mapping):
        raise InputError(f"{where} is {shown(value)}; expected {form}")
    return cast("Mapping[str, object]", value)


def rational_of(value: object, where: str) -> Fraction:
    """Return `value` as an exact number."""
    try:
        return to_fraction(value, digits=MAX_RESULT_DIGITS)
    except ValueError as error:
        raise InputError(f"{where} {shown(value)} {error}; write a rational such as '1/48'") from None


def text_of(value: object, where: str) -> str:
    """Return `value` if it is a text that is not empty."""
    if not isinstance(value, str) or not value:
        raise InputError(f"{where} is {shown(value)}; expected a text")
    return value


def number_of(value: object, where: str) -> float:
    """Return `value` if it is a number of 0 or more, in JSON no text."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < inf:
        raise InputError(f"{where} is {shown(value)}; expected a number of 0 or more")
    return value


def integer_of(value: object, where: str, *, least: int | None = None) -> int:
    """Return `value` if it is an integer and, if `least` is given, not less than that."""
    if type(value) is not int or (least is not None and value < least):
        limit = "" if least is None else f" of {least} or more"
        raise InputError(f"{where} is {shown(value)}; expected an integer{limit}")
    return value


def number_below(value: object, bound: int, where: str) -> int:
    """Return `value` if it is an integer from 0 to `bound` - 1."""
    if type(value) is not int or not 0 <= value < bound:
        raise InputError(f"{where} is {shown(value)}; expected an integer from 0 to {bound - 1}")
    return value


def numbers_below(value: object, bound: int, where: str) -> tuple[int, ...]:
    """Return `value` as a tuple if it is a list of integers from 0 to `bound` - 1."""
    return tuple(number_below(entry, bound, f"{where}[{place}]") for place, entry in enumerate(list_of(value, where)))


def name_of(value: object, names: Iterable[Name], where: str) -> Name:
    """Return the member of `names` with the value `value`."""
    known = {name.value: name for name in names}
    if not isinstance(value, str) or value not in known:
        listed = ", ".join(map(repr, known))
        raise InputError(f"{where} is {shown(value)}; this version supports {listed}")
    return known[value]
