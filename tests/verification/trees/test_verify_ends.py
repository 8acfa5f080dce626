"""Nodes with roles: ranks and idle nodes, sources and targets, and roots that are switches or idle nodes."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.programs.lowering.lowering import lower
from forestcoll.runtime.engine.trees import trees_of
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.proof import GroupLengthsProof
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.simulation.simulate import simulate
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import linked, with_abilities
from refusal import refusal
from verify_drafts import relayed

HALF, WHOLE = Fraction(1, 2), (Fraction(1),)
RING = build_topology("ring:nodes=6")


def copies() -> TreeSchedule:
    """A piece that nodes 0 and 3 of a ring of six hold, and nodes 1 and 2 need: one tree with a route from each."""
    phase = Phase(PhaseOp.BROADCAST, (0,), WHOLE, Rows.of([[0, 1]]))
    ends: dict[str, Any] = {"ranks": (0, 1, 2, 3), "sources": (0, 3), "targets": (1, 2)}
    routes = Rows.of([[0, 1], [3, 2]])
    return TreeSchedule(RING, Collective.BROADCAST, routes, (phase,), algbw=Fraction(1), **ends)


def total() -> TreeSchedule:
    """A sum of nodes 0 and 2 of a ring of six that nodes 1 and 3 need: added up at node 1, and at node 2."""
    reduce = Phase(PhaseOp.REDUCE, (1, 2), (HALF, HALF), Rows.of([[0, 1], [0, 2]]))
    back = Phase(PhaseOp.BROADCAST, (1, 2), (HALF, HALF), Rows.of([[2, 3], [1, 3]]))
    ends: dict[str, Any] = {"ranks": (0, 1, 2, 3), "sources": (0, 2), "targets": (1, 3)}
    routes = Rows.of([[0, 1], [2, 1], [1, 2], [2, 3]])
    return TreeSchedule(RING, Collective.ALLREDUCE, routes, (reduce, back), algbw=Fraction(1), **ends)


def idle_roots() -> TreeSchedule:
    """An allreduce of nodes 0 and 3, of which nodes 4 and 5 add up one half each."""
    reduce = Phase(PhaseOp.REDUCE, (4, 5), (HALF, HALF), Rows.of([[0, 1, 2], [1, 0, 3]]))
    back = Phase(PhaseOp.BROADCAST, (4, 5), (HALF, HALF), Rows.of([[3, 4, 5], [2, 5, 4]]))
    routes = Rows.of([[3, 4], [0, 5], [5, 4], [4, 5], [4, 3], [5, 0]])
    return TreeSchedule(RING, Collective.ALLREDUCE, routes, (reduce, back), algbw=Fraction(1), ranks=(0, 3))


def star(*, multicast: bool = True, aggregation: bool = True, idle: bool = False) -> Topology:
    """Three compute nodes around a hub, which is a switch or an idle compute node."""
    links = "a=hub:4 b=hub:4 c=hub:4"
    if idle:
        return linked("a b c hub", links, name="star")
    return with_abilities(linked("a b c", links, switches="hub", name="star"), [(multicast, aggregation)])


def through_the_hub(topology: Topology, ranks: tuple[int, ...] | None = None) -> TreeSchedule:
    routes = Rows.of([[node, 3] for node in range(3)] + [[3, node] for node in range(3)])
    reduce = Phase(PhaseOp.REDUCE, (3,), WHOLE, Rows.of([[0, 1, 2]]))
    back = Phase(PhaseOp.BROADCAST, (3,), WHOLE, Rows.of([[3, 4, 5]]))
    return TreeSchedule(topology, Collective.ALLREDUCE, routes, (reduce, back), algbw=Fraction(4), ranks=ranks)


def with_phase(schedule: TreeSchedule, place: int, **changes: Any) -> TreeSchedule:
    phases = list(schedule.phases)
    phases[place] = replace(phases[place], **changes)
    return replace(schedule, phases=tuple(phases))


RIGHT = {
    "copies": copies(),
    "a sum": total(),
    "idle roots": idle_roots(),
    "a hub": through_the_hub(star()),
    "an idle hub": through_the_hub(star(idle=True), ranks=(0, 1, 2)),
    "an idle relay": relayed().freeze(),
}


@pytest.mark.parametrize("name", RIGHT)
def test_schedules_with_roles_are_right_and_are_read_as_they_were_written(tmp_path: Path, name: str) -> None:
    schedule, path = RIGHT[name], tmp_path / "schedule.json"
    report = verify(schedule)
    assert (report.fault, report.algbw) == (None, schedule.algbw)
    write_schedule(schedule, path)
    assert read_schedule(path) == schedule
    written = json.loads(path.read_text())
    assert [tuple(written.get(key) or ()) for key in ("ranks", "sources", "targets")] == [
        schedule.ranks or (),
        schedule.sources or (),
        schedule.targets or (),
    ]
    assert shape_of(schedule).hops > 0


def test_a_broadcast_can_leave_data_on_an_idle_node() -> None:
    draft = relayed()
    assert verify(draft.with_tree(0, routes=[*draft.trees[0].routes, draft.routes.index([3, 4])]).freeze()).optimal


def test_lengths_prove_the_bound_of_a_piece_alone() -> None:
    piece = copies()
    assert GroupLengthsProof(((0, 1), (3, 2)), (1, 1)).algbw(piece.topology, piece.demand) == Fraction(2)


def test_an_allreduce_over_a_hub_is_simulated_but_has_no_program() -> None:
    assert simulate(RIGHT["a hub"], [2**30])[0].algbw > 3
    assert "a tree is rooted at 'hub', which runs no program; use a schedule whose roots" in refusal(
        lower, RIGHT["a hub"]
    )


@pytest.mark.parametrize("use", [lower, trees_of])
@pytest.mark.parametrize("make", [copies, total])
def test_schedules_with_sources_are_not_run(
    make: Callable[[], TreeSchedule], use: Callable[[TreeSchedule], object]
) -> None:
    with pytest.raises(InputError, match="a schedule with sources and targets cannot be") as caught:
        use(make())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "nodes", "message"),
    [
        ("ranks", [0, 1, 5], "ranks[2] is 5; expected an integer from 0 to 4"),
        ("ranks", [0, "1"], "ranks[1] is '1'; expected an integer from 0 to 4"),
        ("ranks", [0, 1, 0], "ranks[2]: node 0 is named twice; name it once"),
        ("ranks", [2], "ranks: lists 1; a collective needs at least two"),
        ("ranks", "0-2", "ranks is '0-2'; expected a list"),
        ("sources", [0, 9], "sources[1] is 9; expected an integer from 0 to 5"),
        ("sources", [0, 0], "sources[1]: node 0 is named twice; name it once"),
        ("sources", "0", "sources is '0'; expected a list"),
    ],
)
def test_a_file_with_invalid_roles_is_refused(tmp_path: Path, key: str, nodes: object, message: str) -> None:
    path = tmp_path / "schedule.json"
    write_schedule(relayed().freeze() if key == "ranks" else copies(), path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: nodes}))
    assert refusal(read_schedule, path) == f"{path}: {message}"


def test_only_ranks_must_reach_each_other(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    write_schedule(relayed().freeze(), path)
    document = json.loads(path.read_text())
    links = [edge for edge in document["topology"]["edges"] if edge["target"] != "g4"]
    document["topology"]["edges"] = links
    document["routes"].remove([3, 4])
    path.write_text(json.dumps(document))
    assert verify(read_schedule(path)).optimal
    path.write_text(json.dumps(document | {"ranks": [0, 1, 4]}))
    assert "relayed: rank 'g0' cannot reach rank 'g4'; add links on the way" in refusal(read_schedule, path)
