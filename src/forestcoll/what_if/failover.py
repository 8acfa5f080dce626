"""Failover sets: a verified schedule for each failure, written to a folder before it is needed.

The folder holds `healthy.json.gz`, a file for each failure after which the nodes that take part still reach each other,
and `manifest.json`, which says which file is for which failure. A file that is there already is kept, so an interrupted
run goes on where it stopped: its name holds a hash of the changed network and of the request. A folder that holds other
files is refused, so that a set is never mixed with another one.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, combinations, islice
from math import comb
from pathlib import Path

from forestcoll.base.display import Displayed
from forestcoll.base.endings import note_written
from forestcoll.base.errors import InputError, shown
from forestcoll.base.files import PathLike, as_path, write_text
from forestcoll.base.folders import check_folder, make_folder
from forestcoll.base.progress import SILENT, Progress
from forestcoll.demand.change import demand_after
from forestcoll.demand.collective import Collective
from forestcoll.demand.demand import NodeDemand
from forestcoll.demand.texts import DemandLike, bound_on
from forestcoll.schedule.files import write_schedule
from forestcoll.solver.generation.forest import schedule_for
from forestcoll.solver.problem import OptimumProblem
from forestcoll.solver.survival.schedule import Survival
from forestcoll.topology import Topology, TopologyLike
from forestcoll.topology.changes import Change
from forestcoll.topology.failures import PartKind, parts_of
from forestcoll.verification import certified, verify
from forestcoll.what_if.study import network_and_demand
from forestcoll.what_if.sweep import SweepTask
from forestcoll.what_if.value import value_of

FORMAT = "forestcoll.failover/1"

MANIFEST = "manifest.json"
"""The name of the file that says which file is for which failure."""

MOST_FILES = 4096
"""The most failures of a set."""

_ENDING = ".json.gz"

_LIKE_FILES = (".csv", ".gz", ".html", ".json", ".txt")
"""Endings of files, which no folder of a set has."""


@dataclass(frozen=True)
class Failover:
    """The schedule for one failure.

    Attributes:
        name: what output calls the failure; empty for the network as it is.
        file: the name of the file in the folder; None if nodes that take part cannot all reach each other.
        algbw: the algbw of the schedule, in the unit of the topology; 0 without a file.
    """

    name: str
    file: str | None
    algbw: Fraction


@dataclass(frozen=True, repr=False)
class FailoverSet(Displayed):
    """Schedules for the failures of a network, as they were written.

    Attributes:
        topology: the network.
        demand: the collective and who takes part.
        folder: where the files are.
        healthy: the schedule of the network as it is.
        failures: the schedules for the failures, in the order of node numbers.

    Example:
        >>> import tempfile
        >>> from forestcoll.what_if import write_failover
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     made = write_failover("ring:nodes=3", folder)
        >>> str(made.healthy.algbw), len(made.failures)
        ('3', 3)
    """

    topology: Topology
    demand: NodeDemand
    folder: Path
    healthy: Failover
    failures: tuple[Failover, ...]


def write_failover(  # noqa: PLR0913 (the request, the folder and the execution)
    topology: TopologyLike,
    folder: PathLike,
    part: PartKind | str = PartKind.LINKS,
    demand: DemandLike = Collective.ALLGATHER,
    *,
    at_once: int = 1,
    executor: Executor | None = None,
    progress: Progress = SILENT,
) -> FailoverSet:
    """Write a verified schedule for each failure of parts of one kind, and for the network as it is.

    Args:
        topology: as for `failures`.
        folder: the folder to write to, which is made if it is missing. It may hold a part of the same set, whose files
            are kept; if it holds anything else, it is refused.
        part: as for `failures`.
        demand: as for `failures`, without an all-to-all, a gather or a scatter.
        at_once: as for `failures`.
        executor: as for `failures`; its workers must see the folder.
        progress: receives the number of finished schedules.

    Returns:
        What was written.

    Raises:
        InputError: an argument is not valid, there are more than `MOST_FILES` failures, or the folder is named like a
            file such as `x.csv`, has other files or cannot be written.
        NoSolutionError: as `generate`.

    Example:
        >>> import tempfile
        >>> from forestcoll.what_if import write_failover
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     made = write_failover("ring:nodes=4", folder)
        >>> [(each.name, str(each.algbw)) for each in made.failures[:2]]
        [('0--1', '4/3'), ('0--3', '4/3')]
    """
    network, bound = network_and_demand(topology, demand, trees_for="a failover set")
    changes, path = [Change(""), *_sets(network, parts_of(network, part), at_once)], as_path(folder)
    question = SweepTask.of(network, bound)
    _check(path, question, changes)
    make_folder(path)
    note_written()
    progress.begin("generating schedules")
    jobs = [(question, change, path) for change in changes]
    if executor is None:
        found = (write_one(*job) for job in jobs)
    else:
        futures = [executor.submit(write_one, *job) for job in jobs]
        found = (future.result() for future in futures)
    made = []
    for done, (change, (file, algbw)) in enumerate(zip(changes, found, strict=True)):
        progress.advance(done, len(changes))
        made.append(Failover(change.name, file, algbw))
    result = FailoverSet(network, bound, path, made[0], tuple(made[1:]))
    write_text(path / MANIFEST, [json.dumps(manifest(result), indent=1), "\n"])
    return result


def write_trees_left(found: Survival, folder: PathLike, *, progress: Progress = SILENT) -> FailoverSet:
    """Write a schedule that survives failures, and for each failure the verified schedule of the trees that are left.

    Args:
        found: the schedule and the failures.
        folder: as for `write_failover`.
        progress: receives the number of finished schedules.

    Returns:
        What was written.

    Raises:
        InputError: there are more than `MOST_FILES` failures, or as `write_failover` for the folder.
    """
    whole, path = found.schedule, as_path(folder)
    question, changes = _left_by(whole.topology, whole.demand, found.part)
    _check(path, question, changes)
    make_folder(path)
    note_written()
    progress.begin("writing the trees that are left")
    made = []
    for done, (change, schedule) in enumerate(chain([(changes[0], whole)], found.left())):
        progress.advance(done, len(changes))
        certified(verify(schedule))
        write_schedule(schedule, path / (name := _file_name(question, change)))
        made.append(Failover(change.name, name, schedule.algbw))
    result = FailoverSet(whole.topology, whole.demand, path, made[0], tuple(made[1:]))
    write_text(path / MANIFEST, [json.dumps(manifest(result), indent=1), "\n"])
    return result


def check_failover(
    topology: TopologyLike,
    folder: PathLike,
    part: PartKind | str = PartKind.LINKS,
    demand: DemandLike = Collective.ALLGATHER,
    *,
    at_once: int = 1,
) -> None:
    """Check that `write_failover` can write to the folder, before a long computation. The arguments are the same.

    Raises:
        InputError: as `write_failover`.
    """
    network, bound = network_and_demand(topology, demand, trees_for="a failover set")
    changes = [Change(""), *_sets(network, parts_of(network, part), at_once)]
    _check(as_path(folder), SweepTask.of(network, bound), changes)


def check_trees_left(topology: Topology, folder: PathLike, part: PartKind | str, demand: DemandLike) -> None:
    """Check that `write_trees_left` can write to the folder, before a long computation.

    Raises:
        InputError: as `write_trees_left`.
    """
    _check(as_path(folder), *_left_by(*bound_on(topology, demand), PartKind(part)))


def _left_by(topology: Topology, demand: NodeDemand, part: PartKind) -> tuple[SweepTask, list[Change]]:
    """Return what trees that survive are a schedule of, and the changes for which there is a file."""
    question = SweepTask.of(topology, demand)
    question = replace(question, request=f"{question.request}\nsurvives one of {part.value}")
    return question, [Change(""), *_sets(topology, parts_of(topology, part), 1)]


def _check(folder: Path, question: SweepTask, changes: Sequence[Change]) -> None:
    """Check that the folder is not named like a file, and holds only files of this set."""
    if folder.suffix.lower() in _LIKE_FILES and not folder.is_dir():
        raise InputError(f"{folder}: is the name of a file; a failover set is a folder of schedules, so name a folder")

    def own(_: Path) -> set[str]:
        return {MANIFEST, *(_file_name(question, change) for change in changes)}

    check_folder(folder, own, "this failover set", is_replaced=False)


def manifest(made: FailoverSet) -> dict[str, object]:
    """Return the JSON of a failover set."""
    rows = [{"change": each.name, "file": each.file, "algbw": str(each.algbw)} for each in made.failures]
    return {
        "format": FORMAT,
        "topology": made.topology.name,
        "collective": made.demand.collective.value,
        "unit": made.topology.bandwidth_unit,
        "healthy": {"file": made.healthy.file, "algbw": str(made.healthy.algbw)},
        "failures": rows,
    }


def _sets(network: Topology, parts: Sequence[Change], at_once: int) -> list[Change]:
    if isinstance(at_once, bool) or not isinstance(at_once, int) or not 1 <= at_once <= len(parts):
        raise InputError(f"at_once is {shown(at_once)}; expected an integer from 1 to {len(parts)}")
    if comb(len(parts), at_once) > MOST_FILES:
        count = comb(len(parts), at_once)
        raise InputError(
            f"{network.name}: there are {count:,} failures, {MOST_FILES} at most; take another kind of part"
        )
    found = []
    for first, *others in combinations(parts, at_once):
        whole = first
        for other in others:
            whole = whole.together(other)
        found.append(whole)
    return found


def write_one(question: SweepTask, failure: Change, folder: Path) -> tuple[str | None, Fraction]:
    """Write the schedule after one failure, and return the name of its file and its algbw. A worker calls this."""
    topology, demand = question.parsed()
    value = value_of(topology, demand, failure)
    if not value.algbw:
        return None, value.algbw
    name = _file_name(question, failure)
    path = folder / name
    if not path.exists():
        _write(failure, topology, demand, path)
    return name, value.algbw


def _write(failure: Change, topology: Topology, demand: NodeDemand, path: Path) -> None:
    left = demand_after(failure, topology, demand)
    if left is None:
        raise AssertionError("a demand with an optimum has members")
    best = OptimumProblem.of(failure.network(topology), left, SILENT).solve()
    schedule = best.schedule or schedule_for(best)
    certified(verify(schedule))
    write_schedule(schedule, path)


def _file_name(question: SweepTask, failure: Change) -> str:
    """Return the name of the file for a failure, with a hash of all that its schedule depends on."""
    whole = "\n".join([question.network, question.request, json.dumps(failure.document())])
    return f"{_file_stem(failure.name)}-{hashlib.sha256(whole.encode()).hexdigest()[:12]}{_ENDING}"


def _file_stem(name: str) -> str:
    """Return the name of a failure as the beginning of a file name."""
    plain = "".join(islice(re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-"), 80))
    return plain or "healthy"
