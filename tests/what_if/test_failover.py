import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forestcoll import failures, optimum, read_schedule, verify
from forestcoll.base.errors import InputError
from forestcoll.what_if import write_failover


def test_every_file_is_a_right_schedule_for_its_failure(tmp_path: Path) -> None:
    made = write_failover("dgx-a100:boxes=2,gpus=2", tmp_path)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["format"] == "forestcoll.failover/1"
    assert manifest["healthy"]["algbw"] == str(optimum("dgx-a100:boxes=2,gpus=2").algbw)
    assert len(manifest["failures"]) == len(made.failures) == 8
    for row in manifest["failures"]:
        schedule = read_schedule(tmp_path / row["file"])
        assert verify(schedule).ok
        assert str(schedule.algbw) == row["algbw"]
        ids = [schedule.topology.ids((link.source, link.target)) for link in schedule.topology.links]
        assert row["change"].split("--") not in ids
    assert {row["algbw"] for row in manifest["failures"]} == {
        str(row.value.algbw) for row in failures("dgx-a100:boxes=2,gpus=2").rows
    }


def test_a_failure_that_cuts_off_nodes_has_no_file(tmp_path: Path) -> None:
    made = write_failover("dgx-a100:boxes=2,gpus=2", tmp_path, "switches")
    assert [(each.name, each.file is None) for each in made.failures] == [
        ("b0/nvswitch", False),
        ("b1/nvswitch", False),
        ("ib", True),
    ]


def test_a_box_that_fails_is_not_in_the_schedule(tmp_path: Path) -> None:
    made = write_failover("dgx-a100:boxes=3,gpus=2", tmp_path, "boxes", "allreduce")
    file = made.failures[1].file
    assert file is not None
    schedule = read_schedule(tmp_path / file)
    assert [node.attributes["box"] for node in schedule.topology.nodes if node.is_compute] == [0, 0, 2, 2]


def test_an_interrupted_set_goes_on(tmp_path: Path) -> None:
    made = write_failover("ring:nodes=4", tmp_path)
    files = sorted(tmp_path.glob("*.gz"))
    before = {file: file.stat().st_mtime_ns for file in files}
    files[1].unlink()
    with ThreadPoolExecutor(2) as threads:
        assert write_failover("ring:nodes=4", tmp_path, executor=threads).failures == made.failures
    after = {file: file.stat().st_mtime_ns for file in files}
    assert [file for file in files if before[file] != after[file]] == [files[1]]


def test_another_network_gets_other_files(tmp_path: Path) -> None:
    one = write_failover("ring:nodes=4", tmp_path / "one").failures
    other = write_failover("ring:nodes=4,bandwidth=2", tmp_path / "other").failures
    assert not {each.file for each in one} & {each.file for each in other}


@pytest.mark.parametrize("name", ["0-1-ea5b94e96278.json.gz", "notes.txt", "healthy.json.gz"])
def test_a_folder_with_other_files_is_refused_before_the_work(tmp_path: Path, name: str) -> None:
    write_failover("ring:nodes=3", tmp_path)
    (tmp_path / name).write_text("mine")
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(InputError, match=f"holds '{name}', which is no file of this failover set; name another folder"):
        write_failover("ring:nodes=3", tmp_path)
    with pytest.raises(InputError, match="which is no file of this failover set"):
        write_failover("ring:nodes=5", tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_file_that_a_killed_run_left_does_not_matter(tmp_path: Path) -> None:
    (tmp_path / ".0-1-ea5b.json.gz.1f.part").write_text("half")
    assert write_failover("ring:nodes=3", tmp_path).healthy.file


def test_wrong_arguments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="4096 at most"):
        write_failover("ring:nodes=100", tmp_path, at_once=2)
    with pytest.raises(InputError, match="at_once is 9"):
        write_failover("ring:nodes=4", tmp_path, at_once=9)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="is a file; name a folder"):
        write_failover("ring:nodes=4", tmp_path / "file")
    with pytest.raises(InputError, match=r"x\.csv: is the name of a file; a failover set is a folder of schedules"):
        write_failover("ring:nodes=4", tmp_path / "x.csv")
    with pytest.raises(InputError, match="'scatter' is not supported for a failover set; choose one of allgather"):
        write_failover("ring:nodes=4", tmp_path / "set", demand="scatter:root=0")
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
