"""A matrix of bandwidths between all pairs, and the network that it means.

Each pair was measured alone, so a matrix cannot show what pairs share. By default it is read as the ports of one
switch: what a node sends is at most the greatest value of its row, what it receives the greatest of its column.
`--matrix complete` reads a complete graph; of a box with a switch, that gives far too much bandwidth.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from forestcoll.topology.builder import TopologyBuilder
from forestcoll.topology.importers.notes import Notes
from forestcoll.topology.importers.source import Source

SWITCH = "switch"


@dataclass(frozen=True)
class Square:
    """A matrix.

    Attributes:
        names: the nodes, in the order of rows and columns.
        rows: GB/s from the node of the row to that of the column; None where nothing was measured.
        attributes: attributes of nodes, by name.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[Fraction | None, ...], ...]
    attributes: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


def square_network(source: Source, square: Square, matrix: str, notes: Notes) -> TopologyBuilder:
    """Return the network that a matrix means; the diagonal, which is a node's own memory, is left out.

    Raises:
        InputError: a node neither sends nor receives anything.
    """
    builder = TopologyBuilder(source.stem, where=source.where)
    for name in square.names:
        builder.add_compute(name, **{"box": source.stem, **square.attributes.get(name, {})})
    notes.ignore("the diagonal, which is the memory of a node")
    if matrix == "complete":
        notes.assume("every pair has a link of its own, as --matrix complete says")
        _add_pairs(builder, square)
        return builder
    notes.assume(
        "the values are ports of one switch: the greatest of a row goes out, the greatest of a column comes in; "
        "forestcoll import --matrix complete reads a link for each pair"
    )
    _add_ports(source, builder, square)
    return builder


def _add_pairs(builder: TopologyBuilder, square: Square) -> None:
    for place, one in enumerate(square.names):
        for other, value in zip(square.names, square.rows[place], strict=True):
            if one != other and value:
                builder.add_link(one, other, value)


def _add_ports(source: Source, builder: TopologyBuilder, square: Square) -> None:
    switch = builder.add_switch(SWITCH if SWITCH not in square.names else f"{SWITCH} of all", box=source.stem)
    for place, name in enumerate(square.names):
        row = _others(square.rows[place], place)
        column = _others([each[place] for each in square.rows], place)
        if not row or not column:
            raise source.error(f"{name} has no value to or from another node; leave it out or measure it")
        builder.add_link(name, switch, max(row))
        builder.add_link(switch, name, max(column))


def _others(values: Sequence[Fraction | None], place: int) -> list[Fraction]:
    return [value for number, value in enumerate(values) if number != place and value is not None and value != 0]
