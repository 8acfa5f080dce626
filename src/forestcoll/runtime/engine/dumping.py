"""Where the engine writes the last operations of a group that failed: one JSON file for each rank.

The folder is an option of `Communicator`, or the value of the environment variable `FORESTCOLL_DUMP`.
"""

import os
import re
from pathlib import Path

from forestcoll.base.errors import InputError
from forestcoll.base.files import PathLike

FOLDER = "FORESTCOLL_DUMP"
"""The environment variable that names the folder."""


def dump_path(folder: PathLike | None, name: str, rank: int) -> str:
    """Return the file for the dump of a group, and make its folder; nothing if no folder is given.

    Args:
        folder: the folder; None for the one that the environment names.
        name: the name of the group.
        rank: the rank of the caller.

    Raises:
        InputError: the folder cannot be made or written.
    """
    chosen = os.environ.get(FOLDER) if folder is None else os.fspath(folder)
    if not chosen:
        return ""
    made = Path(chosen).absolute()
    try:
        made.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder for dumps, {chosen}, cannot be made: {error.strerror}; choose another") from None
    if not os.access(made, os.W_OK | os.X_OK):
        raise InputError(f"the folder for dumps, {chosen}, cannot be written; choose another")
    plain = re.sub(r"[^A-Za-z0-9._-]+", "_", name)[:80]
    return str(made / f"{plain}-rank{rank}-{os.getpid()}.json")
