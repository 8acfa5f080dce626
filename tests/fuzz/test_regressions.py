"""Command lines and files on which forestcoll failed once, and a short run of the fuzzers that found them."""

import json
from pathlib import Path
from typing import Any

import fuzz_commands
import pytest
from fuzz.commands import case_of
from fuzz.readers import fault_of

FOLDER = Path(__file__).with_name("regressions")
COMMANDS = sorted(FOLDER.glob("command-*.json"))
FILES = sorted(FOLDER.glob("reader-*.json"))


def document(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: path.stem)
def test_a_command_line_that_failed_once_does_not(path: Path, tmp_path: Path) -> None:
    fault, _ = fuzz_commands.attempt(case_of(document(path)), tmp_path, seconds=100)
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
