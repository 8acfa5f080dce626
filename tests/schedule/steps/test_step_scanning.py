"""The fast reader of step files gives the same schedule as the JSON reader, or leaves the text to it."""

import json
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.algorithms.by_steps import generate_steps
from forestcoll.schedule.files import read_schedule, schedule_from_document, schedule_text
from forestcoll.schedule.steps import scanning as step_scanning
from forestcoll.schedule.steps.document import scanned
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.topology import Topology
from forestcoll.topology.registry import build_topology
from networks import examples, networks, one_way_networks

DIRECT = st.one_of(networks(most=6, switches=False), one_way_networks(most=6, switches=False))


@examples(80)
@given(DIRECT, st.sampled_from(["allgather", "reduce-scatter", "allreduce"]), st.sampled_from([1, 200, 2**22]))
def test_both_readers_give_the_same_schedule(topology: Topology, kind: str, block: int) -> None:
    schedule = generate_steps(topology, kind)
    text = "".join(schedule_text(schedule)).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(step_scanning, "BLOCK_BYTES", block)
        quickly = scanned(text, where="here")
    slowly = schedule_from_document(json.loads(text), where="here")
    assert slowly == schedule
    digits = max(point.denominator for phase in schedule.phases for point in phase.transfers.points)
    assert quickly == (schedule if block > 1 and digits < 10**9 else quickly)
    assert quickly in (None, schedule)


TEXT = "".join(schedule_text(generate_steps(build_topology("ring:nodes=8"))))


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
