"""Checks of a file for a runtime, written by any tool: the rules of its format, then a run on symbolic data."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from forestcoll.base.display import Displayed
from forestcoll.base.errors import InputError
from forestcoll.base.file_kinds import PROGRAM, check_kind
from forestcoll.base.files import PathLike, as_path, input_name, parse_document, read_bytes
from forestcoll.programs.formats import goal, msccl_xml, mscclpp
from forestcoll.programs.interpreter import STOPS, check
from forestcoll.programs.model import Program, ProgramFault

_Found = TypeVar("_Found")

MAX_BYTES = 512 * 2**20
"""The largest file that is read (512 MiB): about two million steps."""


@dataclass(frozen=True, repr=False, slots=True)
class Judgement(Displayed):
    """The result of checking a file for a runtime.

    Attributes:
        format: the format: `msccl-xml`, `mscclpp-json` or `goal`.
        collective: the collective.
        ranks: the number of ranks.
        fault: the first fault, or None if there is none.
        placement: `in place` or `out of place` if the data is wrong only in this case, else None.
        loads: for each runtime that the format has, why it does not load the file, or None if it loads it.
        remarks: differences between what the file says and what the runtime does.
        instructions: the number of instructions of the program.
        program: the program, if the file was run.
        right_up_to: the greatest M in bytes for which the program is right, if it stops in the middle only above.

    Example:
        >>> Judgement("msccl-xml", "allgather", 3, fault=None).ok
        True
    """

    format: str
    collective: str
    ranks: int
    fault: ProgramFault | None
    placement: str | None = None
    loads: Mapping[str, str | None] = field(default_factory=lambda: MappingProxyType({}))
    remarks: tuple[str, ...] = ()
    instructions: int = 0
    program: Program | None = field(default=None, repr=False, compare=False)
    right_up_to: int | None = None

    @property
    def ok(self) -> bool:
        """Whether the file has no fault."""
        return self.fault is None


def judge_file(path: PathLike, *, dialect: str | None = None, root: int | None = None) -> Judgement:
    """Check a file for a runtime, written by any tool: MSCCL XML, an MSCCL++ plan or a GOAL schedule.

    The rules of the format are checked. Then the program is run on symbolic data, except for GOAL schedules of other
    tools, which do not say which data they move.

    Args:
        path: the file; the format follows from its content.
        dialect: for MSCCL XML, the runtime that must load the file; if None, at least one runtime must load it.
        root: the root rank of a broadcast or a reduce, if the file does not determine it.

    Returns:
        The result, with the first fault.

    Raises:
        InputError: the file cannot be read, has none of these formats, or its root is unknown.

    Example:
        >>> from forestcoll import export, generate
        >>> export(generate("ring:nodes=3"), "msccl-xml").write("ring.xml")
        >>> judged = judge_file("ring.xml")
        >>> judged.collective, judged.ranks, judged.fault
        ('allgather', 3, None)
    """
    path = as_path(path)
    data, where = read_bytes(path, limit=MAX_BYTES), input_name(path)
    start = bytes(data[:4096]).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"<"):
        return _judge_xml(data, path, dialect, root)
    if start.startswith(b"{"):
        if dialect is not None:
            raise InputError(f"{where}: is not MSCCL XML, and only MSCCL XML has dialects; leave the dialect out")
        return _judge_plan(data, path, root)
    if goal.looks_like_goal(start):
        if dialect is not None or root is not None:
            raise InputError(f"{where}: GOAL schedules have no dialects and state their root; leave both out")
        return _judge_goal(data, path)
    raise InputError(
        f"{where}: {'is no program' if start else 'the file is empty'}; expected MSCCL XML, an execution plan of "
        "MSCCL++ in JSON, or a GOAL schedule, as 'forestcoll export' writes them"
    )


def _judge_goal(data: bytearray, path: Path) -> Judgement:
    schedule = goal.parse_goal(data.decode("utf-8", errors="replace"), where=input_name(path))
    fault = goal.goal_fault(schedule)
    collective = schedule.header.collective if schedule.header is not None else "unknown"
    operations = sum(map(len, schedule.ranks))
    found = Judgement("goal", collective, len(schedule.ranks), fault, instructions=operations)
    if fault is not None:
        return found
    remarks = goal.goal_remarks(schedule)
    if not schedule.states_data:
        return replace(found, remarks=remarks)
    return _run(path, goal.to_program(schedule), found, remarks)


def _judge_xml(data: bytearray, path: Path, dialect: str | None, root: int | None) -> Judgement:
    wanted = None if dialect is None else msccl_xml.dialect_named(dialect)
    algorithm = msccl_xml.parse_algorithm(bytes(data), where=input_name(path))
    fault = msccl_xml.form_fault(algorithm)
    found = Judgement("msccl-xml", algorithm.collective, algorithm.gpu_count, fault)
    if fault is not None:
        return found
    refusals = {name: msccl_xml.dialect_fault(algorithm, each) for name, each in msccl_xml.DIALECTS.items()}
    loads = MappingProxyType({name: None if each is None else str(each) for name, each in refusals.items()})
    fault = refusals[wanted.name.value] if wanted is not None else _refused_by_all(refusals)
    program = _named(path, lambda: msccl_xml.to_program(algorithm, root=root))
    judged = Judgement(found.format, found.collective, found.ranks, fault, loads=loads)
    judged = _run(path, program, judged, tuple(msccl_xml.remarks(algorithm)))
    if judged.fault is None or judged.fault.rule not in STOPS:
        return judged
    size = msccl_xml.greatest_right_size(algorithm, program, lambda each: check(each).ok)
    return replace(judged, right_up_to=size)


def _refused_by_all(refusals: Mapping[str, ProgramFault | None]) -> ProgramFault | None:
    """Return why the first runtime refuses the file if all runtimes refuse it, else None."""
    faults = list(refusals.values())
    return None if None in faults else faults[0]


def _judge_plan(data: bytearray, path: Path, root: int | None) -> Judgement:
    document = parse_document(data, path)
    check_kind(document, PROGRAM, input_name(path))
    if "gpus" not in document:
        raise InputError(f'{path}: has no "gpus"; expected an execution plan of MSCCL++')
    plan = mscclpp.plan_from_document(document, where=input_name(path))
    fault = mscclpp.plan_fault(plan)
    loads = MappingProxyType(mscclpp.refusals(plan) if fault is None else dict.fromkeys(mscclpp.RELEASES, str(fault)))
    found = Judgement("mscclpp-json", plan.collective, len(plan.gpus), fault, loads=loads)
    if fault is not None:
        return found
    program = _named(path, lambda: mscclpp.to_program(plan, root=root))
    return _run(path, program, found, tuple(mscclpp.remarks(plan)))


def _named(path: Path, read: Callable[[], _Found]) -> _Found:
    """Return the result of `read`; the name of the file is added to its error messages."""
    try:
        return read()
    except InputError as error:
        raise InputError(f"{input_name(path)}: {error}") from None


def _run(path: Path, program: Program, found: Judgement, remarks: tuple[str, ...] = ()) -> Judgement:
    """Return the judgement after running the program; a fault of the format found before is kept."""
    verdict = _named(path, lambda: check(program))
    fault = found.fault or verdict.fault
    placement = verdict.placement if found.fault is None else None
    return replace(
        found, fault=fault, placement=placement, remarks=remarks, instructions=verdict.instructions, program=program
    )
