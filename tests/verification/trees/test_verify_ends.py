"""The rules about sources and targets. Each is violated by a small change of a correct schedule."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.programs.lowering.lowering import lower
from forestcoll.runtime.engine.trees import trees_of
from forestcoll.schedule.files import read_schedule, write_schedule
from forestcoll.schedule.proof import Bound, CutProof, GroupLengthsProof
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.shape_of import shape_of
from forestcoll.schedule.trees.value import Phase, TreeSchedule
from forestcoll.topology.registry import build_topology
from forestcoll.topology.symmetry.shifts import Shift, Symmetry
from forestcoll.verification import verify
from verify_drafts import fault_of

Mutation = Callable[[TreeSchedule], TreeSchedule]
HALF = Fraction(1, 2)


def copies() -> TreeSchedule:
    """A piece that nodes 0 and 3 of a ring of six hold, and nodes 1 and 2 need: one tree with a route from each."""
    routes = Rows.of([[0, 1], [3, 2]])
    phase = Phase(PhaseOp.BROADCAST, (0,), (Fraction(1),), Rows.of([[0, 1]]))
    return TreeSchedule(
        topology=build_topology("ring:nodes=6"),
        collective=Collective.BROADCAST,
        routes=routes,
        phases=(phase,),
        algbw=Fraction(1),
        ranks=(0, 1, 2, 3),
        sources=(0, 3),
        targets=(1, 2),
    )


def total() -> TreeSchedule:
    """A sum of nodes 0 and 2 of a ring of six that nodes 1 and 3 need: added up at node 1, and at node 2."""
    routes = Rows.of([[0, 1], [2, 1], [1, 2], [2, 3]])
    reduce = Phase(PhaseOp.REDUCE, (1, 2), (HALF, HALF), Rows.of([[0, 1], [0, 2]]))
    broadcast = Phase(PhaseOp.BROADCAST, (1, 2), (HALF, HALF), Rows.of([[2, 3], [1, 3]]))
    return TreeSchedule(
        topology=build_topology("ring:nodes=6"),
        collective=Collective.ALLREDUCE,
        routes=routes,
        phases=(reduce, broadcast),
        algbw=Fraction(1),
        ranks=(0, 1, 2, 3),
        sources=(0, 2),
        targets=(1, 3),
    )


def with_trees(schedule: TreeSchedule, place: int, **changes: object) -> TreeSchedule:
    phases = list(schedule.phases)
    phases[place] = replace(phases[place], **changes)  # type: ignore[arg-type]  # the keys are those of a phase
    return replace(schedule, phases=tuple(phases))


def with_cut(schedule: TreeSchedule) -> TreeSchedule:
    return replace(schedule, bound=Bound(schedule.collective, Fraction(2), CutProof((0,))))


BROKEN: dict[str, tuple[Callable[[], TreeSchedule], Mutation, str, str]] = {
    "no targets": (copies, lambda s: replace(s, targets=None), "ends-misplaced", "targets are missing; expected both"),
    "no sources": (total, lambda s: replace(s, sources=None), "ends-misplaced", "sources are missing; expected both"),
    "another collective": (
        copies,
        lambda s: replace(s, collective=Collective.ALLGATHER),
        "ends-misplaced",
        "sources and targets are given; expected none in an allgather",
    ),
    "a symmetry": (
        copies,
        lambda s: replace(s, symmetry=Symmetry((Shift(6, np.array([1, 2, 3, 4, 5, 0], dtype=np.int32)),))),
        "ends-misplaced",
        "sources and targets are given with a symmetry; expected one of them",
    ),
    "an empty list": (copies, lambda s: replace(s, targets=()), "ends-wrong", "targets are ()"),
    "a node twice": (copies, lambda s: replace(s, sources=(0, 0, 3)), "ends-wrong", "sources are (0, 0, 3)"),
    "a node that takes no part": (
        copies,
        lambda s: replace(s, targets=(1, 2, 4)),
        "ends-wrong",
        "sources and targets together are (0, 1, 2, 3, 4); expected the 4 ranks",
    ),
    "a rank without a role": (
        copies,
        lambda s: replace(s, ranks=(0, 1, 2, 3, 5)),
        "ends-wrong",
        "sources and targets together are (0, 1, 2, 3); expected the 5 ranks",
    ),
    "a root that is no source": (
        copies,
        lambda s: with_trees(replace(s, routes=Rows.of([[1, 2], [3, 2]])), 0, roots=(1,), routes=Rows.of([[0]])),
        "root-differs",
        "is rooted at a node that is not one of the sources",
    ),
    "a source that has the data no more": (
        copies,
        lambda s: replace(s, sources=(0,), targets=(1, 2, 3)),
        "tree-order",
        "starts on 3, not reached before",
    ),
    "a route to a source": (
        copies,
        lambda s: with_trees(replace(s, routes=Rows.of([[0, 1], [2, 3], [1, 2]])), 0, routes=Rows.of([[0, 2, 1]])),
        "tree-node-repeated",
        "ends on 3, a source, which has the data",
    ),
    "a target that is not reached": (
        copies,
        lambda s: with_trees(s, 0, routes=Rows.of([[0]])),
        "tree-not-spanning",
        "does not reach 2; expected all 2 targets",
    ),
    "a source that does not send": (
        total,
        lambda s: with_trees(s, 0, routes=Rows.of([[1], [0, 2]])),
        "tree-not-spanning",
        "has no data of 0; expected all 2 sources",
    ),
    "a target of a sum that is not reached": (
        total,
        lambda s: with_trees(s, 1, routes=Rows.of([[2, 3], [3]])),
        "tree-not-spanning",
        "does not reach 1; expected all 2 targets",
    ),
    "a target that sends nothing of its own": (
        total,
        lambda s: with_trees(replace(s, routes=Rows.of([*s.routes, [3, 2]])), 0, routes=Rows.of([[0, 4, 1], [0, 2]])),
        "tree-relay-empty",
        "target 3 sends, but no route of the tree ends there",
    ),
    "a cut": (copies, with_cut, "certificate-kind", "a proof of kind 'cut'; expected 'group-lengths'"),
}


@pytest.mark.parametrize("make", [copies, total])
def test_the_schedules_are_right_and_are_read_as_they_were_written(
    tmp_path: Path, make: Callable[[], TreeSchedule]
) -> None:
    report = verify(make())
    assert (report.fault, report.algbw) == (None, Fraction(1))
    write_schedule(make(), tmp_path / "schedule.json")
    assert read_schedule(tmp_path / "schedule.json") == make()
    assert shape_of(make()).hops > 0


@pytest.mark.parametrize("name", BROKEN)
def test_a_violated_rule_is_named_with_its_place(name: str) -> None:
    make, change, rule, words = BROKEN[name]
    fault = fault_of(change(make()))
    assert fault.rule == rule
    assert words in fault.message


def test_a_fault_of_the_whole_schedule_names_no_place() -> None:
    make, change, _, words = BROKEN["a symmetry"]
    assert fault_of(change(make())).message == words


def test_roots_that_take_no_part_carry_the_same_in_both_phases() -> None:
    """Nodes 4 and 5 are idle roots with 1/2 of the sums each, and with 1/4 and 3/4 of the results."""
    ring = build_topology("ring:nodes=6")
    routes = Rows.of([[3, 4], [0, 5], [5, 4], [4, 5], [4, 3], [5, 0]])
    reduce = Phase(PhaseOp.REDUCE, (4, 5), (HALF, HALF), Rows.of([[0, 1, 2], [1, 0, 3]]))
    back = Phase(PhaseOp.BROADCAST, (4, 5), (HALF, HALF), Rows.of([[3, 4, 5], [2, 5, 4]]))
    allreduce = TreeSchedule(ring, Collective.ALLREDUCE, routes, (reduce, back), algbw=Fraction(1), ranks=(0, 3))
    assert verify(allreduce).fault is None
    fault = fault_of(with_trees(allreduce, 1, shares=(Fraction(1, 4), Fraction(3, 4))))
    assert fault.rule == "root-shares"


def test_lengths_prove_the_bound_of_a_piece_alone() -> None:
    proof = GroupLengthsProof(((0, 1), (3, 2)), (1, 1))
    proven = replace(copies(), bound=Bound(Collective.BROADCAST, Fraction(2), proof))
    assert proof.algbw(proven.topology, proven.demand) == Fraction(2)
    assert verify(proven).fault is None
    assert fault_of(replace(proven, bound=Bound(Collective.BROADCAST, Fraction(1), proof))).rule == "certificate-bound"


@pytest.mark.parametrize("use", [lower, trees_of])
@pytest.mark.parametrize("make", [copies, total])
def test_such_schedules_are_not_run(make: Callable[[], TreeSchedule], use: Callable[[TreeSchedule], object]) -> None:
    with pytest.raises(InputError, match="a schedule with sources and targets cannot be") as caught:
        use(make())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("sources", "message"),
    [
        ([0, 9], "sources[1] is 9; expected an integer from 0 to 5"),
        ([0, 0], "sources[1]: node 0 is named twice; name it once"),
        ("0", "sources is '0'; expected a list"),
    ],
)
def test_a_file_with_invalid_sources_is_refused(tmp_path: Path, sources: object, message: str) -> None:
    path = tmp_path / "schedule.json"
    write_schedule(copies(), path)
    path.write_text(json.dumps(json.loads(path.read_text()) | {"sources": sources}))
    with pytest.raises(InputError) as caught:
        read_schedule(path)
    assert str(caught.value) == f"{path}: {message}"
