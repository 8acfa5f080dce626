"""`verify` takes a schedule, or a file of any kind that the command takes."""

from dataclasses import replace
from pathlib import Path

import pytest

from forestcoll import InputError, export, generate, verify, write_schedule


def test_a_file_has_the_report_of_its_schedule(tmp_path: Path) -> None:
    schedule = generate("ring:nodes=4")
    write_schedule(schedule, tmp_path / "right.json")
    write_schedule(replace(schedule, algbw=schedule.algbw * 2), tmp_path / "wrong.json")
    assert verify(tmp_path / "right.json") == verify(schedule)
    assert getattr(verify(str(tmp_path / "wrong.json")).fault, "rule", None) == "algbw-wrong"


def test_a_file_of_a_program_is_executed(tmp_path: Path) -> None:
    path = tmp_path / "ring.xml"
    export(generate("ring:nodes=4"), "msccl-xml").write(path)
    assert verify(path).fault is None
    path.write_text(path.read_text().replace('cnt="1"', 'cnt="2"', 1))
    assert verify(path).fault is not None


@pytest.mark.parametrize("source", [3, None, "missing.json"])
def test_what_is_no_file_is_refused(source: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"the name of a file|no such file"):
        verify(source)  # type: ignore[call-overload]
