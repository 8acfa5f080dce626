"""Drafts with a fault: small changes of correct schedules, each with its name. The faults are in a golden list."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from forestcoll.topology import NodeKind
from forestcoll.topology.registry import build_topology
from verify_drafts import (
    Draft,
    DraftTree,
    allreduce,
    allreduce_of,
    boxes,
    broadcast,
    chain,
    complete,
    empty_handed,
    exchanged_leaves,
    multicast,
    one_slow_gpu,
    one_way_sum,
    relayed,
    relayed_allreduce,
    reversed_draft,
    ring,
    rotated_allreduce,
    rotated_multicast,
    rotated_relayed,
    slow_broadcast,
    swapped_boxes,
    torus,
    two_gpus,
    uneven,
)

HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)
ROWS, COLUMNS, STILL = [3, 4, 5, 0, 1, 2], [1, 2, 0, 4, 5, 3], [0, 1, 2, 3, 4, 5]
"""Images of the nodes of a torus."""


def with_abilities(draft: Draft, place: int, **changes: object) -> Draft:
    nodes = list(draft.topology.nodes)
    nodes[place] = replace(nodes[place], **changes)  # type: ignore[arg-type]
    return replace(draft, topology=replace(draft.topology, nodes=tuple(nodes)))


def with_other_bandwidth(draft: Draft) -> Draft:
    first, *others = draft.topology.links
    links = (replace(first, bandwidth=Fraction(7, 2)), *others)
    return replace(draft, topology=replace(draft.topology, links=links))


def with_a_longer_turn(draft: Draft) -> Draft:
    """With a rotation by two nodes, roots 0 and 1 are in different orbits. One of them has all trees of a phase."""
    trees = [replace(tree, share=tree.share * 2) for tree in draft.trees]
    routes, reduced = [*draft.routes], []
    for tree in trees:
        turned = [[(node + 1) % 4 for node in draft.routes[each]][::-1] for each in reversed(tree.routes)]
        reduced.append(DraftTree(1, tree.share, list(range(len(routes), len(routes) + len(turned)))))
        routes += turned
    return replace(draft, shifts=[(2, [2, 3, 0, 1])], routes=routes, trees=trees, reduced=reduced)


def with_unequal_phases(draft: Draft) -> Draft:
    first, second, third, *others = draft.reduced
    more, less = replace(first, share=Fraction(3, 16)), replace(third, share=Fraction(1, 16))
    return replace(draft, reduced=[more, second, less, *others])


def with_shares(draft: Draft, first: Fraction) -> Draft:
    return draft.with_tree(0, share=first).with_tree(1, share=1 - first)


def with_one_node(draft: Draft) -> Draft:
    """The builder refuses this network, but a program can make one."""
    topology = replace(draft.topology, nodes=draft.topology.nodes[:1], links=())
    tree = DraftTree(0, Fraction(1), [])
    return replace(draft, topology=topology, routes=[], trees=[tree], cut=None, optimal=None)


def with_long_names(draft: Draft) -> Draft:
    nodes = tuple(replace(node, id=f"{node.id}\n" * 999) for node in draft.topology.nodes)
    return replace(draft, topology=replace(draft.topology, nodes=nodes)).with_tree(0, routes=[])


def of_a_hexagon(draft: Draft) -> Draft:
    """A rotation of a hexagon and a reflection without fixed nodes generate a group that is not abelian."""
    hexagon = build_topology("ring:nodes=6")
    return replace(draft, topology=hexagon, shifts=[(3, [2, 3, 4, 5, 0, 1]), (2, [1, 0, 5, 4, 3, 2])])


def chain_of_six() -> Draft:
    return chain(6)


def multicast_allreduce() -> Draft:
    return allreduce_of(multicast(), optimal=None, cut=None)


def ring_reversed() -> Draft:
    return reversed_draft(ring())


def multicast_reversed() -> Draft:
    return reversed_draft(multicast())


def relayed_reversed() -> Draft:
    return reversed_draft(relayed())


CHANGES: dict[Callable[[], Draft], dict[str, Callable[[Draft], Draft]]] = {
    boxes: {
        "no_such_node": lambda d: d.with_route(2, 0, 7, 1),
        "negative_node": lambda d: d.with_route(2, 0, -1, 1),
        "one_node": lambda d: d.with_route(3, 1),
        "no_nodes": lambda d: d.with_route(8),
        "visits_twice": lambda d: d.with_route(0, 0, 6, 0, 6, 2),
        "ends_where_it_starts": lambda d: d.with_route(8, 1, 6, 1),
        "no_such_link": lambda d: d.with_route(1, 2, 4, 3),
        "no_such_link_in_unused_route": lambda d: d.with_route(8, 0, 1),
        "through_compute": lambda d: d.with_route(0, 0, 4, 1, 6, 2),
        "ends_on_switch": lambda d: d.with_route(0, 0, 6),
        "starts_on_switch": lambda d: d.with_route(0, 6, 2),
        "no_trees": lambda d: replace(d, trees=[]),
        "nothing_at_all": lambda d: replace(d, trees=[], routes=[]),
        "no_routes": lambda d: replace(d, routes=[], trees=[replace(tree, routes=[]) for tree in d.trees]),
        "unknown_root": lambda d: d.with_tree(2, root=7),
        "root_on_switch": lambda d: d.with_tree(2, root=6),
        "unknown_route": lambda d: d.with_tree(1, routes=[3, 4, 8]),
        "unknown_route_in_empty_table": lambda d: replace(d, routes=[]),
        "swapped": lambda d: d.with_tree(1, routes=[4, 3, 5]),
        "from_nowhere": lambda d: d.with_tree(3, routes=[0]),
        "same_route_twice": lambda d: d.with_tree(1, routes=[3, 4, 5, 3]),
        "back_to_root": lambda d: d.with_tree(1, routes=[3, 4, 5, 7]),
        "dropped": lambda d: d.with_tree(2, routes=[6, 2]),
        "only_roots": lambda d: d.with_tree(3, routes=[]),
        "zero_share": lambda d: replace(d, trees=[*d.trees, replace(d.trees[1], share=Fraction(0))]),
        "negative_share": lambda d: d.with_tree(1, share=-QUARTER),
        "duplicated": lambda d: replace(d, trees=[*d.trees, d.trees[1]]),
        "share_moved": lambda d: d.with_tree(1, share=Fraction(13, 50)).with_tree(2, share=Fraction(12, 50)),
        "no_share": lambda d: replace(d.with_tree(3, share=HALF), trees=d.with_tree(3, share=HALF).trees[1:]),
        "algbw_high": lambda d: replace(d, algbw=Fraction(41)),
        "algbw_nearly": lambda d: replace(d, algbw=40 + Fraction(1, 10**30)),
        "algbw_zero": lambda d: replace(d, algbw=Fraction(0)),
        "cut_unknown": lambda d: replace(d, cut=[0, 9]),
        "cut_twice": lambda d: replace(d, cut=[0, 1, 4, 1]),
        "cut_of_switches": lambda d: replace(d, cut=[4, 6]),
        "cut_empty": lambda d: replace(d, cut=[]),
        "cut_whole": lambda d: replace(d, cut=[0, 1, 2, 3, 4]),
        "other_cut": lambda d: replace(d, cut=[0]),
        "optimum_high": lambda d: replace(d, optimal=Fraction(500)),
        "two_trees_and_algbw": lambda d: replace(
            d.with_tree(3, routes=[7, 5]).with_tree(1, routes=[3, 4]), algbw=Fraction(1)
        ),
        "order_before_two_trees": lambda d: d.with_tree(1, routes=[3, 4]).with_tree(2, routes=[1, 2, 6]),
        "route_before_order": lambda d: d.with_tree(2, routes=[1, 2, 6]).with_route(7, 3),
    },
    relayed: {
        "rank_unknown": lambda d: replace(d, ranks=[0, 1, 9]),
        "rank_twice": lambda d: replace(d, ranks=[0, 1, 1]),
        "ranks_fall": lambda d: replace(d, ranks=[0, 2, 1]),
        "lonely_rank": lambda d: replace(d, ranks=[0]),
        "more_ranks": lambda d: replace(d, ranks=[0, 1, 2, 4]),
        "all_take_part": lambda d: replace(d, ranks=None),
        "switch_as_rank": lambda d: with_abilities(
            replace(d, ranks=[0, 1, 2, 3]), 3, id="sw", kind=NodeKind.SWITCH, multicast=True
        ),
        "rooted_at_idle": lambda d: d.with_tree(1, root=3),
        "through_relay": lambda d: d.with_route(1, 0, 3, 1).with_tree(0, routes=[1, 2]),
        "misses_rank": lambda d: d.with_tree(0, routes=[0, 1]),
        "relay_reached_twice": lambda d: d.with_tree(0, routes=[0, 1, 2, 3]),
        "cut_without_rank": lambda d: replace(d, cut=[3, 4]),
        "cut_with_all_ranks": lambda d: replace(d, cut=[0, 1, 2]),
        "bound_counts_idle": lambda d: replace(d, optimal=Fraction(40, 3)),
    },
    relayed_reversed: {
        "idle_sends_nothing": lambda d: d.with_tree(2, routes=[6, *d.trees[2].routes]),
    },
    relayed_allreduce: {
        "idle_sends_nothing": lambda d: replace(
            d, reduced=[*d.reduced[:2], replace(d.reduced[2], routes=[13, *d.reduced[2].routes])]
        ),
    },
    rotated_relayed: {"rank_to_idle": lambda d: replace(d, shifts=[(2, [4, 1, 2, 3, 0])])},
    torus: {
        "order_one": lambda d: replace(d, shifts=[(1, STILL)]),
        "order_large": lambda d: replace(d, shifts=[(2, ROWS), (3, COLUMNS), (2, ROWS)]),
        "image_short": lambda d: replace(d, shifts=[(2, [3, 4, 5, 0, 1])]),
        "image_outside": lambda d: replace(d, shifts=[(2, [3, 4, 6, 0, 1, 2])]),
        "image_negative": lambda d: replace(d, shifts=[(2, [3, -1, 5, 0, 1, 2])]),
        "image_twice": lambda d: replace(d, shifts=[(2, [3, 4, 5, 0, 4, 2])]),
        "no_link": lambda d: replace(d, shifts=[(2, [3, 4, 5, 0, 2, 1])]),
        "other_bandwidth": with_other_bandwidth,
        "order_too_small": lambda d: replace(d, shifts=[(2, COLUMNS)]),
        "order_a_multiple": lambda d: replace(d, shifts=[(4, ROWS)]),
        "same_shift_twice": lambda d: replace(d, shifts=[(2, ROWS)] * 2),
        "still": lambda d: replace(d, shifts=[(3, STILL)]),
        "dropped": lambda d: d.with_tree(0, routes=[0, 1, 2, 3]),
        "algbw_high": lambda d: replace(d, algbw=Fraction(31)),
    },
    chain_of_six: {"shifts_that_do_not_commute": of_a_hexagon},
    rotated_multicast: {"compute_to_switch": lambda d: replace(d, shifts=[(2, [3, 1, 2, 0])])},
    swapped_boxes: {
        "one_switch_copies": lambda d: with_abilities(d, 5, multicast=True),
        "one_switch_adds_up": lambda d: with_abilities(d, 5, aggregation=True),
        "share_of_one": lambda d: d.with_tree(0, share=Fraction(13, 50)),
        "share_moved": lambda d: d.with_tree(0, share=Fraction(13, 50)).with_tree(1, share=Fraction(12, 50)),
    },
    one_slow_gpu: {
        "share_as_if_it_had_one_image": lambda d: d.with_tree(0, share=QUARTER),
        "share_of_a_root_in_place": lambda d: d.with_tree(0, share=Fraction(1, 8)).with_tree(1, share=Fraction(5, 24)),
        "algbw_as_if_one_image_crossed": lambda d: replace(d, algbw=Fraction(12)),
        "all_in_place": lambda d: replace(d, shifts=[(3, [0, 1, 2, 3, 4])]),
    },
    slow_broadcast: {
        "root_that_moves": lambda d: d.with_route(len(d.routes), 2, 4, 0).with_tree(0, root=1, routes=[1, 2, 3]),
    },
    exchanged_leaves: {
        "too_many_images": lambda d: replace(
            d, shifts=[(2, [0, 2, 1])] * 2, trees=[replace(tree, share=tree.share / 2) for tree in d.trees]
        ),
    },
    one_way_sum: {
        "order": lambda d: d.with_tree(0, routes=[0, 1]),
        "waits_for_nothing": lambda d: d.with_tree(0, routes=[1]),
        "silent": lambda d: d.with_tree(0, routes=[0]),
        "twice": lambda d: d.with_tree(0, routes=[1, 1, 0]),
        "root_sends": lambda d: d.with_route(2, 1, 0).with_tree(0, routes=[2, 1, 0]),
        "cut_of_the_other_side": lambda d: replace(d, cut=[1]),
    },
    broadcast: {
        "other_root": lambda d: d.with_tree(1, root=1, routes=[1, 2, 6]),
        "shifted": lambda d: replace(
            d, trees=[replace(tree, share=tree.share / 4) for tree in d.trees], shifts=[(4, [1, 2, 3, 0])]
        ),
        "shares_given": lambda d: replace(d, shards=[QUARTER] * 4),
        "cut_of_the_other_side": lambda d: replace(d, cut=[1, 2, 3]),
    },
    allreduce: {
        "shares_given": lambda d: replace(d, shards=[QUARTER] * 4),
        "unequal_phases": with_unequal_phases,
        "bound_of_allgather": lambda d: replace(d, optimal=Fraction(200, 3), cut=[1, 2, 3]),
    },
    uneven: {
        "shards_negative": lambda d: replace(d, shards=[Fraction(-1), Fraction(2)]),
        "shards_short": lambda d: replace(d, shards=[Fraction(1)]),
        "shards_sum": lambda d: replace(d, shards=[Fraction(1), Fraction(1)]),
        "shards_others": lambda d: replace(d, shards=[HALF, HALF]),
    },
    empty_handed: {"cut_without_data": lambda d: replace(d, cut=[2])},
    rotated_allreduce: {"longer_turn": with_a_longer_turn},
    multicast: {
        "sends_before_it_is_reached": lambda d: d.with_tree(0, routes=[1, 0, 2]),
        "passed_through_is_not_reached": lambda d: d.with_route(6, 0, 3, 1).with_tree(0, routes=[6, 2]),
        "reached_twice": lambda d: d.with_tree(0, routes=[0, 1, 2, 3]),
        "switch_that_only_adds_up": lambda d: with_abilities(d, 3, multicast=False, aggregation=True),
    },
    multicast_reversed: {
        "switch_that_only_copies": lambda d: replace(d, topology=d.topology.transposed()),
    },
    multicast_allreduce: {"switch_that_only_copies": lambda d: d},
    ring: {"later_tree": lambda d: d.with_tree(5, routes=d.trees[5].routes[::-1]), "long_names": with_long_names},
    ring_reversed: {
        "third_tree_too_early": lambda d: d.with_tree(2, routes=d.trees[2].routes[::-1]),
        "third_tree_sends_twice": lambda d: d.with_tree(2, routes=[d.trees[2].routes[0], *d.trees[2].routes]),
    },
    complete: {"long_share": lambda d: d.with_tree(0, share=d.trees[0].share + Fraction(1, 10**3000))},
    two_gpus: {
        "one_node": with_one_node,
        "long_algbw": lambda d: replace(d, algbw=Fraction(10**9999 + 1, 3)),
        "share_of_51_digits": lambda d: d.with_tree(0, share=HALF + Fraction(1, 10**50)),
        "shares_of_4001_digits": lambda d: d.with_tree(0, share=Fraction(1, 10**4000)),
        "shares_of_4000_digits": lambda d: with_shares(d, Fraction(1, 10**3999)),
        "shares_with_an_odd_denominator": lambda d: with_shares(d, Fraction(1, 10**4000 - 1)),
        "many_long_denominators": lambda d: replace(
            d, trees=[*(DraftTree(0, Fraction(1, 10**59 + each), [0]) for each in range(100)), d.trees[1]]
        ),
    },
}


def changed() -> Iterator[tuple[str, Draft]]:
    """Yield all drafts with a fault, each with its name."""
    for make, changes in CHANGES.items():
        for name, change in changes.items():
            yield f"{make.__name__}_{name}", change(make())
