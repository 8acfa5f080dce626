"""Conversion of many rows of integers to text and back, compared with the `json` module."""

import json
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from forestcoll.schedule import rows_text
from forestcoll.schedule.rows import Rows
from forestcoll.schedule.rows_text import MAX_DIGITS, row_texts, scan_rows, single_row_texts
from networks import examples

ENTRIES = st.one_of(st.integers(0, 12), st.sampled_from([99, 100, 10**8 - 1, 10**9 - 1, 2**31 - 1]))
ROWS = st.lists(st.lists(ENTRIES, max_size=5), max_size=12)
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), ("\n ,\t", ":"), (" ,\r\n ", ":")])


def listed(rows: Rows | None) -> list[list[int]] | None:
    return None if rows is None else list(rows.lists())


def scanned(text: bytes) -> list[list[int]] | None:
    """Return the rows in a text, which is also read in parallel parts of a few bytes."""
    whole, *others = (listed(scan_rows(text, 0, len(text), part)) for part in (len(text) + 1, 1, 4, 9))
    assert all(each == whole for each in others)
    return whole


def test_a_long_text_is_read_in_parallel_parts() -> None:
    rows = 2 * 10**5
    text = b",".join([b"[0,4096,1], [0,4097]"] * rows)
    found = scan_rows(text, 0, len(text))
    assert found is not None
    assert len(found) == 2 * rows
    assert (found.entries.reshape(rows, 5) == [0, 4096, 1, 0, 4097]).all()
    middle = len(text) // 2
    for place in (middle - 40, middle, middle + 40):
        assert scan_rows(text[:place] + b"x" + text[place:], 0, len(text) + 1) is None


@examples(200)
@given(rows=ROWS)
def test_rows_are_written_in_the_format_of_json(rows: list[list[int]]) -> None:
    for block in (1, 3, 2**16):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(rows_text, "BLOCK_ENTRIES", block)
            assert b"".join(row_texts(Rows.of(rows))).decode() == json.dumps(rows, separators=(",", ":"))[1:-1]
    assert list(single_row_texts(Rows.of(rows))) == [json.dumps(row, separators=(",", ":")).encode() for row in rows]


def test_integers_of_every_length_are_written() -> None:
    row = [sign * (10**digits + more) for digits in range(10) for more in (-1, 0, 1) for sign in (1, -1)]
    row += [9999, 10000, 12340005, 100000000, 2**31 - 1, -(2**31)]
    assert list(row_texts(Rows.of([row]))) == [json.dumps([row], separators=(",", ":"))[1:-1].encode()]


def test_integers_of_every_length_are_read() -> None:
    rows = [[10**digits - 1, 10**digits // 9, 0] for digits in range(1, MAX_DIGITS + 1)] * 40
    assert scanned(b"".join(row_texts(Rows.of(rows)))) == rows
    assert scanned(b"[" + b"9" * MAX_DIGITS + b",0]") == [[10**MAX_DIGITS - 1, 0]]
    for end in range(len(rows)):
        assert scanned(b"".join(row_texts(Rows.of([*rows[:2], rows[end]])))) == [*rows[:2], rows[end]]


def test_negative_and_long_integers_are_written() -> None:
    assert list(row_texts(Rows.of([[1, -1], [-20]]))) == [b"[1,-1],[-20]"]
    rows = Rows(np.array([0, 1, 3]), np.array([2**40, 1, -(2**33)]))
    assert list(row_texts(rows)) == [f"[{2**40}],[1,{-(2**33)}]".encode()]
    assert list(single_row_texts(rows)) == [f"[{2**40}]".encode(), f"[1,{-(2**33)}]".encode()]


@examples(200)
@given(rows=st.lists(st.lists(st.integers(0, 10**9 - 1), min_size=1, max_size=5), min_size=1), separators=SEPARATORS)
def test_rows_are_read_with_any_white_space(rows: list[list[int]], separators: tuple[str, str]) -> None:
    text = json.dumps(rows, separators=separators)
    assert scanned(text[1:-1].encode()) == rows
    assert scanned(json.dumps(rows, indent=1)[1:-1].rstrip().encode()) == rows


@examples(1000)
@given(text=st.lists(st.sampled_from(["[", "]", ",", "],[", "0", "1", "29", " ", "\n", "-", "x"]), max_size=9))
def test_the_result_equals_that_of_json(text: list[str]) -> None:
    rows = scanned(("[1" + "".join(text) + "3]").encode())
    try:
        expected = json.loads("[[1" + "".join(text) + "3]]")
    except json.JSONDecodeError:
        expected = None
    assert rows == (expected if expected is not None and "-" not in text and is_plain(expected) else None)


def is_plain(rows: list[object]) -> bool:
    return all(
        isinstance(row, list) and row and all(type(entry) is int and 0 <= entry < 10**MAX_DIGITS for entry in row)
        for row in rows
    )


NOT_PLAIN = (
    *("", "[]", "[1],[]", "[1,2]]", "[[1,2]", "[1]2", "2[1]", "[1],,[2]", "[1][2]", "[1,]", "[,1]", "[1],2", "[1;2]"),
    *("[01]", "[1 2]", "[-1]", "[1.5]", "[1e3]", "[٣]", "[" + "1" * (MAX_DIGITS + 1) + "]", "{1}", "[1]x[2]"),
    *("[1],x2]", "[1x,[2]", "[1]\0,[2]"),
)


def test_text_other_than_plain_rows_is_not_read() -> None:
    for text in NOT_PLAIN:
        assert scanned(text.encode()) is None, text


@examples(200)
@given(rows=ROWS, entries=st.integers(1, 7))
def test_blocks_hold_every_row_once_and_few_entries(rows: list[list[int]], entries: int) -> None:
    blocks = list(Rows.of(rows).blocks(entries))
    assert list(chain.from_iterable(block.lists() for _, block in blocks)) == rows
    assert [first for first, _ in blocks] == [0, *np.cumsum([len(block) for _, block in blocks])][: len(blocks)]
    assert all(len(block) == 1 or len(block.entries) <= entries for _, block in blocks)
    assert Rows.of(rows).longest == max(map(len, rows), default=0)


@examples(200)
@given(rows=ROWS, data=st.data())
def test_rows_are_selected_in_any_order(rows: list[list[int]], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(rows) - 1))) if rows else []
    taken = Rows.of(rows).take(np.array(chosen, dtype=np.int64))
    assert list(taken.lists()) == [rows[row] for row in chosen]


def test_selecting_many_rows_does_not_copy_their_indices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forestcoll.schedule.rows.BLOCK_ENTRIES", 4)
    rows = [[place] * (place % 4) for place in range(50)]
    assert list(Rows.of(rows).take(np.arange(50)[::-1]).lists()) == rows[::-1]


@examples(200)
@given(rows=st.lists(st.lists(st.integers(-(2**15), 2**15 - 1), max_size=5), max_size=12))
def test_rows_of_16_bits_are_written_like_those_of_32_bits(rows: list[list[int]]) -> None:
    wide = Rows.of(rows)
    short = Rows(wide.starts, wide.entries.astype(np.int16))
    assert list(single_row_texts(short)) == list(single_row_texts(wide))
    assert b"".join(row_texts(short)) == b"".join(row_texts(wide))
