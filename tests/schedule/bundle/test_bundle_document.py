"""Files of bundles: each fault is named with its place, and the members are written as files of their own."""

import json
from pathlib import Path

import pytest

from changed_documents import MISSING, changed
from forestcoll.algorithms.generate import generate
from forestcoll.demand.groups.groups import Groups
from forestcoll.schedule.bundle.files import write_members
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.document_parts import check_format
from forestcoll.schedule.files import read_schedule, schedule_from_document, schedule_text
from refusal import refusal


@pytest.fixture(scope="module")
def bundle() -> BundleSchedule:
    return generate("ring:nodes=4", Groups("0,1;2,3"))


@pytest.mark.parametrize(
    ("keys", "value", "message"),
    [
        (["algbw"], MISSING, 'has no "algbw"; a bundle needs it'),
        (["members"], [], "members has 0 entries; expected 1 to"),
        (["members", 1], [], "members[1] is []; expected"),
        (["members", 0, "size"], MISSING, 'members[0] has no "size"'),
        (["members", 0, "size"], "-1", "members[0].size is '-1'; it must be greater than 0"),
        (["members", 0, "pieces"], [{"id": "a"}], 'members[0].pieces[0] has no "size"; a piece needs it'),
        (["members", 0, "pieces"], [{"id": 3, "size": 1}], "members[0].pieces[0].id is 3; expected a text"),
        (["members", 1, "schedule", "format"], "forestcoll.steps/1", "format is 'forestcoll.steps/1'; expected 'fores"),
        (["members", 0, "schedule", "topology"], {}, "members[0].schedule has a topology of its own; remove it"),
        (["members", 1, "schedule", "routes", 0, 0], 99, "members[1].schedule: routes[0][0] is 99"),
    ],
)
def test_a_fault_is_named_with_its_place(
    bundle: BundleSchedule, keys: list[str | int], value: object, message: str
) -> None:
    document = changed(json.loads("".join(schedule_text(bundle))), keys, value)
    said = refusal(schedule_from_document, document, where="here")
    assert said.startswith("here: ")
    assert message in said


def test_an_object_without_a_format_is_refused() -> None:
    assert 'here: has no "format"; expected' in refusal(check_format, {}, "forestcoll.bundle/1", "here")


def test_members_are_written_as_files(bundle: BundleSchedule, tmp_path: Path) -> None:
    write_members(bundle, tmp_path / "members")
    assert [read_schedule(tmp_path / "members" / f"group-{place}.json") for place in range(2)] == [
        member.schedule for member in bundle.bundled
    ]
    (tmp_path / "file").write_text("")
    assert "file: is a file; name a folder" in refusal(write_members, bundle, tmp_path / "file")


def test_files_of_a_larger_bundle_are_not_mixed_in(bundle: BundleSchedule, tmp_path: Path) -> None:
    write_members(bundle, tmp_path)
    (tmp_path / "notes.txt").write_text("mine")
    write_members(bundle, tmp_path)
    (tmp_path / "group-2.json").write_text("older")
    assert "holds 'group-2.json', which is no group of this bundle" in refusal(write_members, bundle, tmp_path)
