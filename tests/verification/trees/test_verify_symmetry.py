"""Schedules with a symmetry: the report equals that of the expanded form. Each rule about shifts is violated."""

import time
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_verify_mutations import MUTATIONS, Draw, _below

from forestcoll.demand.collective import Collective
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Topology, TopologyBuilder
from forestcoll.verification import Report, verify
from forestcoll.verification.permutations import power
from forestcoll.verification.trees.context import TreeContext
from networks import examples
from verify_drafts import (
    SYMMETRIC,
    Draft,
    DraftTree,
    exchanged_leaves,
    fault_of,
    one_slow_gpu,
    rotated_multicast,
    rotated_ring,
    swapped_boxes,
    torus,
)
from verify_oracle import is_right, symmetry_is_right


@pytest.mark.parametrize("make", SYMMETRIC)
def test_the_report_of_a_symmetric_schedule_equals_that_of_its_expanded_form(make: Callable[[], Draft]) -> None:
    schedule = make().freeze()
    report = verify(schedule)
    assert report.ok
    assert report.optimal
    assert report == verify(expanded(schedule))
    assert is_right(expanded(schedule))


@pytest.mark.parametrize("make", SYMMETRIC)
def test_loads_are_the_sums_over_all_images(make: Callable[[], Draft]) -> None:
    schedule = make().freeze()
    context, plain = TreeContext(schedule), TreeContext(expanded(schedule))
    assert context.loads.tolist() == plain.loads.tolist()


@pytest.mark.parametrize("exponent", range(9))
def test_a_power_of_a_shift_is_its_repeated_application(exponent: int) -> None:
    image = np.array([2, 0, 1, 4, 3])
    expected = np.arange(5)
    for _ in range(exponent):
        expected = image[expected]
    assert power(image, exponent).tolist() == expected.tolist()


@pytest.mark.parametrize("nodes", range(2, 20))
def test_the_loads_of_a_ring_of_any_size(nodes: int) -> None:
    """A chain around the ring and its rotations: every link carries N - 1 of the N shards."""
    report = verify(chain(nodes).freeze())
    assert (report.ok, report.optimal, report.busiest_count) == (True, True, nodes)
    assert report.busiest[0].load == Fraction(nodes - 1, nodes)


def chain(nodes: int) -> Draft:
    """Return a one-way ring with the tree of one root and a rotation by one node."""
    builder = TopologyBuilder("ring")
    names = [builder.add_compute(number) for number in range(nodes)]
    for number in range(nodes):
        builder.add_link(names[number], names[(number + 1) % nodes], 1)
    best = Fraction(nodes, nodes - 1)
    draft = Draft(builder.build(), best, best, list(range(1, nodes)))
    draft.routes = [[number, number + 1] for number in range(nodes - 1)]
    draft.trees = [DraftTree(0, Fraction(1, nodes), list(range(nodes - 1)))]
    draft.shifts = [(nodes, [(number + 1) % nodes for number in range(nodes)])]
    return draft


def test_sums_over_a_group_stay_exact_near_the_limit_of_64_bits() -> None:
    for whole in (2**48, 2**59, 2**63, 2**80):
        draft = chain(16)
        sliver = Fraction(1, 16 * whole)
        draft.trees.append(DraftTree(0, sliver, draft.trees[0].routes))
        draft.trees[0].share -= sliver
        report = verify(draft.freeze())
        assert (report.ok, report.algbw) == (True, Fraction(16, 15))
        assert TreeContext(draft.freeze()).loads.dtype == ("int64" if whole < 2**59 else object)


def test_the_trees_of_an_orbit_can_have_any_of_its_roots() -> None:
    """The base trees may have different roots of the orbit: each is the image of a tree of the first root."""
    draft = rotated_ring()
    draft.trees[1].root = 2
    there = [draft.routes.index(path) for path in ([2, 1], [1, 0], [0, 3])]
    draft.trees[1].routes = there
    report = verify(draft.freeze())
    assert report.ok
    assert report == verify(expanded(draft.freeze()))


def _order_one(draft: Draft) -> None:
    draft.shifts = [(1, [0, 1, 2, 3, 4, 5])]


def _order_large(draft: Draft) -> None:
    draft.shifts = [*(draft.shifts or []), (2, [3, 4, 5, 0, 1, 2])]


def _image_short(draft: Draft) -> None:
    draft.shifts = [(2, [3, 4, 5, 0, 1])]


def _image_outside(draft: Draft) -> None:
    draft.shifts = [(2, [3, 4, 6, 0, 1, 2])]


def _image_negative(draft: Draft) -> None:
    draft.shifts = [(2, [3, -1, 5, 0, 1, 2])]


def _image_twice(draft: Draft) -> None:
    draft.shifts = [(2, [3, 4, 5, 0, 4, 2])]


def _no_link(draft: Draft) -> None:
    draft.shifts = [(2, [3, 4, 5, 0, 2, 1])]


def _other_bandwidth(draft: Draft) -> None:
    first, *others = draft.topology.links
    draft.topology = replace(draft.topology, links=(replace(first, bandwidth=Fraction(7, 2)), *others))


def _order_too_small(draft: Draft) -> None:
    draft.shifts = [(2, [1, 2, 0, 4, 5, 3])]


def _order_a_multiple(draft: Draft) -> None:
    draft.shifts = [(4, [3, 4, 5, 0, 1, 2])]


def _same_shift_twice(draft: Draft) -> None:
    draft.shifts = [(2, [3, 4, 5, 0, 1, 2])] * 2


def _still(draft: Draft) -> None:
    draft.shifts = [(3, [0, 1, 2, 3, 4, 5])]


BROKEN_TORUS: list[tuple[Callable[[Draft], None], str, list[str]]] = [
    (_order_one, "symmetry-order", ["shift 0 has order 1", "2 or more"]),
    (_order_large, "symmetry-order", ["(2, 3, 2)", "more than the 6 compute nodes"]),
    (_image_short, "symmetry-image", ["shift 0", "images of 5 nodes", "each of 6"]),
    (_image_outside, "symmetry-image", ["shift 0 sends '0,2' to node number 6", "expected 0 to 5"]),
    (_image_negative, "symmetry-image", ["shift 0 sends '0,1' to node number -1"]),
    (_image_twice, "symmetry-image", ["shift 0 sends '0,1' and '1,1' both to '1,1'"]),
    (_no_link, "symmetry-link", ["shift 0 sends link '0,1' -> '1,1' to '1,1' -> '0,2'", "no such link"]),
    (
        _other_bandwidth,
        "symmetry-link",
        ["shift 0 sends link '0,0' -> '0,1' of bandwidth 7/2 to '1,0' -> '1,1' of bandwidth 20"],
    ),
    (
        _order_too_small,
        "symmetry-return",
        ["shift 0, applied twice", "sends '0,0' to '0,2'", "expected the same node"],
    ),
    (_order_a_multiple, "symmetry-free", ["powers (0) and to (2) both send '0,0' to '0,0'"]),
    (_same_shift_twice, "symmetry-free", ["powers (0, 1) and to (1, 0) both send '0,0' to '1,0'"]),
    (_still, "symmetry-free", ["powers (0) and to (1) both send '0,0' to '0,0'"]),
]


@pytest.mark.parametrize(("mutate", "rule", "fragments"), BROKEN_TORUS)
def test_an_invalid_symmetry_is_named_with_its_place(
    mutate: Callable[[Draft], None], rule: str, fragments: list[str]
) -> None:
    draft = torus()
    mutate(draft)
    fault = fault_of(draft.freeze())
    assert fault.rule == rule
    for fragment in fragments:
        assert fragment in fault.message


def test_a_shift_that_maps_a_compute_node_to_a_switch_is_refused() -> None:
    draft = rotated_multicast()
    draft.shifts = [(2, [3, 1, 2, 0])]
    fault = fault_of(draft.freeze())
    assert (fault.rule, "compute node 'g0' to switch 'nvs' that can multicast;" in fault.message) == (
        "symmetry-kind",
        True,
    )


@pytest.mark.parametrize("ability", ["multicast", "aggregation"])
def test_a_shift_must_map_a_switch_to_one_with_the_same_abilities(ability: str) -> None:
    draft = swapped_boxes()
    nodes = list(draft.topology.nodes)
    nodes[5] = replace(nodes[5], **{ability: True})  # type: ignore[arg-type]
    draft.topology = replace(draft.topology, nodes=tuple(nodes))
    fault = fault_of(draft.freeze())
    assert (fault.rule, "switch 's0' to switch 's1' that can" in fault.message) == ("symmetry-kind", True)


def test_shifts_that_do_not_commute_are_refused() -> None:
    """A rotation of a hexagon and a reflection without fixed nodes generate a group that is not abelian."""
    builder = TopologyBuilder("hexagon")
    names = [builder.add_compute(number) for number in range(6)]
    for number in range(6):
        builder.add_duplex(names[number], names[(number + 1) % 6], 1)
    draft = replace(chain(6), topology=builder.build(), shifts=[(3, [2, 3, 4, 5, 0, 1]), (2, [1, 0, 5, 4, 3, 2])])
    fault = fault_of(draft.freeze())
    assert fault.rule == "symmetry-commute"
    assert fault.message == "shifts 0 and 1 together send 0 to 5 or 3, depending on whether 0 or 1 is applied first"


def _share_of_one(draft: Draft) -> None:
    draft.trees[0].share += Fraction(1, 100)


def _other_orbit(draft: Draft) -> None:
    draft.trees[0].share += Fraction(1, 100)
    draft.trees[1].share -= Fraction(1, 100)


def test_shares_of_all_images_are_added_up() -> None:
    draft = swapped_boxes()
    _share_of_one(draft)
    fault = fault_of(draft.freeze())
    assert fault.rule == "shares-sum"
    assert "the shares of its 2 base trees, 2 images each, add up to 51/50" in fault.message
    draft = swapped_boxes()
    _other_orbit(draft)
    fault = fault_of(draft.freeze())
    assert fault.rule == "root-shares"
    assert "the 1 base trees that have an image with root 'g0' carry 13/50" in fault.message


def test_a_root_in_place_has_all_images_of_its_base_trees() -> None:
    draft = one_slow_gpu()
    draft.trees[0].share = Fraction(1, 4)  # as if it had one image
    fault = fault_of(draft.freeze())
    assert (fault.rule, "add up to 3/2; expected exactly 1" in fault.message) == ("shares-sum", True)
    draft.trees[0].share, draft.trees[1].share = Fraction(1, 8), Fraction(5, 24)
    fault = fault_of(draft.freeze())
    assert fault.rule == "root-shares"
    assert "the 1 base trees that have an image with root 'g0' carry 3/8; expected its shard, 1/4" in fault.message


def test_all_images_cross_a_link_that_stays_in_place() -> None:
    draft = one_slow_gpu()
    draft.algbw = Fraction(12)  # as if one image crossed it
    fault = fault_of(draft.freeze())
    assert fault.rule == "algbw-wrong"
    assert "link 's' -> 'g0' carries 3/4 of the data at bandwidth 3" in fault.message


def test_a_group_may_not_leave_a_node_of_each_orbit_in_place() -> None:
    draft = exchanged_leaves()
    draft.shifts = [(2, [0, 2, 1]), (2, [0, 2, 1])]
    for tree in draft.trees:
        tree.share /= 2
    assert fault_of(draft.freeze()).rule == "symmetry-order"
    draft = one_slow_gpu()
    draft.shifts = [(3, [0, 1, 2, 3, 4])]
    fault = fault_of(draft.freeze())
    assert (fault.rule, "powers (0) and to (1) both send 'g0' to 'g0'" in fault.message) == ("symmetry-free", True)


def test_all_trees_of_a_broadcast_have_one_root_if_the_shifts_leave_it_in_place() -> None:
    draft = one_slow_gpu()
    draft.collective = Collective.BROADCAST
    draft.trees = draft.trees[:1]
    draft.trees[0].share = Fraction(1, 3)
    draft.algbw = draft.optimal = Fraction(3)
    draft.cut = [0]
    report = verify(draft.freeze())
    assert report.ok
    assert report == verify(expanded(draft.freeze()))
    draft.trees[0].root, draft.trees[0].routes = 1, [1, 2, 3]
    draft.routes.append([2, 4, 0])
    assert fault_of(draft.freeze()).rule == "root-differs"


def test_faults_of_base_trees_are_found() -> None:
    draft = torus()
    draft.trees[0].routes.pop()
    assert fault_of(draft.freeze()).message.startswith("tree 0 (root '0,0') of phase 0 does not reach '1,2'")
    draft = torus()
    draft.algbw = Fraction(31)
    assert fault_of(draft.freeze()).rule == "algbw-wrong"


def _swap_images(draw: Draw, draft: Draft) -> None:
    _, image = _pick(draw, draft)
    one, other = _below(draw, len(image)), _below(draw, len(image))
    image[one], image[other] = image[other], image[one]


def _pick(draw: Draw, draft: Draft) -> tuple[int, list[int]]:
    assert draft.shifts is not None
    if not draft.shifts:
        draft.shifts.append((2, list(range(len(draft.topology.nodes)))))
    return draft.shifts[_below(draw, len(draft.shifts))]


def _change_order(draw: Draw, draft: Draft) -> None:
    shift = _pick(draw, draft)
    assert draft.shifts is not None
    draft.shifts[draft.shifts.index(shift)] = (draw(st.integers(1, 4)), shift[1])


def _repeat_shift(draw: Draw, draft: Draft) -> None:
    order, image = _pick(draw, draft)
    assert draft.shifts is not None
    draft.shifts[draft.shifts.index((order, image))] = (order, [image[node] for node in image])


def _set_image(draw: Draw, draft: Draft) -> None:
    _, image = _pick(draw, draft)
    image[_below(draw, len(image))] = _below(draw, len(image))


def _drop_shift(draw: Draw, draft: Draft) -> None:
    shift = _pick(draw, draft)
    assert draft.shifts is not None
    draft.shifts.remove(shift)


SHIFT_MUTATIONS = (_swap_images, _change_order, _repeat_shift, _set_image, _drop_shift)


@examples(1000)
@given(data=st.data())
def test_the_report_of_a_changed_schedule_equals_that_of_its_expanded_form(data: st.DataObject) -> None:
    draft = data.draw(st.sampled_from(SYMMETRIC))()
    mutations = st.one_of(st.sampled_from(MUTATIONS), st.sampled_from(SHIFT_MUTATIONS))
    for mutate in data.draw(st.lists(mutations, max_size=3)):
        mutate(data.draw, draft)
    schedule = draft.freeze()
    report = verify(schedule)
    if report.fault is not None and report.fault.rule == "ranks-wrong":
        assert not is_right(schedule)
        return
    assert _is_about_symmetry(report) != symmetry_is_right(schedule)
    if not _is_about_symmetry(report):
        _assert_alike(report, schedule)


def _is_about_symmetry(report: Report) -> bool:
    return report.fault is not None and report.fault.rule.startswith("symmetry-")


def _assert_alike(report: Report, schedule: TreeSchedule) -> None:
    plain = verify(expanded(schedule))
    assert replace(report, fault=None) == replace(plain, fault=None)
    assert (report.fault and report.fault.rule) == (plain.fault and plain.fault.rule)


def _large_torus(rows: int, columns: int) -> Topology:
    builder = TopologyBuilder("torus")
    for number in range(rows * columns):
        builder.add_compute(number)
    for number in range(rows * columns):
        row, column = divmod(number, columns)
        builder.add_duplex(number, row * columns + (column + 1) % columns, 1)
        builder.add_duplex(number, (row + 1) % rows * columns + column, 1)
    return builder.build()


@pytest.mark.slow
def test_sixteen_thousand_nodes_are_verified_in_seconds() -> None:
    """One base tree on a torus, down the first column and along every row. The limit allows for a busy machine."""
    side = 128
    number = np.arange(side * side).reshape(side, side)
    draft = Draft(_large_torus(side, side), Fraction(1), None, None)
    draft.routes = [[here, there] for here, there in zip(number[:-1, 0].tolist(), number[1:, 0].tolist(), strict=True)]
    draft.routes += np.stack([number[:, :-1], number[:, 1:]], axis=2).reshape(-1, 2).tolist()
    draft.trees = [DraftTree(0, Fraction(1, side * side), list(range(len(draft.routes))))]
    draft.shifts = [
        (side, np.roll(number, -1, axis=0).reshape(-1).tolist()),
        (side, np.roll(number, -1, axis=1).reshape(-1).tolist()),
    ]
    draft.algbw = Fraction(side * side, (side - 1) * side)
    begin = time.process_time()
    report = verify(draft.freeze())
    assert time.process_time() - begin < 5
    assert (report.fault, report.busiest_count) == (None, side * side)
