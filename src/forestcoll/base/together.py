"""Files and folders that take their places together: all of them or none, whatever ends the work.

Each file is first written as a part, a temporary file beside its place. At the end of the set all parts are renamed. If
one cannot be renamed, the renamed ones are taken back. What a part replaces is kept until the last part has its place.
Signals wait while parts are renamed or removed.
"""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from forestcoll.base.endings import Endings, caught_endings, note_written
from forestcoll.base.errors import InputError

_thread = threading.local()
"""Its `open` is the set that this thread writes."""


@dataclass
class _Move:
    """A part, and its place.

    Attributes:
        part: the file or folder to move.
        target: its place.
        path: what messages call it.
        old: where the file or folder is that was there; None if there was none, or if it is replaced at the end.
    """

    part: Path
    target: Path
    path: Path
    old: Path | None = None

    def make(self, *, is_last: bool) -> None:
        """Move the part. Only the last file may be replaced without keeping it, as nothing can fail after it."""
        if self.target.is_dir() or (not is_last and self.target.exists()):
            self.old = part_of(self.target)
            _set_aside(self.target, self.old)
        self.part.replace(self.target)

    def undo(self) -> None:
        """Bring back what was there, also if only half of the move was made."""
        with suppress(OSError):
            if not self.part.exists() and (self.old is None or self.target.is_dir()):
                self.target.rename(self.part)
            if self.old is not None:
                self.old.replace(self.target)
                self.old.unlink(missing_ok=True)  # two names of one file are not renamed


def _set_aside(target: Path, old: Path) -> None:
    """Give what is at `target` the name `old`. A file keeps its own name too, where the file system allows it."""
    try:
        os.link(target, old)
    except OSError:
        target.rename(old)


@dataclass
class FileSet:
    """The files of a set.

    Attributes:
        parts: all temporary files and folders.
        folders: the folders that were made for the set.
        moves: the complete parts, in the order in which they take their places.
        streams: what is written to streams, which cannot be taken back, after all parts are complete.
    """

    parts: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    moves: list[_Move] = field(default_factory=list)
    streams: list[Callable[[], None]] = field(default_factory=list)

    def begin(self, target: Path) -> Path:
        """Return the name of a new part for `target`, which is no link. It is removed if it is not placed."""
        part = part_of(target)
        self.parts.append(part)
        return part

    def place(self, part: Path, target: Path, path: Path) -> None:
        """Let a complete part take its place with the set; messages call it `path`."""
        self.moves.append(_Move(part, target, path))

    def write_streams(self) -> None:
        """Write what belongs to streams."""
        for write in self.streams:
            write()

    def put_in_place(self) -> None:
        """Move all parts to their places, or none."""
        try:
            for move in self.moves:
                with reported(move.path):
                    move.make(is_last=move is self.moves[-1])
        except BaseException:
            for move in reversed(self.moves):
                move.undo()
            raise
        moved = {move.part for move in self.moves}
        self.parts = [part for part in self.parts if part not in moved]
        self.parts += [move.old for move in self.moves if move.old is not None]
        self.folders.clear()

    def clean_up(self) -> None:
        """Remove all parts, and the folders that were made for files that were not written."""
        for part in self.parts:
            with suppress(OSError):
                shutil.rmtree(part) if part.is_dir() else part.unlink()
        for folder in reversed(self.folders):
            with suppress(OSError):
                folder.rmdir()


@contextmanager
def written_together() -> Iterator[FileSet]:
    """Let the files and folders that the block writes take their places together at its end, or none if it fails.

    SIGTERM and SIGHUP end the process as they do without this function, but after all parts are removed. Ctrl-C and the
    program's own handlers wait while parts are renamed or removed. Inside another set, the files belong to that one.

    Raises:
        InputError: a file cannot be put in its place; the old files are there again.
    """
    outer: FileSet | None = getattr(_thread, "open", None)
    if outer is not None:
        yield outer
        return
    files = FileSet()
    with caught_endings() as endings:
        try:
            try:
                _thread.open = files
                yield files
                files.write_streams()
                endings.wait()
                files.put_in_place()
                if files.moves:
                    note_written()
            finally:
                _close(files, endings)
        finally:  # a signal raises its exception once, maybe just before `_close` lets it wait
            _close(files, endings)


def _close(files: FileSet, endings: Endings) -> None:
    endings.wait()
    _thread.open = None
    files.clean_up()


@contextmanager
def new_part(target: Path, path: Path) -> Iterator[Path]:
    """Yield the name of a temporary file or folder. If the block makes it, it takes the place `target` with its set.

    Args:
        target: the place, which is no link.
        path: what messages call it.
    """
    with written_together() as files:
        part = files.begin(target)
        yield part
        files.place(part, target, path)


def part_of(target: Path) -> Path:
    """Return a new name for a temporary file in the folder of `target`."""
    # 40 characters have at most 160 bytes, and a name may have 255
    return target.with_name(f".{target.name[:40]}.{os.urandom(8).hex()}.part")


@contextmanager
def reported(path: Path) -> Iterator[None]:
    """Raise an `InputError` if the file system does not allow to write the file or the folder."""
    try:
        yield
    except FileNotFoundError:
        folder = Path(os.path.realpath(path)).parent
        why = "takes no new files" if folder.is_dir() else "does not exist"
        raise InputError(f"{path}: cannot be written: the folder {folder} {why}") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror or error}") from None
