"""The layout of a large direct network: its nodes in columns, by their distance from the first node."""

from forestcoll.presentation.pictures.layout.circle import node_mark
from forestcoll.presentation.pictures.layout.structure import Structure
from forestcoll.presentation.pictures.layout.value import Mark, NetworkLayout
from forestcoll.topology.graph.walks import levels

_MOST_IN_COLUMN = 12
_COLUMN, _ROW = 126.0, 34.0
_MARGIN, _STACK_WIDTH, _STACK_HEIGHT = 30.0, 104.0, 60.0


def distances_layout(structure: Structure) -> NetworkLayout:
    """Return the layout: a column with many nodes is one mark."""
    columns = _columns(structure)
    height = 2 * _MARGIN + _ROW * max(2, *(len(column) for column in columns if len(column) <= _MOST_IN_COLUMN))
    marks: list[Mark] = []
    for place, column in enumerate(columns):
        x = _MARGIN + _STACK_WIDTH / 2 + _COLUMN * place
        if len(column) > _MOST_IN_COLUMN:
            marks.append(_stack(structure, column, place, x, height / 2))
            continue
        top = (height - _ROW * (len(column) - 1)) / 2
        marks += [node_mark(structure, node, x, top + _ROW * row, named=True) for row, node in enumerate(column)]
    note = f"Columns: the nodes by their number of hops from {structure.topology.nodes[0].id}."
    return NetworkLayout(2 * _MARGIN + _STACK_WIDTH + _COLUMN * (len(columns) - 1), height, tuple(marks), notes=(note,))


def _stack(structure: Structure, column: list[int], hops: int, x: float, y: float) -> Mark:
    nodes = structure.topology.nodes
    name = f"{len(column):,} nodes at {hops} hops from {nodes[0].id}: {nodes[column[0]].id} to {nodes[column[-1]].id}"
    label = f"{len(column):,} nodes"
    return Mark(tuple(column), x, y, _STACK_WIDTH, _STACK_HEIGHT, label, name, is_compute=True)


def _columns(structure: Structure) -> list[list[int]]:
    """Return the nodes by their distance from the first node, along links in either direction."""
    return [sorted(level) for level in levels([0], structure.neighbours.__getitem__)]
