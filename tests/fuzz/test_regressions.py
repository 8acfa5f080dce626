"""Command lines and files on which forestcoll failed once, and a short run of the fuzzers that found them."""

import json
from pathlib import Path
from typing import Any

import pytest

from forestcoll.schedule.files import schedule_from_document
from forestcoll.verification import verify
from fuzz import command_lines, schedules
from fuzz.random_commands import case_of
from fuzz.readers import fault_of

FOLDER = Path(__file__).with_name("regressions")
COMMANDS = sorted(FOLDER.glob("command-*.json"))
FILES = sorted(FOLDER.glob("reader-*.json"))


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_line_that_failed_once_does_not(path: Path, tmp_path: Path) -> None:
    fault, _ = command_lines.attempt(case_of(document(path)), tmp_path, seconds=100)
    assert fault is None


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_that_failed_once_does_not(path: Path, tmp_path: Path) -> None:
    found = document(path)
    for name, text in found["files"].items():
        (tmp_path / name).write_bytes(bytes.fromhex(text))
        assert fault_of(found["reader"], tmp_path / name)[0] is None


@pytest.mark.parametrize(
    "text", ['size,time_us\n1,"2\n3,4\n', "size,time_us\n1," + "9" * 200_000, "size,time_us,\x00\n1,2,3\n"]
)
def test_a_table_that_is_no_csv_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text(text)
    assert fault_of("times", tmp_path / "times.csv")[0] is None


def test_changed_schedules_are_judged_by_the_plain_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = schedules.bases()[0]
    monkeypatch.setattr(schedules, "bases", lambda: [right])
    counts, failed = schedules.fuzz(seconds=100, most=40, seed=1, failures=tmp_path)
    assert failed == 0
    assert {"refused by the verifier", "right"} <= set(counts)
    accepting = verify(schedule_from_document(right, where="x"))
    monkeypatch.setattr(schedules, "verify", lambda _: accepting)
    assert schedules.fuzz(seconds=100, most=40, seed=1, failures=tmp_path)[1] == counts["refused by the verifier"]
    assert list(tmp_path.glob("schedule-1-*.json"))
