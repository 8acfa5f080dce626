"""Schedules are verified when they are read: a wrong one is an error that names the file and the rule."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.schedule.files import schedule_text, write_schedule
from forestcoll.verification import verify
from forestcoll.verification.reading import read_verified, verified_from_document
from refusal import refusal
from remarks import Remarks

RIGHT = generate("ring:nodes=4")
WRONG = replace(RIGHT, algbw=Fraction(1, 7))


def document(schedule: Any) -> dict[str, object]:
    found: dict[str, object] = json.loads("".join(schedule_text(schedule)))
    return found


def test_a_right_schedule_is_read_with_its_report(tmp_path: Path) -> None:
    write_schedule(RIGHT, tmp_path / "ring.json")
    stages = Remarks()
    assert read_verified(tmp_path / "ring.json", progress=stages) == (RIGHT, verify(RIGHT))
    assert stages.events == ["reading", "verifying"]
    assert read_verified(str(tmp_path / "ring.json"))[0] == RIGHT
    assert verified_from_document(document(RIGHT), where="x") == RIGHT


def test_a_wrong_schedule_is_refused_with_its_place(tmp_path: Path) -> None:
    path, fault = tmp_path / "ring.json", verify(WRONG).fault
    assert fault is not None
    write_schedule(WRONG, path)
    with pytest.raises(InputError) as caught:
        read_verified(path)
    assert str(caught.value) == f"{path}: {fault.message} [algbw-wrong]"
    assert refusal(verified_from_document, document(WRONG), where="rank 0") == f"rank 0: {fault.message} [algbw-wrong]"


def test_a_document_that_is_no_schedule_is_refused_with_its_place() -> None:
    assert refusal(verified_from_document, {}, where="rank 0").startswith("rank 0: ")
