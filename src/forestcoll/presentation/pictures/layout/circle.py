"""The layout of a small direct network: its nodes on a circle."""

import math

from forestcoll.presentation.pictures.layout.rows import NODE_HEIGHT, STACK_WIDTH, compute_mark
from forestcoll.presentation.pictures.layout.structure import Structure
from forestcoll.presentation.pictures.layout.value import Mark, NetworkLayout

_MARGIN = 24.0
_MOST_NAMED = 64
_SHOWN = 24
_DOT = 7.0


def circle_layout(structure: Structure) -> NetworkLayout:
    """Return the nodes in the order of their numbers on a circle."""
    count = len(structure.topology.nodes)
    shown = count if count <= _MOST_NAMED else _SHOWN
    places = [(number,) for number in range(shown)] + ([tuple(range(shown, count))] if shown < count else [])
    slots = len(places) + 2 * (shown < count)  # the mark of many nodes is wider: it has an empty place at each side
    radius = max(90.0, slots * (structure.node_width + (7 if shown == count else 22)) / (2 * math.pi))
    marks = []
    for place, nodes in enumerate(places):
        slot = place if place < shown else shown + 1
        angle = 2 * math.pi * slot / slots - math.pi / 2
        x = _MARGIN + STACK_WIDTH / 2 + radius * (1 + math.cos(angle))
        y = _MARGIN + NODE_HEIGHT / 2 + radius * (1 + math.sin(angle))
        marks.append(compute_mark(structure, nodes, x, y, structure.prefix))
    notes = ("Most nodes share one mark, with their number.",) if shown < count else ()
    width, height = 2 * radius + STACK_WIDTH + 2 * _MARGIN, 2 * radius + NODE_HEIGHT + 2 * _MARGIN
    return NetworkLayout(width, height, tuple(marks), notes=notes)


def node_mark(structure: Structure, number: int, x: float, y: float, *, named: bool) -> Mark:
    """Return the mark of one node: a label if it is `named`, else a dot."""
    made = compute_mark(structure, (number,), x, y, structure.prefix)
    node = structure.topology.nodes[number]
    width, height = (made.width, made.height) if named else (_DOT, _DOT)
    name = made.name.removeprefix(structure.prefix)
    label = structure.label(name, width - 2, is_long=structure.has_long_names) if named else ""
    return Mark((number,), x, y, width, height, label, made.name, is_compute=node.is_compute)
