"""The folder of a tuning: complete or not there, and no other files are lost."""

import json
from functools import cache
from pathlib import Path
from unittest import mock

import pytest

from forestcoll.base.errors import InputError
from forestcoll.presentation.results.programs.tuning_folder import write_tuning
from forestcoll.programs.formats.judging import judge_file
from forestcoll.runtime.tuning import read_table
from forestcoll.schedule.files import read_schedule
from forestcoll.topology.hashing import topology_hash
from forestcoll.topology.registry import build_topology
from forestcoll.tuning import Tuning
from forestcoll.tuning.tune import tune
from forestcoll.verification import verify
from refusal import refusal

SPEC = "dgx-a100:boxes=1,gpus=3"


@cache
def tuned(collective: str = "allreduce") -> Tuning:
    return tune(SPEC, collective, [2**12, 2**26] if collective == "allreduce" else [2**20])


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_manifest_names_all_files_and_the_plot_shows_all_lines(tmp_path: Path) -> None:
    manifest = write_tuning(tuned(), tmp_path / "tuned")
    document = json.loads(manifest.read_text())
    assert document["format"] == "forestcoll.tuning/1"
    assert document["topology_hash"] == topology_hash(build_topology(SPEC))
    assert document["collective"] == "allreduce"
    listed = {"manifest.json", "times.svg"}
    assert len(tuned().ranges) == 2
    for row, each in zip(document["ranges"], tuned().ranges, strict=True):
        assert (row["from"], row["to"]) == (each.least, each.most)
        assert (row["time_us"], row["lower_bound_us"]) == (each.microseconds, each.bound_microseconds)
        assert verify(read_schedule(manifest.parent / row["schedule"])).ok
        for name in row["programs"].values():
            assert judge_file(manifest.parent / name).fault is None
        listed |= {row["schedule"], *row["programs"].values()}
    assert names(manifest.parent) == sorted(listed)
    picture = (manifest.parent / "times.svg").read_text()
    for name in ("tuned", "lower bound", *(curve.name for curve in tuned().curves[:3])):
        assert f"{name}</text>" in picture


def test_the_runtime_reads_it(tmp_path: Path) -> None:
    write_tuning(tuned(), tmp_path / "tuned")
    table = read_table(tmp_path / "tuned", build_topology(SPEC))
    assert [each.most for each in table.ranges] == [each.most for each in tuned().ranges]
    assert "for another topology" in refusal(read_table, tmp_path / "tuned", build_topology("ring:nodes=3"))


def test_the_same_tuning_gives_the_same_bytes_also_in_an_empty_folder(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    one, other = (write_tuning(tuned(), tmp_path / name).parent for name in ("one", "other"))
    assert names(one) == names(other)
    assert all((one / name).read_bytes() == (other / name).read_bytes() for name in names(one))


def test_an_older_tuning_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "tuned"
    write_tuning(tuned("allgather"), folder)
    write_tuning(tuned(), folder)
    assert json.loads((folder / "manifest.json").read_text())["collective"] == "allreduce"
    assert not (folder / "allgather-optimum.json.gz").exists()
    assert names(tmp_path) == ["tuned"]


@pytest.mark.parametrize("with_tuning", [False, True])
def test_other_files_are_never_removed(tmp_path: Path, *, with_tuning: bool) -> None:
    folder = tmp_path / "tuned"
    if with_tuning:
        write_tuning(tuned(), folder)
    folder.mkdir(exist_ok=True)
    (folder / "notes.txt").write_text("mine")
    before = names(folder)
    assert "which is no file of a tuning" in refusal(write_tuning, tuned(), folder)
    assert names(folder) == before


def test_a_file_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert "is a file; name a folder" in refusal(write_tuning, tuned(), tmp_path / "file")
    assert "does not exist" in refusal(write_tuning, tuned(), tmp_path / "missing" / "tuned")


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("existing", [False, True])
def test_a_failure_leaves_what_was_there(tmp_path: Path, error: BaseException, *, existing: bool) -> None:
    folder = tmp_path / "tuned"
    if existing:
        write_tuning(tuned("allgather"), folder)
    before = names(folder) if existing else []
    expected = InputError if isinstance(error, OSError) else KeyboardInterrupt
    for step in ("presentation.results.programs.tuning_folder.time_plot", "base.together._Move.make"):
        with mock.patch(f"forestcoll.{step}", side_effect=error), pytest.raises(expected):
            write_tuning(tuned(), folder)
        assert (names(folder) if existing else []) == before
        assert names(tmp_path) == (["tuned"] if existing else [])


def test_a_failed_rename_brings_the_old_folder_back(tmp_path: Path) -> None:
    folder = tmp_path / "tuned"
    write_tuning(tuned("allgather"), folder)
    before, replace = names(folder), Path.replace

    def failing(self: Path, target: Path) -> Path:
        if (self / "manifest.json").exists() and not target.exists() and names(self) != before:
            raise OSError(13, "Permission denied")
        return replace(self, target)

    with mock.patch.object(Path, "replace", failing), pytest.raises(InputError, match="Permission denied"):
        write_tuning(tuned(), folder)
    assert names(folder) == before
    assert names(tmp_path) == ["tuned"]
