"""Files of bundles: each fault is named with its place, and the members are written as files of their own."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError
from forestcoll.demand.groups.groups import Groups
from forestcoll.schedule.bundle.files import write_members
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.document_parts import check_format
from forestcoll.schedule.files import read_schedule, schedule_from_document, schedule_text
from refusal import refusal


@pytest.fixture(scope="module")
def bundle() -> BundleSchedule:
    return generate("ring:nodes=4", Groups("0,1;2,3"))


CHANGES: dict[str, tuple[Callable[[Any], object], str]] = {
    "no members": (lambda document: document.update(members=[]), "members has 0 entries; expected 1 to"),
    "format": (
        lambda document: document["members"][1]["schedule"].update(format="forestcoll.steps/1"),
        r"members\[1\]\.schedule\.format is 'forestcoll\.steps/1'; expected 'forestcoll\.schedule/1' or",
    ),
    "topology": (
        lambda document: document["members"][0]["schedule"].update(topology=document["topology"]),
        r"members\[0\]\.schedule has a topology of its own; remove it",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_fault_is_named_with_its_place(bundle: BundleSchedule, name: str) -> None:
    change, message = CHANGES[name]
    document = json.loads("".join(schedule_text(bundle)))
    change(document)
    with pytest.raises(InputError, match=message):
        schedule_from_document(document, where="here")


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
