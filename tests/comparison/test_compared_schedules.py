"""`compare` with schedules as values, and what it refuses."""

from dataclasses import replace
from pathlib import Path

import forestcoll as fc
from refusal import refusal

RING = fc.load_topology("ring:nodes=4")


def test_schedules_are_rows_like_their_files(tmp_path: Path) -> None:
    one, two = fc.generate(RING, method="bfb"), fc.generate(RING)
    fc.write_schedule(one, tmp_path / "one.json")
    wrong = replace(two, algbw=two.algbw * 2)
    found = fc.compare(RING, baselines=[one, str(tmp_path / "one.json"), wrong], sizes=[1024])
    row = found.row("schedule 1")
    assert row == replace(found.row(str(tmp_path / "one.json")), name="schedule 1")
    assert not found.row("schedule 2").valid
    assert fc.compare(RING, baselines=one, sizes=[1024]).row("schedule 1") == row


def test_one_name_is_a_list_of_one() -> None:
    assert [row.name for row in fc.compare(RING, baselines="direct", sizes=[]).rows] == ["forestcoll", "direct"]


def test_a_bundle_of_groups_is_no_collective_of_all(tmp_path: Path) -> None:
    bundle = fc.generate(RING, fc.Groups("0,1;2,3", collective="allreduce"))
    fc.write_schedule(bundle, tmp_path / "bundle.json")
    for given, name in ((bundle, "schedule 1"), (tmp_path / "bundle.json", str(tmp_path / "bundle.json"))):
        message = f"{name}: a bundle of groups, not one collective; compare the schedule of one collective"
        assert refusal(fc.compare, RING, "allreduce", baselines=[given]) == message
