"""Every call to the operating system that writing a file makes fails once, and a process is stopped at each of them."""

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forestcoll.base.errors import InputError
from forestcoll.base.files import write_text

CALLS = [
    (os, "open"),
    (os, "fsync"),
    (os, "replace"),
    (os, "chmod"),
    (Path, "chmod"),
    (Path, "replace"),
    (Path, "is_dir"),
    (os.path, "realpath"),
]
CHUNKS = ["first ", "x" * 300_000, " last"]
ERRORS = [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EDQUOT, errno.EINTR]


class StoppedError(BaseException):
    """The process ends here, as on Ctrl-C."""


class Point:
    """Counts the calls, and lets one of them fail."""

    def __init__(self, failing: int | None, error: BaseException) -> None:
        self.failing, self.error, self.calls = failing, error, 0

    def wrap(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **more: Any) -> Any:
            self.calls += 1
            if self.calls - 1 == self.failing:
                raise self.error
            return function(*arguments, **more)

        return wrapped


def write_with(point: Point, path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        for place, name in CALLS:
            patch.setattr(place, name, point.wrap(getattr(place, name)))
        patch.setattr("forestcoll.base.files._encode", point.wrap(_encode))
        write_text(path, chunks(point))


def _encode(file: Any, texts: Iterator[str]) -> None:
    for text in texts:
        file.write(text.encode())


def chunks(point: Point) -> Iterator[str]:
    for chunk in CHUNKS:
        point.wrap(lambda: None)()
        yield chunk


def count_of_calls(folder: Path, name: str) -> int:
    point = Point(None, OSError())
    write_with(point, folder / f"count-{name}")
    (folder / f"count-{name}").unlink()
    return point.calls


@pytest.mark.parametrize("old", [None, "older"])
@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_each_failure_leaves_the_old_file_or_the_whole_new_one(tmp_path: Path, name: str, old: str | None) -> None:
    calls = count_of_calls(tmp_path, name)
    assert calls > 8
    for number in range(calls):
        for code in ERRORS:
            path = tmp_path / name
            if old is not None:
                path.write_text(old)
            with pytest.raises(InputError, match=r"cannot be written: [A-Z]") as caught:
                write_with(Point(number, OSError(code, os.strerror(code))), path)
            assert "\n" not in str(caught.value)
            assert [each.name for each in tmp_path.iterdir()] == ([name] if old else [])
            assert old is None or path.read_text() == old


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_an_interruption_at_each_call_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("older")
    for number in range(count_of_calls(tmp_path, name)):
        with pytest.raises(StoppedError):
            write_with(Point(number, StoppedError()), path)
        assert path.read_text() == "older"
        assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_name_of_wide_characters_can_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("\U0001f600" * 60)
    write_text(path, ["text"])
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
