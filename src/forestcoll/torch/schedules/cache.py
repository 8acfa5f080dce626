"""Schedules, computed once and kept on disk, and as bytes on their way from rank 0 to the others."""

import gzip
import hashlib
import logging
from collections.abc import Callable
from pathlib import Path

from forestcoll.algorithms.generate import generate
from forestcoll.base.errors import InputError, InternalError
from forestcoll.base.files import parse_document
from forestcoll.base.version import __version__
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import Demand
from forestcoll.runtime.tuning import check_topology, read_runnable, runnable
from forestcoll.schedule.files import schedule_text, write_schedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import Topology
from forestcoll.topology.hashing import topology_hash
from forestcoll.verification import verify
from forestcoll.verification.reading import verified_from_document

Maker = Callable[[Topology, Demand], Schedule]

_log = logging.getLogger("forestcoll.torch")


def schedule_of(
    topology: Topology, collective: Collective, root: int | None, folder: Path, make: Maker = generate
) -> Schedule:
    """Return the optimal schedule, or the one that `make` makes.

    It is from the cache in `folder` if that has a right one, and is put there if not.

    Args:
        topology: the network of the group; all its compute nodes take part.
        collective: what is done.
        root: the rank of the root, where the collective has one.
        folder: where schedules are kept.
        make: makes the schedule of a demand on a network; its name is part of the entry's.

    Raises:
        NoSolutionError: the network allows none.
    """
    path = folder / _name(topology, collective, root, make)
    cached = _cached(path, topology, collective, root)
    if cached is not None:
        return cached
    root_id = None if root is None else topology.nodes[topology.compute[root]].id
    schedule: Schedule = make(topology, Demand(collective, root=root_id))
    report = verify(schedule)
    if report.fault is not None:
        raise InternalError(f"a schedule that was made is not right: {report.fault.message}")
    _keep(schedule, path)
    return schedule


def to_bytes(schedule: Schedule) -> bytes:
    """Return the text of `schedule`, compressed; equal schedules give equal bytes."""
    return gzip.compress("".join(schedule_text(schedule)).encode(), compresslevel=3, mtime=0)


def from_bytes(data: bytes, topology: Topology) -> Schedule:
    """Return the schedule that `to_bytes` wrote, verified again, for this topology.

    Raises:
        InputError: it is not right, or is for another topology.
    """
    where = "the schedule of rank 0"
    document = parse_document(gzip.decompress(data), Path(where))
    schedule = runnable(verified_from_document(document, where=where), where)
    check_topology(schedule, topology, where)
    return schedule


def root_of(schedule: Schedule) -> int | None:
    """Return the rank of the root, where the schedule's collective has one."""
    return None if schedule.root is None else schedule.topology.compute.index(schedule.root)


def _name(topology: Topology, collective: Collective, root: int | None, make: Maker) -> str:
    key = f"{topology_hash(topology)} {collective.value} {root} {len(topology.compute)} {__version__}"
    if make is not generate:
        key += f" {make.__name__}"
    return f"{collective.value}-{hashlib.sha256(key.encode()).hexdigest()[:32]}.json.gz"


def _cached(path: Path, topology: Topology, collective: Collective, root: int | None) -> Schedule | None:
    if not path.exists():
        return None
    try:
        schedule = read_runnable(path)
        check_topology(schedule, topology, str(path))
        if (schedule.collective, root_of(schedule)) != (collective, root):
            raise InputError(f"{path}: the schedule is of another collective")  # noqa: TRY301 (one kind of damage)
    except InputError as error:
        _log.warning("the cache entry is damaged and is made again: %s", error)
        return None
    _log.debug("%s: schedule of %s from the cache", path, collective.value)
    return schedule


def _keep(schedule: Schedule, path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_schedule(schedule, path)
    except (OSError, InputError) as error:
        _log.warning("the schedule is not kept on disk: %s", error)
