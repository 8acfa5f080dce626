"""Expansion of schedules with a symmetry: the image of each base tree under each element of the group."""

from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.trees.expansion import TreeImage, distinct_rows, expanded, tree_images
from forestcoll.schedule.trees.shape import TreeShape
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import Shift, Symmetry, TopologyBuilder


def _shift(order: int, image: list[int]) -> Shift:
    return Shift(order, np.array(image, dtype=np.int32))


def grid() -> TreeSchedule:
    """Return a schedule on six fully connected nodes in two rows: two base trees and a shift in each dimension."""
    builder = TopologyBuilder("grid")
    for one, other in combinations([builder.add_compute(number) for number in range(6)], 2):
        builder.add_duplex(one, other, 1)
    phase = Phase(PhaseOp.BROADCAST, (0, 4), (Fraction(1, 8), Fraction(1, 24)), Rows.of([[0, 1], [2]]))
    symmetry = Symmetry((_shift(2, [3, 4, 5, 0, 1, 2]), _shift(3, [1, 2, 0, 4, 5, 3])))
    routes = Rows.of([[0, 1], [1, 3, 2], [1, 2]])
    return TreeSchedule(builder.build(), Collective.ALLGATHER, routes, (phase,), algbw=Fraction(1), symmetry=symmetry)


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
    alone = replace(grid(), symmetry=Symmetry(()))
    assert expanded(alone) == plain


@pytest.mark.parametrize("phases", [(), (Phase(PhaseOp.BROADCAST, (), (), Rows.of([])),)])
def test_no_trees_have_no_images(phases: tuple[Phase, ...]) -> None:
    empty = replace(grid(), routes=Rows.of([]), phases=phases)
    assert expanded(empty) == replace(empty, symmetry=None)


def test_the_shape_counts_all_trees() -> None:
    schedule = grid()
    shape = shape_of(schedule)
    assert shape == TreeShape(12, 2, 1.75, 3, 2.5, group_order=6)
    assert shape.base_trees == 2
    assert shape_of(expanded(schedule)) == replace(shape, group_order=1)


@given(rows=st.lists(st.lists(st.integers(0, 3), max_size=4), max_size=12))
def test_distinct_rows_are_in_order_of_first_occurrence(rows: list[list[int]]) -> None:
    distinct, numbers = distinct_rows(Rows.of(rows))
    expected = list(dict.fromkeys(map(tuple, rows)))
    assert list(distinct) == expected
    assert [expected[number] for number in numbers.tolist()] == list(map(tuple, rows))


def test_images_of_rows() -> None:
    maps = np.array([[2, 0, 1], [1, 1, 0]], dtype=np.int32)
    assert Rows.of([[0, 1], [], [2]]).images(maps) == Rows.of([[2, 0], [], [1], [1, 1], [], [0]])


@pytest.mark.parametrize("entry", [-1, 3, 2**40])
def test_a_number_outside_a_map_has_no_image(entry: int) -> None:
    with pytest.raises(IndexError, match=r"no image|32 bits"):
        Rows(np.array([0, 1]), np.array([entry])).images(np.zeros((1, 3), dtype=np.int32))
