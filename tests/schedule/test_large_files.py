"""Schedules whose files would be too large to be read again, and pipelines of many steps."""

from pathlib import Path

import pytest

from forestcoll import InputError, generate, generate_steps, read_schedule, write_schedule
from forestcoll.schedule import files


def test_a_schedule_that_could_not_be_read_again_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schedule, path = generate("ring:nodes=4"), tmp_path / "s.json"
    monkeypatch.setattr(files, "MAX_BYTES", 1000)
    with pytest.raises(
        InputError, match="ring:nodes=4: the file would be larger than 0 MiB, and could not be read again"
    ):
        write_schedule(schedule, path)
    with (
        pytest.raises(InputError, match="could not be read again"),
        files.prepared_schedule(schedule, path) as place,
    ):
        place()
    assert not list(tmp_path.iterdir())


def test_a_pipeline_of_many_steps_is_written_and_read(tmp_path: Path) -> None:
    schedule = generate_steps("double-binary-tree:nodes=4", "allreduce", method="double-binary-tree", chunks=2000)
    path = tmp_path / "s.json"
    write_schedule(schedule, path)
    assert schedule.steps > 4000
    assert read_schedule(path) == schedule
