"""The whole message of each fault of trees, also if the rules take the trees and routes block by block."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise

import numpy as np
import pytest
import test_roots_of_an_allreduce as roots
import test_verify_collectives as collectives
import test_verify_faults as faults
import test_verify_ranks as ranks
import test_verify_symmetry as symmetry

import fault_lists
from forestcoll.algorithms.generate import generate
from forestcoll.schedule import rows
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology import Shift, Symmetry, Topology, TopologyBuilder
from forestcoll.verification import Fault, verify
from forestcoll.verification.routes import table, wording
from forestcoll.verification.routes.context import RouteContext
from forestcoll.verification.trees import delivery
from verify_drafts import (
    Draft,
    DraftTree,
    allreduce,
    boxes,
    broadcast,
    multicast,
    relayed,
    reversed_draft,
    ring,
    torus,
    two_gpus,
)


def changed() -> Iterator[tuple[str, Draft]]:
    """Yield the drafts of the lists of changes, each with its name."""
    for change, *_ in faults.BROKEN_BOXES:
        yield from _changed(boxes, change)
    for change, *_ in ranks.BROKEN:
        yield from _changed(relayed, change)
    for change, *_ in symmetry.BROKEN_TORUS:
        yield from _changed(torus, change)
    for make, change, *_ in collectives.CASES:
        yield from _changed(make, change)


def _changed(make: Callable[[], Draft], change: Callable[[Draft], None]) -> Iterator[tuple[str, Draft]]:
    draft = make()
    change(draft)
    yield f"{make.__name__}{change.__name__}", draft


def complete(count: int) -> Topology:
    """Return a network with a link between every two nodes."""
    builder = TopologyBuilder("complete")
    for node in range(count):
        builder.add_compute(node)
    for one, other in combinations(range(count), 2):
        builder.add_duplex(one, other, 1)
    return builder.build()


def others() -> Iterator[tuple[str, TreeSchedule]]:
    """Yield schedules with faults that a draft cannot have."""
    hub = roots.through_the_hub(roots.star())
    turned = replace(hub, symmetry=Symmetry((Shift(3, np.array([1, 2, 0, 3])),)))
    yield "a symmetric allreduce with its root on a switch", turned
    yield "the root on a switch that only copies", roots.through_the_hub(roots.star(aggregation=False))
    yield "the root on a switch that only adds up", roots.through_the_hub(roots.star(multicast=False))
    yield "the root on a plain switch", roots.through_the_hub(roots.star(multicast=False, aggregation=False))
    idle = roots.star(idle=True)
    yield "an idle root of a symmetric allreduce", replace(turned, topology=idle, ranks=(0, 1, 2))
    both = replace(multicast(), collective=allreduce().collective, optimal=None, cut=None)
    back = reversed_draft(both)
    both.reduced = [replace(tree, routes=[len(both.routes) + each for each in tree.routes]) for tree in back.trees]
    both.routes = [*both.routes, *back.routes]
    yield "a reduce over a switch that only copies", both.freeze()
    fine = two_gpus()
    fine.trees[0].share = Fraction(1, 10**4000)
    yield "shares of 4001 digits", fine.freeze()
    fine.trees[0].share, fine.trees[1].share = Fraction(1, 10**3999), 1 - Fraction(1, 10**3999)
    yield "shares of 4000 digits", fine.freeze()
    fine.trees[0].share, fine.trees[1].share = Fraction(1, 10**4000 - 1), 1 - Fraction(1, 10**4000 - 1)
    yield "shares of 4000 digits with an odd denominator", fine.freeze()
    two, phase = two_gpus().freeze(), two_gpus().freeze().phases[0]
    wrong = Rows(np.array([1, 2]), np.array([0, 1], dtype=np.int32))
    yield "routes that do not fit", replace(two, routes=wrong)
    yield "lists of routes that do not fit", replace(two, phases=(replace(phase, routes=wrong),))
    yield "too few shares", replace(two, phases=(Phase(phase.op, phase.roots, phase.shares[:1], phase.routes),))
    yield "an allreduce without phases", replace(allreduce().freeze(), phases=())
    late, twice = reversed_draft(ring()), reversed_draft(ring())
    late.trees[2].routes.reverse()
    yield "the third tree of a reduce sends too early", late.freeze()
    twice.trees[2].routes.insert(0, twice.trees[2].routes[0])
    yield "a node of the third tree of a reduce sends twice", twice.freeze()
    turned_by_two = broadcast()
    turned_by_two.trees = [replace(tree, share=tree.share / 2) for tree in turned_by_two.trees]
    turned_by_two.shifts = [(2, [2, 3, 0, 1])]
    yield "a broadcast with a symmetry of order 2", turned_by_two.freeze()
    triangle = generate("ring:nodes=3")
    links = [
        replace(link, bandwidth=link.bandwidth / (1 + (place == 3)))
        for place, link in enumerate(triangle.topology.links)
    ]
    slower = replace(triangle.topology, links=tuple(links))
    yield (
        "a shift that maps a link to the first one, which is faster",
        replace(triangle, topology=slower, symmetry=Symmetry((Shift(3, np.array([2, 0, 1])),))),
    )
    yield "a rank after the last node", replace(triangle, ranks=(0, 3))
    square = generate("ring:nodes=4")
    shifts = (Shift(2, np.array([2, 3, 0, 1])), Shift(2, np.array([1, 0, 2, 3])))
    yield "a second shift that maps a link to no link", replace(square, symmetry=Symmetry(shifts))
    six = generate(complete(6))
    yield (
        "a shift that returns early to two of six nodes",
        replace(six, symmetry=Symmetry((Shift(4, np.array([1, 2, 3, 0, 5, 4])),))),
    )


def test_nodes_of_different_routes_are_different_in_networks_of_any_size() -> None:
    """Entries of routes are sorted by numbers that do not fit 32 bits if the network has many nodes."""
    ring = generate("ring:nodes=4").topology
    context = RouteContext(ring, None, Rows.of([[0, 1], [1, 0]]), None)
    context.network.size = 2**40
    assert table.node_repeated(context) is None
    twice = RouteContext(ring, None, Rows.of([[0, 1], [0, 1, 2, 1]]), None)
    assert table.node_repeated(twice) == "route 1 (0 -> 1 -> 2 -> 1) visits 1 twice; expected each node at most once"


def test_kinds_of_nodes_and_long_lists_in_messages() -> None:
    builder = TopologyBuilder("kinds")
    for name in "abc":
        builder.add_compute(name)
    for copies, adds in ((False, False), (True, False), (False, True), (True, True)):
        builder.add_switch(f"{copies} {adds}", multicast=copies, aggregation=adds)
    for one, other in pairwise("abc"):
        builder.add_duplex(one, other, 1)
    context = RouteContext(builder.build(), (0, 1), Rows.of([]), None)
    assert [wording.kind(context, node) for node in range(7)] == [
        "rank 'a'",
        "rank 'b'",
        "idle node 'c'",
        "switch 'False False'",
        "switch 'True False' that can multicast",
        "switch 'False True' that can aggregate",
        "switch 'True True' that can multicast and aggregate",
    ]
    assert wording.kind(RouteContext(context.topology, None, Rows.of([]), None), 2) == "compute node 'c'"
    assert wording.listed(range(8)) == "(0, 1, 2, 3, 4, 5, 6, 7)"
    assert wording.listed(range(9)) == "(0, 1, 2, 3, 4, 5, 6, 7, ...)"


@pytest.mark.parametrize("size", [1, 2**20])
def test_every_message_of_trees(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "BLOCK_ENTRIES", size)
    monkeypatch.setattr(table, "SORTED_ENTRIES", size)
    monkeypatch.setattr(delivery, "BLOCK_CELLS", size)
    found: list[tuple[str, Fault | None]] = [(name, verify(draft.freeze()).fault) for name, draft in changed()]
    found += [(name, verify(schedule).fault) for name, schedule in others()]
    fault_lists.check("trees", found)


def test_a_report_has_the_claimed_bound_only_if_the_schedule_is_right() -> None:
    right = boxes().freeze()
    wrong = replace(right, algbw=Fraction(41))
    assert verify(right).bound == right.bound is not None
    assert verify(wrong).bound is None


def test_a_report_of_a_network_without_links_has_no_busiest_links() -> None:
    draft = two_gpus()
    topology = replace(draft.topology, nodes=draft.topology.nodes[:1], links=())
    lonely = replace(draft, topology=topology, routes=[], trees=[DraftTree(0, Fraction(1), [])], cut=None)
    report = verify(replace(lonely, optimal=None).freeze())
    assert (report.busiest, report.busiest_count, report.algbw) == ((), 0, None)
