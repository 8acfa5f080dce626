"""Step schedules with routes: files, composition and shape."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.by_steps import generate_steps
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.schedule.files import read_schedule, schedule_from_document, schedule_text, write_schedule
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.steps import scanning as step_scanning
from forestcoll.schedule.steps.composition import mapped_to, reversed_steps
from forestcoll.schedule.steps.document import scanned
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepSchedule, Transfers
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples
from routed_steps import routed_schedules

GOLDEN = Path(__file__).parents[2] / "golden"


@examples(80)
@given(routed_schedules(), st.sampled_from([1, 200, 2**22]))
def test_both_readers_read_routes_back(schedule: StepSchedule, block: int) -> None:
    text = "".join(schedule_text(schedule))
    assert schedule_from_document(json.loads(text), where="here") == schedule
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_scanning, "BLOCK_BYTES", block)
        quickly = scanned(text.encode(), where="here")
    if block == 2**22 and all(len(step) for phase in schedule.phases for step in map(list, phase.transfers)):
        assert quickly is not None
    assert quickly in (None, schedule)


@examples(60)
@given(routed_schedules((Collective.ALLGATHER,)))
def test_the_reverse_follows_the_reversed_routes(schedule: StepSchedule) -> None:
    back = reversed_steps(schedule)
    assert list(back.routes) == [path[::-1] for path in schedule.routes]
    assert verify(back).ok
    assert step_shape(back).step_times == step_shape(schedule).step_times[::-1]
    assert reversed_steps(back) == schedule


def test_routes_are_mapped_with_the_nodes() -> None:
    schedule = schedule_from_document(_document(), where="here")
    assert isinstance(schedule, StepSchedule)
    moved = mapped_to(schedule, schedule.topology, [1, 0, 2])
    assert list(moved.routes) == [(1, 2, 0), (0, 2, 1)]
    assert verify(moved).ok


@pytest.mark.parametrize("name", ["steps-allreduce.json", "steps-with-routes.json"])
def test_a_file_is_written_with_the_bytes_that_were_read(tmp_path: Path, name: str) -> None:
    schedule = read_schedule(GOLDEN / name)
    assert verify(schedule).ok
    write_schedule(schedule, tmp_path / name)
    assert (tmp_path / name).read_bytes() == (GOLDEN / name).read_bytes()


def test_a_file_without_routes_has_the_bytes_of_earlier_versions(tmp_path: Path) -> None:
    write_schedule(generate_steps(build_topology("ring:nodes=4"), "allreduce"), tmp_path / "steps.json")
    assert (tmp_path / "steps.json").read_bytes() == (GOLDEN / "steps-allreduce.json").read_bytes()


def test_ranks_are_read_back_and_checked() -> None:
    document = _document(ranks=[1, 0])
    schedule = schedule_from_document(document, where="here")
    assert schedule.ranks == (0, 1)
    assert schedule_from_document(json.loads("".join(schedule_text(schedule))), where="here") == schedule
    with pytest.raises(InputError, match=r"here: ranks\[1\] is the number of switch 's'; only compute nodes take part"):
        schedule_from_document(_document(ranks=[0, 2]), where="here")


def test_transfers_without_routes_have_one_form() -> None:
    schedule = schedule_from_document(_document(), where="here")
    assert isinstance(schedule, StepSchedule)
    steps = [[each._replace(route=None) for each in step] for step in schedule.phases[0].transfers]
    assert Transfers.of(steps).routes is None
    assert Transfers.of(steps) != schedule.phases[0].transfers
    assert replace(schedule, routes=Rows.of([])) != schedule


def test_the_shape_counts_the_links_of_routes() -> None:
    schedule = schedule_from_document(_document(), where="here")
    assert isinstance(schedule, StepSchedule)
    shape = step_shape(schedule)
    assert (shape.steps, shape.links_crossed, shape.hops) == (1, (2,), 2)
    assert step_shape(generate_steps(build_topology("ring:nodes=4"))).hops == 2


def _document(**changes: object) -> dict[str, object]:
    transfers = [
        {"shard": 0, "interval": ["0", "1"], "source": 0, "target": 1, "route": 0},
        {"shard": 1, "interval": ["0", "1"], "source": 1, "target": 0, "route": 1},
    ]
    nodes = [{"id": "a"}, {"id": "b"}, {"id": "s", "kind": "switch"}]
    edges = [{"source": each, "target": "s", "bandwidth": 5} for each in ("a", "b")]
    graph = {"format": "forestcoll.topology/1", "name": "one switch"}
    topology = {"directed": False, "graph": graph, "nodes": nodes, "edges": edges}
    head = {"format": "forestcoll.steps/1", "collective": "allgather", "topology": topology}
    return head | {"routes": [[0, 2, 1], [1, 2, 0]], "steps": [transfers]} | changes


def _with_route(route: object) -> dict[str, object]:
    document = _document()
    steps = document["steps"]
    assert isinstance(steps, list)
    steps[0][1]["route"] = route
    return document


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (_document(routes=7), "here: routes is 7; expected a list"),
        (_document(routes=[[0, 2, 1], 3]), r"here: routes\[1\] is 3; expected a list"),
        (_document(routes=[[0, 2, 3], [1, 2, 0]]), r"here: routes\[0\]\[2\] is 3; expected an integer from 0 to 2"),
        (_document(routes=[[0, 2, True], [1, 2, 0]]), r"here: routes\[0\]\[2\] is true; expected an integer from 0 to"),
        (_document(routes=[]), r"here: steps\[0\]\[0\] has a route, but the file has no table of routes"),
        (_with_route(2), r"here: steps\[0\]\[1\].route is 2; expected an integer from 0 to 1"),
        (_with_route(-1), r"here: steps\[0\]\[1\].route is -1; expected an integer from 0 to 1"),
        (_with_route("0"), r"here: steps\[0\]\[1\].route is '0'; expected an integer from 0 to 1"),
        (_with_route(None), r"here: steps\[0\]\[1\].route is null; expected an integer from 0 to 1"),
    ],
)
def test_a_wrong_route_is_named_with_its_place(document: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        schedule_from_document(document, where="here")
    assert "\n" not in str(raised.value)


def test_unusual_text_of_routes_is_left_to_the_json_reader() -> None:
    text = (GOLDEN / "steps-with-routes.json").read_text()
    assert scanned(text.encode(), where="here") is not None
    old = ', "route": 1}'
    assert old in text
    for new in (', "route": 01}', ', "route": 99}', ', "path": 1}', ', "route": 1, "note": 2}'):
        assert scanned(text.replace(old, new, 1).encode(), where="here") is None
