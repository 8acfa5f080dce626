"""Finite geometries whose incidence graphs are distance-regular: pairs (point, line), both numbered from 0.

Each function returns, for each line, the points on it. A point of a projective space is the vector of its line
through the origin whose first entry other than 0 is 1.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations, product

Vector = tuple[int, ...]
Lines = list[frozenset[int]]


def projective_points(dimension: int, field: int) -> list[Vector]:
    """Return the points of the projective space PG(dimension, field), for a prime `field`."""
    vectors = product(range(field), repeat=dimension + 1)
    return [vector for vector in vectors if next((entry for entry in vector if entry), 0) == 1]


def projective_plane(field: int) -> Lines:
    """Return the lines of PG(2, field)."""
    points = projective_points(2, field)
    return [
        frozenset(number for number, point in enumerate(points) if _dot(line, point) % field == 0) for line in points
    ]


def affine_plane_without_a_class() -> Lines:
    """Return the lines of the affine plane AG(2, 4) without the parallel class of the vertical ones.

    Points are (x, y) over the field of 4 elements, in which addition is bitwise exclusive or; lines are y = a*x + b.
    """
    return [
        frozenset(4 * x + (_times_in_four(slope, x) ^ height) for x in range(4))
        for slope in range(4)
        for height in range(4)
    ]


def symplectic_quadrangle(field: int) -> Lines:
    """Return the lines of the generalized quadrangle W(field): points of PG(3, field), the isotropic lines."""
    points = projective_points(3, field)
    return _lines_of_pairs(points, field, lambda one, other: _symplectic(one, other) % field == 0)


def split_cayley_hexagon(field: int) -> Lines:
    """Return the lines of the split Cayley hexagon H(field), a generalized hexagon GH(field, field).

    Its points are the points of the quadric x0*x4 + x1*x5 + x2*x6 = x3^2 in PG(6, field); its lines are the lines of
    the quadric whose Grassmann coordinates satisfy p12 = p34, p54 = p32, p20 = p35, p65 = p30, p01 = p36, p46 = p31
    (H. Van Maldeghem, Generalized Polygons, 2.4.13).
    """
    points = [point for point in projective_points(6, field) if _on_quadric(point) % field == 0]
    return _lines_of_pairs(points, field, lambda one, other: _spans_hexagon_line(one, other, field))


def incidence_pairs(lines: Sequence[frozenset[int]], points: int) -> Iterator[tuple[int, int]]:
    """Yield (point, points + line) for each point of every line: the edges of the incidence graph."""
    for number, line in enumerate(lines):
        for point in sorted(line):
            yield point, points + number


def _lines_of_pairs(points: Sequence[Vector], field: int, related: Callable[[Vector, Vector], bool]) -> Lines:
    """Return the lines through two `related` points, once each."""
    numbers = {point: number for number, point in enumerate(points)}
    found: dict[frozenset[int], None] = {}
    for one, other in combinations(points, 2):
        if related(one, other):
            found[frozenset(numbers[point] for point in _span(one, other, field))] = None
    return list(found)


def _span(one: Vector, other: Vector, field: int) -> Iterator[Vector]:
    """Yield the points of the line through two points of a projective space."""
    yield one
    for factor in range(field):
        yield _normal([factor * mine + theirs for mine, theirs in zip(one, other, strict=True)], field)


def _normal(vector: Sequence[int], field: int) -> Vector:
    first = next(entry % field for entry in vector if entry % field)
    inverse = pow(first, -1, field)
    return tuple(entry * inverse % field for entry in vector)


def _dot(one: Vector, other: Vector) -> int:
    return sum(mine * theirs for mine, theirs in zip(one, other, strict=True))


def _symplectic(one: Vector, other: Vector) -> int:
    return one[0] * other[1] - one[1] * other[0] + one[2] * other[3] - one[3] * other[2]


def _on_quadric(point: Vector) -> int:
    return point[0] * point[4] + point[1] * point[5] + point[2] * point[6] - point[3] ** 2


_EQUAL_COORDINATES = (
    ((1, 2), (3, 4)), ((5, 4), (3, 2)), ((2, 0), (3, 5)), ((6, 5), (3, 0)), ((0, 1), (3, 6)), ((4, 6), (3, 1)),
)  # fmt: skip


def _spans_hexagon_line(one: Vector, other: Vector, field: int) -> bool:
    between = _dot(one, (*other[4:], 0, *other[:3])) - 2 * one[3] * other[3]
    if between % field:
        return False

    def grassmann(row: int, column: int) -> int:
        return one[row] * other[column] - one[column] * other[row]

    return all((grassmann(*left) - grassmann(*right)) % field == 0 for left, right in _EQUAL_COORDINATES)


def _times_in_four(one: int, other: int) -> int:
    """Return the product in the field of 4 elements, whose elements are polynomials over {0, 1} modulo x^2 + x + 1."""
    whole = (one if other & 1 else 0) ^ (one << 1 if other & 2 else 0)
    return whole ^ (0b111 if whole & 0b100 else 0)
