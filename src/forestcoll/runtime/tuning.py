"""Tables that say which schedule is best for data of which size (`forestcoll.tuning/1`)."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from forestcoll.base.errors import InputError, shown
from forestcoll.base.file_kinds import TUNING, check_kind
from forestcoll.base.files import file_in, read_document
from forestcoll.base.json_parts import integer_of, list_of, number_of, object_of, require, text_of
from forestcoll.demand.collective import Collective, collective_named
from forestcoll.runtime.engine.trees import FORESTS
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology
from forestcoll.topology.hashing import topology_hash
from forestcoll.verification.reading import read_verified

FORMAT = "forestcoll.tuning/1"
"""The format of manifests."""

MANIFEST = "manifest.json"
"""The name of the manifest in its folder."""


@dataclass(frozen=True, slots=True)
class ScheduleRange:
    """Sizes for which one schedule is best.

    Attributes:
        most: the greatest size, in bytes.
        schedule: the schedule; None where the library's own collective is faster.
    """

    most: int
    schedule: Schedule | None


@dataclass(frozen=True, slots=True)
class TuningTable:
    """What is best for one collective.

    Attributes:
        collective: which one.
        ranges: by size, rising.
    """

    collective: Collective
    ranges: tuple[ScheduleRange, ...]


def read_table(path: str | os.PathLike[str], topology: Topology | None = None) -> TuningTable:
    """Return the table in a manifest, its schedules verified.

    Args:
        path: the manifest, or a folder that holds one as `manifest.json`.
        topology: the network that it must be for; None for that of its schedules.

    Raises:
        InputError: the manifest cannot be read or is for another network, or a schedule is not right.
    """
    file = Path(path) / MANIFEST if Path(path).is_dir() else Path(path)
    document = read_document(file)
    check_kind(document, TUNING, str(file))
    require(document, ("format", "collective", "ranges"), str(file), "a tuning table")
    if document["format"] != FORMAT:
        raise InputError(f"{file}: format is {shown(document['format'])}; expected {FORMAT!r}")
    _check_keys(document, f"{file}: ", file.parent)
    stated = document.get("topology_hash")
    if stated is not None:
        text_of(stated, f"{file}: topology_hash")
    if topology is not None and stated is not None and stated != topology_hash(topology):
        raise InputError(f"{file}: the table is for another topology than {topology.name}; tune this one")
    collective = collective_named(text_of(document["collective"], f"{file}: collective"))
    if collective.has_root:
        raise InputError(f"{file}: collective is {collective.value}; tables of collectives with a root are not used")
    listed = list_of(document["ranges"], f"{file}: ranges")
    known: dict[Path, Schedule] = {}
    ranges = [_range(each, f"{file}: ranges[{place}]", file, topology, known) for place, each in enumerate(listed)]
    _check(ranges, collective, file)
    return TuningTable(collective, tuple(ranges))


TableLike: TypeAlias = TuningTable | str | os.PathLike[str]
"""A table, its manifest, or a folder that holds one."""


def read_tables(given: Sequence[TableLike], topology: Topology | None = None) -> dict[Collective, TuningTable]:
    """Return several tables, by collective; those of manifests are read.

    Raises:
        InputError: as `read_table`, or two are for one collective.
    """
    tables: dict[Collective, TuningTable] = {}
    for each in given:
        table = each if isinstance(each, TuningTable) else read_table(each, topology)
        if table.collective in tables:
            where = "tuning" if isinstance(each, TuningTable) else each
            raise InputError(f"{where}: there are two tables for {table.collective.value}; give one")
        tables[table.collective] = table
    return tables


def read_runnable(path: Path) -> Schedule:
    """Return the verified schedule in a file, which must be of a kind that the runtime runs.

    Raises:
        InputError: it cannot be read, is not right, or is of another kind.
    """
    return runnable(read_verified(path)[0], str(path))


def runnable(schedule: Schedule, where: str) -> Schedule:
    """Return `schedule`. Raises `InputError` if it is of a kind that the runtime does not run."""
    if type(schedule) not in FORESTS:
        kinds = " or ".join(kind.kind for kind in FORESTS)
        raise InputError(f"{where}: the runtime cannot run schedules of {schedule.kind}; give one of {kinds}")
    return schedule


def check_topology(schedule: Schedule, topology: Topology, where: str) -> None:
    """Check that `schedule` is for this topology.

    Raises:
        InputError: it is for another one.
    """
    if topology_hash(schedule.topology) != topology_hash(topology):
        raise InputError(
            f"{where}: the schedule is for {shown(schedule.topology.name)}, not for the topology of the group, "
            f"{shown(topology.name)}; generate it for this topology"
        )


def _range(
    value: object, where: str, file: Path, topology: Topology | None, known: dict[Path, Schedule]
) -> ScheduleRange:
    """Return a range; `known` has the schedules that were read before, by their files."""
    entry: Mapping[str, object] = object_of(value, where)
    require(entry, ("to", "schedule"), where, "a range")
    most = integer_of(entry["to"], f"{where}.to", least=0)
    _check_keys(entry, f"{where}.", file.parent)
    if entry["schedule"] is None:
        return ScheduleRange(most, None)
    path = file_in(file.parent, entry["schedule"], f"{where}.schedule")
    if path not in known:
        known[path] = read_runnable(path)
        if topology is not None:
            check_topology(known[path], topology, f"{where}.schedule")
    return ScheduleRange(most, known[path])


def _check_keys(entry: Mapping[str, object], where: str, folder: Path) -> None:
    """Check the keys that the runtime does not use, where they are given: numbers are numbers, and files are here."""
    for key, value in entry.items():
        place = f"{where}{key}"
        values = object_of(value, place) if key in {"programs", "program_time_us"} else {"": value}
        for name, each in values.items():
            here = f"{place}[{name!r}]" if name else place
            if key in {"plot", "programs"}:
                file_in(folder, each, here)
            elif key in {"from", "ranks", "chunks", "size"}:
                integer_of(each, here, least=0)
            elif key.endswith("_us"):
                number_of(each, here)
    for number, each in enumerate(list_of(entry.get("sizes", []), f"{where}sizes")):
        place = f"{where}sizes[{number}]"
        _check_keys(object_of(each, place), f"{place}.", folder)


def _check(ranges: Sequence[ScheduleRange], collective: Collective, file: Path) -> None:
    if not ranges:
        raise InputError(f"{file}: ranges are empty; give one at least")
    for place, each in enumerate(ranges):
        if place and each.most <= ranges[place - 1].most:
            raise InputError(f"{file}: ranges[{place}].to is {each.most}, not above the one before; sort the ranges")
        if each.schedule is not None and each.schedule.collective is not collective:
            raise InputError(
                f"{file}: ranges[{place}].schedule is of {each.schedule.collective.value}, but the table is for "
                f"{collective.value}"
            )
