"""A set of files is written completely or not at all, whichever call fails and at whichever line a signal comes."""

import errno
import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from failing_calls import failing

from forestcoll.base.endings import sets_written
from forestcoll.base.errors import InputError
from forestcoll.base.files import write_text
from forestcoll.base.folders import make_folder, replaced_folder
from forestcoll.base.together import written_together

OLD = {"a": "old a", "b": "old b", "folder": None, "folder/x": "old x", "last": "old last"}
NEW = {"a": "new a", "folder": None, "folder/y": "new y", "made": None, "made/n": "new n"} | {
    "b": "old b",
    "c.gz": "",
    "last": "new last",
}


def prepared(folder: Path) -> None:
    for each in folder.iterdir():
        shutil.rmtree(each) if each.is_dir() else each.unlink()
    for name, text in OLD.items():
        if text is None:
            (folder / name).mkdir()
        else:
            (folder / name).write_text(text)


def write_all(folder: Path) -> None:
    with written_together():
        write_text(folder / "a", ["new a"])
        write_text(folder / "c.gz", ["new c"])
        make_folder(folder / "made")
        write_text(folder / "made" / "n", ["new n"])
        with replaced_folder(folder / "folder") as made:
            write_text(made / "y", ["new y"])
        write_text(folder / "last", ["new last"])


def content(folder: Path) -> dict[str, str | None]:
    paths = {str(path.relative_to(folder)): path for path in folder.rglob("*")}
    return {
        name: None if path.is_dir() else "" if path.suffix == ".gz" else path.read_text()
        for name, path in paths.items()
    }


def count(folder: Path) -> int:
    calls = [0]
    prepared(folder)
    with failing(None, OSError(), calls):
        write_all(folder)
    assert content(folder) == NEW
    return calls[0]


def test_a_set_takes_its_place_at_its_end(tmp_path: Path) -> None:
    before = sets_written()
    with written_together():
        write_text(tmp_path / "a", ["one"])
        write_text(tmp_path / "a", ["two"])
        assert not (tmp_path / "a").exists()
    assert content(tmp_path) == {"a": "two"}
    assert sets_written() == before + 1


def test_each_failure_leaves_what_was_there(tmp_path: Path) -> None:
    calls = count(tmp_path)
    assert calls > 30
    survived = 0
    for number in range(calls):
        prepared(tmp_path)
        with failing(number, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), [0]):
            try:
                write_all(tmp_path)
            except InputError as error:
                assert str(error).endswith("cannot be written: No space left on device")  # noqa: PT017 (some calls may fail)
                now = OLD
            else:
                survived, now = survived + 1, NEW
        assert content(tmp_path) == now
    assert survived < 10  # links, which are replaced by renames, and what is removed after all files have their places


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interruption_instead_of_a_call_leaves_what_was_there(tmp_path: Path, error: BaseException) -> None:
    calls = count(tmp_path)
    for number in range(calls):
        prepared(tmp_path)
        before = sets_written()
        with failing(number, error, [0]), pytest.raises(type(error)):
            write_all(tmp_path)
        assert content(tmp_path) == (NEW if sets_written() > before else OLD)


def signal_at(event: int, number: int, folder: Path) -> bool:
    """Write the set, with a signal at one of the lines that this runs; return whether there are so many."""
    left = [event]

    def trace(frame: FrameType, kind: str, _: object) -> Any:
        name = Path(frame.f_code.co_filename).name
        if name not in {"files.py", "folders.py", "together.py", "contextlib.py", Path(__file__).name}:
            return None
        left[0] -= kind in {"call", "line"}
        if left[0] == 0:
            signal.raise_signal(number)
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        write_all(folder)
    except (KeyboardInterrupt, SystemExit):
        pass
    finally:
        sys.settrace(before)
    return left[0] <= 0


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
@pytest.mark.parametrize("step", [19, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.filterwarnings("ignore:unclosed file", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_signal_at_any_line_leaves_all_new_files_or_all_old_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals, step: int
) -> None:
    def leave(*_: object) -> None:
        raise SystemExit(3)

    monkeypatch.setattr(os, "fsync", lambda _: None)
    usual = signal.signal(signal.SIGTERM, leave)
    try:
        event, states = 1, set()
        while True:
            prepared(tmp_path)
            before = sets_written()
            if not signal_at(event, number, tmp_path):
                break
            now = content(tmp_path)
            assert now == (NEW if sets_written() > before else OLD), event
            states.add(now == NEW)
            assert signal.getsignal(signal.SIGTERM) is leave
            assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
            event += step
    finally:
        signal.signal(signal.SIGTERM, usual)
    assert event > 200
    assert states == {True, False}


def test_without_links_of_files_a_failure_still_brings_them_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    test_each_failure_leaves_what_was_there(tmp_path)


def write_both(path: Path) -> None:
    with written_together():
        write_text(Path("-"), ["text"])
        write_text(path, ["text"])


def test_a_stream_is_written_after_all_parts_are_complete(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InputError, match="does not exist"):
        write_both(tmp_path / "no" / "a")
    assert capsys.readouterr().out == ""
    write_both(tmp_path / "a")
    assert capsys.readouterr().out == "text"


def test_an_error_in_a_folder_names_the_folder_and_not_its_part(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    with pytest.raises(InputError) as caught, replaced_folder(folder) as part:
        write_text(part / "missing" / "a.txt", ["text"])
    assert str(caught.value) == (
        f"{folder}/missing/a.txt: cannot be written: the folder {folder}/missing does not exist"
    )
    assert not list(tmp_path.iterdir())
