"""Heights and hops of small trees, and expansion: the image of each base tree under each element of a symmetry."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.trees.expansion import TreeImage, expanded, tree_images
from forestcoll.schedule.trees.shape import TreeShape, tree_shape
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import Shift, Symmetry, Topology
from forestcoll.topology.registry import build_topology
from networks import linked


def _topology() -> Topology:
    """Return four fully connected GPUs (0 to 3), which are also linked to two connected switches (4, 5)."""
    links = " ".join(f"{one}={other}" for one, other in combinations(range(6), 2))
    return linked("0 1 2 3", links, switches="4 5")


def _schedule(routes: list[list[int]], trees: list[tuple[int, Fraction, list[int]]]) -> TreeSchedule:
    phase = Phase(
        op=PhaseOp.BROADCAST,
        roots=tuple(root for root, _, _ in trees),
        shares=tuple(share for _, share, _ in trees),
        routes=Rows.of([listed for _, _, listed in trees]),
    )
    return TreeSchedule(_topology(), Collective.ALLGATHER, Rows.of(routes), (phase,), algbw=Fraction(1))


@pytest.mark.parametrize(
    ("routes", "shape"),
    [
        ([[0, 1], [0, 2], [0, 3]], TreeShape(1, 1, 1.0, 1, 1.0)),
        ([[0, 1], [1, 2], [2, 3]], TreeShape(1, 3, 3.0, 3, 3.0)),
        ([[0, 4, 1], [1, 4, 5, 2], [0, 3]], TreeShape(1, 2, 2.0, 5, 5.0)),
        ([[0, 1], [1, 2], [0, 4, 5, 3]], TreeShape(1, 2, 2.0, 3, 3.0)),
    ],
    ids=["a star", "a chain", "hops include switches", "the highest node has not the most hops"],
)
def test_the_shape_of_a_tree(routes: list[list[int]], shape: TreeShape) -> None:
    assert shape_of(_schedule(routes, [(0, Fraction(1), [0, 1, 2])])) == shape


def test_means_weigh_trees_by_their_shares() -> None:
    routes = [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3], [3, 0]]
    trees = [(0, Fraction(3, 4), [0, 1, 2]), (1, Fraction(1, 4), [3, 4, 5])]
    assert shape_of(_schedule(routes, trees)) == TreeShape(2, 3, 1.5, 3, 1.5)
    trees = [(0, Fraction(1, 3), [0]), (0, Fraction(1, 3), []), (0, Fraction(1, 3), [0, 1, 2])]
    assert shape_of(_schedule([[0, 1], [1, 2], [2, 4, 3]], trees)) == TreeShape(3, 3, 4 / 3, 4, 5 / 3)
    assert shape_of(_schedule([], [])) == TreeShape(0, 0, 0.0, 0, 0.0)


def plain_shape(schedule: TreeSchedule) -> tuple[int, int]:
    """Return the greatest height and the greatest hops of a schedule that broadcasts, computed tree by tree."""
    heights, hops = [0], [0]
    for tree in schedule.phases[0]:
        depth = {tree.root: (0, 0)}
        for route in (schedule.routes[number] for number in tree.routes):
            sends, links = depth[route[0]]
            depth[route[-1]] = sends + 1, links + len(route) - 1
        heights.append(max(sends for sends, _ in depth.values()))
        hops.append(max(links for _, links in depth.values()))
    return max(heights), max(hops)


@pytest.mark.parametrize("spec", ["torus:dims=3x4", "dgx-a100:boxes=2", "mi250:boxes=1", "dragonfly:routers=3,nodes=2"])
def test_the_shape_equals_that_of_a_walk_over_each_tree(spec: str) -> None:
    schedule = generate(spec)
    shape = tree_shape(schedule)
    assert (shape.greatest_height, shape.greatest_hops) == plain_shape(schedule)


@pytest.mark.parametrize(("routes", "tree"), [([[0, 1]], [1]), ([[0, 1]], [-1]), ([[0, 6]], [0]), ([[-1, 0]], [0])])
def test_a_number_out_of_range_raises_an_error(routes: list[list[int]], tree: list[int]) -> None:
    with pytest.raises(IndexError):
        shape_of(_schedule(routes, [(0, Fraction(1), tree)]))


def _shift(order: int, image: list[int]) -> Shift:
    return Shift(order, np.array(image, dtype=np.int32))


def grid() -> TreeSchedule:
    """Return a schedule on six fully connected nodes in two rows: two base trees and a shift in each dimension."""
    network = build_topology("complete:nodes=6")
    phase = Phase(PhaseOp.BROADCAST, (0, 4), (Fraction(1, 8), Fraction(1, 24)), Rows.of([[0, 1], [2]]))
    symmetry = Symmetry((_shift(2, [3, 4, 5, 0, 1, 2]), _shift(3, [1, 2, 0, 4, 5, 3])))
    routes = Rows.of([[0, 1], [1, 3, 2], [1, 2]])
    return TreeSchedule(network, Collective.ALLGATHER, routes, (phase,), algbw=Fraction(1), symmetry=symmetry)


def listed(tree: TreeImage) -> tuple[int, Fraction, list[tuple[int, ...]]]:
    return tree.root, tree.share, list(tree.paths)


def test_every_tree_is_the_image_of_a_base_tree_under_an_element() -> None:
    trees = [listed(tree) for tree in tree_images(grid(), 0)]
    assert len(trees) == 12
    assert trees[:4] == [
        (0, Fraction(1, 8), [(0, 1), (1, 3, 2)]),
        (4, Fraction(1, 24), [(1, 2)]),
        (1, Fraction(1, 8), [(1, 2), (2, 4, 0)]),
        (5, Fraction(1, 24), [(2, 0)]),
    ]
    assert trees[6] == (3, Fraction(1, 8), [(3, 4), (4, 0, 5)])


def test_an_expanded_schedule_lists_the_same_trees_and_every_route_once() -> None:
    schedule = grid()
    plain = expanded(schedule)
    assert plain.symmetry is None
    assert [listed(tree) for tree in tree_images(plain, 0)] == [listed(tree) for tree in tree_images(schedule, 0)]
    assert len(set(plain.routes)) == len(plain.routes) == 6 + 6
    assert replace(plain, routes=schedule.routes, phases=schedule.phases, symmetry=schedule.symmetry) == schedule


def test_a_schedule_without_a_symmetry_is_its_own_expansion() -> None:
    plain = replace(grid(), symmetry=None)
    assert expanded(plain) is plain
    assert len(list(tree_images(plain, 0))) == 2
    assert expanded(replace(grid(), symmetry=Symmetry(()))) == plain
    for phases in ((), (Phase(PhaseOp.BROADCAST, (), (), Rows.of([])),)):
        empty = replace(grid(), routes=Rows.of([]), phases=phases)
        assert expanded(empty) == replace(empty, symmetry=None)


def test_the_shape_counts_all_trees() -> None:
    schedule = grid()
    shape = shape_of(schedule)
    assert shape == TreeShape(12, 2, 1.75, 3, 2.5, group_order=6)
    assert shape.base_trees == 2
    assert shape_of(expanded(schedule)) == replace(shape, group_order=1)


def test_images_of_rows() -> None:
    maps = np.array([[2, 0, 1], [1, 1, 0]], dtype=np.int32)
    assert Rows.of([[0, 1], [], [2]]).images(maps) == Rows.of([[2, 0], [], [1], [1, 1], [], [0]])
    for entry in (-1, 3, 2**40):
        with pytest.raises(IndexError, match=r"no image|32 bits"):
            Rows(np.array([0, 1]), np.array([entry])).images(np.zeros((1, 3), dtype=np.int32))
