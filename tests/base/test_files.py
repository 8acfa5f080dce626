import errno
import gzip
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import accumulate
from pathlib import Path
from threading import Event
from types import FrameType
from typing import Any

import pytest

from forestcoll.base.errors import InputError
from forestcoll.base.exact import WrittenFloat
from forestcoll.base.files import prepared_text, read_bytes, read_document, write_bytes, write_text
from refusal import refusal


def problem_of_reading(path: Path) -> str:
    return refusal(read_document, path)


def test_numbers_keep_their_digits(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"a": 0.10, "b": 1e400, "c": NaN, "d": 3}')
    document = read_document(tmp_path / "a.json")
    assert [number.text for number in document.values() if isinstance(number, WrittenFloat)] == ["0.10", "1e400", "NaN"]
    assert document["d"] == 3


def test_a_byte_order_mark_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"\xef\xbb\xbf{}")
    assert read_document(tmp_path / "a.json") == {}


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the file is empty; expected a JSON object"),
        (b'{"a": 1,\n"b" 2}', "not valid JSON: Expecting ':' delimiter at line 2, column 5"),
        (b"[]", "holds a JSON array"),
        (b"3", "holds a JSON number"),
        (b"true", "holds a JSON boolean"),
        (b"null", "holds a JSON null"),
        (b'"a"', "holds a JSON string"),
        (b"\xff{}", "not UTF-8 text (byte 0)"),
        (gzip.compress(b"{}", mtime=0), "compressed with gzip, but its name does not end in .gz; decompress it"),
        (b'{"format": "x', "not valid JSON: Unterminated string starting at line 1, column 12"),
        (b'{"a": ' + b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "write shorter numbers"),
    ],
)
def test_invalid_content_is_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    message = problem_of_reading(path)
    assert message.startswith(f"{path}: ")
    assert problem in message


@pytest.mark.parametrize(
    "content",
    [b"{}", gzip.compress(b"{}", mtime=0)[:-4], gzip.compress(b"{}", mtime=0)[:12] + b"\xff" * 20],
    ids=["plain", "cut off", "spoilt"],
)
def test_an_incomplete_gzip_file_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.json.gz").write_bytes(content)
    assert "not a complete gzip file" in problem_of_reading(tmp_path / "a.json.gz")


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_the_size_limit_holds_after_decompression(tmp_path: Path, name: str) -> None:
    write_text(tmp_path / name, ["{}", " " * 2**20])
    assert read_document(tmp_path / name, limit=2**20 + 2) == {}
    assert "larger than the limit of 1 MiB" in refusal(read_document, tmp_path / name, limit=2**20 + 1)


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_written_text_is_read_back(tmp_path: Path, name: str) -> None:
    write_text(tmp_path / name, ['{"a":', ' "é"}'])
    assert read_document(tmp_path / name) == {"a": "é"}
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_gzip_bytes_do_not_depend_on_time_or_place(tmp_path: Path) -> None:
    write_text(tmp_path / "a.gz", ["text"] * 1000)
    write_text(tmp_path / "b.gz", ["text" * 10] * 100)
    data = (tmp_path / "a.gz").read_bytes()
    assert data == (tmp_path / "b.gz").read_bytes()
    assert data[4:8] == bytes(4)  # no time stamp
    assert gzip.decompress(data) == b"text" * 1000


def failing_chunks(error: BaseException) -> Iterator[str]:
    yield "half"
    raise error


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_a_prepared_file_gets_its_name_only_on_request(tmp_path: Path, name: str) -> None:
    with prepared_text(tmp_path / name, ["one ", b"two"]) as put_in_place:
        assert not (tmp_path / name).exists()
        put_in_place()
    written = (tmp_path / name).read_bytes()
    write_text(tmp_path / name, ["one two"])
    assert written == (tmp_path / name).read_bytes()
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_failed_block_stops_the_writing_of_a_prepared_file(tmp_path: Path) -> None:
    with prepared_text(tmp_path / "b.json", ["text"]):
        pass  # without a request, nothing is kept
    (tmp_path / "a.json").write_text("old")
    endless = iter(lambda: "text", None)
    with pytest.raises(ZeroDivisionError), prepared_text(tmp_path / "a.json", endless):
        raise ZeroDivisionError
    assert (tmp_path / "a.json").read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


@pytest.mark.parametrize("error", [ZeroDivisionError(), KeyboardInterrupt()])
def test_the_error_of_a_prepared_file_is_raised_on_request(tmp_path: Path, error: BaseException) -> None:
    with pytest.raises(type(error)), prepared_text(tmp_path / "a.json", failing_chunks(error)) as put_in_place:
        put_in_place()
    assert not list(tmp_path.iterdir())


def interrupted_at(event: int, path: Path) -> bool:
    """Prepare and write a file, with Ctrl-C at one of the lines that this runs; return whether there are so many."""
    left = [event]

    def trace(frame: FrameType, kind: str, _: object) -> Any:
        if Path(frame.f_code.co_filename).name not in {"files.py", "threading.py"}:
            return None
        left[0] -= kind in {"call", "line"}
        if left[0] == 0:
            raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with prepared_text(path, ["text"]) as put_in_place:
            put_in_place()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.filterwarnings("ignore:unclosed file")  # if it comes before the thread has the file
def test_ctrl_c_at_any_line_of_writing_a_prepared_file_is_no_defect(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    event = 1
    while interrupted_at(event, path):
        assert [each.name for each in tmp_path.iterdir()] in ([], [path.name])
        path.unlink(missing_ok=True)
        event += 1
    assert event > 30


def test_a_file_that_cannot_be_prepared_is_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "no" / "a.json", tmp_path, Path("a\0b")):
        with pytest.raises(InputError, match=r"does not exist|is a folder|not a file name"), prepared_text(path, []):
            pytest.fail("the block ran")


def test_a_new_file_has_default_permissions_and_an_old_file_keeps_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a"
    mask = os.umask(0o027)
    try:
        write_text(path, ["new"])
    finally:
        os.umask(mask)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o600)
    write_text(path, ["newer"])
    assert path.stat().st_mode & 0o777 == 0o600


def test_writing_to_a_symbolic_link_replaces_its_target(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("old")
    (tmp_path / "link").symlink_to("target")
    write_text(tmp_path / "link", ["new"])
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_a_chunk_that_takes_long_does_not_delay_a_failure(tmp_path: Path) -> None:
    waiting, allowed, finished = Event(), Event(), Event()

    def slow() -> Iterator[str]:
        yield "half"
        waiting.set()
        allowed.wait(60)
        finished.set()
        yield "the rest"

    with suppress(ZeroDivisionError), prepared_text(tmp_path / "a.json", slow()):
        assert waiting.wait(60)
        raise ZeroDivisionError
    assert not finished.is_set()
    assert list(tmp_path.iterdir()) == []
    allowed.set()
    assert finished.wait(60)


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_the_disk_is_asked_to_begin_before_a_long_file_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    asked: list[tuple[int, int]] = []
    monkeypatch.setattr("forestcoll.base.files._EARLY_BYTES", 1000)
    monkeypatch.setattr(os, "posix_fadvise", lambda _file, begin, length, _advice: asked.append((begin, length)))
    chunks = [os.urandom(3000) for _ in range(1000)]
    write_bytes(tmp_path / name, chunks)
    begins, lengths = zip(*asked, strict=True)
    assert begins == (0, *accumulate(lengths[:-1]))
    assert min(lengths) >= 1000
    assert sum(lengths) <= (tmp_path / name).stat().st_size
    assert read_bytes(tmp_path / name) == b"".join(chunks)


def test_a_system_that_takes_no_advice_writes_the_same_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: int) -> None:
        raise OSError(errno.EINVAL, "no advice")

    monkeypatch.setattr("forestcoll.base.files._EARLY_BYTES", 10)
    monkeypatch.setattr(os, "posix_fadvise", refuse)
    write_text(tmp_path / "refused.txt", ["a text of some length"] * 3)
    monkeypatch.delattr(os, "posix_fadvise")
    write_text(tmp_path / "missing.txt", ["a text of some length"] * 3)
    assert (tmp_path / "refused.txt").read_text() == (tmp_path / "missing.txt").read_text()


def test_a_device_is_written_directly() -> None:
    write_text(Path("/dev/null"), ["text"])
    chunks = iter(["text"])
    with prepared_text(Path("/dev/null"), chunks) as put_in_place:
        assert next(chunks) == "text"
        put_in_place()
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize(
    ("name", "read", "written"),
    [
        (".", "is a folder", "is a folder"),
        ("a\0b.json", "not a file name", "not a file name"),
        ("plain/a.json", "Not a directory", "Not a directory"),
        ("a" * 300, "File name too long", "File name too long"),
        ("a.json", "no such file", None),
        ("no/a.json", "no such file", "no does not exist"),
        ("/dev/full", None, "No space left"),
    ],
)
def test_names_that_cannot_be_read_or_written_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, read: str | None, written: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain").write_text("{}")
    if read is not None:
        assert read in problem_of_reading(Path(name))
    if written is not None and (name != "/dev/full" or Path(name).exists()):
        assert written in refusal(write_text, Path(name), ["text"])
