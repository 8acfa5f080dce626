"""From a file of a user to candidates for rows: the file is recognised by its content.

A schedule, also one of TE-CCL, is verified, a program is run on symbolic data, and a graph of NCCL becomes schedules of
its rings and trees.
A file that can be read but is wrong becomes a candidate with its fault.
"""

import os
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from forestcoll.algorithms.method import DoesNotApplyError, Problem
from forestcoll.base.errors import InputError
from forestcoll.base.files import as_path, read_bytes, read_start
from forestcoll.base.progress import Progress
from forestcoll.comparison.against.program_runs import ProgramRun
from forestcoll.comparison.against.te_ccl import looks_like_te_ccl, te_ccl_schedule
from forestcoll.comparison.value import Skipped
from forestcoll.demand.collective import Collective
from forestcoll.nccl.graph.file import Graph, looks_like_graphs, read_graphs
from forestcoll.nccl.graph.schedules import schedule_of_graph
from forestcoll.programs.formats.judging import judge_file
from forestcoll.programs.model import Program
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.files import read_schedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.topology import NodeId, Topology
from forestcoll.topology.importers.source import Source
from forestcoll.verification import verify

_PLAN = re.compile(rb'"gpus"\s*:\s*\[')
_OWN_FORMAT = re.compile(rb'"format"\s*:\s*"forestcoll')


@dataclass(frozen=True)
class ComparedFile:
    """What becomes a row: a schedule, a program, or the fault of one of them.

    Attributes:
        name: the file, and the graph if the file has several.
        family: the kind of the schedule, or `program`.
        found: the schedule or the program, which is right; None if it has a fault.
        fault: why it is wrong, as a sentence without a period; empty if it is right.
        note: a sentence without a period that the reason of the row ends with; empty for none.
    """

    name: str
    family: str
    found: Schedule | ProgramRun | None = None
    fault: str = ""
    note: str = ""


def candidates(
    file: str | os.PathLike[str], problem: Problem, progress: Progress
) -> tuple[list[ComparedFile], list[Skipped]]:
    """Return what a file holds for a problem, and what of it does not apply.

    Raises:
        InputError: the file cannot be read, or is for another collective, other ranks or another network.
    """
    path = as_path(file)
    start = read_start(path).removeprefix(b"\xef\xbb\xbf").lstrip() if path.is_file() else b""
    progress.begin(f"reading {path}")
    if start.startswith(b"<") and looks_like_graphs(start):
        return _graphs(path, problem)
    if looks_like_te_ccl(start):
        return [_te_ccl(path, problem)], []
    if start.startswith(b"<") or (_PLAN.search(start) and not _OWN_FORMAT.search(start)):
        return [_program(path, problem)], []
    return [given_schedule(str(path), read_schedule(path), problem)], []


def _te_ccl(path: Path, problem: Problem) -> ComparedFile:
    return given_schedule(str(path), te_ccl_schedule(Source.of(read_bytes(path), path), problem), problem)


def given_schedule(name: str, schedule: Schedule, problem: Problem) -> ComparedFile:
    """Return what a schedule becomes; `name` is the name of the row, and begins messages.

    Raises:
        InputError: it is for another collective, other ranks or another network.
    """
    if isinstance(schedule, BundleSchedule):
        raise InputError(f"{name}: a bundle of groups, not one collective; compare the schedule of one collective")
    if schedule.demand != problem.demand:
        raise InputError(f"{name}: a schedule of another collective or other ranks; compare the same ones")
    if _links(schedule.topology) != _links(problem.topology):
        raise InputError(f"{name}: a schedule for another network; compare schedules of one network")
    fault = verify(schedule).fault
    if fault is None:
        return ComparedFile(name, schedule.kind, schedule)
    return ComparedFile(name, schedule.kind, fault=f"not valid: {_sentence(fault.message)} [{fault.rule}]")


def _links(topology: Topology) -> dict[tuple[NodeId, NodeId], Fraction]:
    ids = [node.id for node in topology.nodes]
    return {(ids[link.source], ids[link.target]): link.bandwidth for link in topology.links}


def _program(path: Path, problem: Problem) -> ComparedFile:
    found = judge_file(path)
    wanted, members = problem.collective, len(problem.members)
    if found.program is not None:
        _check_task(path, found.program, wanted)
    if found.ranks != members:
        raise InputError(
            f"{path}: a program of {found.ranks} ranks, and {members} compute nodes take part; choose as many with "
            "--ranks, or a program of as many ranks"
        )
    if found.fault is not None or found.program is None:
        return ComparedFile(str(path), "program", fault=f"not valid: {_sentence(str(found.fault))}")
    _check_shards(path, found.program, problem)
    run = ProgramRun(problem, found.program, str(path), is_msccl=found.format == "msccl-xml")
    return ComparedFile(str(path), "program", run)


def _check_task(path: Path, program: Program, wanted: Collective) -> None:
    if program.task.value != wanted.value:
        raise InputError(f"{path}: a program for {program.task.value}, not for {wanted.with_article}; compare the same")


def _check_shards(path: Path, program: Program, problem: Problem) -> None:
    if len(set(program.shards)) > 1 and problem.demand.shards is None:
        raise InputError(f"{path}: a program for shards of different sizes; compare has equal shards")


def _sentence(text: str) -> str:
    return text.rstrip(".")


def _graphs(path: Path, problem: Problem) -> tuple[list[ComparedFile], list[Skipped]]:
    found = read_graphs(Source.of(read_bytes(path), path))
    rows: list[ComparedFile] = []
    skipped: list[Skipped] = []
    for kind, graph in (("rings", found.rings), ("trees", found.trees)):
        if graph is None:
            continue
        name = f"{path}: {kind}"
        try:
            row = _graph(name, path, problem, graph, is_tree=kind == "trees")
            rows.append(replace(row, note="; ".join(filter(None, (*found.notes, row.note)))))
        except DoesNotApplyError as error:
            skipped.append(Skipped(name, str(error)))
    return rows, skipped


def _graph(name: str, path: Path, problem: Problem, graph: Graph, *, is_tree: bool) -> ComparedFile:
    if is_tree and problem.collective is not Collective.ALLREDUCE:
        raise DoesNotApplyError("NCCL uses trees only for an allreduce")
    schedule, changed = schedule_of_graph(problem, graph, str(path))
    note = (
        f"the file's NIC is not within reach at {changed} ends of channels, which use the NIC of their GPU"
        if changed
        else ""
    )
    return ComparedFile(name, schedule.kind, schedule, note=note)
