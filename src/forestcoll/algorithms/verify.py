"""The front door of the verifiers: a schedule, or a file with a schedule or a program."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from forestcoll.base.errors import InputError, require_kind
from forestcoll.base.files import STANDARD_STREAM, PathLike, as_path, holds_program
from forestcoll.schedule.bundle.value import BundleSchedule
from forestcoll.schedule.files import read_schedule
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.series.value import SeriesSchedule
from forestcoll.schedule.steps.value import StepSchedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology.registry import names_builder
from forestcoll.verification import BundleReport, FlowReport, Report, SeriesReport, StepReport, TreeReport
from forestcoll.verification import verify as verify_schedule

if TYPE_CHECKING:
    from forestcoll.programs.formats.judging import Judgement


@overload
def verify(source: TreeSchedule) -> TreeReport: ...
@overload
def verify(source: StepSchedule) -> StepReport: ...
@overload
def verify(source: SeriesSchedule) -> SeriesReport: ...
@overload
def verify(source: FlowSchedule) -> FlowReport: ...
@overload
def verify(source: BundleSchedule) -> BundleReport: ...
@overload
def verify(source: Schedule) -> Report: ...
@overload
def verify(source: PathLike) -> "Report | Judgement": ...
def verify(source: Schedule | PathLike) -> Any:
    """Check a schedule or a program, from any source.

    Everything that a schedule claims is computed again, exactly, without the code that generates schedules. The rules
    of its kind are checked in order, up to the first that it breaks. A program is checked by the rules of its format,
    and executed on symbolic data; `programs.judge_file` also takes a dialect and a root.

    Args:
        source: a schedule of any kind, or the name of a file with a schedule or a program: MSCCL XML, an MSCCL++ plan
            or a GOAL schedule. `-` is standard input.

    Returns:
        For a schedule its report: `ok`, the first `fault`, the `algbw` in the topology's unit, the proven `bound`, and
        whether the schedule is `optimal`. For a program a `Judgement` with the first `fault`. `fault` is None if all is
        right.

    Raises:
        InputError: the file cannot be read, or has neither a schedule nor a program.

    Example:
        >>> from forestcoll import generate, verify
        >>> report = verify(generate("ring:nodes=4"))
        >>> report.ok, report.optimal, str(report.algbw)
        (True, True, '8/3')
    """
    if isinstance(source, Schedule):
        return verify_schedule(source)
    require_kind(source, str | os.PathLike, "source", "a schedule, or the name of a file")
    path = as_path(source)
    if not is_program(path):
        return verify_schedule(read_schedule(path))
    from forestcoll.programs.formats.judging import judge_file

    return judge_file(path)


def is_program(path: Path) -> bool:
    """Return whether a file has a program, not a schedule; standard input can still be read then.

    Raises:
        InputError: the file cannot be read, is neither of them, or the name is that of a network that is built.
    """
    if path != STANDARD_STREAM and names_builder(str(path)) and not path.exists():
        raise InputError(f"{path}: is a network, not a file; 'forestcoll generate {path} -o FILE' makes a schedule")
    return holds_program(path)
