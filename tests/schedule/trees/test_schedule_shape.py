"""Heights and hops of small trees."""

from fractions import Fraction

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.trees.shape import TreeShape, tree_shape
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import Topology, TopologyBuilder


def _topology() -> Topology:
    """Return four fully connected GPUs (0 to 3), which are also linked to two connected switches (4, 5)."""
    builder = TopologyBuilder("four")
    for number in range(4):
        builder.add_compute(number)
    for switch in (4, 5):
        builder.add_switch(switch)
    for one in range(5):
        for other in range(one + 1, 6):
            builder.add_duplex(one, other, 1)
    return builder.build()


def _schedule(routes: list[list[int]], trees: list[tuple[int, Fraction, list[int]]]) -> TreeSchedule:
    phase = Phase(
        op=PhaseOp.BROADCAST,
        roots=tuple(root for root, _, _ in trees),
        shares=tuple(share for _, share, _ in trees),
        routes=Rows.of([listed for _, _, listed in trees]),
    )
    return TreeSchedule(_topology(), Collective.ALLGATHER, Rows.of(routes), (phase,), algbw=Fraction(1))


def test_a_star_has_height_one() -> None:
    schedule = _schedule([[0, 1], [0, 2], [0, 3]], [(0, Fraction(1), [0, 1, 2])])
    assert shape_of(schedule) == TreeShape(1, 1, 1.0, 1, 1.0)


def test_the_height_of_a_chain_is_its_length() -> None:
    schedule = _schedule([[0, 1], [1, 2], [2, 3]], [(0, Fraction(1), [0, 1, 2])])
    assert shape_of(schedule) == TreeShape(1, 3, 3.0, 3, 3.0)


def test_hops_include_switches_and_heights_do_not() -> None:
    schedule = _schedule([[0, 4, 1], [1, 4, 5, 2], [0, 3]], [(0, Fraction(1), [0, 1, 2])])
    assert shape_of(schedule) == TreeShape(1, 2, 2.0, 5, 5.0)


def test_the_highest_node_need_not_have_the_most_hops() -> None:
    schedule = _schedule([[0, 1], [1, 2], [0, 4, 5, 3]], [(0, Fraction(1), [0, 1, 2])])
    assert shape_of(schedule) == TreeShape(1, 2, 2.0, 3, 3.0)


def test_means_weigh_trees_by_their_shares() -> None:
    routes = [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3], [3, 0]]
    trees = [(0, Fraction(3, 4), [0, 1, 2]), (1, Fraction(1, 4), [3, 4, 5])]
    assert shape_of(_schedule(routes, trees)) == TreeShape(2, 3, 1.5, 3, 1.5)


def test_trees_of_different_lengths_are_combined() -> None:
    trees = [(0, Fraction(1, 3), [0]), (0, Fraction(1, 3), []), (0, Fraction(1, 3), [0, 1, 2])]
    assert shape_of(_schedule([[0, 1], [1, 2], [2, 4, 3]], trees)) == TreeShape(3, 3, 4 / 3, 4, 5 / 3)


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


def test_a_schedule_without_trees_has_height_zero() -> None:
    assert shape_of(_schedule([], [])) == TreeShape(0, 0, 0.0, 0, 0.0)
