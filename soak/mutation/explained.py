"""The list of changes that no test can notice, each with the reason.

An entry is found again by its file, its function and its text, so it stays valid if lines move.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from mutation.changes import Change


@dataclass(frozen=True)
class Key:
    """What identifies a change: the file below the root, the function, and the text before and after it."""

    file: str
    function: str
    before: str
    after: str


def key_of(path: Path, root: Path, change: Change) -> Key:
    """Return what identifies a change of the file at `path`."""
    return Key(path.relative_to(root).as_posix(), change.function, change.before, change.after)


def read(path: Path) -> dict[Key, str]:
    """Return the reason of each explained change."""
    document = tomllib.loads(path.read_text()) if path.exists() else {}
    found: dict[Key, str] = {}
    for group in document.get("explained", []):
        for before, *afters in group["changes"]:
            for after in afters:
                found[Key(group["file"], group["function"], before, after)] = group["reason"]
    return found


def stale(known: Iterable[Key], alive: set[Key], files: set[str]) -> list[Key]:
    """Return the entries for `files` that explain no change that the tests miss."""
    return [key for key in known if key.file in files and key not in alive]
