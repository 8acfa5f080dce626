"""Demand matrices: how much data each compute node sends to each other one, as exact numbers.

A matrix has one row for each compute node that takes part, in the order of their numbers: the row of the source, the
column of the target. Its entries are multiples of M, the data size that algbw refers to. Data that a node keeps is not
sent, so the diagonal is read as 0. A CSV file has one line for each row. It may name the nodes: then the first line
holds the ids of the columns after a cell of any content, and each other line starts with the id of its row.
"""

import csv
from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from forestcoll.base.errors import InputError, plural, shown
from forestcoll.base.exact import MAX_DIGITS, to_fraction
from forestcoll.base.files import PathLike, as_path, read_text
from forestcoll.demand.ranks import members_of
from forestcoll.topology import Topology

Matrix: TypeAlias = tuple[tuple[Fraction, ...], ...]
"""A checked demand matrix, with zeros on the diagonal."""

MatrixLike: TypeAlias = Sequence[Sequence[object]]
"""Rows of numbers that `exact.to_fraction` takes, in the order of the compute nodes that take part."""

MAX_COMMON_DIGITS = 300
"""The most digits of the common denominator of all entries; capacities of the solver grow with it."""


def matrix_of(
    topology: Topology,
    rows: MatrixLike,
    *,
    ranks: tuple[int, ...] | None = None,
    where: str = "demand",
    digits: int = MAX_DIGITS,
) -> Matrix:
    """Return a demand matrix after its checks.

    Args:
        topology: the network.
        rows: one row for each compute node that takes part, each with one number for each of these nodes.
        ranks: the numbers of the nodes that take part; all compute nodes if None.
        where: the text that begins error messages.
        digits: the most digits that an entry may have.

    Example:
        >>> from forestcoll import load_topology
        >>> matrix_of(load_topology("ring:nodes=3"), [[9, "1/2", 0], [0, 0, 1], [1, 0, 0]])[0]
        (Fraction(0, 1), Fraction(1, 2), Fraction(0, 1))

    Raises:
        InputError: the matrix is not square or has another size than the number of nodes, an entry is not a number or
            negative, all entries are 0, or the common denominator has more than `MAX_COMMON_DIGITS` digits.
    """
    count = len(members_of(topology, ranks))
    listed = [_list_of(row, f"{where}: row {place}") for place, row in enumerate(_list_of(rows, where))]
    if len(listed) != count:
        raise InputError(
            f"{where}: has {plural(len(listed), 'row')}; expected one for each of the {count} nodes that take part"
        )
    known: dict[object, Fraction] = {}

    def entry(value: object, row: int, column: int) -> Fraction:
        return _entry(value, f"{where}: row {row}, column {column}", digits, known)

    for place, row in enumerate(listed):
        if len(row) != count:
            raise InputError(f"{where}: row {place} has {len(row)} numbers; expected {count}")
    matrix = tuple(
        tuple(Fraction(0) if row == column else entry(value, row, column) for column, value in enumerate(values))
        for row, values in enumerate(listed)
    )
    _check_size(matrix, where)
    return matrix


def _list_of(value: object, where: str) -> Sequence[object]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(f"{where} is {shown(value)}; expected a list")
    return list(value)


def _entry(value: object, where: str, digits: int, known: dict[object, Fraction]) -> Fraction:
    """Return one number; each distinct text is read once."""
    if isinstance(value, str) and value in known:
        return known[value]
    try:
        entry = to_fraction(value, digits=digits)
    except ValueError as error:
        raise InputError(f"{where}: {shown(value)} {error}; write a rational such as '1/48'") from None
    if entry < 0:
        raise InputError(f"{where} is {shown(value)}; it must be 0 or more")
    if isinstance(value, str):
        known[value] = entry
    return entry


def _check_size(matrix: Matrix, where: str) -> None:
    distinct = {entry for row in matrix for entry in row}
    if not any(distinct):
        raise InputError(f"{where}: no node sends data to another; make an entry outside the diagonal greater than 0")
    common = 1
    for denominator in {entry.denominator for entry in distinct}:
        common = lcm(common, denominator)
        if common >= 10**MAX_COMMON_DIGITS:
            raise InputError(f"{where}: the common denominator has more than {MAX_COMMON_DIGITS} digits; round entries")


def read_matrix(path: PathLike, topology: Topology, ranks: tuple[int, ...] | None = None) -> Matrix:
    r"""Return the demand matrix in a CSV file.

    Args:
        path: the file; `-` is standard input.
        topology: the network.
        ranks: the numbers of the nodes that take part; all compute nodes if None.

    Example:
        >>> from pathlib import Path
        >>> from forestcoll import load_topology
        >>> _ = Path("demand.csv").write_text("0, 1/2\n1/4, 0\n")
        >>> str(read_matrix("demand.csv", load_topology("ring:nodes=2"))[1][0])
        '1/4'

    Raises:
        InputError: the file cannot be read, or its content is not a demand matrix of the nodes that take part.
    """
    path = as_path(path)
    where = str(path)
    try:
        cells = [[cell.strip() for cell in row] for row in csv.reader(read_text(path).splitlines()) if any(row)]
    except csv.Error as error:
        raise InputError(f"{where}: is not CSV: {error}; write one line of numbers for each node") from None
    members = members_of(topology, ranks)
    if len(cells) == len(members) + 1:
        cells = _by_name(cells, topology, members, where)
    return matrix_of(topology, cells, ranks=ranks, where=where)


def _by_name(cells: list[list[str]], topology: Topology, members: tuple[int, ...], where: str) -> list[list[str]]:
    """Return the numbers of a table whose first line and first column name the nodes, in the order of `members`."""
    head, *body = cells
    columns = _places(head[1:], topology, members, f"{where}: line 1")
    rows = _places([row[0] for row in body], topology, members, f"{where}: column 1")
    for number, row in enumerate(body, start=2):
        if len(row) != len(head):
            raise InputError(f"{where}: line {number} has {len(row)} cells; expected {len(head)}")
    return [[body[row][1 + column] for column in columns] for row in rows]


def _places(names: Sequence[str], topology: Topology, members: tuple[int, ...], where: str) -> list[int]:
    """Return, for each member, the place of its id in `names`."""
    places: dict[int, int] = {}
    for place, name in enumerate(names):
        try:
            node = topology.named(name)
        except InputError as error:
            raise InputError(f"{where}: {error}") from None
        if node in places or node not in members:
            why = "is named twice" if node in places else "does not take part"
            raise InputError(f"{where}: {shown(name)} {why}; name each node that takes part once")
        places[node] = place
    missing = next((node for node in members if node not in places), None)
    if missing is not None:
        raise InputError(f"{where}: does not name {shown(topology.nodes[missing].id)}; name each node that takes part")
    return [places[node] for node in members]
