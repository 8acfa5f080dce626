"""Every call to the operating system that writing a file makes fails once, and a process is stopped at each of them."""

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from failing_calls import failing

from forestcoll.base.errors import InputError
from forestcoll.base.files import write_text

ERRORS = [errno.ENOSPC, errno.EIO, errno.EACCES, errno.EROFS, errno.EDQUOT, errno.EINTR]


class StoppedError(BaseException):
    """The process ends here, as on Ctrl-C."""


def write_with(number: int | None, error: BaseException, path: Path) -> int:
    """Write a file, with an error at one of the calls; return the number of calls."""
    calls = [0]
    with failing(number, error, calls) as wrap, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "replace", wrap(os.replace))
        patch.setattr(os, "chmod", wrap(os.chmod))
        patch.setattr(os.path, "realpath", wrap(os.path.realpath))
        patch.setattr("forestcoll.base.files._encode", wrap(_encode))
        write_text(path, chunks(wrap(lambda: None)))
    return calls[0]


def _encode(file: Any, texts: Iterator[str]) -> None:
    for text in texts:
        file.write(text.encode())


def chunks(call: Callable[[], object]) -> Iterator[str]:
    for chunk in ("first ", "x" * 300_000, " last"):
        call()
        yield chunk


@pytest.mark.parametrize("old", [None, "older"])
@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_each_failure_leaves_the_old_file_or_the_whole_new_one(tmp_path: Path, name: str, old: str | None) -> None:
    path = tmp_path / name
    calls = write_with(None, OSError(), path)
    assert calls > 8
    for number in range(calls):
        for code in ERRORS:
            path.unlink(missing_ok=True)
            if old is not None:
                path.write_text(old)
            with pytest.raises(InputError, match=r"cannot be written: [A-Z]") as caught:
                write_with(number, OSError(code, os.strerror(code)), path)
            assert "\n" not in str(caught.value)
            assert [each.name for each in tmp_path.iterdir()] == ([name] if old else [])
            assert old is None or path.read_text() == old


@pytest.mark.parametrize("name", ["a.json", "a.json.gz"])
def test_an_interruption_at_each_call_leaves_the_old_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    calls = write_with(None, OSError(), path)
    path.write_text("older")
    for number in range(calls):
        with pytest.raises(StoppedError):
            write_with(number, StoppedError(), path)
        assert path.read_text() == "older"
        assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_name_of_wide_characters_can_be_as_long_as_the_system_allows(tmp_path: Path) -> None:
    path = tmp_path / ("\U0001f600" * 60)
    write_text(path, ["text"])
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
