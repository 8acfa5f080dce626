"""Files of steps, with and without routes: both readers give the same schedule, and errors name the place."""

import json
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from changed_documents import MISSING
from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective, PhaseOp
from forestcoll.schedule.files import FORMATS, read_schedule, schedule_from_document, schedule_text, write_schedule
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.steps import scanning as step_scanning
from forestcoll.schedule.steps.composition import mapped_to, reversed_steps
from forestcoll.schedule.steps.document import from_document, scanned
from forestcoll.schedule.steps.shape import step_shape
from forestcoll.schedule.steps.value import StepSchedule, Transfers
from forestcoll.topology import topology_to_document
from forestcoll.topology.registry import build_topology
from forestcoll.verification import verify
from networks import examples, networks, one_way_networks
from refusal import refusal
from routed_steps import routed_schedules


def _document(**changes: object) -> dict[str, Any]:
    step = [
        {"shard": 0, "interval": ["0", "1"], "source": 0, "target": 1},
        {"shard": 1, "interval": [0, 1.0], "source": 1, "target": 0},
    ]
    topology = topology_to_document(build_topology("ring:nodes=2"))
    return {"format": "forestcoll.steps/1", "collective": "allgather", "topology": topology, "steps": [step]} | changes


def again(schedule: Schedule) -> Schedule:
    """Return the schedule that the text of a schedule describes."""
    return schedule_from_document(json.loads("".join(schedule_text(schedule))), where="here")


def test_steps_without_transfers_are_kept(tmp_path: Path) -> None:
    schedule = from_document(_document(steps=[[], *_document()["steps"], []], collective="All_Gather"), where="here")
    assert (schedule.steps, schedule.collective) == (3, "allgather")
    made = generate("complete:nodes=2", "allreduce", "bfb")
    reduce, broadcast = made.phases
    starts = np.append(reduce.transfers.starts, reduce.transfers.starts[-1])
    pausing = replace(reduce, transfers=replace(reduce.transfers, starts=starts))
    for each in (schedule, replace(made, phases=(pausing, broadcast))):
        write_schedule(each, tmp_path / "steps.json")
        assert again(each) == read_schedule(tmp_path / "steps.json") == each


def test_an_allreduce_without_phases_reduces_in_the_first_half() -> None:
    step = _document()["steps"][0]
    back = [{**each, "source": each["target"], "target": each["source"]} for each in step]
    schedule = from_document(_document(collective="allreduce", steps=[back, step]), where="here")
    assert [phase.op for phase in schedule.phases] == [PhaseOp.REDUCE, PhaseOp.BROADCAST]
    with pytest.raises(InputError, match="an allreduce of 1 step, an odd number, cannot reduce"):
        schedule_from_document(_document(collective="allreduce"), where="here")


def test_numbers_are_read_exactly_as_written(tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    document = _document()
    document["steps"][0][0]["interval"] = ["0.1", "3/10"]
    document["steps"][0][1]["interval"] = [0.1, 1]
    path.write_text(json.dumps(document))
    schedule = read_schedule(path)
    assert isinstance(schedule, StepSchedule)
    assert schedule.phases[0].transfers.points == tuple(map(Fraction, ("1/10", "3/10", "1")))


def _with_routes(**changes: object) -> dict[str, object]:
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
    document: dict[str, Any] = _with_routes()
    document["steps"][0][1]["route"] = route
    return document


TRANSFER = {"shard": 0, "interval": ["0", "1"], "source": 0, "target": 1}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        *(({key: MISSING}, f'has no "{key}"; a step schedule needs it') for key in ("collective", "topology", "steps")),
        ({"format": "forestcoll.steps/2"}, "format is 'forestcoll.steps/2'; expected 'forestcoll.steps/1'"),
        ({"collective": "alltoal"}, "collective is 'alltoal'; this version supports 'allgather'"),
        ({"collective": 7}, "collective is 7; this version supports"),
        ({"topology": []}, r"topology is \[\]; expected an object"),
        ({"steps": {}}, "steps is {}; expected a list of steps"),
        ({"steps": [3]}, r"steps\[0\] is 3; expected a list of transfers"),
        ({"steps": [[], [3]]}, r"steps\[1\]\[0\] is 3; expected"),
        ({"steps": [[TRANSFER, {"shard": 0}]]}, r'steps\[0\]\[1\] has no "interval"; a transfer needs shard, interval'),
        ({"steps": [[TRANSFER | {"shard": 2}]]}, r"steps\[0\]\[0\].shard is 2; expected an integer from 0 to 1"),
        ({"steps": [[TRANSFER, TRANSFER | {"source": True}]]}, r"steps\[0\]\[1\].source is true; expected an integer"),
        ({"steps": [[TRANSFER | {"target": -1}]]}, r"steps\[0\]\[0\].target is -1; expected an integer from 0"),
        ({"steps": [[TRANSFER | {"interval": ["0"]}]]}, r'interval is \["0"\]; expected two rationals'),
        ({"steps": [[TRANSFER | {"interval": ["0", "x"]}]]}, r"\[0\].interval contains 'x', which is not a number"),
        ({"steps": [[TRANSFER | {"interval": ["0", True]}]]}, "interval contains 'true', which is not a number"),
        ({"steps": [[TRANSFER | {"interval": ["0", "1/0"]}]]}, "which has a zero denominator"),
        ({"phases": 3}, "phases is 3; expected"),
        ({"phases": [3]}, r"phases\[0\] is 3; expected"),
        ({"phases": [{"op": "add", "steps": 1}]}, r"phases\[0\].op is 'add'; this version supports 'broadcast', 'r"),
        ({"phases": [{"op": "reduce", "steps": -1}]}, r"phases\[0\].steps is -1; expected an integer of 0 or more"),
        ({"phases": [{"op": "reduce", "steps": 2}]}, "phases have 2 steps in total, and the list has 1"),
        ({"shards": {"0": "1/2"}}, "shards: the shards add up to 1/2; they must add up to exactly 1"),
        (_with_routes(routes=7), "routes is 7; expected a list"),
        (_with_routes(routes=[[0, 2, 1], 3]), r"routes\[1\] is 3; expected a list"),
        (_with_routes(routes=[[0, 2, 3], [1, 2, 0]]), r"routes\[0\]\[2\] is 3; expected an integer from 0 to 2"),
        (_with_routes(routes=[[0, 2, True], [1, 2, 0]]), r"routes\[0\]\[2\] is true; expected an integer from 0 to"),
        (_with_routes(routes=[]), r"steps\[0\]\[0\] has a route, but the file has no table of routes"),
        (_with_route(2), r"steps\[0\]\[1\].route is 2; expected an integer from 0 to 1"),
        (_with_route(-1), r"steps\[0\]\[1\].route is -1; expected an integer from 0 to 1"),
        (_with_route("0"), r"steps\[0\]\[1\].route is '0'; expected an integer from 0 to 1"),
        (_with_route(None), r"steps\[0\]\[1\].route is null; expected an integer from 0 to 1"),
    ],
)
def test_the_error_for_an_invalid_document_names_the_key(changes: dict[str, object], words: str) -> None:
    document = {key: value for key, value in _document(**changes).items() if value is not MISSING}
    assert re.match(f"file.json: .*{words}", refusal(from_document, document, where="file.json"))


def test_the_error_for_a_missing_format_lists_all_formats() -> None:
    *others, last = map(repr, FORMATS)
    with pytest.raises(InputError, match=re.escape(f"expected {', '.join(others)} or {last}")):
        schedule_from_document({}, where="here")


DIRECT = st.one_of(networks(most=6, switches=False), one_way_networks(most=6, switches=False))


@st.composite
def schedules(draw: st.DrawFn) -> StepSchedule:
    """Draw schedules of steps with and without routes."""
    if draw(st.booleans()):
        return draw(routed_schedules())
    made: StepSchedule = generate(
        draw(DIRECT), draw(st.sampled_from(["allgather", "reduce-scatter", "allreduce"])), "bfb"
    )
    return made


@examples(160)
@given(schedules(), st.sampled_from([1, 200, 2**22]))
def test_both_readers_give_the_same_schedule(schedule: StepSchedule, block: int) -> None:
    text = "".join(schedule_text(schedule)).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_scanning, "BLOCK_BYTES", block)
        quickly = scanned(text, where="here")
    assert schedule_from_document(json.loads(text), where="here") == schedule
    transfers = [phase.transfers for phase in schedule.phases]
    digits = max(point.denominator for each in transfers for point in each.points)
    if block == 2**22 and digits < 10**9 and all(len(step) for each in transfers for step in map(list, each)):
        assert quickly is not None
    assert quickly in (None, schedule)


TEXT = "".join(schedule_text(generate(build_topology("ring:nodes=8"), method="bfb")))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"1/2"', '"2/4"'),
        ('"1/2"', '"0.5"'),
        ('"1/2"', '"1/2 "'),
        ('"shard": 3,', '"shard": 03,'),
        ('"shard": 3,', '"shard":3,'),
        ('"shard": 3,', '"shard": 3e0,'),
        ('"shard": 3,', '"shard": -3,'),
        ('"shard": 3,', '"shard": 30,'),
        ('"source": 3,', '"source": 3, "note": 7,'),
        ('"shard"', '"shart"'),
        ("},\n", "}\n"),
        ("]\n]}\n", "],\n[\n]\n]}\n"),
        ("]\n]}\n", "]\n]}"),
        ("]\n]}\n", "]\n]}\n\n"),
        ("\n]}\n", '\n], "name": "odd"}\n'),
        ('"steps": [', '"steps": 3, "steps": ['),
        ("forestcoll.steps/1", "forestcoll.steps/2"),
        (TEXT[:200], "{"),
    ],
)
def test_unusual_text_is_left_to_the_json_reader(old: str, new: str) -> None:
    assert TEXT.count(old) >= 1
    changed = TEXT.replace(old, new, 1)
    assert scanned(changed.encode(), where="here") is None
    assert scanned(TEXT.encode(), where="here") is not None


def test_numbers_of_ten_digits_are_left_to_the_json_reader(tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    path.write_text(TEXT.replace('"1/2"', f'"1/{10**10}"'))
    assert scanned(path.read_bytes(), where="here") is None
    schedule = read_schedule(path)
    assert isinstance(schedule, StepSchedule)
    assert Fraction(1, 10**10) in schedule.phases[0].transfers.points


GOLDEN = Path(__file__).parents[2] / "golden"


@examples(60)
@given(routed_schedules((Collective.ALLGATHER,)))
def test_the_reverse_follows_the_reversed_routes(schedule: StepSchedule) -> None:
    back = reversed_steps(schedule)
    assert list(back.routes) == [path[::-1] for path in schedule.routes]
    assert verify(back).ok
    assert step_shape(back).step_times == step_shape(schedule).step_times[::-1]
    assert reversed_steps(back) == schedule


def one_switch() -> StepSchedule:
    schedule = schedule_from_document(_with_routes(), where="here")
    assert isinstance(schedule, StepSchedule)
    return schedule


def test_routes_are_mapped_with_the_nodes() -> None:
    moved = mapped_to(one_switch(), one_switch().topology, [1, 0, 2])
    assert list(moved.routes) == [(1, 2, 0), (0, 2, 1)]
    assert verify(moved).ok


def test_a_file_is_written_with_the_bytes_of_earlier_versions(tmp_path: Path) -> None:
    for name in ("steps-allreduce.json", "steps-with-routes.json"):
        schedule = read_schedule(GOLDEN / name)
        assert verify(schedule).ok
        write_schedule(schedule, tmp_path / name)
        assert (tmp_path / name).read_bytes() == (GOLDEN / name).read_bytes()
    made = generate(build_topology("ring:nodes=4"), "allreduce", "bfb")
    assert "".join(schedule_text(made)) == (GOLDEN / "steps-allreduce.json").read_text()


def test_ranks_are_read_back_and_checked() -> None:
    document = _with_routes(ranks=[1, 0])
    schedule = schedule_from_document(document, where="here")
    assert schedule.ranks == (0, 1)
    assert schedule_from_document(json.loads("".join(schedule_text(schedule))), where="here") == schedule
    with pytest.raises(InputError, match=r"here: ranks\[1\] is the number of switch 's'; only compute nodes take part"):
        schedule_from_document(_with_routes(ranks=[0, 2]), where="here")


def test_transfers_without_routes_have_one_form() -> None:
    schedule = one_switch()
    steps = [[each._replace(route=None) for each in step] for step in schedule.phases[0].transfers]
    assert Transfers.of(steps).routes is None
    assert Transfers.of(steps) != schedule.phases[0].transfers
    assert replace(schedule, routes=Rows.of([])) != schedule


def test_the_shape_counts_the_links_of_routes() -> None:
    shape = step_shape(one_switch())
    assert (shape.steps, shape.links_crossed, shape.hops) == (1, (2,), 2)
    assert step_shape(generate(build_topology("ring:nodes=4"), method="bfb")).hops == 2


def test_unusual_text_of_routes_is_left_to_the_json_reader() -> None:
    text = (GOLDEN / "steps-with-routes.json").read_text()
    assert scanned(text.encode(), where="here") is not None
    old = ', "route": 1}'
    assert old in text
    for new in (', "route": 01}', ', "route": 99}', ', "path": 1}', ', "route": 1, "note": 2}'):
        assert scanned(text.replace(old, new, 1).encode(), where="here") is None
