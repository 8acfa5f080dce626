"""Writes a tuning as a folder: schedules, programs, a plot, and a manifest that names them all.

The folder is written completely or not at all; an older tuning in it is replaced.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path

from forestcoll.base.errors import InputError
from forestcoll.base.files import PathLike, as_path, read_document, write_text
from forestcoll.base.folders import check_folder, replaced_folder
from forestcoll.presentation.results.programs.tuning import times_of
from forestcoll.presentation.results.programs.tuning_plot import time_plot
from forestcoll.runtime.tuning import FORMAT, MANIFEST
from forestcoll.schedule.files import write_schedule
from forestcoll.topology.hashing import topology_hash
from forestcoll.tuning.value import SizeRange, Tuning

PLOT = "times.svg"
"""The name of the plot in the folder."""

_OWN = re.compile(r"[\w-]+\.json\.gz|\d+\.(xml|json)")
"""The names of schedules and programs in the folder."""

_ENDINGS = {"msccl-xml": ".xml", "mscclpp-json": ".json"}


def write_tuning(tuning: Tuning, folder: PathLike) -> Path:
    """Write a tuning as a folder, completely or not at all.

    Args:
        tuning: the result of `tune`.
        folder: the folder; it must not exist, be empty, or hold only a tuning, which is replaced.

    Returns:
        The path of the manifest, which the runtime and the torch backend read.

    Raises:
        InputError: the folder has other files, or cannot be written.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from forestcoll import tune
        >>> from forestcoll.presentation import write_tuning
        >>> with tempfile.TemporaryDirectory() as place:
        ...     manifest = write_tuning(tune("ring:nodes=3", sizes=[2**20]), Path(place) / "tuned")
        ...     sorted(path.name for path in manifest.parent.iterdir())
        ['1.json', '1.xml', 'allgather-optimum.json.gz', 'manifest.json', 'times.svg']
    """
    target = as_path(folder)
    check_tuning_folder(target)
    with replaced_folder(target) as made:
        _fill(made, tuning)
    return target / MANIFEST


def check_tuning_folder(folder: Path) -> None:
    """Check that a tuning can be written to `folder`, before a long computation.

    Raises:
        InputError: it is no folder, has other files than those of a tuning, or its parent folder cannot be written.
    """
    check_folder(folder, _own_names, "a tuning")


def _own_names(folder: Path) -> set[str]:
    """Return the names of the files that the manifest of a folder lists; none if there is no manifest of a tuning.

    Names that no tuning gives to its files are left out, so that a manifest by others makes no other file replaceable.
    """
    try:
        document = read_document(folder / MANIFEST)
    except InputError:
        return set()
    ranges = document.get("ranges")
    if document.get("format") != FORMAT or not isinstance(ranges, list):
        return set()
    return {MANIFEST, PLOT, *(name for each in ranges for name in _names_of(each))}


def _names_of(entry: object) -> Iterator[str]:
    if isinstance(entry, dict):
        programs = entry.get("programs")
        names = [entry.get("schedule"), *(programs.values() if isinstance(programs, dict) else ())]
        yield from (name for name in names if isinstance(name, str) and _OWN.fullmatch(name))


def _fill(folder: Path, tuning: Tuning) -> None:
    written: set[str] = set()
    rows = []
    for place, each in enumerate(tuning.ranges, start=1):
        name = f"{tuning.collective.value}-{each.schedule_name}.json.gz"
        if name not in written:
            write_schedule(each.schedule, folder / name)
            written.add(name)
        programs = {target: f"{place}{_ENDINGS[target]}" for target in each.programs}
        for target, file in programs.items():
            write_text(folder / file, [each.programs[target]])
        rows.append(_row(each, name, programs))
    write_text(folder / PLOT, [time_plot(tuning)])
    write_text(folder / MANIFEST, [json.dumps(_manifest(tuning, rows), indent=1) + "\n"])


def _row(each: SizeRange, schedule: str, programs: dict[str, str]) -> dict[str, object]:
    return {
        "from": each.least,
        "to": each.most,
        "schedule": schedule,
        "programs": programs,
        "time_us": each.microseconds,
        "lower_bound_us": each.bound_microseconds,
        "candidate": each.candidate,
        "variant": each.variant,
        "schedule_candidate": each.schedule_name,
        "chunks": each.chunks,
        "program_time_us": each.program_microseconds,
    }


def _manifest(tuning: Tuning, rows: list[dict[str, object]]) -> dict[str, object]:
    return {
        "format": FORMAT,
        "topology": tuning.topology.name,
        "topology_hash": topology_hash(tuning.topology),
        "collective": tuning.collective.value,
        "ranks": len(tuning.demand.members(tuning.topology)),
        "costs": tuning.costs.document(),
        "ranges": rows,
        "sizes": times_of(tuning),
        "plot": PLOT,
    }
