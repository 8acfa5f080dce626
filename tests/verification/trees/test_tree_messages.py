"""The whole message of each fault of trees, also if the rules take the trees and routes block by block."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from faulty_drafts import changed
from test_verify_ends import copies, idle_roots, star, through_the_hub, total, with_phase

import fault_lists
from forestcoll.algorithms.generate import generate
from forestcoll.demand.collective import SCHEDULED, Collective
from forestcoll.schedule import rows
from forestcoll.schedule.proof import Bound, CutProof, GroupLengthsProof
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology import Shift, Symmetry
from forestcoll.verification import rules, verify
from forestcoll.verification.routes import table, wording
from forestcoll.verification.routes.context import RouteContext
from forestcoll.verification.trees import delivery
from networks import linked, with_abilities
from verify_drafts import allreduce, broadcast, one_way_sum, ring, two_gpus


def turned(schedule: TreeSchedule, *shifts: tuple[int, list[int]]) -> TreeSchedule:
    symmetry = Symmetry(tuple(Shift(order, np.array(image, dtype=np.int32)) for order, image in shifts))
    return replace(schedule, symmetry=symmetry)


def of_hubs() -> Iterator[tuple[str, TreeSchedule]]:
    """Yield allreduces with their root on a switch or on an idle node."""
    hub, idle = through_the_hub(star()), through_the_hub(star(idle=True), ranks=(0, 1, 2))
    yield "a symmetric allreduce with its root on a switch", turned(hub, (3, [1, 2, 0, 3]))
    yield "the root on a switch that only copies", through_the_hub(star(aggregation=False))
    yield "the root on a switch that only adds up", through_the_hub(star(multicast=False))
    yield "the root on a plain switch", through_the_hub(star(multicast=False, aggregation=False))
    yield "an idle root of a symmetric allreduce", turned(idle, (3, [1, 2, 0, 3]))
    yield "another root of the second phase", with_phase(hub, 1, roots=(0,), routes=Rows.of([[0, 4, 5]]))
    for name, schedule in (("a switch", replace(hub, ranks=(0, 1, 2))), ("an idle node", idle)):
        yield f"a rank sends nothing to {name}", with_phase(schedule, 0, routes=Rows.of([[0, 1]]))
    yield (
        "a broadcast with its root on a switch",
        replace(hub, collective=Collective.BROADCAST, phases=hub.phases[1:]),
    )
    yield "other shares of idle roots", with_phase(idle_roots(), 1, shares=(Fraction(1, 4), Fraction(3, 4)))


def of_ends() -> Iterator[tuple[str, TreeSchedule]]:
    """Yield schedules with sources and targets."""
    piece, whole = copies(), total()
    yield "no targets", replace(piece, targets=None)
    yield "no sources", replace(whole, sources=None)
    yield "ends of another collective", replace(piece, collective=Collective.ALLGATHER)
    yield "ends and a symmetry", turned(piece, (6, [1, 2, 3, 4, 5, 0]))
    yield "an empty list of targets", replace(piece, targets=())
    yield "a source twice", replace(piece, sources=(0, 0, 3))
    yield "a target that takes no part", replace(piece, targets=(1, 2, 4))
    yield "a rank without a role", replace(piece, ranks=(0, 1, 2, 3, 5))
    moved = replace(piece, routes=Rows.of([[1, 2], [3, 2]]))
    yield "a root that is no source", with_phase(moved, 0, roots=(1,), routes=Rows.of([[0]]))
    yield "a source that has the data no more", replace(piece, sources=(0,), targets=(1, 2, 3))
    longer = replace(piece, routes=Rows.of([[0, 1], [2, 3], [1, 2]]))
    yield "a route to a source", with_phase(longer, 0, routes=Rows.of([[0, 2, 1]]))
    yield "a target that is not reached", with_phase(piece, 0, routes=Rows.of([[0]]))
    yield "a source that does not send", with_phase(whole, 0, routes=Rows.of([[1], [0, 2]]))
    yield "a target of a sum that is not reached", with_phase(whole, 1, routes=Rows.of([[2, 3], [3]]))
    back = replace(whole, routes=Rows.of([*whole.routes, [3, 2]]))
    yield "a target that sends nothing of its own", with_phase(back, 0, routes=Rows.of([[0, 4, 1], [0, 2]]))
    yield "a cut for a piece", replace(piece, bound=Bound(piece.collective, Fraction(2), CutProof((0,))))
    proof = GroupLengthsProof(((0, 1), (3, 2)), (1, 1))
    yield "lengths for a piece", replace(piece, bound=Bound(piece.collective, Fraction(2), proof))
    yield "another bound of lengths", replace(piece, bound=Bound(piece.collective, Fraction(1), proof))
    negative = replace(proof, lengths=(-1, 1))
    yield "a negative length", replace(piece, bound=Bound(piece.collective, Fraction(1), negative))
    yield "a bound of another collective", replace(piece, bound=Bound(Collective.REDUCE, Fraction(2), proof))


def of_columns() -> Iterator[tuple[str, TreeSchedule]]:
    """Yield schedules whose columns do not fit, or with other phases."""
    two = two_gpus().freeze()
    (phase,) = two.phases
    for starts in ([], [1, 2], [0, 2, 1, 2], [0, 1], [0, 3]):
        wrong = Rows(np.array(starts, dtype=np.int64), np.array([0, 1], dtype=np.int32))
        yield f"starts {starts} of routes", replace(two, routes=wrong)
        yield f"starts {starts} of lists of routes", with_phase(two, 0, routes=wrong)
    yield "too few shares", with_phase(two, 0, shares=phase.shares[:1])
    yield "too few roots", with_phase(two, 0, roots=phase.roots[:1])
    yield "an allgather without phases", replace(two, phases=())
    yield "two phases of an allgather", replace(two, phases=two.phases * 2)
    for make in (ring, broadcast, allreduce, one_way_sum):
        for collective in SCHEDULED:
            if collective.only_reduces != make().collective.only_reduces:
                yield f"{make.__name__} as {collective}", replace(make().freeze(), collective=collective)
    yield "an allreduce without phases", replace(allreduce().freeze(), phases=())


def of_symmetries() -> Iterator[tuple[str, TreeSchedule]]:
    """Yield schedules with a symmetry that does not fit, or with a rank that does not exist."""
    turned_by_two = broadcast()
    turned_by_two.trees = [replace(tree, share=tree.share / 2) for tree in turned_by_two.trees]
    yield "a broadcast with a symmetry of order 2", turned(turned_by_two.freeze(), (2, [2, 3, 0, 1]))
    triangle = generate("ring:nodes=3")
    links = [
        replace(link, bandwidth=link.bandwidth / (1 + (place == 3)))
        for place, link in enumerate(triangle.topology.links)
    ]
    slower = replace(triangle, topology=replace(triangle.topology, links=tuple(links)))
    yield "a shift that maps a link to the first one, which is faster", turned(slower, (3, [2, 0, 1]))
    yield "a rank after the last node", replace(triangle, ranks=(0, 3))
    square = generate("ring:nodes=4")
    yield "a second shift that maps a link to no link", turned(square, (2, [2, 3, 0, 1]), (2, [1, 0, 2, 3]))
    six = generate("complete:nodes=6")
    yield "a shift that returns early to two of six nodes", turned(six, (4, [1, 2, 3, 0, 5, 4]))


def test_nodes_of_different_routes_are_different_in_networks_of_any_size() -> None:
    """Entries of routes are sorted by numbers that do not fit 32 bits if the network has many nodes."""
    ring = generate("ring:nodes=4").topology
    context = RouteContext(ring, None, Rows.of([[0, 1], [1, 0]]), None)
    context.network.size = 2**40
    assert table.node_repeated(context) is None
    twice = RouteContext(ring, None, Rows.of([[0, 1], [0, 1, 2, 1]]), None)
    assert table.node_repeated(twice) == "route 1 (0 -> 1 -> 2 -> 1) visits 1 twice; expected each node at most once"


def test_kinds_of_nodes_and_long_lists_in_messages() -> None:
    kinds = [(False, False), (True, False), (False, True), (True, True)]
    network = with_abilities(linked("a b c", "a=b b=c", switches="none copies adds both"), kinds)
    context = RouteContext(network, (0, 1), Rows.of([]), None)
    assert [wording.kind(context, node) for node in range(7)] == [
        "rank 'a'",
        "rank 'b'",
        "idle node 'c'",
        "switch 'none'",
        "switch 'copies' that can multicast",
        "switch 'adds' that can aggregate",
        "switch 'both' that can multicast and aggregate",
    ]
    assert wording.kind(RouteContext(context.topology, None, Rows.of([]), None), 2) == "compute node 'c'"
    assert wording.listed(range(8)) == "(0, 1, 2, 3, 4, 5, 6, 7)"
    assert wording.listed(range(9)) == "(0, 1, 2, 3, 4, 5, 6, 7, ...)"


@pytest.mark.parametrize(("size", "codes"), [(1, 0), (5, 40), (2**20, 2**31 - 1)])
def test_every_message_of_trees(size: int, codes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All rules are violated except that of a cut that nothing leaves and that of a schedule above its bound."""
    monkeypatch.setattr(rows, "BLOCK_ENTRIES", size)
    monkeypatch.setattr(table, "SORTED_ENTRIES", size)
    monkeypatch.setattr(table, "MAX_SHORT_CODE", codes)
    monkeypatch.setattr(delivery, "BLOCK_CELLS", size)
    schedules = [(name, draft.freeze()) for name, draft in changed()]
    schedules += [*of_hubs(), *of_ends(), *of_columns(), *of_symmetries()]
    found = [(name, verify(schedule).fault) for name, schedule in schedules]
    fault_lists.check("trees", found)
    violated = {fault.rule for _, fault in found if fault is not None}
    assert {name for name, _ in rules()} - violated == {"certificate-exit", "certificate-beaten"}
