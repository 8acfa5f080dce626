"""Reads parts of the document of a proof, by key. `where` is the place of the document in the file."""

from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from forestcoll.base.errors import InputError
from forestcoll.base.json_parts import (
    Name,
    integer_of,
    list_of,
    name_of,
    number_below,
    numbers_below,
    object_of,
    rational_of,
)
from forestcoll.base.json_parts import require as require_keys
from forestcoll.demand.collective import PhaseOp
from forestcoll.topology import Shift, Symmetry, Topology


def _value(document: Mapping[str, object], key: str, where: str) -> object:
    require_keys(document, [key], where, "this kind of proof")
    return document[key]


def link(document: Mapping[str, object], key: str, topology: Topology, where: str) -> int:
    """Return the number of a link under `key`."""
    return number_below(_value(document, key, where), len(topology.links), f"{where}.{key}")


def node(document: Mapping[str, object], key: str, topology: Topology, where: str) -> int:
    """Return the node number under `key`."""
    return number_below(_value(document, key, where), len(topology.nodes), f"{where}.{key}")


def nodes(document: Mapping[str, object], key: str, topology: Topology, where: str) -> tuple[int, ...]:
    """Return the node numbers under `key`."""
    return numbers_below(_value(document, key, where), len(topology.nodes), f"{where}.{key}")


def lists_of_nodes(
    document: Mapping[str, object], key: str, topology: Topology, where: str
) -> tuple[tuple[int, ...], ...]:
    """Return the lists of node numbers under `key`."""
    listed = list_of(_value(document, key, where), f"{where}.{key}")
    return tuple(
        numbers_below(each, len(topology.nodes), f"{where}.{key}[{place}]") for place, each in enumerate(listed)
    )


def objects(document: Mapping[str, object], key: str, where: str) -> list[Mapping[str, object]]:
    """Return the objects in the list under `key`."""
    listed = list_of(_value(document, key, where), f"{where}.{key}")
    return [object_of(each, f"{where}.{key}[{place}]") for place, each in enumerate(listed)]


def mapping(document: Mapping[str, object], key: str, where: str) -> Mapping[str, object]:
    """Return the object under `key`."""
    return object_of(_value(document, key, where), f"{where}.{key}")


def rational(document: Mapping[str, object], key: str, where: str) -> Fraction:
    """Return the exact number under `key`."""
    return rational_of(_value(document, key, where), f"{where}.{key}")


def integer(document: Mapping[str, object], key: str, where: str) -> int:
    """Return the integer under `key`."""
    return integer_of(_value(document, key, where), f"{where}.{key}")


def name_in(document: Mapping[str, object], key: str, names: type[Name], where: str) -> Name:
    """Return the member of `names` under `key`."""
    return name_of(_value(document, key, where), names, f"{where}.{key}")


def phase(document: Mapping[str, object], key: str, where: str) -> PhaseOp:
    """Return the phase under `key`."""
    return name_in(document, key, PhaseOp, where)


def symmetry(document: Mapping[str, object], topology: Topology, where: str) -> Symmetry:
    """Return the symmetry under the key `symmetry`; without this key, the symmetry without shifts."""
    if "symmetry" not in document:
        return Symmetry(())
    return symmetry_of(document["symmetry"], topology, f"{where}.symmetry")


def symmetry_of(value: object, topology: Topology, where: str) -> Symmetry:
    """Return the symmetry that a list of shifts describes."""
    return Symmetry(
        tuple(
            _shift(each, len(topology.nodes), f"{where}[{place}]") for place, each in enumerate(list_of(value, where))
        )
    )


def _shift(value: object, nodes: int, where: str) -> Shift:
    shift = object_of(value, where, '{"order": ..., "image": [...]}')
    require_keys(shift, ("order", "image"), where)
    order = integer_of(shift["order"], f"{where}.order", least=2)
    image = numbers_below(shift["image"], nodes, f"{where}.image")
    if len(image) != nodes:
        raise InputError(f"{where}.image has {len(image)} entries; expected one for each of the {nodes} nodes")
    return Shift(order, np.array(image, dtype=np.int32))
