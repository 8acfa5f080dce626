import gzip
import os
from pathlib import Path

import pytest

from forestcoll.base.exact import WrittenFloat
from forestcoll.base.files import read_document, write_file_or_folder, write_text
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


def test_a_device_is_written_directly() -> None:
    write_text(Path("/dev/null"), ["text"])
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
        ("/proc/new.json", "no such file", "the folder /proc takes no new files"),
    ],
)
def test_names_that_cannot_be_read_or_written_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, read: str | None, written: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plain").write_text("{}")
    if read is not None:
        assert read in problem_of_reading(Path(name))
    if written is not None and (not name.startswith(("/dev", "/proc")) or Path("/proc/self").exists()):
        assert written in refusal(write_text, Path(name), ["text"])


def test_texts_of_a_folder_have_files_of_their_own(tmp_path: Path) -> None:
    files = write_file_or_folder(tmp_path / "hosts", {"a/b": "1", "a-b": "2", "a b": "3"}, ".xml")
    assert [path.name for path in files] == ["a%2Fb.xml", "a-b.xml", "a%20b.xml"]
    assert [path.read_text() for path in files] == ["1", "2", "3"]
