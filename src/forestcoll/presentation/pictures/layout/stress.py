"""The layout of other direct networks: distances in the picture as close as possible to numbers of hops.

Stress majorisation (Gansner, Koren, North, *Graph drawing by stress majorization*, 2004), node by node and with a fixed
number of rounds from a circle. The arithmetic is plain floating point in a fixed order, and the result is rounded, so
that the same network always has the same places.
"""

import math

from forestcoll.presentation.pictures.layout.circle import circle_layout, node_mark
from forestcoll.presentation.pictures.layout.rows import NODE_HEIGHT, walk
from forestcoll.presentation.pictures.layout.structure import Structure
from forestcoll.presentation.pictures.layout.value import NetworkLayout
from forestcoll.topology.graph.walks import hops

MOST_NODES = 160
"""The most nodes for which the layout is readable and fast."""

_ROUNDS = 60
_HOP = 92.0
_MARGIN, _BETWEEN = 24.0, 4.0
_MOST_SCALE = 2.5

Points = list[tuple[float, float]]


def stress_layout(structure: Structure) -> NetworkLayout:
    """Return the layout of a connected network with at most `MOST_NODES` nodes."""
    count = len(structure.topology.nodes)
    hops = [_hops(structure, node) for node in range(count)]
    points = _start(structure)
    for _ in range(_ROUNDS):
        for node in range(count):
            points[node] = _moved(node, points, hops[node])
    scale = max(1.0, _least_scale(points, structure.node_width))
    if scale > _MOST_SCALE:
        return circle_layout(structure)
    points = [(scale * x, scale * y) for x, y in points]
    left, top = min(x for x, _ in points), min(y for _, y in points)
    placed = [
        (round(x - left) + _MARGIN + structure.node_width / 2, round(y - top) + _MARGIN + NODE_HEIGHT / 2)
        for x, y in points
    ]
    marks = tuple(node_mark(structure, node, x, y, named=True) for node, (x, y) in enumerate(placed))
    width = max(x for x, _ in placed) + _MARGIN + structure.node_width / 2
    return NetworkLayout(width, max(y for _, y in placed) + _MARGIN + NODE_HEIGHT / 2, marks)


def _least_scale(points: Points, width: float) -> float:
    """Return the factor that moves all marks far enough from each other, so that none overlap."""
    least = 0.0
    for place, (x, y) in enumerate(points):
        for u, v in points[:place]:
            wide, high = abs(x - u) / (width + _BETWEEN), abs(y - v) / (NODE_HEIGHT + _BETWEEN)
            least = max(least, 1 / max(wide, high, 1e-6))
    return least


def _start(structure: Structure) -> Points:
    count = len(structure.topology.nodes)
    points = [(0.0, 0.0)] * count
    for place, node in enumerate(walk(structure, range(count))):
        angle = 2 * math.pi * place / count
        points[node] = (_HOP * math.cos(angle), _HOP * math.sin(angle))
    return points


def _hops(structure: Structure, start: int) -> list[int]:
    """Return the number of hops from `start` to each node, in either direction of links; 0 if there is no path."""
    found = hops([start], structure.neighbours.__getitem__)
    return [found.get(node, 0) for node in range(len(structure.topology.nodes))]


def _moved(node: int, points: Points, hops: list[int]) -> tuple[float, float]:
    """Return the place of least stress for `node` while all other nodes stay."""
    x, y = points[node]
    total = right = down = 0.0
    for other, count in enumerate(hops):
        if other == node or not count:
            continue
        weight = 1.0 / (count * count)
        dx, dy = x - points[other][0], y - points[other][1]
        length = math.hypot(dx, dy) or 1.0
        wanted = _HOP * count
        total += weight
        right += weight * (points[other][0] + dx * wanted / length)
        down += weight * (points[other][1] + dy * wanted / length)
    return (right / total, down / total) if total else (x, y)
