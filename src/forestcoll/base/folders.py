"""Folders that a function writes as a whole: which folders it may write to, and how one is replaced in one step.

A folder that holds other files is refused, so that none of them is lost and no reader mistakes them for new ones.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from forestcoll.base.errors import InputError, shown
from forestcoll.base.together import new_part, reported, written_together


def check_place(folder: Path) -> None:
    """Check that `folder` is a folder, or can be made.

    Raises:
        InputError: it is a file, or its parent folder does not exist or cannot be written to.
    """
    real = Path(os.path.realpath(folder))
    if real.is_dir():
        return
    if real.exists():
        raise InputError(f"{folder}: is a file; name a folder")
    if not real.parent.is_dir():
        raise InputError(f"{folder}: cannot be written: the folder {real.parent} does not exist")
    _check_permission(folder, real.parent)


def _check_permission(folder: Path, parent: Path) -> None:
    if not os.access(parent, os.W_OK):
        raise InputError(f"{folder}: cannot be written: permission denied in {parent}")


def make_folder(folder: Path) -> None:
    """Make a folder if it does not exist. If the set of files that it is made for fails, it is removed.

    Raises:
        InputError: it is a file, or cannot be made.
    """
    with written_together() as files, reported(folder):
        check_place(folder)
        if not folder.exists():
            files.folders.append(folder)
            folder.mkdir(exist_ok=True)


def check_folder(folder: Path, own: Callable[[Path], set[str]], contents: str, *, is_replaced: bool = True) -> None:
    """Check that a folder can be written, before a long computation: it is missing or empty, or has only own files.

    Args:
        folder: the folder.
        own: returns which names in the folder are those of files that the caller has written and may replace.
        contents: what the caller writes, such as "a tuning"; for the message.
        is_replaced: whether the caller uses `replaced_folder`, which needs permission to write to the parent folder.

    Raises:
        InputError: the folder has other files, is a file, or cannot be made.
    """
    check_place(folder)
    real = Path(os.path.realpath(folder))
    if is_replaced:
        _check_permission(folder, real.parent)
    names = {path.name for path in real.iterdir() if not _is_part(path.name)} if real.exists() else set()
    if names and (others := sorted(names - own(real))):
        raise InputError(f"{folder}: holds {shown(others[0])}, which is no file of {contents}; name another folder")


def _is_part(name: str) -> bool:
    """Return whether a file was left by a process that was killed while it wrote."""
    return name.startswith(".") and name.endswith(".part")


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """Yield a new folder for the block to fill; it then takes the place of `folder`, completely or not at all.

    Raises:
        InputError: the file system does not allow it.
    """
    real = Path(os.path.realpath(folder))
    with reported(folder), new_part(real, folder) as made:
        made.mkdir()
        try:
            yield made
        except InputError as error:  # of a file in it; the user knows only the name that the folder will have
            raise InputError(str(error).replace(str(made), str(folder))) from None
