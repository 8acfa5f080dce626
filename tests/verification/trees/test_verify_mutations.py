"""Random changes of correct schedules: `verify` agrees with a plain implementation, and on the images of a symmetry."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.schedule import rows
from forestcoll.schedule.trees.expansion import expanded
from forestcoll.verification import network, verify
from forestcoll.verification.routes import table
from forestcoll.verification.trees import context, delivery
from networks import examples
from verify_drafts import GOOD, OTHERS, SYMMETRIC, Draft, DraftTree
from verify_oracle import is_right, symmetry_is_right

Draw = Callable[[st.SearchStrategy[int]], int]


def _below(draw: Draw, bound: int) -> int:
    return draw(st.integers(0, max(0, bound - 1)))


def _tree(draw: Draw, draft: Draft) -> DraftTree:
    trees_ = draft.trees + draft.reduced
    return trees_[_below(draw, len(trees_))]


def _drop_route(draw: Draw, draft: Draft) -> None:
    tree = _tree(draw, draft)
    if tree.routes:
        tree.routes.pop(_below(draw, len(tree.routes)))


def _add_route(draw: Draw, draft: Draft) -> None:
    tree = _tree(draw, draft)
    tree.routes.insert(_below(draw, len(tree.routes) + 1), _below(draw, len(draft.routes)))


def _swap_routes(draw: Draw, draft: Draft) -> None:
    routes = _tree(draw, draft).routes
    if routes:
        one, other = _below(draw, len(routes)), _below(draw, len(routes))
        routes[one], routes[other] = routes[other], routes[one]


def _change_share(draw: Draw, draft: Draft) -> None:
    _tree(draw, draft).share *= Fraction(draw(st.integers(-1, 3)), draw(st.sampled_from([1, 2, 3, 10**40])))


def _move_share(draw: Draw, draft: Draft) -> None:
    amount = Fraction(1, draw(st.sampled_from([2, 8, 100, 10**40])))
    _tree(draw, draft).share += amount
    _tree(draw, draft).share -= amount


def _split_tree(draw: Draw, draft: Draft) -> None:
    tree = _tree(draw, draft)
    tree.share /= 2
    draft.trees.append(DraftTree(tree.root, tree.share, list(tree.routes)))


def _duplicate_tree(draw: Draw, draft: Draft) -> None:
    tree = _tree(draw, draft)
    draft.trees.append(DraftTree(tree.root, tree.share, list(tree.routes)))


def _drop_tree(draw: Draw, draft: Draft) -> None:
    if len(draft.trees) > 1:
        draft.trees.pop(_below(draw, len(draft.trees)))


def _swap_trees(draw: Draw, draft: Draft) -> None:
    one, other = _tree(draw, draft), _tree(draw, draft)
    one.root, other.root = other.root, one.root


def _change_root(draw: Draw, draft: Draft) -> None:
    _tree(draw, draft).root = _below(draw, len(draft.topology.nodes))


def _reroute(draw: Draw, draft: Draft) -> None:
    route = draft.routes[_below(draw, len(draft.routes))]
    if route:
        route[_below(draw, len(route))] = _below(draw, len(draft.topology.nodes))


def _lengthen_route(draw: Draw, draft: Draft) -> None:
    route = draft.routes[_below(draw, len(draft.routes))]
    route.insert(_below(draw, len(route) + 1), _below(draw, len(draft.topology.nodes)))


def _shorten_route(draw: Draw, draft: Draft) -> None:
    route = draft.routes[_below(draw, len(draft.routes))]
    if route:
        route.pop(_below(draw, len(route)))


def _reverse_route(draw: Draw, draft: Draft) -> None:
    draft.routes[_below(draw, len(draft.routes))].reverse()


def _change_algbw(draw: Draw, draft: Draft) -> None:
    draft.algbw *= Fraction(draw(st.integers(-1, 3)), draw(st.integers(1, 3)))


def _change_optimal(draw: Draw, draft: Draft) -> None:
    if draft.optimal is not None:
        draft.optimal *= Fraction(draw(st.integers(0, 3)), draw(st.integers(1, 3)))


def _change_cut(draw: Draw, draft: Draft) -> None:
    if draft.cut is not None:
        place = _below(draw, len(draft.cut) + 1)
        draft.cut[place : place + draw(st.integers(0, 1))] = [_below(draw, len(draft.topology.nodes))]


def _drop_cut(draw: Draw, draft: Draft) -> None:
    if draw(st.integers(0, 1)):
        draft.cut = None
    else:
        draft.optimal = None


def _change_ranks(draw: Draw, draft: Draft) -> None:
    if draft.ranks is not None:
        place = _below(draw, len(draft.ranks) + 1)
        draft.ranks[place : place + draw(st.integers(0, 1))] = [_below(draw, len(draft.topology.nodes))]


def _drop_rank(draw: Draw, draft: Draft) -> None:
    if draft.ranks:
        draft.ranks.pop(_below(draw, len(draft.ranks)))


MUTATIONS = (
    _drop_route,
    _add_route,
    _swap_routes,
    _change_share,
    _move_share,
    _split_tree,
    _duplicate_tree,
    _drop_tree,
    _swap_trees,
    _change_root,
    _reroute,
    _lengthen_route,
    _shorten_route,
    _reverse_route,
    _change_algbw,
    _change_optimal,
    _change_cut,
    _drop_cut,
    _change_ranks,
    _drop_rank,
)

WRITTEN_OUT = [make for make in (*GOOD, *OTHERS) if make().shifts is None]


@pytest.mark.parametrize("cells", [1, 16, 2**24])
@examples(500)
@given(data=st.data())
def test_verify_agrees_with_a_plain_implementation_of_the_rules(cells: int, data: st.DataObject) -> None:
    draft = data.draw(st.sampled_from(WRITTEN_OUT))()
    for mutate in data.draw(st.lists(st.sampled_from(MUTATIONS), max_size=3)):
        mutate(data.draw, draft)
    schedule = draft.freeze()
    with pytest.MonkeyPatch.context() as patch:
        if cells < 2**24:
            patch.setattr(context, "base_loads", lambda _: None)  # so that the rules are applied
        patch.setattr(delivery, "BLOCK_CELLS", cells)
        patch.setattr(rows, "BLOCK_ENTRIES", cells)
        patch.setattr(table, "SORTED_ENTRIES", cells)
        patch.setattr(network, "MAX_TABLE", cells)
        report = verify(schedule)
    assert report.ok == is_right(schedule), report
    if report.fault is not None:
        assert report.fault.message
        assert "\n" not in report.fault.message


def _pick(draw: Draw, draft: Draft) -> tuple[int, list[int]]:
    assert draft.shifts is not None
    if not draft.shifts:
        draft.shifts.append((2, list(range(len(draft.topology.nodes)))))
    return draft.shifts[_below(draw, len(draft.shifts))]


def _swap_images(draw: Draw, draft: Draft) -> None:
    _, image = _pick(draw, draft)
    one, other = _below(draw, len(image)), _below(draw, len(image))
    image[one], image[other] = image[other], image[one]


def _set_image(draw: Draw, draft: Draft) -> None:
    _, image = _pick(draw, draft)
    image[_below(draw, len(image))] = _below(draw, len(image))


def _change_order(draw: Draw, draft: Draft) -> None:
    shift = _pick(draw, draft)
    assert draft.shifts is not None
    draft.shifts[draft.shifts.index(shift)] = (draw(st.integers(1, 4)), shift[1])


def _repeat_shift(draw: Draw, draft: Draft) -> None:
    order, image = _pick(draw, draft)
    assert draft.shifts is not None
    draft.shifts[draft.shifts.index((order, image))] = (order, [image[node] for node in image])


def _drop_shift(draw: Draw, draft: Draft) -> None:
    shift = _pick(draw, draft)
    assert draft.shifts is not None
    draft.shifts.remove(shift)


SHIFT_MUTATIONS = (_swap_images, _change_order, _repeat_shift, _set_image, _drop_shift)


@examples(500)
@given(data=st.data())
def test_the_report_of_a_changed_schedule_equals_that_of_its_expanded_form(data: st.DataObject) -> None:
    draft = data.draw(st.sampled_from(SYMMETRIC))()
    mutations = st.one_of(st.sampled_from(MUTATIONS), st.sampled_from(SHIFT_MUTATIONS))
    for mutate in data.draw(st.lists(mutations, max_size=3)):
        mutate(data.draw, draft)
    schedule = draft.freeze()
    report = verify(schedule)
    rule = None if report.fault is None else report.fault.rule
    if rule == "ranks-wrong":
        assert not is_right(schedule)
        return
    is_about_symmetry = rule is not None and rule.startswith("symmetry-")
    assert is_about_symmetry != symmetry_is_right(schedule)
    if not is_about_symmetry:
        plain = verify(expanded(schedule))
        assert replace(report, fault=None) == replace(plain, fault=None)
        assert rule == (None if plain.fault is None else plain.fault.rule)
