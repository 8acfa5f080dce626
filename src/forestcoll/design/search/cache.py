"""A cache of frontiers on disk: one JSON file of expressions per search.

The files are in `$XDG_CACHE_HOME/forestcoll/finder` (`~/.cache` if the variable is not set), in a folder named after a
digest of the package version, the finder's code and the tables of base networks. A change of any of these makes old
entries unused. Each file has a checksum of its content. A file that is damaged is reported and written again. If there
is no home directory, or the cache cannot be written, the search works without it.
"""

import hashlib
import json
import os
from functools import cache
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import cast

from forestcoll.base.errors import InputError
from forestcoll.base.files import read_document, write_text
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.together import written_together
from forestcoll.design.expressions import construction_of
from forestcoll.design.search.finder import Frontier, find_topologies

_FORMAT = "forestcoll.frontier/1"


def cache_folder() -> Path | None:
    """Return the folder of cached frontiers, which may not exist yet; None if the user has no home directory."""
    home = os.environ.get("XDG_CACHE_HOME", "")
    try:
        root = Path(home) if home and Path(home).is_absolute() else Path.home() / ".cache"
    except RuntimeError:  # neither the environment nor the list of users has one
        return None
    return root / "forestcoll" / "finder" / _digest()


@cache
def _digest() -> str:
    try:
        version = metadata.version("forestcoll")
    except metadata.PackageNotFoundError:
        version = "source"
    whole = hashlib.sha256(f"{_FORMAT} {version}".encode())
    for package in ("forestcoll.design", "forestcoll.design.tables"):
        for file in sorted(files(package).iterdir(), key=lambda each: each.name):
            if file.is_file():
                whole.update(file.name.encode() + file.read_bytes())
    return whole.hexdigest()[:16]


def find_with_cache(
    nodes: int,
    degree: int,
    *,
    bidirectional: bool = False,
    published_only: bool = False,
    progress: Progress = SILENT,
) -> Frontier:
    """Return the result of `find_topologies`, from the cache if it is there.

    Args:
        nodes: as `find_topologies` takes it, and so are the next three arguments.
        degree: see there.
        bidirectional: see there.
        published_only: see there.
        progress: receives a remark if a file of the cache is damaged.

    Raises:
        InputError: a number is out of range.
        NoSolutionError: no such network is known.
    """
    folder = cache_folder()
    if folder is None:
        return find_topologies(nodes, degree, bidirectional=bidirectional, published_only=published_only)
    name = f"{nodes}-{degree}" + "-bidirectional" * bidirectional + "-published" * published_only + ".json"
    path = folder / name
    found = _read(path, nodes, degree, bidirectional=bidirectional)
    if found is None:
        if path.exists():
            progress.remark(f"{path}: the cached result is damaged and is computed again")
        found = find_topologies(nodes, degree, bidirectional=bidirectional, published_only=published_only)
        _write(path, found)
    return found


def frontier_document(frontier: Frontier) -> dict[str, object]:
    """Return a frontier as JSON, for the cache and for other processes."""
    return {
        "format": _FORMAT,
        "nodes": frontier.nodes,
        "degree": frontier.degree,
        "bidirectional": frontier.bidirectional,
        "members": [member.to_document() for member in frontier.members],
    }


def frontier_of(document: dict[str, object]) -> Frontier:
    """Return the frontier that `frontier_document` wrote.

    Raises:
        KeyError, TypeError, ValueError, InputError: the document is not a frontier.
    """
    members = tuple(construction_of(each) for each in cast("list[dict[str, object]]", document["members"]))
    nodes, degree = cast("int", document["nodes"]), cast("int", document["degree"])
    if (
        document["format"] != _FORMAT
        or not members
        or {(each.nodes, each.degree) for each in members} != {(nodes, degree)}
    ):
        raise ValueError(_FORMAT)
    return Frontier(nodes, degree, bool(document["bidirectional"]), members)


def _read(path: Path, nodes: int, degree: int, *, bidirectional: bool) -> Frontier | None:
    """Return the frontier in a file; None if there is no file or it is damaged."""
    try:
        document = read_document(path)
        frontier = cast("dict[str, object]", document["frontier"])
        if document["checksum"] != _checksum(frontier):
            return None
        found = frontier_of(frontier)
    except (InputError, KeyError, TypeError, ValueError, AttributeError):
        return None
    expected = (nodes, degree, bidirectional)
    return found if (found.nodes, found.degree, found.bidirectional) == expected else None


def _checksum(document: object) -> str:
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _write(path: Path, frontier: Frontier) -> None:
    document = frontier_document(frontier)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_together(apart=True):
            write_text(path, [json.dumps({"checksum": _checksum(document), "frontier": document}), "\n"])
    except (InputError, OSError):
        return
