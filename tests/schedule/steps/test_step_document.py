"""Files of steps: schedules are read back, and errors name the place."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.by_steps import generate_steps
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import PhaseOp
from forestcoll.schedule.files import read_schedule, schedule_from_document, schedule_text, write_schedule
from forestcoll.schedule.steps.document import from_document
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology import topology_to_document
from forestcoll.topology.registry import build_topology
from networks import examples, networks, one_way_networks

DIRECT = st.one_of(networks(most=6, switches=False), one_way_networks(most=6, switches=False))


def _document(**changes: object) -> dict[str, Any]:
    step = [
        {"shard": 0, "interval": ["0", "1"], "source": 0, "target": 1},
        {"shard": 1, "interval": [0, 1.0], "source": 1, "target": 0},
    ]
    topology = topology_to_document(build_topology("ring:nodes=2"))
    return {"format": "forestcoll.steps/1", "collective": "allgather", "topology": topology, "steps": [step]} | changes


@examples(60)
@given(DIRECT, st.sampled_from(["allgather", "reduce-scatter", "allreduce"]))
def test_a_written_schedule_is_read_back(topology: Any, kind: str) -> None:
    schedule = generate_steps(topology, kind)
    text = "".join(schedule_text(schedule))
    assert schedule_from_document(json.loads(text), where="here") == schedule
    assert "".join(schedule_text(schedule)) == text


@pytest.mark.parametrize("name", ["steps.json", "steps.json.gz"])
def test_shards_and_phases_are_read_back(tmp_path: Path, name: str) -> None:
    schedule = generate_steps(
        build_topology("double-binary-tree:nodes=6"), "allreduce", method="double-binary-tree", chunks=2
    )
    write_schedule(schedule, tmp_path / name)
    assert read_schedule(tmp_path / name) == schedule
    assert read_schedule(tmp_path / name) == schedule


@pytest.mark.parametrize("name", ["all_reduce", "all-reduce", "AllReduce"])
def test_a_collective_is_read_in_any_spelling_and_written_in_one(name: str) -> None:
    found = json.loads("".join(schedule_text(generate_steps("ring:nodes=3", "allreduce")))) | {"collective": name}
    schedule = schedule_from_document(found, where="here")
    assert json.loads("".join(schedule_text(schedule)))["collective"] == "allreduce"


def test_steps_without_transfers_are_kept() -> None:
    schedule = from_document(_document(steps=[[], *_document()["steps"], []]), where="here")
    assert schedule.steps == 3
    assert schedule_from_document(json.loads("".join(schedule_text(schedule))), where="here") == schedule


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


TRANSFER = {"shard": 0, "interval": ["0", "1"], "source": 0, "target": 1}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
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
        (
            {"steps": [[TRANSFER | {"interval": ["0", "x"]}]]},
            r"steps\[0\]\[0\].interval contains 'x', which is not a number",
        ),
        ({"steps": [[TRANSFER | {"interval": ["0", True]}]]}, "interval contains 'true', which is not a number"),
        ({"steps": [[TRANSFER | {"interval": ["0", "1/0"]}]]}, "which has a zero denominator"),
        ({"phases": 3}, "phases is 3; expected"),
        ({"phases": [3]}, r"phases\[0\] is 3; expected"),
        (
            {"phases": [{"op": "add", "steps": 1}]},
            r"phases\[0\].op is 'add'; this version supports 'broadcast', 'reduce'",
        ),
        ({"phases": [{"op": "reduce", "steps": -1}]}, r"phases\[0\].steps is -1; expected an integer of 0 or more"),
        ({"phases": [{"op": "reduce", "steps": 2}]}, "phases have 2 steps in total, and the list has 1"),
        ({"shards": {"0": "1/2"}}, "shards: the shards add up to 1/2; they must add up to exactly 1"),
    ],
)
def test_the_error_for_an_invalid_document_names_the_key(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words) as raised:
        from_document(_document(**changes), where="file.json")
    assert str(raised.value).startswith("file.json: ")
    assert "\n" not in str(raised.value)


def test_a_step_without_transfers_is_read_back(tmp_path: Path) -> None:
    schedule = generate_steps("complete:nodes=2", "allreduce")
    reduce, broadcast = schedule.phases
    starts = np.append(reduce.transfers.starts, reduce.transfers.starts[-1])
    pausing = replace(reduce, transfers=replace(reduce.transfers, starts=starts))
    schedule = replace(schedule, phases=(pausing, broadcast))
    write_schedule(schedule, tmp_path / "steps.json")
    assert read_schedule(tmp_path / "steps.json") == schedule


@pytest.mark.parametrize("key", ["collective", "topology", "steps"])
def test_a_missing_key_is_named(key: str) -> None:
    document = _document()
    del document[key]
    with pytest.raises(InputError, match=f'has no "{key}"; a step schedule needs it'):
        schedule_from_document(document, where="here")


def test_the_error_for_a_missing_format_lists_all_formats(tmp_path: Path) -> None:
    path = tmp_path / "odd.json"
    path.write_text("{}")
    with pytest.raises(
        InputError,
        match=r"expected .forestcoll.schedule/1., .forestcoll.steps/1., .forestcoll.broadcast-series/1., "
        r".forestcoll.flows/1. or .forestcoll.bundle/1",
    ):
        read_schedule(path)
