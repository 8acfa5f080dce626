"""Writes a schedule as a program for a runtime, with given options.

The schedule is lowered within the limits of the runtime and written as text. The text is then read back and checked.
`tuning.programs` chooses the options.
"""

import gc
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from forestcoll.base.errors import InputError, InternalError
from forestcoll.base.files import write_bytes, write_text
from forestcoll.base.progress import SILENT, Progress
from forestcoll.base.together import written_together
from forestcoll.programs.formats import goal, msccl_xml, mscclpp
from forestcoll.programs.formats.sizes import ELEMENT_BYTES, SKIPPED, THROWN, Sizes, chunks_of_file
from forestcoll.programs.interpreter import check
from forestcoll.programs.lowering import (
    UNLIMITED,
    Lowering,
    Options,
    Placement,
    Style,
    lower,
    lowerer_for,
    usual_placement,
)
from forestcoll.programs.model import Fault, Program
from forestcoll.programs.model.limits import Limits
from forestcoll.schedule.flows.value import FlowSchedule
from forestcoll.schedule.schedule import Schedule
from forestcoll.schedule.trees.value import TreeSchedule
from forestcoll.topology.graph.boxes import is_one_box

_EXPORTED = Path("the exported file")

DEFAULT_DIALECT = "microsoft"
"""The default dialect of MSCCL XML."""

DEFAULT_BYTES = 10**9
"""The default of the total data M of traces and GOAL schedules, in bytes."""


MOST_IN_PIECES = 400_000
"""The most instructions for which traces are divided into pieces."""

MOST_IN_PIECES_OF_GOAL = 200_000
"""The same for GOAL schedules, whose text takes longer."""


class Target(StrEnum):
    """A format of programs, by its name on the command line.

    Example:
        >>> from forestcoll import export, generate
        >>> export(generate("ring:nodes=3"), Target.MSCCLPP_JSON).text.count("threadblocks")
        3
    """

    MSCCL_XML = "msccl-xml"
    """The XML of MSCCL, which several runtimes load; each has a dialect."""
    MSCCLPP_JSON = "mscclpp-json"
    """The JSON of execution plans of MSCCL++."""
    CHAKRA = "chakra"
    """Execution traces of Chakra, one file per rank, for simulators."""
    ASTRA_SIM = "astra-sim"
    """A folder with traces of Chakra, a workload and the settings of a simulation with ASTRA-sim."""
    GOAL = "goal"
    """GOAL schedules, for simulators."""

    @property
    def has_bytes(self) -> bool:
        """Return whether a file is for one size of the data M."""
        return self in {Target.CHAKRA, Target.ASTRA_SIM, Target.GOAL}

    @property
    def has_traces(self) -> bool:
        """Return whether a program becomes traces of Chakra."""
        return self in {Target.CHAKRA, Target.ASTRA_SIM}


class Expected(NamedTuple):
    """The simulated speed of a program for one size of the data, next to that of its schedule.

    Attributes:
        size: the size of M in bytes.
        algbw: the algbw of the program, in the unit of the network.
        schedule_algbw: the algbw of the schedule by its closed form, with the same costs.
    """

    size: int
    algbw: float
    schedule_algbw: float


@dataclass(frozen=True, slots=True)
class Export:
    """A program in the format of a runtime.

    Attributes:
        target: the format.
        dialect: for MSCCL XML, the runtime that loads the file; else None.
        lowering: the program and its bandwidth.
        text: the content of the file; empty for Chakra.
        rank_files: for Chakra and ASTRA-sim, the content of the trace of each rank; else empty.
        files: for ASTRA-sim, the content of each file of the folder by its name; else empty.
        sizes: the sizes of M for which the runtime uses the program; None for simulators.
        expected: the expected algbw for some sizes of M; empty if the program was not simulated.
        slow: why the expected algbw for the last of these sizes is more than 5 % below that of the schedule for large
            data; else None.
        remarks: what the runtime does not do as the program says.

    Example:
        >>> from forestcoll import export, generate
        >>> exported = export(generate("ring:nodes=3"), "msccl-xml")
        >>> exported.target.value, exported.dialect, exported.text.count("<gpu ")
        ('msccl-xml', 'microsoft', 3)
    """

    target: Target
    dialect: str | None
    lowering: Lowering
    text: str = ""
    rank_files: tuple[bytes, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=lambda: MappingProxyType({}))
    sizes: Sizes | None = None
    expected: tuple[Expected, ...] = ()
    slow: str | None = None
    remarks: tuple[str, ...] = ()

    @property
    def chunks(self) -> int:
        """The number of chunks of the file."""
        return chunks_of_file(self.lowering.program)

    def snippet(self, file: str) -> str:
        """Return Python code that registers the execution plan with MSCCL++.

        Args:
            file: the name of the file of the plan, in the folder of the Python code.

        Raises:
            InputError: the format is not that of MSCCL++.
        """
        if self.target is not Target.MSCCLPP_JSON:
            raise InputError(f"only plans of MSCCL++ are registered by Python code, not {self.target.value}")
        plan = mscclpp.parse_plan(self.text, where=str(_EXPORTED))
        return mscclpp.snippet(plan, self.lowering.program, file)

    def write(self, path: Path) -> None:
        """Write the file to `path`, the folder for ASTRA-sim to `path`, or traces to `PATH.0.et` and so on.

        A folder or the traces are written completely or not at all.

        Raises:
            InputError: a file cannot be written; the folder has other files; or there is a trace of a further rank.
        """
        if not self.target.has_traces:
            write_text(path, [self.text])
            return
        from forestcoll.programs.formats import chakra

        if self.target is Target.ASTRA_SIM:
            chakra.write_folder(self.files, path)
            return
        if (further := chakra.trace_path(path, len(self.rank_files))).exists():
            raise InputError(f"{further}: is a trace of other ranks; remove the older traces, or name another prefix")
        with written_together():
            for rank, data in enumerate(self.rank_files):
                write_bytes(chakra.trace_path(path, rank), [data])


def export_with(  # noqa: PLR0913 (one parameter per option)
    options: Options,
    schedule: Schedule,
    target: Target,
    *,
    dialect: str = DEFAULT_DIALECT,
    size: int = DEFAULT_BYTES,
    lowering: Lowering | None = None,
    progress: Progress = SILENT,
) -> Export:
    """Convert a schedule into a program in the format of a runtime, with these options of the lowering.

    The text is read back, checked by the rules of the format and run on symbolic data, so a wrong program is never
    returned. Traces of Chakra do not say which data they move; it is only checked that they fit together.

    Args:
        options: the options of the lowering. The format determines the style.
        schedule: a schedule of trees, steps or flows that `verify` accepts. Of flows, only a plain all-to-all has a
            program.
        target: the format.
        dialect: for MSCCL XML, the runtime that loads the file.
        size: for simulators, the total data M in bytes.
        lowering: the program of `schedule` with these options, if it is known.
        progress: receives the stages.

    Raises:
        InputError: schedules of this kind have no programs; there is no such dialect; the format cannot express the
            collective, its shards or the placement; or a library is missing.
        NoSolutionError: no program of the schedule fits the runtime.
    """
    with collector_paused():
        if target is Target.MSCCLPP_JSON:
            return _plan(schedule, options, lowering, progress)
        if target.has_traces:
            return _traces(schedule, target, size, options, progress)
        if target is Target.GOAL:
            return _goal(schedule, size, options, progress)
        return _xml(schedule, msccl_xml.dialect_named(dialect), options, lowering, progress)


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the search for cyclic garbage.

    An export makes millions of values without cycles, and each search would visit all of them.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def usual_options(schedule: Schedule, target: Target, dialect: str = DEFAULT_DIALECT) -> Options:
    """Return the default options of the lowering for a format.

    A program is for both in place and out of place if the format and the kind of schedule allow it, else as frameworks
    call the collective (`usual_placement`), and out of place for simulators. Plans of MSCCL++ have loops over pieces of
    128 KiB. Traces and GOAL schedules also have pieces, because simulators do not cut data further: 8, or 16 for
    ASTRA-sim, or fewer if there would be more than `MOST_IN_PIECES` instructions. Many ranks need fewer pieces, because
    the shards of all ranks follow each other anyway. Programs of steps have no pieces.
    """
    lowerer = lowerer_for(schedule)
    one = usual_placement(schedule.collective) if lowerer.in_place else Placement.OUT_OF_PLACE
    if target is Target.MSCCLPP_JSON:
        return Options(placement=one, pieces=2 if lowerer.in_pieces else 1)
    if target.has_bytes:
        return Options(placement=Placement.OUT_OF_PLACE, pieces=_pieces(schedule, target) if lowerer.in_pieces else 1)
    both = lowerer.in_place and not msccl_xml.dialect_named(dialect).one_place
    return Options(placement=Placement.BOTH if both else one)


def _pieces(schedule: Schedule, target: Target) -> int:
    """Return the number of pieces for a simulator: the greatest power of two with few enough instructions.

    It is 8 at most, or 16 for ASTRA-sim, which moves one message at a time over a link.
    """
    most = MOST_IN_PIECES_OF_GOAL if target is Target.GOAL else MOST_IN_PIECES
    tried = (16, 8, 4, 2) if target is Target.ASTRA_SIM else (8, 4, 2)
    return next((pieces for pieces in tried if pieces * least_instructions(schedule) <= most), 1)


def least_instructions(schedule: Schedule) -> int:
    """Return about how many instructions a program of one piece has: each tree sends to all other ranks.

    A flow is sent once for each of its routes. The result is 0 for schedules of steps.
    """
    if not isinstance(schedule, TreeSchedule | FlowSchedule):
        return 0
    images = 1 if schedule.symmetry is None else schedule.symmetry.order
    if isinstance(schedule, FlowSchedule):
        return 2 * images * len(schedule.flows.routes.entries)
    return 2 * images * (len(schedule.members) - 1) * sum(map(len, schedule.phases))


def check_style(schedule: Schedule, target: Target) -> None:
    """Raise `InputError` if schedules of this kind have no programs of the style of the format."""
    if target is Target.MSCCLPP_JSON and Style.ONE_SIDED not in lowerer_for(schedule).styles:
        name, kind = schedule.topology.name, schedule.kind
        raise InputError(f"{name}: schedules of {kind} are written as msccl-xml, chakra, astra-sim or goal only")


def limits_of(target: Target, dialect: str, ranks: int) -> Limits:
    """Return the limits of a program for `ranks` ranks in a format."""
    if target is Target.MSCCLPP_JSON:
        return mscclpp.limits()
    return UNLIMITED if target.has_bytes else msccl_xml.limits(msccl_xml.dialect_named(dialect), ranks)


def target_named(name: Target | str) -> Target:
    """Return the format called `name`. Raises `InputError` if there is none."""
    try:
        return Target(name)
    except ValueError:
        raise InputError(f"there is no format {name!r}; there are {', '.join(Target)}") from None


def _traces(schedule: Schedule, target: Target, size: int, options: Options, progress: Progress) -> Export:
    """Export traces one rank at a time, so that only their bytes and the columns of the check are kept."""
    from forestcoll.programs.formats import chakra

    progress.begin("lowering")
    lowering = lower(schedule, replace(options, style=Style.TWO_SIDED))
    progress.begin("writing traces")
    ranks = len(lowering.program.ranks)
    fitting, files = chakra.Fitting(ranks), []
    for trace in chakra.from_program(lowering.program, size):
        files.append(chakra.emit(trace))
        fitting.add(trace)
        progress.advance(trace.rank + 1, ranks)
    progress.begin("checking")
    done = Export(target, None, lowering, rank_files=tuple(files))
    if not fitting.is_proven:
        raise InternalError("the exported traces do not fit together")
    if target is Target.CHAKRA:
        return done
    return replace(done, files=chakra.files_of(schedule.topology, lowering.program.task, done.rank_files, size))


def _goal(schedule: Schedule, size: int, options: Options, progress: Progress) -> Export:
    if options.placement is not Placement.OUT_OF_PLACE:
        raise InputError("GOAL schedules are for out of place only; leave the placement out")
    progress.begin("lowering")
    lowering = lower(schedule, replace(options, style=Style.TWO_SIDED))
    progress.begin("writing the file and reading it back")
    text = _joined(goal.emit(goal.from_program(lowering.program, size)))
    read = goal.parse_goal(text, where=str(_EXPORTED))
    _certify(goal.goal_fault(read))
    progress.begin("checking")
    _certify_program(goal.to_program(read))
    return Export(Target.GOAL, None, lowering, text)


def _xml(
    schedule: Schedule, dialect: msccl_xml.Dialect, options: Options, lowering: Lowering | None, progress: Progress
) -> Export:
    if dialect.one_place and options.placement is Placement.BOTH:
        raise InputError(f"the {dialect.name.value} dialect is for in place or for out of place; export two files")
    progress.begin("lowering")
    lowering = lowering or lower(schedule, options, msccl_xml.limits(dialect, len(schedule.topology.compute)))
    progress.begin("writing the file and reading it back")
    text = _joined(msccl_xml.emit(msccl_xml.from_program(lowering.program, dialect)))
    algorithm = msccl_xml.parse_algorithm(text.encode(), where=str(_EXPORTED))
    _certify(msccl_xml.form_fault(algorithm) or msccl_xml.dialect_fault(algorithm, dialect))
    progress.begin("executing on symbolic data")
    _certify_program(msccl_xml.to_program(algorithm, root=lowering.program.root))
    most = int(algorithm.attributes["maxBytes"]) - 1 if dialect.one_place else None
    sizes = Sizes(lowering.program.chunks * ELEMENT_BYTES, most, SKIPPED)
    remarks = () if is_one_box(lowering.schedule.topology) else tuple(msccl_xml.remarks(algorithm))
    return Export(Target.MSCCL_XML, dialect.name.value, lowering, text, sizes=sizes, remarks=remarks)


def _plan(schedule: Schedule, options: Options, lowering: Lowering | None, progress: Progress) -> Export:
    check_style(schedule, Target.MSCCLPP_JSON)
    options = replace(options, style=Style.ONE_SIDED)
    if options.placement is Placement.BOTH:
        raise InputError("a plan of MSCCL++ is for in place or for out of place; export two files")
    progress.begin("lowering")
    lowering = lowering or lower(schedule, options, mscclpp.limits())
    progress.begin("writing the file and reading it back")
    text = mscclpp.text_of(mscclpp.from_program(lowering.program, unit_bytes=options.round_bytes))
    plan = mscclpp.parse_plan(text, where=str(_EXPORTED))
    _certify(mscclpp.plan_fault(plan))
    progress.begin("executing on symbolic data")
    _certify_program(mscclpp.to_program(plan, root=lowering.program.root))
    sizes = Sizes(chunks_of_file(lowering.program) * plan.alignment, plan.most_bytes, THROWN)
    return Export(Target.MSCCLPP_JSON, None, lowering, text, sizes=sizes)


def _joined(pieces: Iterable[str]) -> str:
    return "".join(pieces)


def _certify_program(program: Program) -> None:
    _certify(check(program).fault)


def _certify(fault: Fault | None) -> None:
    """Raise `InternalError` if there is a fault."""
    if fault is not None:
        raise InternalError(f"the exported program is wrong: {fault} [{fault.rule}]")
