"""Reads the parts of a proof's document; every message says where it is, what is there, and what is expected."""

from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import TypeVar, cast

import numpy as np

from forestcoll.collective import PhaseOp
from forestcoll.errors import InputError, shown
from forestcoll.exact import MAX_RESULT_DIGITS, to_fraction
from forestcoll.topology import Shift, Symmetry, Topology

Name = TypeVar("Name", bound=StrEnum)


def _value(document: Mapping[str, object], key: str, where: str) -> object:
    if key not in document:
        raise InputError(f'{where} has no "{key}"; this kind of proof needs it')
    return document[key]


def _list(document: Mapping[str, object], key: str, where: str) -> list[object]:
    value = _value(document, key, where)
    if not isinstance(value, list):
        raise InputError(f"{where}.{key} is {shown(value)}; expected a list")
    return value


def _below(value: object, bound: int, where: str) -> int:
    if type(value) is not int or not 0 <= value < bound:
        raise InputError(f"{where} is {shown(value)}; expected an integer from 0 to {bound - 1}")
    return value


def number_below(document: Mapping[str, object], key: str, bound: int, where: str) -> int:
    """Return the integer under `key`, from 0 to `bound` - 1."""
    return _below(_value(document, key, where), bound, f"{where}.{key}")


def node(document: Mapping[str, object], key: str, topology: Topology, where: str) -> int:
    """Return the node number under `key`."""
    return number_below(document, key, len(topology.nodes), where)


def nodes(document: Mapping[str, object], key: str, topology: Topology, where: str) -> tuple[int, ...]:
    """Return the node numbers under `key`."""
    listed = _list(document, key, where)
    return tuple(_below(each, len(topology.nodes), f"{where}.{key}[{place}]") for place, each in enumerate(listed))


def objects(document: Mapping[str, object], key: str, where: str) -> list[Mapping[str, object]]:
    """Return the objects in the list under `key`."""
    listed = _list(document, key, where)
    for place, each in enumerate(listed):
        if not isinstance(each, Mapping):
            raise InputError(f"{where}.{key}[{place}] is {shown(each)}; expected an object")
    return cast("list[Mapping[str, object]]", listed)


def mapping(document: Mapping[str, object], key: str, where: str) -> Mapping[str, object]:
    """Return the object under `key`."""
    value = _value(document, key, where)
    if not isinstance(value, Mapping):
        raise InputError(f"{where}.{key} is {shown(value)}; expected an object")
    return cast("Mapping[str, object]", value)


def rational(document: Mapping[str, object], key: str, where: str) -> Fraction:
    """Return the exact number under `key`."""
    value = _value(document, key, where)
    try:
        return to_fraction(value, digits=MAX_RESULT_DIGITS)
    except ValueError as error:
        raise InputError(f"{where}.{key} {shown(value)} {error}; write a rational such as '1/48'") from None


def integer(document: Mapping[str, object], key: str, where: str) -> int:
    """Return the integer under `key`."""
    value = _value(document, key, where)
    if type(value) is not int:
        raise InputError(f"{where}.{key} is {shown(value)}; expected an integer")
    return value


def name_in(document: Mapping[str, object], key: str, names: type[Name], where: str) -> Name:
    """Return the member of `names` under `key`."""
    value = _value(document, key, where)
    try:
        return names(cast("str", value))
    except ValueError:
        known = ", ".join(repr(each.value) for each in names)
        raise InputError(f"{where}.{key} is {shown(value)}; expected one of {known}") from None


def phase(document: Mapping[str, object], key: str, where: str) -> PhaseOp:
    """Return the phase under `key`."""
    return name_in(document, key, PhaseOp, where)


def symmetry(document: Mapping[str, object], topology: Topology, where: str) -> Symmetry:
    """Return the symmetry under the key `symmetry`, the one without shifts where there is no such key."""
    if "symmetry" not in document:
        return Symmetry(())
    shifts = []
    for place, each in enumerate(objects(document, "symmetry", where)):
        here = f"{where}.symmetry[{place}]"
        order, image = integer(each, "order", here), nodes(each, "image", topology, here)
        if order < 2 or len(image) != len(topology.nodes):
            size = len(topology.nodes)
            raise InputError(f"{here} has order {shown(order)} and {len(image)} images; expected 2 or more, and {size}")
        shifts.append(Shift(order, np.array(image, dtype=np.int32)))
    return Symmetry(tuple(shifts))
