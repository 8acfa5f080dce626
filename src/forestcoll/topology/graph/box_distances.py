"""Distances between boxes: with which other boxes a box exchanges data, and the trees over boxes.

The boxes are numbered 0 to B - 1, and box b exchanges data with the boxes b + d (mod B) for all d of a set D. D also
has -d for each d, so a box has |D| neighbours, to which it sends and from which it receives. This is a circulant
network. The lowest tree of box 0 has as its images, by b → b + r (mod B), the trees of all other boxes r.

Each image uses as many links of distance d as the tree itself, and for each link of distance d there is exactly one
image of each of these links. So if c(d) edges of the tree have distance d, all B trees together use each link of
distance d exactly c(d) times. The sum of all c(d) is B - 1, the fewest shards that a box can receive.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import isqrt

from forestcoll.topology.graph.walks import After, hops, shortest_paths


def box_distances(boxes: int, most: int) -> tuple[int, ...]:
    """Return at most `most` distances with which the trees over `boxes` boxes are low; empty if there are none.

    Candidates are multiples of the powers of a radix. The lowest tree is chosen, then the least sum of depths, then the
    fewest distances.

    Args:
        boxes: the number of boxes, 2 or more.
        most: the greatest number of distances.

    Example:
        >>> box_distances(8, 2)
        (1, 7)
        >>> box_distances(32, 4)
        (1, 7, 25, 31)
    """
    if most >= boxes - 1:
        return tuple(range(1, boxes))
    listed = sorted(set(_candidates(boxes, most)))
    ranked = ((*_depths(boxes, each), len(each), each) for each in listed if len(each) <= most)
    reaching = (each for each in ranked if each[0] < boxes)
    return min(reaching, default=(0, 0, 0, ()))[3]


def distance_counts(boxes: int, distances: Sequence[int]) -> dict[int, int]:
    """Return how many edges of the lowest tree have each of `distances`; all are 1 or more.

    Example:
        >>> distance_counts(8, (1, 7))
        {1: 4, 7: 3}
    """
    paths = shortest_paths(0, _after(boxes, distances)).values()
    counts = Counter((path[-1] - path[-2]) % boxes for path in paths if len(path) > 1)
    return {each: counts[each] for each in distances}


def _candidates(boxes: int, most: int) -> Iterator[tuple[int, ...]]:
    """Yield symmetric sets of distances: multiples 1 to m of the powers of a radix, and neighbouring distances."""
    pairs = most // 2
    half = (boxes // 2,) if most % 2 and boxes % 2 == 0 else ()
    for levels in range(1, pairs + 1):
        sizes = [pairs // levels + (level < pairs % levels) for level in range(levels)]
        for radix in range(2, 2 * isqrt(boxes) + 2):
            steps = [radix**level * each for level, size in enumerate(sizes) for each in range(1, size + 1)]
            yield _symmetric(boxes, (*steps, *half))
    for first in range(1, boxes // 2 + 1):
        yield _symmetric(boxes, (*range(first, first + pairs), *half))


def _symmetric(boxes: int, steps: Sequence[int]) -> tuple[int, ...]:
    both = {sign * each % boxes for each in steps for sign in (1, -1)}
    return tuple(sorted(both - {0}))


def _depths(boxes: int, distances: Sequence[int]) -> tuple[int, int]:
    """Return the height of the lowest tree and the sum of its depths; the height is `boxes` if not all are reached."""
    depths = hops([0], _after(boxes, distances)).values()
    return (max(depths), sum(depths)) if len(depths) == boxes else (boxes, 0)


def _after(boxes: int, distances: Sequence[int]) -> After[int]:
    return lambda box: ((box + distance) % boxes for distance in distances)
