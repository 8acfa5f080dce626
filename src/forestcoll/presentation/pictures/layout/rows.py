"""The inside of a group: compute nodes in a row or on a circle, switches that lead outside above, others below."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forestcoll.presentation.pictures.layout.labels import common_prefix, fitted, text_width, without_prefix
from forestcoll.presentation.pictures.layout.structure import FramedNodes, Structure
from forestcoll.presentation.pictures.layout.value import Mark
from forestcoll.topology.graph.walks import hops
from forestcoll.topology.link_classes import is_nic

NODE_HEIGHT = 22.0
_GAP, ROW = 8.0, 74.0
_MOST_ALIKE = 16
"""The most compute nodes of equal structure in a row; if there are more, all but the first are one mark."""
_SHOWN_ALIKE = 6
_MOST_ON_CIRCLE = 32
STACK_WIDTH = 76.0
_ARCS = 34.0
_MOST_IN_ROW = 12
_MOST_BARS = 48
_MOST_LETTERS = 10
"""The letters of the name of a switch for which a row is made wider."""
_LEAST_BAR, _BETWEEN_BARS, _AROUND_LABEL = 8.0, 10, 14
"""The least width of a bar, the space between two bars, and that between their labels."""


@dataclass(frozen=True)
class Inside:
    """The marks of a group, with coordinates from its upper left corner.

    Attributes:
        width: the width of the group.
        height: the height of the group.
        marks: the marks.
        label: the name of the group.
    """

    width: float
    height: float
    marks: tuple[Mark, ...]
    label: str


def inside_of(structure: Structure, group: FramedNodes) -> Inside:
    """Return the places of the nodes of a group."""
    nodes = structure.topology.nodes
    compute = [node for node in group.nodes if nodes[node].is_compute]
    outward = _outward(structure, group)
    above: dict[int, list[int]] = {}
    for switch, level in outward.items():
        above.setdefault(level, []).append(switch)
    below = [node for node in group.nodes if not nodes[node].is_compute and node not in outward]
    prefix = common_prefix([str(nodes[node].id) for node in group.nodes])
    middle, height = _compute_marks(structure, compute, prefix)
    width = max(
        [
            _extent(middle),
            text_width(group.name) + 16,
            *(_row_width(structure, row, prefix) for row in above.values()),
        ]
    )
    middle = [mark.moved((width - _extent(middle)) / 2, 0) for mark in middle]
    marks: list[Mark] = []
    top = _ARCS if any(_are_linked(structure, row) for row in above.values()) else 0.0
    for level in sorted(above):
        marks += switch_row(structure, above[level], width, top + NODE_HEIGHT / 2, prefix)
        top += ROW
    marks += [mark.moved(0, top) for mark in middle]
    bottom = top + height
    if below:
        marks += switch_row(structure, below, width, bottom + ROW - NODE_HEIGHT, prefix)
        bottom += ROW - NODE_HEIGHT / 2
    return Inside(width, bottom, tuple(marks), group.name)


def _row_width(structure: Structure, switches: Sequence[int], prefix: str) -> float:
    """Return the width of a row of switches in which their names fit, up to a limit for each."""
    rows = _merged(structure, switches)
    names = without_prefix([str(structure.topology.nodes[nodes[0]].id) for nodes in rows if len(nodes) == 1], prefix)
    longest = max((text_width(name[:_MOST_LETTERS]) for name in names), default=0.0)
    return len(rows) * max(40.0, longest + _AROUND_LABEL)


def _outward(structure: Structure, group: FramedNodes) -> dict[int, int]:
    """Return the switches of a group over which paths without compute nodes lead outside, with their distance."""
    within, nodes = set(group.nodes), structure.topology.nodes
    switches = [node for node in group.nodes if not nodes[node].is_compute]
    outer = [each for each in switches if any(other not in within for other in structure.neighbours[each])]
    found = hops(outer, lambda switch: sorted(within.intersection(structure.neighbours[switch]).intersection(switches)))
    return {switch: 1 + number for switch, number in found.items()}


def _are_linked(structure: Structure, row: Sequence[int]) -> bool:
    """Return whether some switches of a row have links to each other, which are drawn as arcs above the row."""
    return any(other in structure.neighbours[one] for one in row for other in row)


def _compute_marks(structure: Structure, compute: Sequence[int], prefix: str) -> tuple[list[Mark], float]:
    """Return the marks of the compute nodes of a group, and their height."""
    among = set(compute)
    is_direct = any(other in among for node in compute for other in structure.neighbours[node])
    if is_direct and 2 < len(compute) <= _MOST_ON_CIRCLE:
        return _circle(structure, compute, prefix)
    return node_row(structure, compute, prefix), NODE_HEIGHT


def node_row(structure: Structure, compute: Sequence[int], prefix: str = "") -> list[Mark]:
    """Return compute nodes from left to right; of many nodes of equal structure, only the first have their own mark."""
    marks, x = [], 0.0
    for nodes in _folded(structure, compute):
        wide = structure.node_width if len(nodes) == 1 else STACK_WIDTH
        marks.append(compute_mark(structure, nodes, x + wide / 2, NODE_HEIGHT / 2, prefix))
        x += wide + (_GAP / 2 if structure.is_compact else _GAP)
    return marks


def compute_mark(structure: Structure, nodes: tuple[int, ...], x: float, y: float, prefix: str = "") -> Mark:
    """Return the mark of one or several compute nodes."""
    names = [str(structure.topology.nodes[node].id) for node in nodes]
    if len(nodes) > 1:
        name = f"{len(nodes)} compute nodes: {names[0]} to {names[-1]}"
        return Mark(nodes, x, y, STACK_WIDTH, NODE_HEIGHT, f"+ {len(nodes):,} more", name, is_compute=True)
    width = structure.node_width
    label = structure.label(without_prefix(names, prefix)[0], width - 2)
    return Mark(nodes, x, y, width, NODE_HEIGHT, label, names[0], is_compute=True)


def _folded(structure: Structure, compute: Sequence[int]) -> list[tuple[int, ...]]:
    classes: dict[int, list[int]] = {}
    for node in compute:
        classes.setdefault(structure.colours[node], []).append(node)
    shown: list[tuple[int, ...]] = []
    for alike in classes.values():
        kept = len(alike) if len(alike) <= _MOST_ALIKE else _SHOWN_ALIKE
        shown += [(node,) for node in alike[:kept]]
        shown += [tuple(alike[kept:])] if alike[kept:] else []
    return sorted(shown, key=lambda nodes: (len(nodes) > 1, nodes))


def _circle(structure: Structure, compute: Sequence[int], prefix: str) -> tuple[list[Mark], float]:
    wide = structure.node_width
    radius = max(70.0, len(compute) * (wide + 10) / 5.2)
    height = 0.7 * radius
    marks = []
    for place, node in enumerate(walk(structure, compute)):
        angle = 2 * math.pi * (place + 0.25) / len(compute) - math.pi / 2
        x, y = radius + radius * math.cos(angle), height + height * math.sin(angle)
        marks.append(compute_mark(structure, (node,), x + wide / 2, y + NODE_HEIGHT / 2, prefix))
    return marks, 2 * height + NODE_HEIGHT


def walk(structure: Structure, compute: Sequence[int]) -> list[int]:
    """Return the nodes in an order in which most neighbours in the order have a link of high bandwidth."""
    left = dict.fromkeys(sorted(compute))
    order: list[int] = []
    while left:
        here = structure.neighbours[order[-1]] if order else {}
        near = [node for node in left if node in here]
        node = min(near, key=lambda each: (-here[each], each)) if near else next(iter(left))
        del left[node]
        order.append(node)
    return order


def switch_row(structure: Structure, switches: Sequence[int], width: float, y: float, prefix: str = "") -> list[Mark]:
    """Return the switches of a group as bars that fill a row of this width."""
    return bars(structure, _merged(structure, switches), width, y, prefix)


def _merged(structure: Structure, switches: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the switches that share a bar: each its own or, if they are many, those with the same neighbours.

    If there are too many of these, too, those of equal structure share a bar.
    """
    if len(switches) <= _MOST_IN_ROW:
        return [(switch,) for switch in switches]
    alike: dict[object, list[int]] = {}
    for switch in switches:
        alike.setdefault(frozenset(structure.neighbours[switch].items()), []).append(switch)
    if len(alike) > _MOST_BARS:
        alike = {}
        for switch in switches:
            alike.setdefault(structure.colours[switch], []).append(switch)
    return [tuple(each) for each in alike.values()]


def bars(structure: Structure, rows: Iterable[tuple[int, ...]], width: float, y: float, prefix: str = "") -> list[Mark]:
    """Return one bar for each tuple of switches, from left to right."""
    listed = list(rows)
    slot = width / max(len(listed), 1)
    wide = max(slot - _BETWEEN_BARS, _LEAST_BAR)
    marks = []
    for place, nodes in enumerate(listed):
        names = [str(structure.topology.nodes[node].id) for node in nodes]
        label = without_prefix(names, prefix)[0] if len(nodes) == 1 else _count(structure, nodes)
        name = names[0] if len(nodes) == 1 else f"{len(nodes)} switches of equal structure, {names[0]} to {names[-1]}"
        x = slot * (place + 0.5)
        is_short = len(nodes) > 1 and text_width(label) > slot - _AROUND_LABEL
        label = f"{len(nodes)}x" if is_short else fitted(label, slot - _AROUND_LABEL)
        marks.append(Mark(nodes, x, y, wide, NODE_HEIGHT, label, name, is_compute=False))
    return marks


def _count(structure: Structure, switches: tuple[int, ...]) -> str:
    """Return the label of several switches."""
    if all(is_nic(structure.topology.nodes[switch]) for switch in switches):
        return f"{len(switches)} NICs"
    return f"+ {len(switches):,} more"


def _extent(marks: Sequence[Mark]) -> float:
    return max((mark.x + mark.width / 2 for mark in marks), default=0.0)
