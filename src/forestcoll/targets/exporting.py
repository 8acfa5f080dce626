"""Writes a schedule as a program for a runtime: lowered within its figures, written, read back and run before use."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from forestcoll.errors import InputError, InternalError
from forestcoll.files import parse_document
from forestcoll.interpreter import check
from forestcoll.lowering import Lowering, Options, Placement, Style, lower
from forestcoll.program import Fault, Program
from forestcoll.schedule import Schedule
from forestcoll.targets import msccl_xml, mscclpp

_EXPORTED = Path("the exported file")


class Target(StrEnum):
    """A format, by its name on the command line."""

    MSCCL_XML = "msccl-xml"
    MSCCLPP_JSON = "mscclpp-json"
    CHAKRA = "chakra"


@dataclass(frozen=True, slots=True)
class Export:
    """A program for a runtime.

    Attributes:
        target: its format.
        dialect: of MSCCL's XML, the runtime that it is for; else None.
        lowering: the program, and what became of the schedule on the way.
        text: the file.
    """

    target: Target
    dialect: str | None
    lowering: Lowering
    text: str


def export(
    schedule: Schedule, target: Target | str, *, dialect: str = "microsoft", options: Options | None = None
) -> Export:
    """Return `schedule` as a file of one of the formats with one file, `msccl-xml` or `mscclpp-json`.

    The text is read back, and what it says is run on data: a file that is wrong is never returned.

    Args:
        schedule: what to write.
        target: the format.
        dialect: of MSCCL's XML, the runtime that loads the file.
        options: knobs of the lowering; its style follows from the format, and without options its placement does too:
            both, where one file can be for both, else out of place.

    Raises:
        InputError: there is no such format or dialect, or the format has no words for the collective or its shards.
        NoSolutionError: no program of the schedule fits the runtime.
    """
    target = target_named(target)
    if target is Target.CHAKRA:
        raise InputError("traces of Chakra are one file a rank; forestcoll.targets.chakra writes them")
    if target is Target.MSCCLPP_JSON:
        return _plan(schedule, options or Options(placement=Placement.OUT_OF_PLACE, pieces=2))
    return _xml(schedule, msccl_xml.dialect_named(dialect), options)


def target_named(name: Target | str) -> Target:
    """Return the format called `name`. Raises `InputError` if there is none."""
    try:
        return Target(name)
    except ValueError:
        raise InputError(f"there is no format {name!r}; there are {', '.join(Target)}") from None


def _xml(schedule: Schedule, dialect: msccl_xml.Dialect, options: Options | None) -> Export:
    if options is None:
        options = Options(placement=Placement.OUT_OF_PLACE if dialect.one_place else Placement.BOTH)
    if dialect.one_place and options.placement is Placement.BOTH:
        raise InputError(f"the {dialect.name.value} dialect is for in place or for out of place; export two files")
    lowering = lower(schedule, options, msccl_xml.limits(dialect, len(schedule.topology.compute)))
    text = _joined(msccl_xml.emit(msccl_xml.from_program(lowering.program, dialect)))
    algorithm = msccl_xml.parse_algorithm(text.encode(), where=str(_EXPORTED))
    _certify(msccl_xml.form_fault(algorithm) or msccl_xml.dialect_fault(algorithm, dialect))
    _certify_program(msccl_xml.to_program(algorithm, root=lowering.program.root))
    return Export(Target.MSCCL_XML, dialect.name.value, lowering, text)


def _plan(schedule: Schedule, options: Options) -> Export:
    options = replace(options, style=Style.ONE_SIDED)
    if options.placement is Placement.BOTH:
        raise InputError("a plan of MSCCL++ is for in place or for out of place; export two files")
    lowering = lower(schedule, options, mscclpp.limits())
    text = _joined(mscclpp.emit(mscclpp.from_program(lowering.program)))
    plan = mscclpp.plan_from_document(parse_document(text.encode(), _EXPORTED), where=str(_EXPORTED))
    _certify(mscclpp.plan_fault(plan))
    _certify_program(mscclpp.to_program(plan, root=lowering.program.root))
    return Export(Target.MSCCLPP_JSON, None, lowering, text)


def _joined(pieces: Iterable[str]) -> str:
    return "".join(pieces)


def _certify_program(program: Program) -> None:
    _certify(check(program).fault)


def _certify(fault: Fault | None) -> None:
    """Do nothing if there is no fault; else it is ours, and no file comes of it."""
    if fault is not None:
        raise InternalError(f"the exported program is wrong: {fault} [{fault.rule}]")
