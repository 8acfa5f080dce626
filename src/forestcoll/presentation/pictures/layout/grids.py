"""The layout of tori, meshes and hypercubes: a lattice, found by the numbers of the nodes.

The nodes of a lattice are numbered with the last dimension fastest. A link joins two nodes that differ by one place in
one dimension, or closes a line from its last node to its first. Two dimensions lie in the plane of the picture; the
third leads back obliquely, and further dimensions repeat the lattice.
"""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from forestcoll.presentation.pictures.layout.circle import node_mark
from forestcoll.presentation.pictures.layout.labels import text_width
from forestcoll.presentation.pictures.layout.rows import NODE_HEIGHT
from forestcoll.presentation.pictures.layout.structure import Structure
from forestcoll.presentation.pictures.layout.value import Mark, NetworkLayout

_MARGIN = 40.0
_SPACING = 74.0
_DENSE = 26.0
_MOST_NAMED, _MOST_NODES = 128, 256
_DOT_STEP = 17.0
_MOST_DIMENSIONS = 4
_STUBS = "A link that ends at the edge of the lattice continues on the opposite side."

Shape = tuple[int, ...]


def lattice_shape(structure: Structure) -> Shape | None:
    """Return the sizes of the lattice with two or more dimensions that the network is, with the fewest dimensions."""
    topology = structure.topology
    count = len(topology.nodes)
    if topology.switches or count > 4096:
        return None
    links = topology.link_numbers.keys()
    for dimensions in range(2, _MOST_DIMENSIONS + 1):
        for shape in _factors(count, dimensions):
            if _matches(shape, links):
                return shape
    return None


def _factors(count: int, dimensions: int) -> Iterator[Shape]:
    if dimensions == 1:
        if count > 1:
            yield (count,)
        return
    for first in range(2, count // 2 + 1):
        if count % first == 0:
            for rest in _factors(count // first, dimensions - 1):
                yield (first, *rest)


def _strides(shape: Shape) -> list[int]:
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size)
    return strides[::-1]


def _place(number: int, shape: Shape) -> tuple[int, ...]:
    return tuple(number // stride % size for stride, size in zip(_strides(shape), shape, strict=True))


def _matches(shape: Shape, links: AbstractSet[tuple[int, int]]) -> bool:
    """Return whether each link is a link of the lattice, and all links between next places are there."""
    strides = _strides(shape)
    count = strides[0] * shape[0]
    if any((0, stride) not in links for stride in strides):
        return False
    expected = set()
    for number in range(count):
        for place, stride, size in zip(_place(number, shape), strides, shape, strict=True):
            if place + 1 < size:
                expected |= {(number, number + stride), (number + stride, number)}
    if not expected <= links:
        return False
    return all(_closes(one, other, shape) for one, other in links - expected)


def _closes(one: int, other: int, shape: Shape) -> bool:
    """Return whether a link joins the two ends of a line."""
    differing = [
        (a, b, size) for a, b, size in zip(_place(one, shape), _place(other, shape), shape, strict=True) if a != b
    ]
    return len(differing) == 1 and {differing[0][0], differing[0][1]} == {0, differing[0][2] - 1}


def lattice_layout(structure: Structure, shape: Shape) -> NetworkLayout:
    """Return the layout of a lattice."""
    layer = len(structure.topology.nodes) // shape[0]
    layers = min(shape[0], max(1, _MOST_NODES // layer))
    count = layer * layers
    named = count <= (_MOST_NAMED if len(shape) == 2 else _MOST_NAMED // 2)
    vectors = _vectors((layers, *shape[1:]), structure.node_width, named=named)
    points = []
    for number in range(count):
        place = _place(number, shape)
        x = sum(at * vector[0] for at, vector in zip(place, vectors, strict=True))
        y = sum(at * vector[1] for at, vector in zip(place, vectors, strict=True))
        points.append((x, y))
    left, top = min(x for x, _ in points), min(y for _, y in points)
    wide, high = max(x for x, _ in points) - left, max(y for _, y in points) - top
    marks = [
        node_mark(structure, number, x - left + _MARGIN + structure.node_width / 2, y - top + _MARGIN, named=named)
        for number, (x, y) in enumerate(points)
    ]
    stubs = _wraps(structure, shape)
    notes = [_STUBS] if stubs else []
    width, height = wide + 2 * _MARGIN + structure.node_width, high + 2 * _MARGIN + NODE_HEIGHT / 2
    if layers == shape[0]:
        return NetworkLayout(width, height, tuple(marks), notes=tuple(notes), stubs=stubs)
    marks.append(_stack(structure, count, layers, shape[0], height))
    notes.append(f"{layers} of {shape[0]} layers are drawn; the others have the same links.")
    width = max(width, marks[-1].x + marks[-1].width / 2 + _MARGIN)
    height += marks[-1].height + 8
    return NetworkLayout(width, height, tuple(marks), notes=tuple(notes), stubs=stubs, undrawn=frozenset({count}))


def _stack(structure: Structure, count: int, layers: int, size: int, y: float) -> Mark:
    """Return the mark of the layers that are not drawn: all nodes from the number `count` on."""
    nodes = structure.topology.nodes
    label = f"+ {size - layers} layers of {count // layers:,} nodes"
    name = f"{label}, {nodes[count].id} to {nodes[-1].id}"
    wide = text_width(label) + 24
    rest = tuple(range(count, len(nodes)))
    return Mark(rest, _MARGIN + wide / 2, y, wide, NODE_HEIGHT + 8, label, name, is_compute=True)


def _vectors(shape: Shape, wide: float, *, named: bool) -> list[tuple[float, float]]:
    """Return the step of each dimension in the picture: the last lies to the right, the one before leads down."""
    unit = (_SPACING - 38 + wide) if named else _DENSE
    if len(shape) == 2:
        return [(0.0, unit * 0.8), (unit, 0.0)]
    depth = shape[-3]
    back = wide + 6 if named else _DOT_STEP
    down, right = back * 0.62, back
    across = unit if depth == 1 else right * depth + (wide * 0.4 if named else 4)
    rows = down * depth + (NODE_HEIGHT * 0.6 if named else 4)
    vectors = [(right, -down), (0.0, rows), (across, 0.0)]
    extents = [across * shape[-1] + right * depth, rows * shape[-2] + down * depth]
    for place, size in enumerate(reversed(shape[:-3])):
        if place % 2 == 0:
            vectors.insert(0, (extents[0] + unit * 0.4, unit * 0.35))
            extents[0] = (extents[0] + unit * 0.4) * size
        else:
            vectors.insert(0, (unit * 0.35, extents[1] + unit * 0.4))
            extents[1] = (extents[1] + unit * 0.4) * size
    return vectors


def _wraps(structure: Structure, shape: Shape) -> frozenset[tuple[int, int]]:
    """Return the links that close a line of three or more nodes."""
    lines = set()
    for link in structure.topology.links:
        places = list(zip(_place(link.source, shape), _place(link.target, shape), strict=True))
        if any(abs(a - b) > 1 for a, b in places):
            lines.add((min(link.source, link.target), max(link.source, link.target)))
    return frozenset(lines)
