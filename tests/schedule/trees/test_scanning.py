"""The fast reader of schedules gives exactly the result of the JSON reader, or leaves the text to it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.base.errors import InputError
from forestcoll.base.files import read_document
from forestcoll.schedule.files import read_schedule, schedule_from_document
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.scanning import scanned_document
from networks import examples

TOPOLOGY: dict[str, Any] = {
    "directed": False,
    "graph": {"format": "forestcoll.topology/1", "name": "zwei é"},
    "nodes": [{"id": "a"}, {"id": "b", "note": "one ]} and {[ \\ two"}],
    "edges": [{"source": "a", "target": "b", "bandwidth": 0.5}],
}


def document() -> dict[str, Any]:
    trees = [{"root": root, "share": "1/2", "routes": [root]} for root in (0, 1)]
    phase = {"op": "broadcast", "trees": trees}
    head = {"format": "forestcoll.schedule/1", "collective": "allgather", "topology": TOPOLOGY, "algbw": "1"}
    return head | {"routes": [[0, 1], [1, 0]], "phases": [phase]}


def plain(value: object) -> object:
    """Return a document with lists instead of arrays."""
    if isinstance(value, Rows):
        return list(value.lists())
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


def text_of(value: object, **form: Any) -> bytes:
    return json.dumps(value, **form).encode()


@pytest.mark.parametrize("form", [{}, {"indent": 1}, {"separators": (",", ":")}, {"sort_keys": True}])
def test_documents_in_any_layout_are_read_into_arrays(form: dict[str, Any]) -> None:
    read = scanned_document(text_of(document(), **form))
    assert read is not None
    assert plain(read) == document()
    assert isinstance(read["routes"], Rows)
    with_a_mark = b"\xef\xbb\xbf" + text_of(document(), ensure_ascii=False)
    assert plain(scanned_document(with_a_mark)) == document()


def changed(**keys: object) -> bytes:
    return text_of(document() | keys)


def replaced(old: str, new: str) -> bytes:
    text = text_of(document()).decode()
    assert old in text
    return text.replace(old, new, 1).encode()


LEFT = {
    "no JSON": replaced("[[0, 1]", "[[0, 1}"),
    "more behind the list": replaced("[[0, 1], [1, 0]]", "[[0, 1], [1, 0]] 7"),
    "more behind the document": text_of(document()) + b"]",
    "no end": b'{"routes": [1, 2',
    "no UTF-8": replaced("zwei", "zwei").replace(b"zwei", b"\xff"),
    "a number of ten digits": replaced("[1, 0]", "[1234567890, 0]"),
    "a route that is not of integers": replaced("[1, 0]", '["1", 0]'),
    "a route that is no list": replaced("[1, 0]", "1"),
    "a route without nodes": replaced("[1, 0]", "[]"),
    "a table that is no table": changed(routes=[1, 2]),
    "no routes at all": changed(routes=[]),
    "a tree with a table": replaced('"routes": [1]', '"routes": [[1]]'),
    "two lists": replaced('"routes": [1]', '"routes": [1], "routes": [0]'),
    "two lists in one": replaced('"routes": [1]', '"routes": [1], [0]'),
    "a list elsewhere": changed(comment={"routes": [1, 2]}),
    "a list in the topology": changed(topology=TOPOLOGY | {"routes": [1]}),
    "a list at the top": b'[{"routes": [1, 2]}]',
    "the text that stands in": changed(comment="-Infinity"),
    "an infinite number": replaced('"algbw": "1"', '"algbw": -Infinity'),
    "lists too deep": replaced("[[0, 1], [1, 0]]", "[" * 50_000 + "1" + "]" * 50_000),
    "objects too deep": changed(comment=None).replace(b"null", b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
}


def test_a_key_inside_a_string_is_not_read_as_a_list() -> None:
    note = 'see "routes": [1, 2], or \\"routes": [3]'
    read = scanned_document(changed(comment=note))
    assert read is not None
    assert read["comment"] == note


def outcomes(path: Path, text: bytes) -> list[Schedule | str]:
    """Return what `read_schedule` and the JSON reader make of a text: a schedule or an error."""
    path.write_bytes(text)
    found: list[Schedule | str] = []
    for read in (read_schedule, lambda path: schedule_from_document(read_document(path), where=str(path))):
        try:
            found.append(read(path))
        except InputError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("why", LEFT)
def test_unusual_text_is_left_to_the_json_reader(why: str, tmp_path: Path) -> None:
    assert scanned_document(LEFT[why]) is None
    quick, slow = outcomes(tmp_path / "s.json", LEFT[why])
    assert quick == slow


@examples(1000)
@given(data=st.data())
def test_the_result_for_changed_text_equals_that_of_the_json_reader(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = text_of(document())
    for _ in range(data.draw(st.integers(0, 2))):
        place = data.draw(st.integers(0, len(text)))
        new = data.draw(st.sampled_from(["", "[", "]", ",", "0", "7", '"', "}", "{", " ", "-", "\\", '"routes": [1],']))
        text = text[:place] + new.encode() + text[place + data.draw(st.integers(0, 2)) :]
    quick, slow = outcomes(tmp_path_factory.getbasetemp() / "changed.json", text)
    assert quick == slow


def test_an_entry_out_of_range_is_named_with_its_place(tmp_path: Path) -> None:
    for old, new, place in (
        ("[1, 0]", "[1, 0], [0, 1, 2]", "routes[2][2]"),
        ('"routes": [1]', '"routes": [1, 0, 2, 3]', "phases[0].trees[1].routes[2]"),
    ):
        quick, _ = outcomes(tmp_path / "s.json", replaced(old, new))
        assert quick == f"{tmp_path / 's.json'}: {place} is 2; expected an integer from 0 to 1"
