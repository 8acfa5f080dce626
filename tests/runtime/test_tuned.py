"""A communicator that selects schedules by size, as a tuning says."""

import json
from pathlib import Path

import numpy as np
import pytest
from players import LIMIT, Players

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.collective import Collective
from forestcoll.runtime import Communicator, MemoryStore
from forestcoll.runtime.tuning import ScheduleRange, TuningTable, read_table, read_tables
from forestcoll.schedule.files import write_schedule
from forestcoll.topology.registry import build_topology

RING = build_topology("ring:nodes=3")


def table(folder: Path, small: object) -> Path:
    """Write a manifest of allreduces up to 100 bytes and above."""
    write_schedule(generate(RING, "allreduce"), folder / "large.json")
    write_schedule(generate(RING, "allreduce", "ring"), folder / "small.json")
    ranges = [{"from": 1, "to": 100, "schedule": small}, {"from": 101, "to": 10**6, "schedule": "large.json"}]
    document = {"format": "forestcoll.tuning/1", "collective": "allreduce", "ranges": ranges}
    (folder / "manifest.json").write_text(json.dumps(document))
    return folder


def test_sums_of_all_sizes_are_right(tmp_path: Path) -> None:
    folder = table(tmp_path, "small.json")
    with Players([generate(RING, "allgather")], tuning=[folder]) as players:
        for count in (1, 25, 26, 1000, 300_000):
            data = np.full(count, 1, np.float32)
            found = players.run(lambda group, data=data: group.allreduce(data * (group.rank + 1)).wait(LIMIT))  # type: ignore[misc]  # mypy cannot infer it
            assert all((each == 6).all() for each in found), count
        shards = players.run(lambda group: group.allgather(np.full(2, group.rank)).wait(LIMIT))
        assert all(each.tolist() == [0, 0, 1, 1, 2, 2] for each in shards)


def test_the_size_selects_the_schedule(tmp_path: Path) -> None:
    with Players([generate(RING, "allgather")], tuning=[table(tmp_path, "small.json")]) as players:
        group = players.groups[0]
        first = group._execution(Collective.ALLREDUCE)
        small, edge, large, larger = (group._for_size(first, size) for size in (1, 100, 101, 10**9))
    assert small is edge
    assert large is larger
    assert small is not large


def test_a_table_may_be_a_value() -> None:
    ranges = (
        ScheduleRange(100, generate(RING, "allreduce", "ring")),
        ScheduleRange(10**6, generate(RING, "allreduce")),
    )
    with Players([generate(RING)], tuning=[TuningTable(Collective.ALLREDUCE, ranges)]) as players:
        found = players.run(lambda group: group.allreduce(np.ones(300)).wait(LIMIT))
        assert all((each == 3).all() for each in found)
    with pytest.raises(InputError, match="tuning: there are two tables for allreduce"):
        read_tables([TuningTable(Collective.ALLREDUCE, ())] * 2)


def test_sizes_without_a_schedule_use_the_given_one(tmp_path: Path) -> None:
    folder = table(tmp_path, None)
    with Players([generate(RING, "allreduce")], tuning=[folder]) as players:
        found = players.run(lambda group: group.allreduce(np.ones(3)).wait(LIMIT))
        assert all(each.tolist() == [3, 3, 3] for each in found)
    with pytest.raises(InputError, match="no schedule for some sizes up to 100 bytes; also pass a schedule"):
        Communicator([], rank=0, store=MemoryStore(), tuning=[folder])


def test_a_manifest_names_only_files_of_its_folder(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside.json", tmp_path / "folder"
    (folder / "inner").mkdir(parents=True)
    write_schedule(generate(RING, "allreduce"), outside)
    write_schedule(generate(RING, "allreduce"), folder / "inner" / "small.json")
    (folder / "link.json").symlink_to(outside)
    (folder / "near.json").symlink_to("inner/small.json")
    (folder / "way").symlink_to(tmp_path)
    for name in ("../outside.json", str(outside), "link.json", "way/outside.json", "inner/../../outside.json"):
        with pytest.raises(InputError, match=r"ranges\[0\].schedule is .* outside the folder; put the file into the"):
            read_table(table(folder, name))
        for key, value in (("programs", {"msccl-xml": name}), ("plot", name)):
            with pytest.raises(InputError, match=rf"{key}.* is .* outside the folder"):
                read_table(changed(table(folder, None), key, value))
    odd: list[object] = ["", "a\0b", 7, True, ["small.json"]]
    for each in odd:
        with pytest.raises(InputError, match=r"schedule is .*; expected the name of a file$"):
            read_table(table(folder, each))
    for name in ("inner/small.json", "near.json", "./small.json"):
        assert read_table(table(folder, name)).ranges[0].schedule is not None


def test_the_name_of_a_file_is_never_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table(tmp_path, "-")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"/-: no such file"):
        read_table("manifest.json")


def changed(folder: Path, key: str, value: object) -> Path:
    """Change a key of the manifest, or of its first range."""
    file = folder / "manifest.json"
    document = json.loads(file.read_text())
    whole = key in {"ranks", "sizes", "plot", "collective", "topology_hash"}
    (document if whole else document["ranges"][0])[key] = value
    file.write_text(json.dumps(document))
    return folder


@pytest.mark.parametrize(
    ("key", "good"),
    [
        *[("from", 1), ("to", 100), ("chunks", 4), ("time_us", 1.5), ("lower_bound_us", 2), ("ranks", 3)],
        *[("program_time_us", {"msccl-xml": 2.5}), ("sizes", [{"size": 1, "time_us": 2.5}])],
    ],
)
def test_numbers_of_a_manifest_are_numbers(tmp_path: Path, key: str, good: object) -> None:
    read_table(changed(table(tmp_path, None), key, good))
    for bad in ("100", True, None, -1, [1]):
        wrong = [{"size": bad}] if key == "sizes" else {"msccl-xml": bad} if isinstance(good, dict) else bad
        with pytest.raises(InputError, match=rf"manifest.json: .*{key}.* is .*; expected an? (integer|number)"):
            read_table(changed(table(tmp_path, None), key, wrong))


@pytest.mark.parametrize("key", ["collective", "topology_hash"])
def test_texts_of_a_manifest_are_texts(tmp_path: Path, key: str) -> None:
    odd: list[object] = [5, True, [], {}]
    for bad in odd:
        with pytest.raises(InputError, match=rf"manifest.json: {key} is .*; expected a text"):
            read_table(changed(table(tmp_path, None), key, bad))


def test_a_tuning_for_another_network_is_refused(tmp_path: Path) -> None:
    folder = table(tmp_path, "small.json")
    with pytest.raises(InputError, match="for the topology of the group"):
        Communicator([generate("ring:nodes=4")], rank=0, store=MemoryStore(), tuning=[folder])
